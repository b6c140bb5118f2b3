//! A login that lives in sessionStorage, and the tabs that it was in: in a sandbox, and back.

use super::agent::tools;
use super::scene::{Scene, reference};
use axum::Router;
use axum::extract::{Path, State};
use axum::response::Html;
use axum::routing::get;
use baton_api::sandbox::{CreateSandbox, ExecEnd, SandboxView};
use baton_playground::Site;
use baton_playground::tools::Npm;
use baton_session::receipt::{ItemKind, Outcome, ReceiptItem};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

const LIMIT: Duration = Duration::from_secs(40);

/// Who it was in which page, as the site heard.
type Heard = Arc<watch::Sender<BTreeSet<String>>>;

/// Says who is signed in; whoever comes to `/out` is signed out before anything else, and then comes again.
const PAGE: &str = "<!doctype html><title>-</title><script>
    if (location.pathname === '/out' && sessionStorage.user) {
        sessionStorage.clear();
        location.reload();
    } else {
        const user = sessionStorage.user ?? 'nobody';
        document.title = user;
        fetch('/tell' + location.pathname + ' ' + user);
    }
</script>";

async fn tell(State(heard): State<Heard>, Path(words): Path<String>) {
    heard.send_modify(|heard| {
        heard.insert(words);
    });
}

async fn site(heard: &Heard) -> Site {
    let pages = Router::new()
        .route("/tell/{words}", get(tell))
        .route("/favicon.ico", get(|| async { "" }))
        .route("/moved", get(|| async { axum::response::Redirect::temporary("/there") }))
        .fallback(|| async { Html(PAGE) })
        .with_state(Arc::clone(heard));
    Site::start(pages).await.unwrap()
}

/// A scene with the tools and Playwright's modules, and a session of two tabs of which each is somebody else's.
async fn begin(npm: &Npm, heard: &Heard) -> Scene {
    let modules = npm.folder().join("node_modules").display().to_string();
    let mounts = format!(":/opt/tools\", \"{modules}:/opt/npm/node_modules\"]");
    let settings = tools(npm).replace(":/opt/tools\"]", &mounts);
    let scene = Scene::set_at(site(heard).await, &settings).await;
    let url = scene.url();
    let tab = |path: &str, user: &str, active: bool| {
        json!({
            "url": format!("{url}{path}"), "title": "", "active": active,
            "sessionStorage": { url.as_str(): [["user", user]] },
        })
    };
    let state = json!({
        "state": { "cookies": [], "origins": [] },
        "tabs": [tab("list", "Bob", false), tab("cart", "Ada", true)],
    });
    scene.session_of("shop", &state).await;
    scene
}

async fn sandbox(scene: &Scene) -> SandboxView {
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("shop")),
        ..CreateSandbox::default()
    };
    scene.client().create_sandbox(&request).await.unwrap()
}

/// What tabs a session has: each path, whether it is in front, and what it keeps of the site.
async fn tabs(scene: &Scene) -> Vec<String> {
    let state = scene.client().fetch_state("shop", true).await.unwrap();
    let all = &state.state["tabs"];
    let url = scene.url();
    let told = |tab: &Value| {
        let front = if tab["active"] == true { "*" } else { "" };
        let path = tab["url"].as_str().unwrap().replace(&url, "/");
        let kept = &tab["sessionStorage"][url.as_str()];
        let kept = if kept.is_null() { String::new() } else { format!(" {kept}") };
        format!("{front}{path}{kept}")
    };
    all.as_array().unwrap().iter().map(told).collect()
}

/// Ends a sandbox, and tells whose sessionStorage tabs keep that were not there, of sites that gave up what was.
async fn named(scene: &Scene, sandbox: &SandboxView) -> Vec<String> {
    let ended = scene.end(sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    let items = ended.left_out.items;
    assert!(items.iter().all(|item| item.kind == ItemKind::SessionStorage), "{items:#?}");
    items.into_iter().map(|item| item.place).collect()
}

async fn end(scene: &Scene, sandbox: &SandboxView) {
    assert_eq!(named(scene, sandbox).await, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_is_signed_in_once_and_signs_out_for_good() {
    let npm = Npm::install().await.unwrap();
    let scene = begin(&npm, &Heard::default()).await;
    let sandbox = sandbox(&scene).await;
    let url = scene.url();
    let receipt = &sandbox.browser_session.as_ref().unwrap().receipt;
    assert!(!receipt.has_losses(), "{receipt:#?}");
    let waits = |kind| {
        let is_one = |item: &&ReceiptItem| item.kind == kind && item.outcome == Outcome::Pending;
        receipt.items.iter().filter(is_one).count()
    };
    assert_eq!((waits(ItemKind::Tab), waits(ItemKind::SessionStorage)), (2, 2));
    let opened = scene.says(&sandbox, "echo \"$BATON_TABS\"").await;
    assert_eq!(opened, format!("{url}list\n{url}cart"));

    let title = |path: &str| {
        format!(
            "$AB open {url}{path} >&2 && $AB wait --fn \"document.title !== '-'\" >&2 && $AB get title"
        )
    };
    assert_eq!(scene.says(&sandbox, &title("moved")).await, "Ada", "it is the tab in front's");
    assert_eq!(scene.says(&sandbox, "$AB tab list | wc -l").await, "1", "no tab is in its way");
    let out = format!("$AB eval 'sessionStorage.clear()' >&2 && {}", title("list"));
    assert_eq!(scene.says(&sandbox, &out).await, "nobody");
    assert_eq!(scene.says(&sandbox, &title("other")).await, "nobody");
    let other = format!("$AB tab new >&2 && {}", title("other"));
    assert_eq!(scene.says(&sandbox, &other).await, "nobody");
    let again = format!("$AB close >&2 && {}", title("other"));
    assert_eq!(scene.says(&sandbox, &again).await, "nobody", "nor in the next browser");
    scene.says(&sandbox, "$AB close >&2").await;
    // The other tab never was there: it is as it was, and its owner is told that it is.
    assert_eq!(named(&scene, &sandbox).await, [url]);
    let kept = tabs(&scene).await;
    assert!(kept.iter().all(|tab| !tab.contains("Ada")), "{kept:?}");
    assert!(kept.contains(&"/list [[\"user\",\"Bob\"]]".to_owned()), "{kept:?}");
    assert!(kept.contains(&"*/other".to_owned()), "{kept:?}");
    scene.strike().await;
}

/// Two pages of Playwright, which speaks to its browser by a pipe.
const PLAYWRIGHT: &str = r#"node --input-type=module -e "
    import { chromium } from '/opt/npm/node_modules/playwright/index.mjs';
    const { AGENT_BROWSER_PROFILE, AGENT_BROWSER_EXECUTABLE_PATH: executablePath } = process.env;
    const start = () => chromium.launchPersistentContext(
        AGENT_BROWSER_PROFILE, { executablePath, args: ['--no-sandbox'] });
    const title = async (page, path) => {
        await page.goto(process.env.SITE + path);
        await page.waitForFunction(() => document.title !== '-');
        return page.title();
    };
    let context = await start();
    const before = context.pages().map((page) => page.url());
    WALK
    console.log([before.join(), ...said].join(' '));
    await context.close();""#;

fn playwright(walk: &str, scene: &Scene) -> String {
    format!("export SITE={}; {}", scene.url(), PLAYWRIGHT.replace("WALK", walk))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_program_leaves_in_its_pages_is_in_the_session() {
    let npm = Npm::install().await.unwrap();
    let scene = begin(&npm, &Heard::default()).await;
    let first = sandbox(&scene).await;
    let walk = "const [page] = context.pages();
        const said = [await title(page, 'cart'), await title(await context.newPage(), 'more')];
        await page.evaluate(() => { sessionStorage.step = '2'; });
        await page.reload();
        said.push(await title(page, 'paid'));";
    assert_eq!(scene.says(&first, &playwright(walk, &scene)).await, "about:blank Ada nobody Ada");
    end(&scene, &first).await;
    let (ada, bob) = ("[[\"step\",\"2\"],[\"user\",\"Ada\"]]", "[[\"user\",\"Bob\"]]");
    let mut kept = tabs(&scene).await;
    for tab in &mut kept {
        *tab = tab.replace('*', "");
    }
    kept.sort();
    assert_eq!(kept, [format!("/list {bob}"), "/more".to_owned(), format!("/paid {ada}")]);

    // However fast a page signs out, and even before anything else: it is the only one that was handed anything.
    let second = sandbox(&scene).await;
    let walk = "const [page] = context.pages();
        const said = [await title(page, 'out')];
        said.push(await title(page, 'cart'));
        await context.close();
        context = await start();
        said.push(await title(await context.newPage(), 'cart'));";
    let said = scene.says(&second, &playwright(walk, &scene)).await;
    assert_eq!(said, "about:blank nobody nobody nobody");
    assert_eq!(named(&scene, &second).await, [scene.url()]);
    let kept = tabs(&scene).await;
    let still = kept.iter().filter(|tab| tab.contains("Ada") || tab.contains("Bob"));
    assert_eq!(still.count(), 1, "{kept:?}");
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_a_person_starts_shows_the_tabs_each_with_its_own() {
    let npm = Npm::install().await.unwrap();
    let heard = Heard::default();
    let scene = begin(&npm, &heard).await;
    let sandbox = sandbox(&scene).await;
    let mut news = heard.subscribe();
    let both = async {
        let all = news.wait_for(|heard| heard.contains("list Bob") && heard.contains("cart Ada"));
        all.await.map(drop).unwrap();
    };
    let line = "$AGENT_BROWSER_EXECUTABLE_PATH --headless=new --no-sandbox \
                --user-data-dir=$AGENT_BROWSER_PROFILE >&2 & echo $! >pid; wait $!";
    let (done, ()) = tokio::join!(scene.sh(&sandbox, line), async {
        let heard = tokio::time::timeout(LIMIT, both).await;
        scene.says(&sandbox, "kill -INT $(cat pid)").await;
        heard.unwrap();
    });
    assert_eq!(done.end, ExecEnd::Code(0), "{}", done.errors);
    assert_eq!(heard.borrow().len(), 2, "{heard:?}");
    end(&scene, &sandbox).await;
    let one = |user: &str| format!("[[\"user\",\"{user}\"]]");
    let mut kept = tabs(&scene).await;
    kept.sort();
    assert_eq!(kept, [format!("*/cart {}", one("Ada")), format!("/list {}", one("Bob"))]);
    scene.strike().await;
}

/// A page that holds two frames of another site, the second once the first has spoken: a sandboxed one, which has no
/// storage, and one that says who is signed in there, and does what its page tells it.
const WITH_FRAMES: &str = "<!doctype html><title>-</title><script>
    const inner = 'http://127.0.0.1:' + location.port + '/inner' + location.pathname;
    const show = (sandbox) => {
        const frame = document.createElement('iframe');
        if (sandbox) frame.sandbox = 'allow-scripts';
        frame.src = inner;
        document.documentElement.append(frame);
    };
    onmessage = ({ data }) => {
        if (data === 'none') show(false);
        else document.title = data;
    };
    show(true);
</script>";

const INNER: &str = "<!doctype html><script>
    const tell = () => parent.postMessage([sessionStorage.user ?? 'nobody', sessionStorage.step].join(' '), '*');
    onmessage = ({ data }) => {
        if (data === 'out') {
            sessionStorage.clear();
            location.reload();
        } else {
            sessionStorage.step = data;
            tell();
        }
    };
    if (origin === 'null') parent.postMessage('none', '*');
    else tell();
</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_login_in_a_frame_of_another_site_goes_in_and_comes_back() {
    let npm = Npm::install().await.unwrap();
    let pages = Router::new()
        .route("/favicon.ico", get(|| async { "" }))
        .route("/inner/{*page}", get(|| async { Html(INNER) }))
        .fallback(|| async { Html(WITH_FRAMES) });
    let scene = Scene::set_at(Site::start(pages).await.unwrap(), &tools(&npm)).await;
    let url = scene.url();
    let key = format!("{}^0http://host", url.replace("host", "127.0.0.1"));
    let tab = |path: &str, user: &str, active: bool| {
        json!({
            "url": format!("{url}{path}"), "title": "", "active": active,
            "sessionStorage": { url.as_str(): [["seen", "1"]], key.as_str(): [["user", user]] },
        })
    };
    let state = json!({
        "state": { "cookies": [], "origins": [] },
        "tabs": [tab("list", "Bob", false), tab("cart", "Ada", true)],
    });
    scene.session_of("shop", &state).await;
    let kept = async || -> Vec<String> {
        let state = scene.client().fetch_state("shop", true).await.unwrap().state;
        let tabs = state["tabs"].as_array().unwrap().iter();
        tabs.map(|tab| tab["sessionStorage"][key.as_str()].to_string()).collect()
    };

    let first = sandbox(&scene).await;
    let receipt = &first.browser_session.as_ref().unwrap().receipt;
    assert!(!receipt.has_losses(), "{receipt:#?}");
    let said = "$AB wait --fn \"document.title !== '-'\" >&2 && $AB get title";
    let at = |path: &str| format!("$AB open {url}{path} >&2 && {said}");
    let told = |words: &str| {
        format!(
            "$AB eval \"document.title = '-'; frames[1].postMessage('{words}', '*')\" >&2 && {said}"
        )
    };
    assert_eq!(scene.says(&first, &at("cart")).await, "Ada");
    assert_eq!(scene.says(&first, &told("paid")).await, "Ada paid");
    assert_eq!(scene.says(&first, &at("more")).await, "Ada paid", "the tab goes on");
    let other = format!("$AB tab new >&2 && {} && $AB tab close >&2", at("other"));
    assert_eq!(scene.says(&first, &other).await, "nobody", "no other tab gets it");
    scene.says(&first, "$AB close >&2").await;
    end(&scene, &first).await;
    let mut back = kept().await;
    back.sort();
    let bob = "[[\"user\",\"Bob\"]]";
    assert_eq!(back, ["[[\"step\",\"paid\"],[\"user\",\"Ada\"]]", bob]);

    let second = sandbox(&scene).await;
    assert_eq!(scene.says(&second, &at("cart")).await, "Ada paid");
    assert_eq!(scene.says(&second, &told("out")).await, "nobody");
    assert_eq!(scene.says(&second, &at("cart")).await, "nobody");
    scene.says(&second, "$AB close >&2").await;
    assert_eq!(scene.says(&second, &at("cart")).await, "nobody", "nor in the next browser");
    scene.says(&second, "$AB close >&2").await;
    assert_eq!(named(&scene, &second).await, [key.as_str()]);
    let kept = kept().await;
    assert!(kept.iter().all(|tab| !tab.contains("Ada")), "{kept:?}");
    assert!(kept.contains(&bob.to_owned()), "{kept:?}");
    scene.strike().await;
}
