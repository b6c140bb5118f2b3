//! Sessions that another service keeps: a Baton of somebody else, and services that do not behave.

use super::scene::{Scene, refused};
use crate::test_nodes::{build, start};
use axum::http::StatusCode;
use axum::response::Redirect;
use axum::routing::get;
use axum::{Json, Router};
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_api::{CreateKey, FileText, ImportSession, Scope};
use baton_playground::{Site, TestNode};
use serde_json::json;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

fn kept_at(url: &str, session: &str) -> CreateSandbox {
    let session = BrowserSession {
        session_service_url: Some(url.to_owned()),
        ..BrowserSession::reference(session)
    };
    CreateSandbox { browser_session: Some(session), ..CreateSandbox::default() }
}

/// Settings that name services, with a file that holds the key for them.
fn settings(test_node: &TestNode, key: &str, urls: &[&str]) -> String {
    let file = test_node.data().path().join("service.key");
    std::fs::write(&file, key).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let one = |url: &&str| {
        let file = file.display();
        format!("[[sandboxes.session_services]]\nurl = \"{url}\"\nkey_file = \"{file}\"\n")
    };
    urls.iter().map(one).collect()
}

/// A Baton that keeps sessions for others, and a key that reads their secrets.
async fn keeper(scene: &Scene) -> (TestNode, String) {
    let test_node = start(build()).await;
    let request = ImportSession {
        name: Some("shop".parse().unwrap()),
        description: None,
        file: FileText::new(scene.state().to_string()).unwrap(),
    };
    let client = test_node.client().unwrap();
    client.import_session(&request).await.unwrap();
    let request = CreateKey {
        name: "for sandboxes".to_owned(),
        owner: None,
        scopes: BTreeSet::from([Scope::Read, Scope::Reveal]),
        for_node: None,
    };
    let key = client.create_key(&request).await.unwrap();
    (test_node, key.secret)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_another_baton_keeps_is_handed_in() {
    let mut scene = Scene::set().await;
    let (other, key) = keeper(&scene).await;
    let url = format!("{}sessions", other.client().unwrap().base());
    let url = url.replace("127.0.0.1", "localhost");
    let services = settings(&scene.test_node, &key, &[&url]);
    scene.settle(&format!("[outbound]\nallow = [\"localhost\"]\n{services}")).await;
    let sandbox = scene.client().create_sandbox(&kept_at(&url, "shop")).await.unwrap();
    let handed = sandbox.browser_session.clone().unwrap();
    assert_eq!((handed.writes_back, handed.logins[0].domain.as_str()), (false, "host"));
    scene.says(&sandbox, "test -f .browser-profile/Default/Cookies").await;
    let nobody = refused(scene.client().create_sandbox(&kept_at(&url, "nobody")).await);
    assert_eq!(nobody.code.as_str(), "session_not_found");
    scene.end(&sandbox).await;
    other.clear().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_a_service_wraps_is_taken_out() {
    let mut scene = Scene::set().await;
    let wrapped = json!({
        "id": "shop", "storageState": scene.state(), "domains": ["host"],
        "expiresAt": "2099-01-01T00:00:00Z",
    });
    let answer = move || async move { Json(wrapped) };
    let site = Site::start(Router::new().route("/kept/{id}/state", get(answer))).await.unwrap();
    let url = site.url("/kept").unwrap().to_string().replace("127.0.0.1", "localhost");
    let services = settings(&scene.test_node, "a key", &[&url]);
    scene.settle(&format!("[outbound]\nallow = [\"localhost\"]\n{services}")).await;
    let sandbox = scene.client().create_sandbox(&kept_at(&url, "shop")).await.unwrap();
    let handed = sandbox.browser_session.clone().unwrap();
    assert_eq!(handed.logins[0].domain, "host", "{handed:?}");
    scene.end(&sandbox).await;
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_does_not_behave_is_told_and_makes_no_sandbox() {
    let mut scene = Scene::set().await;
    let elsewhere = || async { Redirect::temporary("http://169.254.169.254/latest") };
    let pages = Router::new()
        .route("/moved/{id}/state", get(elsewhere))
        .route("/denied/{id}/state", get(|| async { StatusCode::FORBIDDEN }))
        .route("/broken/{id}/state", get(|| async { "no JSON" }))
        .route("/hidden/{id}/state", get(|| async { r#"{"redacted": true, "state": {}}"# }));
    let site = Site::start(pages).await.unwrap();
    let url = |path: &str| site.url(path).unwrap().to_string().replace("127.0.0.1", "localhost");
    let kinds = ["/moved", "/denied", "/broken", "/hidden"].map(url);
    let dead = "http://localhost:1/sessions".to_owned();
    let private = "http://127.0.0.1:1/sessions".to_owned();
    let urls: Vec<&str> = kinds.iter().chain([&dead, &private]).map(String::as_str).collect();
    let services = settings(&scene.test_node, "a key", &urls);
    scene.settle(&format!("[outbound]\nallow = [\"localhost\"]\n{services}")).await;
    let base = url("/");
    let say = async |url: &str| {
        let problem = refused(scene.client().create_sandbox(&kept_at(url, "shop")).await);
        format!("{} {}: {}", problem.status, problem.code.as_str(), problem.detail)
            .replace(&base, "SITE/")
    };
    insta::assert_snapshot!(say(&private).await, @"403 address_not_allowed: expected an address that this node may ask, found 127.0.0.1, which leads to the private address 127.0.0.1");
    insta::assert_snapshot!(say("http://169.254.169.254/").await, @"403 address_not_allowed: expected a service that the settings name for you, found another one");
    insta::assert_snapshot!(say(&kinds[0]).await, @"502 session_service_failed: the session service at SITE/moved gives no session: it sends us elsewhere, where we do not go");
    insta::assert_snapshot!(say(&kinds[1]).await, @"502 session_service_failed: the session service at SITE/denied gives no session: it refuses our key");
    insta::assert_snapshot!(say(&kinds[2]).await, @"502 session_service_failed: the session service at SITE/broken gives no session: this is a text of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt");
    insta::assert_snapshot!(say(&kinds[3]).await, @"502 session_service_failed: the session service at SITE/hidden gives no session: its answer has no secrets: its key for us lacks the scope reveal");
    insta::assert_snapshot!(say(&dead).await, @"502 session_service_failed: the session service at http://localhost:1/sessions gives no session: Connection refused (os error 111)");
    assert!(scene.client().list_sandboxes().await.unwrap().items.is_empty());
    scene.strike().await;
}
