//! The guide to getting started, typed as it stands, with a browser that is killed where it says so.

use crate::guide::{Guide, Reader};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Site, victims};

const GUIDE: &str = include_str!("../../../../docs/guide/getting-started.md");

const LEFT_OUT: [(&str, &str); 2] = [
    ("# apt install chromium build-essential", "packages are the machine's, not a test's"),
    ("cargo install --path crates/baton", "the program is the one that was built for the tests"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_gets_a_session_back() {
    let page = get(|| async { Html("<title>shop</title><p>Welcome</p>") });
    let site = Site::start(Router::new().route("/", page)).await.unwrap();
    let site_address = site.url("").unwrap().to_string();
    let mut guide = Guide::read(GUIDE);
    let mut reader = Reader::new();
    reader.instead("https://example.org", site_address.trim_end_matches('/'));
    // A display is for readers who have one.
    reader.instead(" --headed", "");

    guide.leave_out(&LEFT_OUT);
    let installed = guide.section("Install");
    let (_, told) = reader.tries(&installed.last().unwrap().text);
    assert!(told.contains("browser"), "{told}");
    reader.follows(&guide.section("Open a session"));
    let listed = reader.types("baton sessions list");
    assert!(listed.contains("shop") && listed.contains("active"), "{listed}");
    reader.follows(&guide.section("Capture"));

    let victims: Vec<(&str, u32)> =
        reader.browsers().into_iter().map(|pid| ("browser", pid)).collect();
    assert!(!victims.is_empty(), "a browser runs");
    victims::kill_all(&victims).await.unwrap();
    let lost = async || reader.types("baton sessions list").contains("recoverable");
    crate::notes::eventually("the session is recoverable", lost).await;
    let said = reader.follows(&guide.section("Lose it"));
    let receipt = said.last().unwrap();
    assert!(receipt.contains("restored"), "{receipt}");

    reader.follows(&guide.section("End it"));
    let listed = reader.types("baton sessions list");
    assert!(!listed.contains("shop"), "{listed}");
    reader.types("baton stop");
    assert!(reader.browsers().is_empty(), "no browser is left");
    guide.end();
}
