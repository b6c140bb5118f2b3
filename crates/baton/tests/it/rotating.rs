//! A site whose refresh token rotates: an old one beside a new one logs its user out.
//!
//! After a crash the profile on the disk lags behind the last snapshot, or is ahead of it. Of the
//! site one side is taken as a whole, the one that was written later, and the login works.

use crate::notes::{eventually, state_of};
use crate::test_nodes::{build, start};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use baton_api::ResumeResult;
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::receipt::{ItemKind, Source};
use baton_session::{Lifecycle, SessionId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The only token that is good. A presented old one is taken for stolen, and ends the login.
#[derive(Clone, Default)]
struct Login(Arc<Mutex<Option<u64>>>);

impl Login {
    fn next(&self, token: u64) -> Response {
        *self.0.lock().unwrap() = Some(token);
        let cookie = format!("refresh={token}; HttpOnly; Path=/; Max-Age=99999");
        ([(header::SET_COOKIE, cookie)], token.to_string()).into_response()
    }

    fn rotate(&self, headers: &HeaderMap, told: &str) -> Response {
        let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        let good = *self.0.lock().unwrap();
        match good {
            Some(good)
                if cookies == Some(&format!("refresh={good}")) && told == good.to_string() =>
            {
                self.next(good + 1)
            }
            _ => {
                *self.0.lock().unwrap() = None;
                let why = format!("stolen: good is {good:?}, told {told}, cookies {cookies:?}");
                (StatusCode::UNAUTHORIZED, why).into_response()
            }
        }
    }
}

async fn site() -> Site {
    let rotate =
        async |State(login): State<Login>,
               Query(query): Query<HashMap<String, String>>,
               headers: HeaderMap| login.rotate(&headers, &query["token"]);
    let pages = Router::new()
        .route("/", get(async || Html(include_str!("pages/rotating.html"))))
        .route("/elsewhere", get(async || Html("<title>elsewhere</title>")))
        .route("/login", get(async |State(login): State<Login>| login.next(1)))
        .route("/rotate", get(rotate))
        .with_state(Login::default());
    Site::start(pages).await.unwrap()
}

/// A test node with a session that is logged in at the site.
struct Story {
    test_node: TestNode,
    site: Site,
    id: SessionId,
}

impl Story {
    async fn begin() -> Self {
        let (test_node, site) = (start(build()).await, site().await);
        let id = test_node.open("rotating", [site.url("/").unwrap()]).await.unwrap();
        let story = Self { test_node, site, id };
        assert_eq!(story.page().await.evaluate::<String>("login()").await.unwrap(), "1");
        story.rotate().await;
        story
    }

    async fn page(&self) -> Page {
        let page = self.page_at("/").await;
        page.wait_for("document.readyState === 'complete' && typeof rotate === 'function'")
            .await
            .unwrap();
        page
    }

    async fn page_at(&self, path: &str) -> Page {
        let url = self.site.url(path).unwrap();
        Page::attach(&self.test_node.keeper_socket(self.id), url.as_str()).await.unwrap()
    }

    /// The token rotates, which a session that is logged in survives.
    async fn rotate(&self) {
        assert_eq!(self.page().await.evaluate::<String>("rotate()").await.unwrap(), "logged in");
    }

    async fn capture(&self) {
        self.test_node.client().unwrap().capture_session("rotating").await.unwrap();
    }

    async fn resume(&self) -> ResumeResult {
        eventually("the session can be resumed", async || {
            state_of(&self.test_node, "rotating").await != Lifecycle::Active
        })
        .await;
        self.test_node.client().unwrap().resume_session("rotating").await.unwrap()
    }

    async fn end(self) {
        self.test_node.client().unwrap().close_session("rotating").await.unwrap();
        self.test_node.clear().await.unwrap();
    }
}

/// Whether the receipt says of any site that its profile was taken.
fn takes_the_profile(resumed: &ResumeResult) -> bool {
    let receipt = resumed.session.receipt.as_ref().unwrap();
    assert!(!receipt.has_losses(), "{:?}", receipt.losses().next());
    let mut sites = receipt.items.iter().filter(|item| item.kind == ItemKind::Site);
    sites.any(|item| item.source == Source::Disk && item.place == "127.0.0.1")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_that_is_later_than_the_disk_is_taken() {
    let story = Story::begin().await;
    // An older token gets on the disk.
    story.test_node.client().unwrap().close_session("rotating").await.unwrap();
    story.resume().await;
    story.rotate().await;
    story.rotate().await;
    story.capture().await;
    victims::kill_all(&story.test_node.holders(story.id).await.unwrap()).await.unwrap();
    let resumed = story.resume().await;
    assert!(!takes_the_profile(&resumed), "{:?}", resumed.session.receipt);
    story.rotate().await;
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_later_than_the_snapshot_is_taken() {
    let mut story = Story::begin().await;
    story.capture().await;
    story.test_node.kill_node().await.unwrap();
    story.rotate().await;
    story.test_node.close_browser(story.id).await.unwrap();
    story.test_node.start_node().await.unwrap();
    let resumed = story.resume().await;
    assert!(takes_the_profile(&resumed), "{:?}", resumed.session.receipt);
    story.rotate().await;
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_later_disk_is_in_the_next_snapshot_even_when_no_tab_shows_it() {
    let mut story = Story::begin().await;
    go(&story.page().await, "/elsewhere").await;
    story.capture().await;
    story.test_node.kill_node().await.unwrap();
    go(&story.page_at("/elsewhere").await, "/").await;
    story.rotate().await;
    story.test_node.close_browser(story.id).await.unwrap();
    story.test_node.start_node().await.unwrap();
    let r = story.resume().await;
    println!("{}", story.test_node.log());
    assert!(takes_the_profile(&r));
    story.capture().await;
    // From here on only the snapshot knows.
    victims::kill_all(&story.test_node.holders(story.id).await.unwrap()).await.unwrap();
    story.test_node.take_files_away(story.id).unwrap();
    assert!(!takes_the_profile(&story.resume().await));
    go(&story.page_at("/elsewhere").await, "/").await;
    story.rotate().await;
    story.end().await;
}

async fn go(page: &Page, path: &str) {
    page.evaluate::<bool>(&format!("setTimeout(() => {{ location.href = '{path}' }}); true"))
        .await
        .unwrap();
    page.wait_for(&format!("location.pathname === '{path}' && document.readyState === 'complete'"))
        .await
        .unwrap();
}
