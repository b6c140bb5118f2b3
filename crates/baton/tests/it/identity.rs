//! A session that is another browser than the one that runs: everything that a site can see agrees, and still
//! does after a crash.

use crate::test_nodes::test_node;
use crate::two_nodes::{self, baton};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Uri, header};
use axum::response::{IntoResponse, Response};
use baton_api::OpenSession;
use baton_playground::{Page, Site, TestNode};
use baton_session::identity::{ColorScheme, Identity};
use baton_session::receipt::ItemKind;
use baton_session::state::Environment;
use baton_session::{Receipt, SessionId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

const MAC: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                   (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";
const LIMIT: Duration = Duration::from_secs(40);

/// Says at the site who the browser says that it is; `who` is a page, a frame or a worker.
const SAY: &str = "
    const say = async (who) => {
        const { userAgent, platform, languages, hardwareConcurrency, userAgentData } = navigator;
        const hints = await userAgentData.getHighEntropyValues(
            ['platformVersion', 'architecture', 'bitness', 'fullVersionList']);
        const list = (brands) => brands.map(({ brand, version }) => `${brand} ${version}`).join();
        const words = [userAgent, platform, languages.join(), hardwareConcurrency,
            list(hints.brands), list(hints.fullVersionList), hints.platform, hints.platformVersion,
            hints.architecture, hints.bitness, hints.mobile];
        if (self.document) {
            const prefers = (what) => matchMedia(`(prefers-${what})`).matches;
            words.push(devicePixelRatio, navigator.maxTouchPoints, prefers('color-scheme: dark'),
                prefers('reduced-motion: reduce'));
        }
        await fetch(`/tell/${who}`, { method: 'POST', body: words.join(' | ') });
    };";

pub(crate) const TELLERS: [&str; 9] = [
    "page",
    "frame",
    "other-site",
    "redirected",
    "dedicated",
    "dedicated-of-other-site",
    "nested",
    "shared",
    "service",
];
/// Without those in which no screen is seen.
const DOCUMENTS: [&str; 5] = ["page", "frame", "other-site", "redirected", "link"];

/// What a site saw of a browser.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// What scripts told, by who they are.
    told: BTreeMap<String, BTreeSet<String>>,
    /// The headers that say who a browser is, with the path for which each was.
    headers: BTreeSet<(String, String, String)>,
}

pub(crate) type Watched = Arc<watch::Sender<Seen>>;

async fn serve(State(seen): State<Watched>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit(':').next().unwrap_or_default();
    seen.send_modify(|seen| {
        for (name, value) in &headers {
            let is_one = name.as_str().starts_with("sec-ch-ua")
                || [header::USER_AGENT, header::ACCEPT_LANGUAGE].contains(name);
            // No browser asks for that.
            if is_one && !uri.path().starts_with("/wait") {
                let value = value.to_str().unwrap_or_default().to_owned();
                seen.headers.insert((name.to_string(), value, uri.path().to_owned()));
            }
        }
        if let Some(who) = uri.path().strip_prefix("/tell/") {
            let words = String::from_utf8_lossy(&body).into_owned();
            seen.told.entry(who.to_owned()).or_default().insert(words);
        }
    });
    let page = |body: String| {
        let accept = "sec-ch-ua-platform-version, sec-ch-ua-arch, sec-ch-ua-full-version-list";
        let kind = HeaderValue::from_static("text/html");
        (
            [(header::CONTENT_TYPE, kind), ("accept-ch".parse().unwrap(), accept.parse().unwrap())],
            body,
        )
            .into_response()
    };
    let script = |who: &str, more: &str| {
        let kind = [(header::CONTENT_TYPE, "text/javascript")];
        (kind, format!("{SAY} say('{who}'); {more}")).into_response()
    };
    let document = |who: &str, more: &str| {
        page(format!(
            "<!doctype html><title>{who}</title><script>{SAY} say('{who}'); {more}</script>"
        ))
    };
    match uri.path() {
        "/wait" | "/wait/link" => {
            let link = uri.path().strip_prefix("/wait/");
            let mut watched = seen.subscribe();
            let all = |seen: &Seen| {
                TELLERS.into_iter().chain(link).all(|who| seen.told.contains_key(who))
            };
            // Who waits in vain is told apart by what was not heard.
            let _ = tokio::time::timeout(LIMIT, watched.wait_for(all)).await;
            "".into_response()
        }
        "/" => page(format!(
            "<!doctype html><title>page</title>
             <script>{SAY} say('page');
                 localStorage.token = 'a login, as far as anybody knows';
                 new Worker('/dedicated.js');
                 new SharedWorker('/shared.js');
                 navigator.serviceWorker.register('/service.js');
                 navigator.serviceWorker.ready.then(({{ active }}) => active.postMessage('say'));
             </script>
             <a id=link target=_blank href='http://b.localhost:{port}/link'>a tab of its own</a>
             <iframe src='/frame'></iframe>
             <iframe src='http://b.localhost:{port}/other-site'></iframe>
             <iframe src='/moved'></iframe>"
        )),
        "/moved" => {
            let to = format!("http://b.localhost:{port}/redirected");
            axum::response::Redirect::temporary(&to).into_response()
        }
        "/frame" => document("frame", ""),
        "/link" => document("link", ""),
        "/made" => document("made", ""),
        "/redirected" => document("redirected", ""),
        "/other-site" => document("other-site", "new Worker('/dedicated-of-other-site.js');"),
        "/dedicated.js" => script("dedicated", "new Worker('/nested.js');"),
        "/dedicated-of-other-site.js" => script("dedicated-of-other-site", ""),
        "/nested.js" => script("nested", ""),
        "/shared.js" => script("shared", ""),
        "/service.js" => script("service", "onmessage = () => say('service');"),
        _ => "".into_response(),
    }
}

pub(crate) fn environment() -> Environment {
    let identity = Identity {
        languages: ["de-DE", "de", "en"].map(str::to_owned).into(),
        device_scale_factor: Some(2.0),
        max_touch_points: Some(5),
        color_scheme: Some(ColorScheme::Dark),
        reduced_motion: Some(true),
        hardware_concurrency: Some(10),
        ..Identity::default()
    };
    Environment {
        user_agent: Some(MAC.to_owned()),
        identity: Some(identity),
        ..Environment::default()
    }
}

/// Waits until all of them told something, and checks that all said the same, and that no request said
/// anything else.
pub(crate) async fn agree(seen: &Watched, tellers: &[&str]) {
    let mut watched = seen.subscribe();
    let all = watched.wait_for(|seen| tellers.iter().all(|who| seen.told.contains_key(*who)));
    let missing = || {
        let seen = seen.borrow();
        tellers.iter().filter(|who| !seen.told.contains_key(**who)).copied().collect::<Vec<_>>()
    };
    let heard = tokio::time::timeout(LIMIT, all).await.is_ok();
    assert!(heard, "expected a word of all within {LIMIT:?}, found none of {:?}", missing());
    let seen = seen.borrow();
    let versions = "Google Chrome 147.0.0.0,Not.A/Brand 8.0.0.0,Chromium 147.0.0.0";
    let words = format!(
        "{MAC} | MacIntel | de-DE,de,en | 10 | Google Chrome 147,Not.A/Brand 8,Chromium 147 | \
         {versions} | macOS | 15.5.0 | arm | 64 | false"
    );
    for (who, told) in &seen.told {
        let is_document = DOCUMENTS.contains(&who.as_str()) || who == "made";
        let expected =
            format!("{words}{}", if is_document { " | 2 | 5 | true | true" } else { "" });
        assert_eq!(told, &BTreeSet::from([expected]), "{who}");
    }
    let hints = Identity::of_user_agent(MAC).unwrap().metadata.unwrap();
    for (name, value, path) in &seen.headers {
        let expected = match name.as_str() {
            "user-agent" => MAC.to_owned(),
            "accept-language" => "de-DE,de;q=0.9,en;q=0.8".to_owned(),
            hint => hints.header(hint).unwrap(),
        };
        assert_eq!(value, &expected, "{name} of {path}");
    }
    assert!(seen.headers.iter().any(|(name, ..)| name == "sec-ch-ua-arch"), "{:?}", seen.headers);
}

/// A link of a page opens a tab of its own, and a client makes another one.
async fn open_more(test_node: &TestNode, id: SessionId, site: &Site) {
    let url = site.url_on("a", "/").unwrap();
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await.unwrap();
    let click = json!({ "expression": "link.click()", "userGesture": true });
    page.session().call("Runtime.evaluate", click).await.unwrap();
    let made = json!({ "url": site.url_on("b", "/made").unwrap() });
    let browser = page.session().connection().browser();
    browser.call("Target.createTarget", made).await.unwrap();
}

/// A site that watches who comes.
pub(crate) async fn site(seen: &Watched) -> Site {
    Site::start(Router::new().fallback(serve).with_state(Arc::clone(seen))).await.unwrap()
}

fn restored(receipt: &Receipt) -> BTreeSet<&str> {
    let items = receipt.items.iter().filter(|item| item.kind == ItemKind::Environment);
    items.map(|item| item.place.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_a_site_sees_is_of_one_browser() {
    let seen: Watched = Arc::new(watch::Sender::default());
    let site = site(&seen).await;
    let mut test_node = test_node().await;
    let url = site.url_on("a", "/").unwrap();
    let request = OpenSession {
        environment: environment(),
        ..OpenSession::new("mac".parse().unwrap(), [url])
    };
    let id = test_node.client().unwrap().open_session(&request).await.unwrap().session.id;
    open_more(&test_node, id, &site).await;
    let with_more: Vec<_> = TELLERS.into_iter().chain(["link", "made"]).collect();
    agree(&seen, &with_more).await;

    test_node.kill_everybody(&[id]).await.unwrap();
    seen.send_modify(|seen| *seen = Seen::default());
    test_node.start_node().await.unwrap();
    let resumed = test_node.client().unwrap().resume_session("mac").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    assert!(!receipt.has_losses(), "{receipt:#?}");
    let places = ["client hints", "platform", "languages", "scale", "touch", "colour scheme"];
    let places = places.into_iter().chain(["reduced motion", "processors", "user agent"]);
    assert!(places.clone().all(|place| restored(&receipt).contains(place)), "{receipt:#?}");
    agree(&seen, &TELLERS).await;
    seen.send_modify(|seen| *seen = Seen::default());
    open_more(&test_node, id, &site).await;
    agree(&seen, &["link", "made"]).await;
    test_node.client().unwrap().close_session("mac").await.unwrap();
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_was_moved_to_another_node_is_the_same_browser_there() {
    let seen: Watched = Arc::new(watch::Sender::default());
    let site = site(&seen).await;
    let story = two_nodes::Story::begin().await;
    let url = site.url_on("a", "/").unwrap();
    let request = OpenSession {
        environment: environment(),
        ..OpenSession::new("mac".parse().unwrap(), [url])
    };
    story.cloud.client().unwrap().open_session(&request).await.unwrap();
    agree(&seen, &TELLERS).await;
    baton(&story.cloud, &["save", "mac"]).success();
    baton(&story.cloud, &["sessions", "close", "mac"]).success();

    let before = seen.send_replace(Seen::default());
    baton(&story.hosted, &["sync", "run"]).success();
    let resumed = story.hosted.client().unwrap().resume_session("mac").await.unwrap();
    let receipt = resumed.session.receipt.unwrap();
    assert!(!receipt.has_losses(), "{receipt:#?}");
    agree(&seen, &TELLERS).await;
    assert_eq!(before.told, seen.borrow().told);
    seen.send_modify(|seen| *seen = Seen::default());
    open_more(&story.hosted, resumed.session.session.id, &site).await;
    agree(&seen, &["link", "made"]).await;
    story.hosted.client().unwrap().close_session("mac").await.unwrap();
    story.end().await;
}
