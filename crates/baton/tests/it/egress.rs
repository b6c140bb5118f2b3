//! A session whose browser may reach some hosts alone: it stays so after a death, and people see what was
//! refused.

use crate::damage::Database;
use crate::mcp::{agent, call};
use crate::test_nodes::{self, test_node};
use crate::two_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::debug::{NetworkFilters, Wait};
use baton_api::{
    Client, CreateKey, ErrorCode, ExportFormat, ExportSession, ImportSession, OpenSession, Scope,
    SwitchDebug,
};
use baton_playground::{Page, Site, TestNode};
use baton_session::egress::Egress;
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{PeerLimits, SessionId};
use serde_json::json;
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

/// What a page is called once it is there.
const TITLE: &str = "new Promise((done) => {
    const tell = () => done(document.title);
    if (document.readyState === 'complete') tell(); else addEventListener('load', tell);
})";

async fn title(test_node: &TestNode, id: SessionId, url: &Url) -> String {
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.evaluate(TITLE).await.unwrap()
}

/// Whether a page of the session gets anything from there.
async fn reaches(test_node: &TestNode, id: SessionId, shop: &Url, url: &str) -> bool {
    let page = Page::attach(&test_node.keeper_socket(id), shop.as_str()).await.unwrap();
    gets(&page, url).await
}

/// Whether a page gets anything from there.
async fn gets(page: &Page, url: &str) -> bool {
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
    let egress = Egress { only: vec![host.clone()], ..Egress::default() };
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
    assert_eq!(title(&test_node, id, &url).await, "shop", "the shop itself is reached");
    assert!(!reaches(&test_node, id, &url, &address).await);
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");

    // A login came with the session that the list has forgotten.
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let cookie = json!({
        "name": "sessionid", "value": "a1b2c3d4e5f6a7b8", "url": "https://login.bank.example/",
        "httpOnly": true, "expires": 9_999_999_999_u64,
    });
    page.session().call("Network.setCookie", cookie).await.unwrap();
    client.capture_session("shop").await.unwrap();
    let view = client.fetch_session("shop").await.unwrap().egress.unwrap();
    assert_eq!((view.only, view.shut_out), (vec![host.clone()], vec!["bank.example".to_owned()]));
    let refused = view.hosts.iter().find(|one| one.host.as_ref() == Some(&tracker)).unwrap();
    assert_eq!((refused.connections, refused.refused > 0), (0, true), "{refused:?}");
    let shown = show(&test_node);
    assert!(shown.contains(&format!("reaches {host} alone")), "{shown}");
    assert!(shown.contains("signed in at bank.example, which it may not reach"), "{shown}");
    assert!(shown.contains("NOT REACHED") && shown.contains(&tracker), "{shown}");
    let fetch = "fetch('/', { cache: 'no-store' }).then((it) => it.text()).then((it) => it.length)";
    assert!(page.evaluate::<u64>(fetch).await.unwrap() > 0);
    client.switch_debug("shop", SwitchDebug { on: true, reveal: false }).await.unwrap();
    let tabs = client.list_tabs().await.unwrap().items;
    let found = client
        .get_network(&tabs[0].token, &NetworkFilters::default(), Wait::default())
        .await
        .unwrap();
    let refused = found.not_reached.iter().find(|one| one.host.as_ref() == Some(&tracker)).unwrap();
    assert!(refused.refused > 0 && refused.why.is_some(), "{refused:?}");
    assert!(found.not_reached.iter().all(|one| one.host.as_ref() != Some(&host)), "{found:?}");
    let reached = found.hosts.iter().find(|one| one.host.as_ref() == Some(&host)).unwrap();
    assert!(reached.connections > 0 && reached.received > 0, "{reached:?}");
    let shown = baton(&test_node, &["debug", "network", tabs[0].token.as_str()]);
    assert!(shown.contains("NOT REACHED") && shown.contains(&tracker), "{shown}");
    assert!(shown.contains("SENT") && shown.contains("RECEIVED"), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with(&host) && line.ends_with('B')), "{shown}");
    client.close_session("shop").await.unwrap();

    // A person who brings it here in a file is told at once, and so is an agent that resumes it.
    let file = test_node.folder().join("shop.json");
    baton(&test_node, &["export", "shop", "--output", file.to_str().unwrap()]);
    let shown = baton(&test_node, &["import", file.to_str().unwrap(), "--name", "copy"]);
    assert!(shown.contains("signed in at bank.example, which it may not reach"), "{shown}");
    let agent = agent(&test_node).await;
    let told = call(&agent, "session_resume", json!({"sessionId": "copy"})).await;
    let line = "Signed in at bank.example, which it may not reach: its list has no such host.";
    assert!(told.starts_with("copy is active.") && told.lines().any(|told| told == line), "{told}");
    let told = call(&agent, "session_close", json!({"sessionId": "copy"})).await;
    assert!(told.starts_with("copy is closed."), "{told}");
    agent.close().await.unwrap();
    test_node.clear().await.unwrap();
}

/// What a person is shown of the session.
fn show(test_node: &TestNode) -> String {
    baton(test_node, &["sessions", "show", "shop"])
}

/// What a person types.
fn baton(test_node: &TestNode, words: &[&str]) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let run = command.arg("--data").arg(test_node.data().path()).args(words);
    String::from_utf8(run.assert().success().get_output().stdout.clone()).unwrap()
}

/// Resumes a session at a node that did not open it: it reaches the shop, and the tracker not.
async fn fence_holds(test_node: &TestNode, name: &str, url: &Url, tracker: &str) {
    let client = test_node.client().unwrap();
    let id = client.resume_session(name).await.unwrap().session.session.id;
    assert_eq!(title(test_node, id, url).await, "shop", "{name}: the shop itself is reached");
    assert!(!reaches(test_node, id, url, &format!("http://{tracker}/pixel.png")).await, "{name}");
    let view = client.fetch_session(name).await.unwrap().egress.unwrap();
    assert_eq!(view.only, [format!("shop.localhost:{}", url.port().unwrap())], "{name}");
    let refused = view.hosts.iter().find(|one| one.host.as_deref() == Some(tracker)).unwrap();
    assert_eq!((refused.connections, refused.refused > 0), (0, true), "{name}: {refused:?}");
    client.close_session(name).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fence_goes_along_to_another_node_in_a_file_and_by_sync() {
    let (_site, url) = shop().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("tracker.localhost:{}", other.local_addr().unwrap().port());
    let story = two_nodes::Story::begin().await;
    let only = vec![format!("shop.localhost:{}", url.port().unwrap())];
    let egress = Egress { only, ..Egress::default() };
    let client = story.cloud.client().unwrap();
    client.open_session(&opens(&url, egress)).await.unwrap();
    two_nodes::baton(&story.cloud, &["save", "shop"]).success();
    two_nodes::baton(&story.cloud, &["sessions", "close", "shop"]).success();

    let export = ExportSession { format: ExportFormat::Session, deep: false };
    let file = client.export_session("shop", &export).await.unwrap().file;
    let name = Some("filed".parse().unwrap());
    let import = ImportSession { name, description: None, file };
    story.hosted.client().unwrap().import_session(&import).await.unwrap();
    fence_holds(&story.hosted, "filed", &url, &tracker).await;

    two_nodes::baton(&story.hosted, &["sync", "run"]).success();
    fence_holds(&story.hosted, "shop", &url, &tracker).await;
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fence_holds_at_a_peer_that_is_given_some_kinds_alone() {
    let (_site, url) = shop().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("tracker.localhost:{}", other.local_addr().unwrap().port());
    let story = two_nodes::Story::begin().await;
    let only = vec![format!("shop.localhost:{}", url.port().unwrap())];
    let client = story.cloud.client().unwrap();
    let peer = client.list_peers().await.unwrap().items.remove(0).node_id.to_string();
    let limits = json!({"give": {"kinds": ["cookies", "tabs"]}});
    let limits: PeerLimits = serde_json::from_value(limits).unwrap();
    client.limit_peer(&peer, &limits).await.unwrap();
    let egress = Egress { only, ..Egress::default() };
    client.open_session(&opens(&url, egress)).await.unwrap();
    two_nodes::baton(&story.cloud, &["save", "shop"]).success();
    two_nodes::baton(&story.cloud, &["sessions", "close", "shop"]).success();

    two_nodes::baton(&story.hosted, &["sync", "run"]).success();
    fence_holds(&story.hosted, "shop", &url, &tracker).await;
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_damaged_no_browser_goes_out_without_its_fence() {
    let (_site, url) = shop().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("http://tracker.localhost:{}/", other.local_addr().unwrap().port());
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let only = vec![format!("shop.localhost:{}", url.port().unwrap())];
    let egress = Egress { only, ..Egress::default() };
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
                // Its tab may be what is damaged.
                let page = Page::open(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
                page.wait_for("document.title === 'shop'").await.unwrap();
                assert!(!gets(&page, &tracker).await);
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
async fn a_node_that_can_read_no_snapshot_asks_the_keeper_where_the_session_may_go() {
    let (_site, url) = shop().await;
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let tracker = format!("http://tracker.localhost:{}/", other.local_addr().unwrap().port());
    let mut test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let only = vec![format!("shop.localhost:{}", url.port().unwrap())];
    let egress = Egress { only: only.clone(), ..Egress::default() };
    let id = client.open_session(&opens(&url, egress)).await.unwrap().session.id;

    test_node.kill_node().await.unwrap();
    let database = Database::Sqlite(test_node.data().database());
    database.parts(false).iter().for_each(|part| database.flip(part));
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    client.capture_session("shop").await.unwrap();
    let view = client.fetch_session("shop").await.unwrap();
    assert_eq!(view.egress.unwrap().only, only);
    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    client.resume_session("shop").await.unwrap();
    assert_eq!(title(&test_node, id, &url).await, "shop");
    assert!(!reaches(&test_node, id, &url, &tracker).await);
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "somebody came");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_way_out_that_cannot_be_is_refused_before_anything_starts() {
    let (_site, url) = shop().await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let list = |only: &str| Egress { only: vec![only.to_owned()], ..Egress::default() };
    let through = |proxy: &str| Egress { proxy: Some(proxy.to_owned()), ..Egress::default() };
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

/// Another owner, who may drive.
async fn key_of_bob(test_node: &TestNode) -> Client {
    let client = test_node.client().unwrap();
    let wanted = CreateKey {
        name: "bob".to_owned(),
        owner: Some("bob".parse().unwrap()),
        scopes: [Scope::Read, Scope::Drive].into(),
        for_node: None,
    };
    let key = client.create_key(&wanted).await.unwrap();
    Client::new(client.base().clone(), key.secret.into()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_owner_reaches_nothing_of_this_machine_that_it_does_not_lend() {
    let (_site, url) = shop().await;
    let service = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = service.local_addr().unwrap().port();
    let lent = format!("localhost:{}", url.port().unwrap());
    let mut test_node = test_nodes::build().with("BATON_BROWSER_PRIVATE_HOSTS", lent);
    test_node.start_node().await.unwrap();
    let bob = key_of_bob(&test_node).await;

    let all = Egress::default();
    let listed = Egress {
        only: ["localhost", "127.0.0.0/8", "[::1]", "shop.localhost"].map(str::to_owned).into(),
        ..Egress::default()
    };
    let through = Egress { proxy: Some(format!("http://127.0.0.1:{port}")), ..Egress::default() };
    for (asked, is_reached) in
        [(None, true), (Some(all), true), (Some(listed), true), (Some(through), false)]
    {
        let mut request = OpenSession::new("shop".parse().unwrap(), [url.clone()]);
        request.environment.egress.clone_from(&asked);
        let view = bob.open_session(&request).await.unwrap();
        let title = title(&test_node, view.session.id, &url).await;
        assert_eq!(title == "shop", is_reached, "{asked:?}: {title}");
        if is_reached {
            for host in ["127.0.0.1", "localhost", "a.localhost", "[::1]", "0x7f000001"] {
                let address = format!("http://{host}:{port}/");
                let came = reaches(&test_node, view.session.id, &url, &address).await;
                assert!(!came, "{asked:?}: {address}");
            }
        }
        let egress = bob.fetch_session("shop").await.unwrap().egress.unwrap();
        assert!(egress.internet_only);
        let why = egress.hosts.iter().filter_map(|host| host.why.as_deref()).collect::<Vec<_>>();
        let not_lent = "which the settings of this node do not list";
        assert!(why.iter().any(|why| why.contains(not_lent)), "{asked:?}: {why:?}");
        bob.close_session("shop").await.unwrap();
    }
    service.set_nonblocking(true).unwrap();
    assert!(service.accept().is_err(), "somebody came");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_every_browser_has_a_way_out_a_plain_session_tells_the_bytes_of_each_host() {
    let (_site, url) = shop().await;
    let host = format!("shop.localhost:{}", url.port().unwrap());
    let mut test_node = test_nodes::build().with("BATON_BROWSER_EGRESS", "always");
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();
    let id = test_node.open("shop", [url.clone()]).await.unwrap();
    assert_eq!(title(&test_node, id, &url).await, "shop");

    let view = client.fetch_session("shop").await.unwrap().egress.unwrap();
    assert_eq!((view.only.len(), view.proxy, view.internet_only), (0, None, false));
    let shop = view.hosts.iter().find(|one| one.host.as_ref() == Some(&host)).unwrap();
    assert!(shop.connections > 0 && shop.received > 0, "{shop:?}");
    assert_eq!((shop.refused, shop.failed), (0, 0), "{shop:?}");
    let shown = baton(&test_node, &["sessions", "show", "shop", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let hosts = shown["egress"]["hosts"].as_array().unwrap();
    let shop = hosts.iter().find(|one| one["host"] == host.as_str()).unwrap();
    assert!(shop["received"].as_u64().unwrap() > 0, "{shop}");
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}
