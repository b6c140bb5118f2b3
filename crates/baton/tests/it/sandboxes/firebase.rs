//! A login that lives in IndexedDB: Firebase's own SDK, signed in over a crash, in a sandbox, and on another
//! node. Its server is ours, for the real one is not of this machine.

use super::agent::tools;
use super::scene::{Scene, reference};
use crate::test_nodes::test_node;
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::sandbox::CreateSandbox;
use baton_api::{ExportFormat, ExportSession, ImportSession, OpenSession};
use baton_playground::tools::{Firebase, Npm};
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use serde_json::{Value, json};
use url::Url;

/// The app: who is signed in stands in it, and so does what was noted.
const APP: &str = r#"<!doctype html><meta charset=utf-8><title></title><p id=who></p>
<script src=/sdk.js></script>
<script>
  firebase.initializeApp({ apiKey: "key", projectId: "demo" });
  const auth = firebase.auth();
  auth.useEmulator(location.origin, { disableWarnings: true });
  const signIn = async () =>
    (await auth.signInWithEmailAndPassword("ada@example.test", "correct horse")).user.email;
  const opened = () => new Promise((resolve, reject) => {
    const request = indexedDB.open("notes", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("notes", { autoIncrement: true });
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const note = async (text) => {
    const database = await opened();
    const transaction = database.transaction("notes", "readwrite", { durability: "strict" });
    transaction.objectStore("notes").add(text);
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    database.close();
    return "noted";
  };
  const notes = async () => {
    const database = await opened();
    const request = database.transaction("notes").objectStore("notes").getAll();
    await new Promise((resolve) => (request.onsuccess = resolve));
    database.close();
    return request.result.join();
  };
  auth.onAuthStateChanged((user) => {
    document.getElementById("who").textContent = user ? user.email : "nobody";
    document.title = user ? user.email : "nobody";
  });
</script>"#;

/// A token as Firebase gives out, for an hour.
fn token() -> String {
    let now = jiff::Timestamp::now().as_second();
    let body = json!({"sub": "u1", "user_id": "u1", "iat": now, "exp": now + 3600});
    let part = |json: Value| URL_SAFE_NO_PAD.encode(json.to_string());
    format!("{}.{}.c2ln", part(json!({"alg": "none"})), part(body))
}

/// The app, and what of Firebase's server it asks.
async fn site() -> Site {
    let script = Firebase::install().await.unwrap().script().unwrap();
    let sign_in = async |Json(asked): Json<Value>| {
        assert_eq!(asked["password"], "correct horse");
        Json(json!({
            "localId": "u1", "email": asked["email"], "registered": true, "idToken": token(),
            "refreshToken": "r1", "expiresIn": "3600",
        }))
    };
    let look_up = async || {
        let user = json!({
            "localId": "u1", "email": "ada@example.test", "emailVerified": true,
            "providerUserInfo": [], "createdAt": "1", "lastLoginAt": "1",
        });
        Json(json!({ "users": [user] }))
    };
    let refresh = async || {
        Json(json!({
            "access_token": token(), "id_token": token(), "refresh_token": "r1",
            "expires_in": "3600", "user_id": "u1", "project_id": "demo",
        }))
    };
    let toolkit = "/identitytoolkit.googleapis.com/v1";
    let pages = Router::new()
        .route("/", get(async || Html(APP)))
        .route("/sdk.js", get(async move || ([(CONTENT_TYPE, "text/javascript")], script.clone())))
        .route("/favicon.ico", get(async || ""))
        .route(&format!("{toolkit}/accounts:signInWithPassword"), post(sign_in))
        .route(&format!("{toolkit}/accounts:lookup"), post(look_up))
        .route("/securetoken.googleapis.com/v1/token", post(refresh));
    Site::start(pages).await.unwrap()
}

/// What the app shows in the session's own browser: who, and the notes.
async fn shown(test_node: &TestNode, id: SessionId, url: &Url) -> (String, String) {
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for("document.title !== ''").await.unwrap();
    (page.evaluate("document.title").await.unwrap(), page.evaluate("notes()").await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_in_a_database_comes_back_goes_into_a_sandbox_and_moves() {
    come_back_go_in_and_move(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it takes minutes; cargo xtask soak runs it"]
async fn three_logins_in_a_database_come_back_go_into_a_sandbox_and_move() {
    come_back_go_in_and_move(3).await;
}

/// Tells the story so often, each time with nodes and a site of its own.
async fn come_back_go_in_and_move(rounds: u32) {
    for _ in 0..rounds {
        Box::pin(one_round()).await;
    }
}

async fn one_round() {
    let npm = Npm::install().await.unwrap();
    let mut scene = Scene::set_at(site().await, &tools(&npm)).await;
    // Under one address here and in sandboxes.
    let port = scene.site.url("/").unwrap().port().unwrap();
    let url: Url = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let ada = |notes: &str| ("ada@example.test".to_owned(), notes.to_owned());

    let request = OpenSession::new("app".parse().unwrap(), [url.clone()]);
    let id = scene.client().open_session(&request).await.unwrap().session.id;
    let page = Page::attach(&scene.test_node.keeper_socket(id), url.as_str()).await.unwrap();
    assert_eq!(page.evaluate::<String>("signIn()").await.unwrap(), "ada@example.test");
    assert_eq!(page.evaluate::<String>("note('here')").await.unwrap(), "noted");
    drop(page);
    scene.client().capture_session("app").await.unwrap();
    scene.test_node.kill_everybody(&[id]).await.unwrap();
    scene.test_node.start_node().await.unwrap();
    scene.client().resume_session("app").await.unwrap();
    assert_eq!(shown(&scene.test_node, id, &url).await, ada("here"));
    scene.client().close_session("app").await.unwrap();

    // The sandbox starts signed in, and what changes there is back afterwards.
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("app")),
        domains: vec!["127.0.0.1".to_owned()],
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let handed = sandbox.browser_session.as_ref().unwrap();
    assert!(!handed.receipt.has_losses_of_a_profile(), "{:#?}", handed.receipt);
    let opened = format!("$AB open {url} >&2 && $AB wait --fn \"document.title !== ''\" >&2");
    scene.says(&sandbox, &opened).await;
    assert_eq!(scene.says(&sandbox, "$AB get text '#who'").await, "ada@example.test");
    assert_eq!(scene.says(&sandbox, "$AB eval \"note('there')\"").await, "\"noted\"");
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    assert!(ended.left_out.items.is_empty(), "{:#?}", ended.left_out);
    scene.client().resume_session("app").await.unwrap();
    assert_eq!(shown(&scene.test_node, id, &url).await, ada("here,there"));
    scene.client().close_session("app").await.unwrap();

    // On another node, too.
    let export = ExportSession { format: ExportFormat::Session, deep: false };
    let file = scene.client().export_session("app", &export).await.unwrap().file;
    let away = test_node().await;
    let import = ImportSession { name: None, description: None, file };
    let id = away.client().unwrap().import_session(&import).await.unwrap().session.session.id;
    away.client().unwrap().resume_session("app").await.unwrap();
    assert_eq!(shown(&away, id, &url).await, ada("here,there"));
    away.client().unwrap().close_session("app").await.unwrap();
    away.clear().await.unwrap();
    scene.strike().await;
}
