//! What sites see of a browser that an agent starts in a sandbox: what of the session's environment holds
//! there, and that what does not is said.

use super::agent::tools;
use super::scene::{Scene, cookie, reference};
use axum::Router;
use axum::http::HeaderMap;
use axum::response::Html;
use axum::routing::get;
use baton_api::sandbox::CreateSandbox;
use baton_playground::Site;
use baton_playground::tools::Npm;
use serde_json::json;

const WINDOWS: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 \
                       (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";

/// Puts into the title what a worker says, behind what the page says and what was asked with it.
const PAGE: &str = "<!doctype html><body>ASKED</body><script>
    const say = `(() => [navigator.languages.join(), navigator.userAgent.includes('Windows'),
        Intl.DateTimeFormat().resolvedOptions().timeZone].join(' '))()`;
    const worker = new Worker(URL.createObjectURL(new Blob([`postMessage(${say})`])));
    worker.onmessage = ({ data }) => {
        const prefers = (what) => matchMedia(`(prefers-${what})`).matches;
        const screen = [prefers('color-scheme: dark'), prefers('reduced-motion: reduce')].join(' ');
        document.title = [document.body.innerText, eval(say), screen, data].join(' | ');
    };
</script>";

async fn page(headers: HeaderMap) -> Html<String> {
    let asked = headers.get("accept-language").and_then(|value| value.to_str().ok());
    Html(PAGE.replace("ASKED", asked.unwrap_or_default()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_switches_can_say_of_a_session_holds_in_a_sandbox_and_the_rest_is_named() {
    let npm = Npm::install().await.unwrap();
    let site = Site::start(Router::new().route("/", get(page))).await.unwrap();
    let scene = Scene::set_at(site, &tools(&npm)).await;
    let environment = json!({
        "userAgent": WINDOWS,
        "timezone": "Asia/Tokyo",
        "identity": {"languages": ["de-DE", "de", "en"], "colorScheme": "dark", "reducedMotion": true},
    });
    let state = json!({"state": {
        "cookies": [cookie("refresh", "1", 4_000_000_000)], "origins": [], "environment": environment,
    }});
    scene.session_of("shop", &state).await;
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("shop")),
        domains: vec!["host".to_owned()],
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    insta::assert_snapshot!(sandbox.warnings.join("\n"), @"identity: sites see user agent, client hints and platform of the browser in the sandbox, and not those of the session");
    let url = scene.url();
    let line = format!(
        "$AB open {url} >&2 && $AB wait --fn \"document.title !== ''\" >&2 && $AB get title"
    );
    insta::assert_snapshot!(scene.says(&sandbox, &line).await, @"de-DE,de;q=0.9,en;q=0.8 | de-DE,de,en false Asia/Tokyo | true true | de-DE,de,en false Asia/Tokyo");
    scene.end(&sandbox).await;
    scene.strike().await;
}
