//! What sites see of a browser that an agent starts in a sandbox: the same as before.

use super::agent::tools;
use super::scene::{Scene, cookie, reference};
use crate::guide::Guide;
use crate::identity::{Seen, TELLERS, Watched, agree, environment, site};
use axum::Router;
use axum::http::HeaderMap;
use axum::response::Html;
use axum::routing::get;
use baton_api::OpenSession;
use baton_api::sandbox::{CreateSandbox, ExecEnd};
use baton_playground::Site;
use baton_playground::tools::Npm;
use baton_session::egress::Egress;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::watch;

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
async fn what_a_session_says_of_its_browser_holds_in_a_sandbox() {
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
    assert_eq!(sandbox.warnings, [""; 0]);
    let url = scene.url();
    let line = format!(
        "$AB open {url} >&2 && $AB wait --fn \"document.title !== ''\" >&2 && $AB get title"
    );
    insta::assert_snapshot!(scene.says(&sandbox, &line).await, @"de-DE,de;q=0.9,en;q=0.8 | de-DE,de,en true Asia/Tokyo | true true | de-DE,de,en true Asia/Tokyo");
    scene.end(&sandbox).await;
    scene.strike().await;
}

/// Tools that start a browser themselves and speak to it by its port or by its pipe; and a person, who speaks to none.
/// Each opens the page, and ends its browser when all that the page starts has said who it is. Playwright starts it as
/// the guide does.
const DRIVERS: [(&str, &str); 4] = [
    (
        "agent-browser",
        "$AB open $PAGE >&2 && $AB click '#link' >&2 && curl -s $PAGE_WAIT/link && $AB close >&2",
    ),
    (
        "Playwright",
        r#"node --input-type=module -e "
            import { chromium } from '/opt/npm/node_modules/playwright/index.mjs';
            GUIDE
            const [page] = context.pages();
            await page.goto(process.env.PAGE);
            await page.click('#link');
            await fetch(process.env.PAGE_WAIT + '/link');
            await context.close();""#,
    ),
    (
        "Puppeteer",
        r#"node --input-type=module -e "
            import { launch } from '/opt/npm/node_modules/puppeteer-core/lib/esm/puppeteer/puppeteer-core.js';
            const { AGENT_BROWSER_EXECUTABLE_PATH: executablePath, AGENT_BROWSER_PROFILE: userDataDir } = process.env;
            const browser = await launch({
                executablePath, userDataDir, defaultViewport: null, args: ['--no-sandbox'] });
            const [page] = await browser.pages();
            await page.goto(process.env.PAGE);
            await page.click('#link');
            await fetch(process.env.PAGE_WAIT + '/link');
            await browser.close();""#,
    ),
    (
        "a person",
        "$AGENT_BROWSER_EXECUTABLE_PATH --headless=new --no-sandbox --user-data-dir=$AGENT_BROWSER_PROFILE \
         $PAGE >&2 & curl -s $PAGE_WAIT; kill -INT $!; wait $!",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_a_site_sees_of_an_agents_browser_is_of_the_sessions_own() {
    let npm = Npm::install().await.unwrap();
    let seen: Watched = Arc::new(watch::Sender::default());
    let site = site(&seen).await;
    let page = site.url_on("a", "/").unwrap();
    let port = page.port().unwrap();
    let modules = npm.folder().join("node_modules");
    let settings = format!(
        "[sandboxes]\nnetwork = \"public\"\nallow = [\"host:{port}\"]\n{}",
        tools(&npm).replace(
            ":/opt/tools\"]",
            &format!(":/opt/tools\", \"{}:/opt/npm/node_modules\"]", modules.display())
        )
    );
    let scene = Scene::set_in_with(site, &settings).await;
    let mut request = OpenSession::new("mac".parse().unwrap(), [page.clone()]);
    request.environment = environment();
    let only = vec![
        format!("localhost:{port}"),
        format!("a.localhost:{port}"),
        format!("b.localhost:{port}"),
    ];
    request.environment.egress = Some(Egress { only, ..Egress::default() });
    scene.client().open_session(&request).await.unwrap();
    agree(&seen, &TELLERS).await;
    scene.client().close_session("mac").await.unwrap();

    let guide = Guide::read(include_str!("../../../../../docs/guide/hand-in.md"));
    let by_guide = guide.block("Which browser it is", "js");
    let wait = format!("http://127.0.0.1:{port}/wait");
    for (driver, line) in DRIVERS {
        seen.send_modify(|seen| *seen = Seen::default());
        let request = CreateSandbox {
            flavor: Some("tools".to_owned()),
            browser_session: Some(reference("mac")),
            env: [("PAGE", page.as_str()), ("PAGE_WAIT", &wait)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            ..CreateSandbox::default()
        };
        let sandbox = scene.client().create_sandbox(&request).await.unwrap();
        assert_eq!(sandbox.warnings, [""; 0]);
        let done = scene.sh(&sandbox, &line.replace("GUIDE", &by_guide)).await;
        assert_eq!(done.end, ExecEnd::Code(0), "{driver}: {}", done.errors);
        // A person has no hand here to click with.
        let link = (driver != "a person").then_some("link");
        let all: Vec<_> = TELLERS.into_iter().chain(link).collect();
        agree(&seen, &all).await;
        let ended = scene.end(&sandbox).await.browser_session.unwrap();
        assert_eq!((ended.shrunk, ended.reason), (false, None), "{driver}");
    }
    scene.strike().await;
}
