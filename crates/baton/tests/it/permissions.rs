//! What sites may do comes back: after a crash, on another disk, and in another test node.

use crate::test_nodes::test_node;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::{FileText, ImportSession, OpenSession};
use baton_playground::{Page, Site, TestNode};
use baton_session::permission::Setting;
use baton_session::receipt::{ItemKind, Outcome, Source, Verified};
use baton_session::{Permission, Receipt, SessionId};
use serde_json::{Value, json};
use url::Url;

const MAY: &str = "Promise.all(['notifications', 'geolocation', 'camera'].map((name) =>
    navigator.permissions.query({ name }))).then((all) => all.map(({ state }) => state).join())";

async fn site() -> (Site, Url) {
    let page = axum::routing::get(async || axum::response::Html("<title>here</title>"));
    let site = Site::start(axum::Router::new().route("/", page)).await.unwrap();
    let url = site.url_on("a", "/").unwrap();
    (site, url)
}

/// Opens a session whose site may show notifications, and another one use the camera.
async fn open(test_node: &TestNode, site: &Site, url: &Url) -> SessionId {
    let other = site.url_on("b", "/").unwrap();
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(test_node.data().path()).args([
        "open",
        url.as_str(),
        "--name",
        "may",
    ]);
    command.args([
        "--allow",
        &format!("notifications={url}"),
        "--allow",
        &format!("camera={other}"),
    ]);
    command.write_stdin("").assert().success();
    test_node.client().unwrap().fetch_session("may").await.unwrap().session.id
}

async fn may(test_node: &TestNode, id: SessionId, url: &Url) -> String {
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for("document.readyState === 'complete'").await.unwrap();
    page.evaluate(MAY).await.unwrap()
}

/// Each permission of a receipt: which, where from, how verified.
fn lines(receipt: &Receipt) -> Vec<(String, Source, Verified)> {
    let items = receipt.items.iter().filter(|item| item.kind == ItemKind::Permission);
    items
        .map(|item| {
            assert_eq!(item.outcome, Outcome::Restored, "{item:?}");
            let (name, _) = item.place.split_once(' ').unwrap();
            (name.to_owned(), item.source, item.verified)
        })
        .collect()
}

async fn resume(test_node: &TestNode) -> Receipt {
    let resumed = test_node.client().unwrap().resume_session("may").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    assert!(!receipt.has_losses(), "{receipt:#?}");
    receipt
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn permissions_come_back_after_a_crash_and_on_another_disk() {
    let (site, url) = site().await;
    let mut test_node = test_node().await;
    let id = open(&test_node, &site, &url).await;
    assert_eq!(may(&test_node, id, &url).await, "granted,prompt,prompt");
    let (camera, notifications) = ("camera".to_owned(), "notifications".to_owned());
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(test_node.data().path()).args(["sessions", "show", "may"]);
    let shown = command.assert().success().get_output().stdout.clone();
    let shown = String::from_utf8(shown).unwrap();
    let line = format!("notifications  allow  {}", url.origin().ascii_serialization());
    assert!(shown.lines().any(|shown| shown.trim_end() == line), "{shown}");

    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.start_node().await.unwrap();
    assert_eq!(
        lines(&resume(&test_node).await),
        [
            (camera.clone(), Source::Disk, Verified::Disk),
            (notifications.clone(), Source::Disk, Verified::Page),
        ]
    );
    assert_eq!(may(&test_node, id, &url).await, "granted,prompt,prompt");

    test_node.kill_everybody(&[id]).await.unwrap();
    test_node.take_files_away(id).unwrap();
    test_node.start_node().await.unwrap();
    assert_eq!(
        lines(&resume(&test_node).await),
        [
            (camera, Source::Snapshot, Verified::None),
            (notifications, Source::Snapshot, Verified::Page)
        ]
    );
    assert_eq!(may(&test_node, id, &url).await, "granted,prompt,prompt");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_allowed_at_an_open_is_decided_then_whatever_the_caller_says() {
    let (_site, url) = site().await;
    let test_node = test_node().await;
    let mut request = OpenSession::new("may".parse().unwrap(), [url.clone()]);
    let next_century = 4_102_444_800_000_000;
    request.environment.permissions = vec![Permission {
        name: "notifications".to_owned(),
        origin: url.origin().ascii_serialization(),
        setting: Setting::Allow,
        changed: Some(next_century),
    }];
    let client = test_node.client().unwrap();
    let id = client.open_session(&request).await.unwrap().session.id;
    assert_eq!(may(&test_node, id, &url).await, "granted,prompt,prompt");
    let query = baton_api::ExportSession { format: baton_api::ExportFormat::Session, deep: false };
    let file = client.export_session("may", &query).await.unwrap().file;
    let document: Value = serde_json::from_str(file.as_str()).unwrap();
    let kept = &document["state"]["environment"]["permissions"][0];
    assert_eq!(kept["name"], "notifications");
    assert!(kept["changed"].as_i64().is_none_or(|at| at < next_century), "{kept}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_of_the_browser_that_are_damaged_cost_the_permissions_only() {
    let (site, url) = site().await;
    let mut test_node = test_node().await;
    let id = open(&test_node, &site, &url).await;
    test_node.kill_everybody(&[id]).await.unwrap();
    let settings = test_node.data().profile(id).join("Default/Preferences");
    std::fs::write(&settings, "{damaged").unwrap();
    test_node.start_node().await.unwrap();
    let resumed = test_node.client().unwrap().resume_session("may").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    let losses: Vec<_> = receipt.losses().collect();
    assert_eq!(losses.len(), 2, "{losses:#?}");
    for loss in losses {
        assert_eq!((loss.kind, loss.outcome), (ItemKind::Permission, Outcome::Rejected));
        assert!(loss.reason.as_ref().unwrap().contains("left as they are"), "{loss:?}");
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_file_carries_permissions_and_bad_ones_cost_themselves_only() {
    let (site, url) = site().await;
    let first = test_node().await;
    open(&first, &site, &url).await;
    let client = first.client().unwrap();
    let query = baton_api::ExportSession { format: baton_api::ExportFormat::Session, deep: false };
    let file = client.export_session("may", &query).await.unwrap().file;
    first.clear().await.unwrap();

    let mut document: Value = serde_json::from_str(file.as_str()).unwrap();
    let permissions = &mut document["state"]["environment"]["permissions"];
    let names: Vec<_> = permissions.as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["camera", "notifications"]);
    for (name, origin) in [("geolocation", "https://*"), ("sudo", "https://app.test")] {
        let bad = json!({ "name": name, "origin": origin, "setting": Setting::Allow });
        permissions.as_array_mut().unwrap().push(bad);
    }
    document["sync"].as_object_mut().unwrap().remove("checksum");
    let second = test_node().await;
    let file = FileText::new(document.to_string()).unwrap();
    let request = ImportSession { name: None, description: None, file };
    let imported = second.client().unwrap().import_session(&request).await.unwrap();
    let left: Vec<_> = imported.left_out.items.iter().map(|item| item.place.as_str()).collect();
    assert_eq!(left, ["geolocation https://*", "sudo https://app.test"]);
    let id = imported.session.session.id;
    assert_eq!(lines(&resume(&second).await).len(), 2);
    assert_eq!(may(&second, id, &url).await, "granted,prompt,prompt");
    second.clear().await.unwrap();
}
