//! Somebody signs in at a site whose login has a name that says nothing, and what is new since then is known as the
//! login: by the command line, by an agent, and where a task needs one.

use super::gateway::Agency;
use super::gateway_bad::{ask, ends};
use super::scene::{Scene, reference, refused};
use assert_cmd::cargo::cargo_bin_cmd;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{AppendHeaders, Html, IntoResponse, Redirect};
use axum::routing::{get, post};
use baton_api::Login;
use baton_api::sandbox::CreateSandbox;
use baton_playground::{Page, Site};
use baton_session::SessionId;
use baton_session::login::Likelihood;
use jiff::Timestamp;
use serde_json::json;

/// An agent that says what it was told.
const ECHO: &str = "[[gateway.agents]]\nname = \"echo\"\ncommand = [\"cat\"]\nprompt = \"stdin\"\n";

/// What everybody gets at every visit: a tracker of a known name, a consent, and one of no known name that is
/// another each time.
const VISIT: &str = "<script>document.cookie = '_ga=' + Math.random() + '; path=/';
    document.cookie = 'cookieconsent=yes; path=/';
    document.cookie = 'trail=' + Math.random() + '; path=/';</script>";
const FORM: &str = r#"<form method="post" action="/in"><input id="password" name="password" type="password"></form>"#;

async fn home(headers: HeaderMap) -> Html<String> {
    let cookie = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Html(match cookie {
        text if text.contains("x7=") => format!("<title>Ada</title>{VISIT}"),
        text if text.contains("flash=") => format!("<title>Wrong</title>{VISIT}{FORM}"),
        _ => format!("<title>Sign in</title>{VISIT}{FORM}"),
    })
}

/// A script can read the cookie, and its name says nothing.
async fn sign_in(body: String) -> impl IntoResponse {
    let cookies = if body == "password=geheim" {
        [(SET_COOKIE, "x7=1; Path=/"), (SET_COOKIE, "flash=; Path=/; Max-Age=0")]
    } else {
        [(SET_COOKIE, "flash=1; Path=/"), (SET_COOKIE, "unread=1; Path=/; Max-Age=0")]
    };
    (AppendHeaders(cookies), Redirect::to("/"))
}

async fn sign_out() -> impl IntoResponse {
    ([(SET_COOKIE, "x7=; Path=/; Max-Age=0")], Redirect::to("/"))
}

/// A site that signs in by itself, and one that sends people on to it and has them back.
fn pages() -> Router {
    let leave = async || Html("<title>Shop</title><a id=go href='/to'>Sign in</a>");
    let to = async |headers: HeaderMap| Redirect::to(&beside(&headers, "id.localhost", "/ask"));
    let form = format!("<title>Provider</title>{}", FORM.replace("/in", "/answer"));
    let provider = async move || Html(form.clone());
    let answer = async |headers: HeaderMap| {
        let there = Redirect::to(&beside(&headers, "shop.localhost", "/back"));
        ([(SET_COOKIE, "own=1; Path=/")], there)
    };
    let back = async || ([(SET_COOKIE, "k=1; Path=/")], Html("<title>Shop of Ada</title>"));
    Router::new()
        .route("/", get(home))
        .route("/in", post(sign_in))
        .route("/out", get(sign_out))
        .route("/leave", get(leave))
        .route("/to", get(to))
        .route("/ask", get(provider))
        .route("/answer", post(answer))
        .route("/back", get(back))
        .route("/favicon.ico", get(|| async { "" }))
}

/// An address of the same server under another name.
fn beside(headers: &HeaderMap, host: &str, path: &str) -> String {
    let (_, port) = headers["host"].to_str().unwrap().rsplit_once(':').unwrap();
    format!("http://{host}:{port}{path}")
}

/// Enters a password, and waits for the page that answers.
async fn enters(page: &Page, password: &str, title: &str) {
    page.wait_for("document.readyState === 'complete' && !!document.getElementById('password')")
        .await
        .unwrap();
    page.type_into("password", password).await.unwrap();
    page.press_enter().await.unwrap();
    let there = format!("document.readyState === 'complete' && document.title === '{title}'");
    page.wait_for(&there).await.unwrap();
}

async fn page(scene: &Scene, id: SessionId, at: &str) -> Page {
    Page::attach(&scene.test_node.keeper_socket(id), at).await.unwrap()
}

/// Where the session is logged in, once it has been captured.
async fn logins(scene: &Scene) -> Vec<Login> {
    scene.client().capture_session("shop").await.unwrap();
    scene.client().list_logins("shop").await.unwrap().items
}

/// The only site where there is one: how likely, and what is new since a sign-in.
async fn only(scene: &Scene) -> (Likelihood, Vec<String>) {
    let mut found = logins(scene).await;
    let login = found.pop().unwrap();
    assert!(found.is_empty(), "{found:?}");
    let changes = login.sign_in.into_iter().flat_map(|seen| seen.changes);
    (login.likelihood, changes.flat_map(|one| one.names).collect())
}

fn without_day(told: &str) -> String {
    told.replace(&Timestamp::now().strftime("%Y-%m-%d").to_string(), "TODAY")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_new_since_a_password_was_entered_is_the_login() {
    let mut agency = Agency::open("", ECHO).await;
    let site = Site::start(pages()).await.unwrap();
    let address = site.url_on("bank", "/").unwrap();
    let scene = &agency.scene;
    let id = scene.test_node.open("shop", [address.clone()]).await.unwrap();
    let tab = page(scene, id, address.as_str()).await;
    tab.wait_for("document.cookie.includes('trail=')").await.unwrap();
    assert_eq!(only(scene).await, (Likelihood::Possible, vec![]));
    // The tracker is another one at each visit.
    tab.evaluate::<bool>("location.reload(); true").await.unwrap();
    assert_eq!(only(scene).await, (Likelihood::Possible, vec![]));
    // A password that is wrong signs nobody in, whatever is new.
    enters(&tab, "wrong", "Wrong").await;
    assert_eq!(only(scene).await, (Likelihood::Possible, vec![]));

    enters(&tab, "geheim", "Ada").await;
    let signed_in = (Likelihood::Likely, vec!["x7".to_owned()]);
    assert_eq!(only(scene).await, signed_in);
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(scene.test_node.data().path());
    let told = command.args(["sessions", "logins", "shop"]).assert().success();
    let told = String::from_utf8(told.get_output().stdout.clone()).unwrap();
    insta::assert_snapshot!(without_day(&told), @"
    SITE            LOGIN   KEPT       WHY
    bank.localhost  likely  4 cookies  1 cookie at bank.localhost is new (x7) since
                                       a password was entered there on TODAY
    ");

    // Visits later, and after a restart of the node, it is still known, and the tracker still is none.
    for _ in 0..2 {
        tab.evaluate::<bool>("location.reload(); true").await.unwrap();
        tab.wait_for("document.readyState === 'complete'").await.unwrap();
        assert_eq!(only(scene).await, signed_in);
    }
    agency.scene.test_node.kill_node().await.unwrap();
    agency.scene.test_node.start_node().await.unwrap();
    let scene = &agency.scene;
    assert_eq!(only(scene).await, signed_in);

    // An agent is told, and a task that needs a login gets it.
    scene.client().close_session("shop").await.unwrap();
    let question = json!([{"role": "user", "content": "Who am I?"}]);
    let request = json!({"model": "echo", "messages": question, "browser_session_id": "shop"});
    let (_, told) = ends(ask(scene, &request).await).await;
    let told = without_day(&told).replace(address.as_str().trim_end_matches('/'), "SITE");
    insta::assert_snapshot!(told, @"
    ## Browser Session

    You have an authenticated browser session available for the following domains:
    - bank.localhost: 1 cookie at bank.localhost is new (x7) since a password was entered there on TODAY

    To use this session, run agent-browser commands without manual login:
    ```bash
    agent-browser open SITE
    # You should already be logged in
    ```

    Who am I?
    ");
    let wanted = CreateSandbox {
        browser_session: Some(reference("shop")),
        domains: vec!["bank.localhost".to_owned()],
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&wanted).await.unwrap();
    let handed = sandbox.browser_session.as_ref().unwrap();
    assert_eq!(handed.logins[0].likelihood, Likelihood::Likely);
    scene.end(&sandbox).await;
    // What the sandbox gave back is still of that sign-in.
    let found = scene.client().list_logins("shop").await.unwrap().items;
    assert!(found[0].sign_in.is_some(), "{found:?}");

    // Signed out, it is gone; and what bears its name then is another one.
    scene.client().resume_session("shop").await.unwrap();
    let tab = page(scene, id, address.as_str()).await;
    tab.evaluate::<bool>("location.href = '/out'; true").await.unwrap();
    tab.wait_for("document.title === 'Sign in'").await.unwrap();
    assert_eq!(only(scene).await, (Likelihood::Possible, vec![]));
    tab.evaluate::<bool>("document.cookie = 'x7=2; path=/'; true").await.unwrap();
    assert_eq!(only(scene).await, (Likelihood::Possible, vec![]));
    agency.scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_at_a_provider_is_one_at_the_site_that_it_comes_back_to() {
    let agency = Agency::open("", ECHO).await;
    let site = Site::start(pages()).await.unwrap();
    let address = site.url_on("shop", "/leave").unwrap();
    let scene = &agency.scene;
    let id = scene.test_node.open("shop", [address.clone()]).await.unwrap();
    assert!(logins(scene).await.is_empty());
    // Where nothing is kept, a task that needs a login is refused.
    let wanted = CreateSandbox {
        browser_session: Some(reference("shop")),
        domains: vec!["shop.localhost".to_owned()],
        ..CreateSandbox::default()
    };
    let told = refused(scene.client().create_sandbox(&wanted).await);
    insta::assert_snapshot!(told.detail, @"expected a login for shop.localhost, found neither a cookie nor anything stored");
    let tab = page(scene, id, address.as_str()).await;
    tab.evaluate::<bool>("document.getElementById('go').click(); true").await.unwrap();
    tab.wait_for("document.title === 'Provider'").await.unwrap();
    assert!(logins(scene).await.is_empty());
    enters(&tab, "geheim", "Shop of Ada").await;
    let found = logins(scene).await;
    assert!(found.iter().all(|one| one.likelihood == Likelihood::Likely), "{found:?}");
    let told = found.iter().filter_map(|one| one.sign_in.as_ref());
    let told: Vec<_> = told.map(|seen| without_day(&seen.changed)).collect();
    insta::assert_snapshot!(told.join("\n"), @"
    1 cookie at shop.localhost is new (k) since a password was entered there on TODAY
    1 cookie at id.localhost is new (own) since a password was entered there on TODAY
    ");
    agency.scene.strike().await;
}
