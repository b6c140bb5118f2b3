//! One session, used at two nodes that did not hear of each other, at a site whose refresh tokens
//! rotate: whichever of the two counts in the end, its login works, and the other one is kept.
//!
//! A login of the site is a cookie, an entry of localStorage and a record of IndexedDB, and all three
//! must be of one instant. A token that was used already ends the login that it belongs to.

use crate::test_nodes::{build, start};
use crate::two_nodes::{baton, introduce, said};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse as _, Response};
use axum::routing::get;
use baton_playground::{Page, Site, TestNode};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The good token of each login, by the login's number; one that was stolen has none.
#[derive(Clone, Default)]
struct Logins(Arc<Mutex<Vec<Option<u64>>>>);

impl Logins {
    fn begin(&self) -> Response {
        let mut logins = self.0.lock().unwrap();
        logins.push(Some(1));
        give(logins.len() - 1, 1)
    }

    fn rotate(&self, headers: &HeaderMap, told: &str) -> Response {
        let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok());
        let (login, token) = told.split_once('.').unwrap();
        let (login, token): (usize, u64) = (login.parse().unwrap(), token.parse().unwrap());
        let good = &mut self.0.lock().unwrap()[login];
        if *good == Some(token) && cookies == Some(&format!("refresh={told}")) {
            *good = Some(token + 1);
            return give(login, token + 1);
        }
        let why = format!("stolen: good is {good:?}, told {told}, cookies {cookies:?}");
        *good = None;
        (StatusCode::UNAUTHORIZED, why).into_response()
    }
}

fn give(login: usize, token: u64) -> Response {
    let token = format!("{login}.{token}");
    let cookie = format!("refresh={token}; HttpOnly; Path=/; Max-Age=99999");
    ([(header::SET_COOKIE, cookie)], token).into_response()
}

async fn site() -> Site {
    let rotate =
        async |State(logins): State<Logins>,
               Query(query): Query<HashMap<String, String>>,
               headers: HeaderMap| logins.rotate(&headers, &query["token"]);
    let pages = Router::new()
        .route("/", get(async || Html(include_str!("pages/rotating.html"))))
        .route("/login", get(async |State(logins): State<Logins>| logins.begin()))
        .route("/rotate", get(rotate))
        .with_state(Logins::default());
    Site::start(pages).await.unwrap()
}

async fn at(test_node: &TestNode, site: &Site, script: &str) -> String {
    let id = test_node.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    let url = site.url("/").unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let ready = "document.readyState === 'complete' && typeof rotate === 'function'";
    page.wait_for(ready).await.unwrap();
    page.evaluate(script).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_that_both_used_is_that_of_one_of_them_and_the_other_is_kept() {
    let merging = || build().with("BATON_CONFLICT_RESOLUTION", "merge");
    let (site, cloud, hosted) = (site().await, start(merging()).await, start(merging()).await);
    introduce(&cloud, "cloud", &hosted);
    cloud.open("shop", [site.url("/").unwrap()]).await.unwrap();
    at(&cloud, &site, "login()").await;
    assert_eq!(at(&cloud, &site, "rotate()").await, "logged in");
    baton(&cloud, &["save", "shop"]).success();
    // The hosted node takes the session; the cloud's takes it back without being able to ask.
    baton(&hosted, &["sync", "run"]).success();
    baton(&hosted, &["sessions", "resume", "shop"]).success();
    assert_eq!(at(&hosted, &site, "rotate()").await, "logged in");
    baton(&cloud, &["sessions", "resume", "shop"]).success();
    // There the token was used already: that login is over, and its agent logs in anew.
    let refused = at(&cloud, &site, "rotate()").await;
    assert!(refused.starts_with("401 stolen"), "{refused}");
    for test_node in [&hosted, &cloud] {
        at(test_node, &site, "login()").await;
        assert_eq!(at(test_node, &site, "rotate()").await, "logged in");
        baton(test_node, &["save", "shop"]).success();
        baton(test_node, &["sessions", "close", "shop"]).success();
    }
    baton(&hosted, &["sync", "run"]).code(4);
    baton(&hosted, &["sessions", "resume", "shop"]).success();
    assert_eq!(at(&hosted, &site, "rotate()").await, "logged in", "the one that counts works");
    baton(&hosted, &["sessions", "close", "shop"]).success();
    // The other one is whole too, for whoever wants it.
    let conflicts = said(&baton(&hosted, &["sync", "conflicts"]).success());
    let siblings = conflicts["items"][0]["siblings"].as_array().unwrap();
    let other = siblings.iter().map(|one| one["rev"].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(other.len(), 1, "{conflicts}");
    baton(&hosted, &["sync", "resolve", "shop", "--keep", &other[0][..12]]).success();
    baton(&hosted, &["sessions", "resume", "shop"]).success();
    assert_eq!(at(&hosted, &site, "rotate()").await, "logged in", "so does the one that was kept");
    cloud.clear().await.unwrap();
    hosted.clear().await.unwrap();
}
