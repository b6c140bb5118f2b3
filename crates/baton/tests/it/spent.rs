//! A token that works once: each answer of its site spends it and gives another one. Whoever is killed
//! in between presents a spent one next, and is taken for a thief.

use crate::notes::{LIMIT, eventually, state_of};
use crate::test_nodes::{build, start};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use tokio::time::timeout;

/// The token that is good next; none once a spent one was presented.
#[derive(Clone, Default)]
struct Login(Arc<Mutex<Option<u64>>>, Arc<Hop>);

/// An answer that somebody waits for.
#[derive(Default)]
struct Hop {
    is_asked: Notify,
    may_answer: Notify,
}

impl Login {
    /// Gives a token, and none before is good.
    fn give(&self, token: u64, answer: impl IntoResponse) -> Response {
        *self.0.lock().unwrap() = Some(token);
        let cookie = format!("token={token}; HttpOnly; Path=/; Max-Age=99999");
        ([(header::SET_COOKIE, cookie)], answer).into_response()
    }

    /// Spends the token that is presented, if that is the good one.
    fn spend(&self, headers: &HeaderMap, answer: impl IntoResponse) -> Response {
        let presented = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        let good = *self.0.lock().unwrap();
        match good {
            Some(good) if presented == Some(&format!("token={good}")) => {
                self.give(good + 1, answer)
            }
            _ => {
                *self.0.lock().unwrap() = None;
                Html("<title>signed out</title>").into_response()
            }
        }
    }

    fn good(&self) -> Option<u64> {
        *self.0.lock().unwrap()
    }
}

/// A session that is signed in at such a site, and is captured for no other reason than answers: the
/// interval is an hour.
struct Story {
    test_node: TestNode,
    site: Site,
    login: Login,
    id: SessionId,
}

impl Story {
    /// With its tab at `path`.
    async fn at(path: &str) -> Self {
        let login = Login::default();
        let pages = Router::new()
            .route("/login", get(async |State(login): State<Login>| login.give(1, "hello")))
            .route(
                "/door",
                get(async |State(login): State<Login>, headers: HeaderMap| {
                    login.spend(&headers, Html("<title>signed in</title>"))
                }),
            )
            .route(
                "/hop",
                get(async |State(login): State<Login>, headers: HeaderMap| {
                    login.1.is_asked.notify_one();
                    login.1.may_answer.notified().await;
                    login.spend(&headers, Redirect::to("/never"))
                }),
            )
            .route(
                "/out",
                get(async || ([(header::SET_COOKIE, "token=; Path=/; Max-Age=0")], "bye")),
            )
            .route("/never", get(async || std::future::pending::<()>().await))
            .with_state(login.clone());
        let site = Site::start(pages).await.unwrap();
        let test_node = start(build().with("BATON_SESSION_SNAPSHOT_INTERVAL", "3600")).await;
        let id = test_node.open("spent", [site.url("/login").unwrap()]).await.unwrap();
        let story = Self { test_node, site, login, id };
        if path != "/login" {
            story.tell("/login", &format!("location.href = '{path}'")).await;
            story.page(path).await;
        }
        story.test_node.client().unwrap().capture_session("spent").await.unwrap();
        story
    }

    async fn page(&self, path: &str) -> Page {
        let url = self.site.url(path).unwrap();
        Page::attach(&self.test_node.keeper_socket(self.id), url.as_str()).await.unwrap()
    }

    /// Has the page at `path` do something, and does not wait for it.
    async fn tell(&self, path: &str, what: &str) {
        let told = format!("setTimeout(() => {{ {what} }}); true");
        assert!(self.page(path).await.evaluate::<bool>(&told).await.unwrap());
    }

    /// The token in the last snapshot.
    async fn captured(&self) -> Option<u64> {
        let state = self.test_node.client().unwrap().fetch_state("spent", true).await.unwrap();
        let cookies = state.state["cookies"].as_array()?;
        let cookie = cookies.iter().find(|cookie| cookie["name"] == "token")?;
        cookie["value"].as_str()?.parse().ok()
    }

    /// Waits until a token that the site gave after `before` is captured.
    async fn is_captured_after(&self, before: u64) {
        eventually("the new token is captured", async || {
            let good = self.login.good();
            good > Some(before) && self.captured().await == good
        })
        .await;
    }

    async fn crash(&self) {
        victims::kill_all(&self.test_node.holders(self.id).await.unwrap()).await.unwrap();
        eventually("the session can be resumed", async || {
            state_of(&self.test_node, "spent").await != Lifecycle::Active
        })
        .await;
    }

    async fn resume(&self) {
        self.test_node.client().unwrap().resume_session("spent").await.unwrap();
    }

    async fn end(self) {
        self.test_node.client().unwrap().close_session("spent").await.unwrap();
        self.test_node.clear().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_tabs_of_a_resume_spend_is_captured_before_it_is_told() {
    let story = Story::at("/door").await;
    // Each of them loads the page, and is killed as soon as it is said to be done.
    for _ in 0..3 {
        story.crash().await;
        story.resume().await;
        assert_eq!(story.captured().await, story.login.good());
        assert!(story.login.good().is_some(), "a spent token was presented");
    }
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_request_of_a_page_spends_is_captured_at_once() {
    let story = Story::at("/login").await;
    let before = story.login.good().unwrap();
    story.tell("/login", "fetch('/door')").await;
    story.is_captured_after(before).await;
    story.crash().await;
    story.resume().await;
    // Two in a row: the page says nothing of the second, which comes right behind the first.
    let before = story.login.good().unwrap();
    story.tell("/login", "fetch('/door').then(() => fetch('/door'))").await;
    story.is_captured_after(before + 1).await;
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_of_the_jar_alone_holds_all_that_was_there_before() {
    let story = Story::at("/door").await;
    story.tell("/door", "localStorage.setItem('cart', '3')").await;
    story.test_node.client().unwrap().capture_session("spent").await.unwrap();
    let before = story.login.good().unwrap();
    story.tell("/door", "fetch('/door')").await;
    story.is_captured_after(before).await;
    story.crash().await;
    story.resume().await;
    let page = story.page("/door").await;
    assert_eq!(page.evaluate::<String>("localStorage.cart").await.unwrap(), "3");
    // What an answer takes away is gone at once as well.
    story.tell("/door", "fetch('/out')").await;
    eventually("the login is gone", async || story.captured().await.is_none()).await;
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_spent_on_the_way_to_a_page_that_does_not_come_is_captured_at_once() {
    let story = Story::at("/login").await;
    let before = story.login.good().unwrap();
    story.tell("/login", "location.href = '/hop'").await;
    let hop = Arc::clone(&story.login.1);
    timeout(LIMIT, hop.is_asked.notified()).await.unwrap();
    // All that is known by now is captured; that the page is still on its way is not forgotten.
    for _ in 0..3 {
        story.test_node.client().unwrap().capture_session("spent").await.unwrap();
    }
    hop.may_answer.notify_one();
    story.is_captured_after(before).await;
    story.end().await;
}
