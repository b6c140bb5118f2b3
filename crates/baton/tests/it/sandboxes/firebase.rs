//! A login that lives in IndexedDB: Firebase's own SDK, signed in over a crash, in a sandbox, and on another
//! node. Its server is ours, for the real one is not of this machine.

use super::apps::{App, take_along};
use axum::http::header::CONTENT_TYPE;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_playground::tools::{Firebase, NOTES};
use baton_playground::{Page, Site};
use baton_testing::rounds;
use serde_json::{Value, json};

/// The app: who is signed in stands in it, and so does what is noted.
const APP: &str = r#"<!doctype html><meta charset=utf-8><title></title><p id=who></p>
<script src=/sdk.js></script><script src=/notes.js></script>
<script>
  firebase.initializeApp({ apiKey: "key", projectId: "demo" });
  const auth = firebase.auth();
  auth.useEmulator(location.origin, { disableWarnings: true });
  const signIn = async () =>
    (await auth.signInWithEmailAndPassword("ada@example.test", "correct horse")).user.email;
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
        .route("/notes.js", get(async || ([(CONTENT_TYPE, "text/javascript")], NOTES)))
        .route("/favicon.ico", get(async || ""))
        .route(&format!("{toolkit}/accounts:signInWithPassword"), post(sign_in))
        .route(&format!("{toolkit}/accounts:lookup"), post(look_up))
        .route("/securetoken.googleapis.com/v1/token", post(refresh));
    Site::start(pages).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_in_a_database_comes_back_goes_into_a_sandbox_and_moves() {
    for _ in 0..rounds(1) {
        Box::pin(one_round()).await;
    }
}

/// With a site and nodes of its own.
async fn one_round() {
    let site = site().await;
    let port = site.url("/").unwrap().port().unwrap();
    // Under one address here and in sandboxes.
    let url = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let app = App { url, ports: vec![port], who: "ada@example.test" };
    let sign_in = async |page: &Page| {
        assert_eq!(page.evaluate::<String>("signIn()").await.unwrap(), "ada@example.test");
    };
    take_along(&app, sign_in).await;
}
