//! What is said when an upstream service cannot be shown.

use super::{Stand, raw, service, upstream_at};
use crate::fixture::LIMIT;
use axum::Router;
use axum::body::Body;
use axum::routing::{get, post};
use baton_testing::Nobody;
use futures_util::StreamExt as _;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep, timeout};

async fn told(stand: &Stand, place: &str) -> String {
    let answer = stand.get(place).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/problem+json");
    answer.text().await.unwrap()
}

#[tokio::test]
async fn a_cocoon_that_is_down_is_told_from_one_that_says_nonsense() {
    let nobody = Nobody::listens();
    let down = nobody.address();
    let nonsense = raw("HTTP/1.1 two hundred\r\n\r\n").await;
    let stand = Stand::of([upstream_at("down", down), upstream_at("nonsense", nonsense)]).await;
    let hide = |text: String| {
        text.replace(&down.to_string(), "DOWN").replace(&nonsense.to_string(), "ODD")
    };
    insta::assert_snapshot!(hide(told(&stand, "down/").await), @r#"{"detail":"expected the cocoon down at http://DOWN/ to answer, found that nothing answers there","hint":"check that it runs, and that its upstream is right","status":502,"title":"Bad Gateway","type":"about:blank"}"#);
    insta::assert_snapshot!(hide(told(&stand, "nonsense/").await), @r#"{"detail":"expected the cocoon nonsense at http://ODD/ to answer, found that its answer broke off or is no HTTP","hint":"check that it runs, and that its upstream is right","status":502,"title":"Bad Gateway","type":"about:blank"}"#);
    insta::assert_snapshot!(told(&stand, "none/").await, @r#"{"detail":"expected a cocoon, found none with the id none","hint":"the settings name the cocoons under [[cocoons]]","status":404,"title":"Not Found","type":"about:blank"}"#);
    let page = stand.get("down/").header("accept", "text/html").send().await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert!(page.text().await.unwrap().starts_with("<!doctype html>\n<title>Bad Gateway</title>"));
    stand.stop().await;
}

#[tokio::test]
async fn a_cocoon_that_stays_silent_is_not_waited_for_for_ever() {
    let address =
        service(Router::new().route("/", get(async || std::future::pending::<()>().await))).await;
    let stand = Stand::with([upstream_at("slow", address)], Duration::from_millis(50), None).await;
    let answer = stand.get("slow/").send().await.unwrap();
    assert_eq!(answer.status(), 504);
    assert!(answer.text().await.unwrap().contains("the cocoon slow to begin"));
    stand.stop().await;
}

#[tokio::test]
async fn an_upload_may_take_longer_as_long_as_it_moves() {
    const BYTES: usize = 10_000;
    let (came, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
    let count = async move |body: Body| {
        let (mut body, mut count) = (body.into_data_stream(), 0);
        while let Some(piece) = body.next().await {
            count += piece.unwrap().len();
            came.send(count).unwrap();
        }
        count.to_string()
    };
    let address = service(Router::new().route("/", post(count))).await;
    // Long beside a pause of this machine, and the upload takes longer.
    let limit = Duration::from_secs(4);
    let stand = Stand::with([upstream_at("shop", address)], limit, None).await;
    let mut stream = stand.begin_upload(BYTES).await;
    let (begun, mut sent) = (Instant::now(), 0);
    while begun.elapsed() < limit + limit / 4 {
        stream.write_all(b"x").await.unwrap();
        sent += 1;
        while timeout(LIMIT, arrivals.recv()).await.unwrap().unwrap() < sent {}
        sleep(Duration::from_millis(20)).await;
    }
    stream.write_all(&vec![b'x'; BYTES - sent]).await.unwrap();
    let mut answer = String::new();
    timeout(LIMIT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
    assert!(answer.ends_with(&format!("\r\n\r\n{BYTES}")), "{answer}");
    stand.stop().await;
}

#[tokio::test]
async fn a_request_must_be_meant_for_a_cocoon() {
    let nobody = Nobody::listens();
    let stand = Stand::of([upstream_at("shop", nobody.address())]).await;
    let status = async |head: &str| {
        let (_, answer) = stand.raw(&format!("GET {head}\r\n\r\n")).await;
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(status("/ HTTP/1.1\r\nHost: evil.test").await, "421");
    assert_eq!(status("/proxy/shop/ HTTP/1.1\r\nHost: 10.0.0.1").await, "421");
    assert_eq!(status("/ HTTP/1.1\r\nHost: localhost").await, "404");
    assert_eq!(status("/ HTTP/1.1").await, "400");
    assert_eq!(status("/ HTTP/1.1\r\nHost: shop.localhost\r\nHost: evil.test").await, "400");
    assert_eq!(status("http://evil.test/ HTTP/1.1\r\nHost: shop.localhost").await, "400");
    let large = format!("/ HTTP/1.1\r\nHost: shop.localhost\r\nX-Large: {}", "x".repeat(70_000));
    assert_eq!(status(&large).await, "431");
    assert_eq!(status("/ HTTP/1.1\r\nHost: shop.localhost").await, "502", "this one was");
    stand.stop().await;
}
