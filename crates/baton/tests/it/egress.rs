//! A session whose browser may reach some hosts alone: it stays so after a death, and people see what was
//! refused.

use crate::damage::Database;
use crate::test_nodes::test_node;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::{ErrorCode, OpenSession};
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::state::Egress;
use std::net::TcpListener;
use url::Url;

/// A shop, on a free port.
async fn shop() -> (Site, Url) {
    let page = get(async || Html("<title>shop</title><p>signed in</p>"));
    let site = Site::start(Router::new().route("/", page)).await.unwrap();
    let url = site.url_on("shop", "/").unwrap();
    (site, url)
}

/// What a wish to open a session with this way out looks like.
fn opens(url: &Url, egress: Egress) -> OpenSession {
    let mut request = OpenSession::new("shop".parse().unwrap(), [url.clone()]);
    request.environment.egress = Some(egress);
    request
}

/// Whether a page of the session gets anything from there.
async fn reaches(test_node: &TestNode, id: SessionId, shop: &Url, url: &str) -> bool {
    let page = Page::attach(&test_node.keeper_socket(id), shop.as_str()).await.unwrap();
    let load = format!(
        "new Promise((done) => {{
            const image = new Image();
            image.onload = () => done('came'); image.onerror = () => done('failed');
            image.src = '{url}';
        }})"
    );
    page.evaluate::<String>(&load).await.unwrap() == "came"
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fence_holds_after_a_death_and_tells_what_it_refused() {
    let (_site, url) = shop().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("tracker.localhost:{}", other.local_addr().unwrap().port());
    let host = format!("shop.localhost:{}", url.port().unwrap());
    let mut test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let egress = Egress { only: vec![host.clone()], proxy: None };
    let id = client.open_session(&opens(&url, egress)).await.unwrap().session.id;

    let address = format!("http://{tracker}/pixel.png");
    assert!(!reaches(&test_node, id, &url, &address).await);
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    let resumed = client.resume_session("shop").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    let fence = receipt.items.iter().find(|item| item.place == "egress").unwrap();
    assert_eq!((fence.kind, fence.outcome), (ItemKind::Environment, Outcome::Restored));
    assert_eq!(resumed.session.tabs[0].title, "shop", "the shop itself is reached");
    assert!(!reaches(&test_node, id, &url, &address).await);
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");

    let view = client.fetch_session("shop").await.unwrap().egress.unwrap();
    assert_eq!(view.only, [host]);
    let refused = view.hosts.iter().find(|one| one.host.as_ref() == Some(&tracker)).unwrap();
    assert_eq!((refused.connections, refused.refused > 0), (0, true), "{refused:?}");
    let shown = show(&test_node);
    assert!(shown.contains(&format!("reaches {} alone", view.only[0])), "{shown}");
    assert!(shown.contains("NOT REACHED") && shown.contains(&tracker), "{shown}");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}

/// What a person is shown of the session.
fn show(test_node: &TestNode) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let run = command.arg("--data").arg(test_node.data().path()).args(["sessions", "show", "shop"]);
    String::from_utf8(run.assert().success().get_output().stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_no_browser_goes_out_without_its_fence() {
    let (_site, url) = shop().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("http://tracker.localhost:{}/", other.local_addr().unwrap().port());
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let only = vec![format!("shop.localhost:{}", url.port().unwrap())];
    let egress = Egress { only, proxy: None };
    let id = client.open_session(&opens(&url, egress)).await.unwrap().session.id;
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let write = "localStorage.kept = document.cookie = 'kept=1; max-age=9999'; true";
    assert!(page.evaluate::<bool>(write).await.unwrap());
    client.capture_session("shop").await.unwrap();
    client.close_session("shop").await.unwrap();

    let database = Database::Sqlite(test_node.data().database());
    let mut refused = 0;
    for part in database.parts(false) {
        database.flip(&part);
        match client.resume_session("shop").await {
            Ok(_) => {
                assert!(!reaches(&test_node, id, &url, &tracker).await);
                client.close_session("shop").await.unwrap();
            }
            // That which says where it may go is in all of its snapshots.
            Err(error) => {
                assert_eq!(error.code(), Some(ErrorCode::StorageDamaged), "{error}");
                refused += 1;
            }
        }
        database.flip(&part);
    }
    assert_eq!(refused, 1);
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_way_out_that_cannot_be_is_refused_before_anything_starts() {
    let (_site, url) = shop().await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let list = |only: &str| Egress { only: vec![only.to_owned()], proxy: None };
    let through = |proxy: &str| Egress { only: Vec::new(), proxy: Some(proxy.to_owned()) };
    for (egress, told) in [
        (list("http://shop.example"), "to be hosts such as example.org"),
        (list("*"), "to be hosts such as example.org"),
        (through("http://al:secret@proxy.example:3128"), "found some in it"),
        (through("ftp://proxy.example"), "to be a proxy such as http://HOST:PORT"),
    ] {
        let refused = client.open_session(&opens(&url, egress)).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::InvalidRequest), "{refused}");
        let refused = refused.to_string();
        assert!(refused.contains(told) && !refused.contains("secret"), "{refused}");
    }
    test_node.clear().await.unwrap();
}
