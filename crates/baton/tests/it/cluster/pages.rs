//! A page behind a balancer: it is signed in at one node, and goes on at the other when that one is killed.

use super::{on_the_bus, start_with};
use crate::notes::LIMIT;
use baton_api::{PAGE_HEADER, PageSession, PageTicket};
use baton_playground::{Nats, TestNode};
use baton_testing::skip;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// What the balancer is called.
const HOST: &str = "agents.test";

/// A browser that the balancer leads to any node.
struct Browser {
    http: Client,
    cookie: String,
    value: String,
}

impl Browser {
    fn call(http: &Client, node: &TestNode, method: Method, path: &str) -> RequestBuilder {
        let url = node.client().unwrap().base().join(path).unwrap();
        http.request(method, url).header("host", HOST)
    }

    /// Opens a one-time address, which leads to this node.
    async fn open(node: &TestNode, ticket: &PageTicket) -> Result<Self, String> {
        let http = Client::builder().no_proxy().build().unwrap();
        let code = ticket.url.fragment().unwrap().strip_prefix("code=").unwrap();
        let call = Self::call(&http, node, Method::POST, "page/session");
        let answer = call.json(&json!({ "code": code })).send().await.unwrap();
        if answer.status() != 200 {
            let problem: Value = answer.json().await.unwrap();
            return Err(problem["detail"].as_str().unwrap().to_owned());
        }
        let cookie = answer.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let PageSession { value, .. } = answer.json().await.unwrap();
        Ok(Self { http, cookie, value })
    }

    async fn ask(&self, node: &TestNode, method: Method, path: &str) -> Response {
        let call = Self::call(&self.http, node, method, path).header("cookie", &self.cookie);
        call.header(PAGE_HEADER, &self.value).send().await.unwrap()
    }

    async fn status(&self, node: &TestNode) -> u16 {
        self.ask(node, Method::GET, "sessions").await.status().as_u16()
    }
}

async fn end(mut stream: Response) {
    let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(LIMIT, end).await.expect("the stream ends");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_goes_on_at_the_other_node_when_the_one_of_its_sign_in_is_killed() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let nats = Nats::start(program, None).await.unwrap();
    let settings = [
        ("BATON_CLUSTER_BUS_URL", nats.url()),
        ("BATON_CLUSTER_BUS_CREDENTIALS", nats.credentials().display().to_string()),
        ("BATON_PUBLIC_URL", format!("http://{HOST}")),
    ];
    let database = baton_postgres::create_database().unwrap();
    let mut own = start_with(&database, "own", &settings).await;
    let other = start_with(&database, "other", &settings).await;
    on_the_bus(&[&own, &other]).await;

    let ticket = own.client().unwrap().open_page().await.unwrap();
    let one = Browser::open(&other, &ticket).await.unwrap_or_else(|problem| panic!("{problem}"));
    let refused = Browser::open(&own, &ticket).await.err().unwrap();
    insta::assert_snapshot!(refused, @"expected a code that signs the page in, found one that does not count, or no longer");
    let ticket = own.client().unwrap().open_page().await.unwrap();
    let two = Browser::open(&own, &ticket).await.unwrap_or_else(|problem| panic!("{problem}"));
    let lost = own.client().unwrap().open_page().await.unwrap();
    for node in [&own, &other] {
        assert_eq!((one.status(node).await, two.status(node).await), (200, 200));
    }
    // What is open at the one ends when the page is signed out at the other.
    let stream = one.ask(&other, Method::GET, "events").await;
    assert_eq!(one.ask(&own, Method::DELETE, "page/session").await.status(), 204);
    let signed_out = Instant::now();
    end(stream).await;
    // The promise is a second; a busy machine has some more.
    assert!(signed_out.elapsed() < Duration::from_secs(4), "{:?}", signed_out.elapsed());

    let mut stream = two.ask(&other, Method::GET, "events").await;
    own.kill_node().await.unwrap();
    assert_eq!((one.status(&other).await, two.status(&other).await), (401, 200));
    // A code counts at its node alone; the page asks for another one.
    let refused = Browser::open(&other, &lost).await.err().unwrap();
    assert!(refused.ends_with("found one that does not count, or no longer"), "{refused}");
    let more = timeout(Duration::from_millis(100), stream.chunk()).await;
    assert!(!matches!(more, Ok(Ok(None) | Err(_))), "the stream goes on: {more:?}");

    own.start_node().await.unwrap();
    assert_eq!(two.status(&own).await, 200);
    assert_eq!(two.ask(&own, Method::DELETE, "page/session").await.status(), 204);
    end(stream).await;
    own.clear().await.unwrap();
    other.clear().await.unwrap();
}
