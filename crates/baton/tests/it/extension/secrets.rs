//! Secrets of a page stay in the browser: nobody who looks in finds them, and no file has them.

use super::busy::echo;
use super::scene::Scene;
use crate::notes::eventually;
use axum::Router;
use axum::http::header;
use axum::response::Html;
use axum::routing::{get, post};
use baton_playground::Site;
use serde_json::json;
use std::path::Path;

/// Where in the page each secret stands, and what it is; none of them is anywhere by chance.
const SECRETS: [(&str, &str); 9] = [
    ("TITLE", "Zq7-title-token"),
    ("PASSWORD", "Zq7-password"),
    ("COOKIE", "Zq7-cookie-of-script"),
    ("BEARER", "Zq7-bearer"),
    ("HEADER", "Zq7-api-key"),
    ("QUERY", "Zq7-query-token"),
    ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJacTcifQ.Zq7c2lnbmF0dXJl"),
    ("SOCKET", "Zq7-socket"),
    ("SESSION", "Zq7-session-cookie"),
];

fn secret(name: &str) -> &'static str {
    SECRETS.iter().find(|(known, _)| *known == name).unwrap().1
}

async fn service() -> Site {
    let page =
        SECRETS.iter().fold(include_str!("pages/secrets.html").to_owned(), |page, secret| {
            page.replace(secret.0, secret.1)
        });
    let cookie = format!("session={}", secret("SESSION"));
    let page = async move || ([(header::SET_COOKIE, cookie)], Html(page));
    let account = json!({ "name": "Ada Lovelace", "access_token": secret("BEARER") });
    let welcome =
        "<title>in</title><link rel=icon href=data:,><script>console.log('welcome')</script>";
    let pages = Router::new()
        .route("/", get(page))
        .route("/account", post(async move || axum::Json(account)))
        .route("/login", post(async move || Html(welcome)))
        .route("/echo", get(echo));
    Site::start(pages).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_of_a_page_is_told_logged_or_written() {
    let service = service().await;
    let scene = Scene::open(&service).await;
    let tab = scene.browser.open(scene.pages.as_str()).await;
    let token = scene.tab_with("title", "in").await;
    // Once more with the debugger there from the beginning, which has every header and every body.
    for times in 1..=2 {
        scene.hears_line(&token, "welcome", times).await;
        if times == 1 {
            tab.goto(scene.pages.as_str()).await;
        }
    }
    let said = everything(&scene, &token);
    for (name, secret) in SECRETS {
        let around =
            said.find(secret).map(|at| &said[said.floor_char_boundary(at.saturating_sub(200))..at]);
        assert_eq!(around, None, "{name} came out");
    }
    for file in files(scene.test_node.data().path()) {
        let bytes = std::fs::read(&file).unwrap_or_default();
        for (name, secret) in SECRETS {
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{name} is in {}", file.display());
        }
    }
    // What is around them is there, and scripts do not see the token of a page.
    for shown in
        ["Ada Lovelace", "user=ada&password=[redacted]", "access_token=[redacted]", "header null"]
    {
        assert!(said.contains(shown), "{shown} in {said}");
    }
    let whole = scene.asks(&["debug", "network", &token]);
    for request in whole["requests"].as_array().unwrap() {
        let found = request["response_headers"].get("x-adi-debug-token");
        let is_page = request["resource_type"] == "document" && request["method"] == "GET";
        assert!(found.is_none_or(|value| is_page && value == "[redacted]"), "{request}");
    }
    scene.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_ones_own_are_hidden_and_shown_in_tabs_of_the_extension() {
    let page = "<title>orders</title><link rel=icon href=data:,><script>
        const order = { order_ref: 'Zq7-order', pin: 'Zq7-pin', cvv: 'Zq7-cvv' };
        fetch('/order', { method: 'POST', body: JSON.stringify(order) })
            .then(() => console.log('ordered', order));
        </script>";
    let pages = Router::new()
        .route("/", get(async move || Html(page)))
        .route("/order", post(async || axum::Json(json!({ "pin": "Zq7-answer" }))));
    let service = Site::start(pages).await.unwrap();
    let settings = "[debug]\nredact = { names = [\"order_ref\"], allow = [\"pin\"] }\n";
    let scene = Scene::open_with(&service, settings).await;
    let tab = scene.browser.open(scene.pages.as_str()).await;
    let token = scene.tab_with("title", "orders").await;
    scene.hears_request(&token, "/order").await;
    // Once more with the debugger there from the beginning, which has every body.
    tab.goto(scene.pages.as_str()).await;
    let mut said = String::new();
    eventually("the tab told the order, its answer and its line", async || {
        said = everything(&scene, &token);
        said.contains("ordered") && said.contains("Zq7-answer")
    })
    .await;
    assert!(said.contains("Zq7-pin"), "what is allowed is shown: {said}");
    for hidden in ["Zq7-order", "Zq7-cvv"] {
        assert!(!said.contains(hidden), "{hidden} in {said}");
    }
    scene.clear().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_of_a_tab_are_shown_once_the_person_at_the_browser_says_so() {
    let service = service().await;
    let scene = Scene::open(&service).await;
    let tab = scene.browser.open(scene.pages.as_str()).await;
    let token = scene.tab_with("title", "in").await;
    scene.hears_line(&token, "welcome", 1).await;
    let network = ["debug", "network", &token, "--bodies"];
    let refused = scene.fails(&[&network[..], &["--reveal"]].concat());
    assert!(refused.contains("hidden before anything is kept"), "{refused}");

    let popup = scene.browser.popup().await;
    let button = "document.querySelector('#tabs .secrets')";
    popup.wait_for(&format!("{button}?.innerText === 'Send secrets too'")).await;
    popup.evaluate::<serde_json::Value>(&format!("{button}.click()")).await;
    let is_told =
        "document.querySelector('#tabs .facts').innerText.includes('Secrets of this tab')";
    popup.wait_for(is_told).await;
    assert!(scene.tabs()[0]["revealed"] == true);
    tab.goto(scene.pages.as_str()).await;
    scene.hears_line(&token, "welcome", 2).await;
    let revealed = scene.says(&[&network[..], &["--reveal", "--json"]].concat());
    for name in ["PASSWORD", "BEARER", "HEADER", "QUERY"] {
        assert!(revealed.contains(secret(name)), "{name} in {revealed}");
    }
    // Whoever does not ask gets none of it, and no file has any.
    let said = everything(&scene, &token);
    for (name, secret) in SECRETS {
        assert!(!said.contains(secret), "{name} came out");
        for file in files(scene.test_node.data().path()) {
            let bytes = std::fs::read(&file).unwrap_or_default();
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "{name} is in {}", file.display());
        }
    }

    popup.evaluate::<serde_json::Value>(&format!("{button}.click()")).await;
    popup.wait_for(&format!("{button}.innerText === 'Send secrets too'")).await;
    eventually("the node has forgotten them", async || scene.tabs()[0].get("revealed").is_none())
        .await;
    scene.fails(&[&network[..], &["--reveal"]].concat());
    let log = scene.asks(&["audit"]);
    let switched = log["items"].as_array().unwrap().iter();
    let switched = switched.filter(|one| one["action"] == "debug.keep_secrets");
    let switched: Vec<&str> = switched.map(|one| one["detail"]["on"].as_str().unwrap()).collect();
    assert_eq!(switched, ["false", "true"], "newest first");
    scene.clear().await;
}

/// All that the command line and the log say of a tab, in every form.
fn everything(scene: &Scene, token: &str) -> String {
    let network = ["debug", "network", token];
    let console = ["debug", "console", token];
    let whole = scene.asks(&[&network[..], &["--bodies"]].concat());
    let lines = scene.asks(&console);
    let mut said = vec![
        whole.to_string(),
        lines.to_string(),
        scene.says(&network),
        scene.says(&console),
        scene.says(&["debug", "har", token]),
        scene.says(&["debug", "list-tabs"]),
        scene.says(&["audit"]),
        scene.test_node.log(),
    ];
    for request in whole["requests"].as_array().unwrap() {
        said.push(scene.says(&[&network[..], &["--id", &request["number"].to_string()]].concat()));
    }
    for line in lines["entries"].as_array().unwrap() {
        said.push(scene.says(&[&console[..], &["--id", &line["seq"].to_string()]].concat()));
    }
    said.join("\n")
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found
}
