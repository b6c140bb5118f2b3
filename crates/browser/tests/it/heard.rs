//! A browser that is watched, of which the tests know how each page is heard, and pages that flood it.

use crate::fixture::eventually;
use crate::relay;
use crate::site::{Page, Site};
use crate::story::{Running, browser, key_of, profile, value};
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::Role;
use baton_browser::live::Live;
use baton_session::State;
use futures_util::FutureExt;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

/// Writes without end, also where a browser slows timers down, until it is told to leave.
const FLOOD: &str = "<script>
    let n = 0;
    const write = () => { for (let at = 0; at < 70; at++) localStorage.n = sessionStorage.n = ++n };
    const flood = setInterval(write, 100);
    const last = (text) => {
        clearInterval(flood);
        localStorage.last = sessionStorage.last = text;
        return n;
    };
    onmessage = ({ data, source }) => source.postMessage(last(data), '*');
</script>";

/// Writes once when it is told to.
const TOLD: &str = "<script>
    onmessage = ({ data, source }) => {
        localStorage.last = sessionStorage.last = data;
        source.postMessage('written', '*');
    };
</script>";

/// A site of pages that flood, of pages that show one, and of pages that do nothing.
pub(crate) async fn site() -> Site {
    let around = "<iframe id='inner' src='http://inner.localhost:{port}/flood'></iframe>";
    Site::builder()
        .page("/flood", Page::html(FLOOD))
        .page("/around", Page::html(around))
        .page("/told", Page::html(TOLD))
        .page("/still", Page::html(""))
        .page("/never", Page::html("").silent())
        .start()
        .await
}

/// A browser that is watched, and what it was asked.
pub(crate) struct Heard {
    pub(crate) running: Running,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    _folder: TempDir,
}

impl Heard {
    pub(crate) async fn start() -> Self {
        let (folder, profile) = profile();
        let kept = browser(&profile).await;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let before = move |call: Value| {
            let method = call["method"].as_str().unwrap();
            // Of a binding it matters which one it is.
            let name = call["params"]["name"].as_str().unwrap_or_default();
            noted.lock().unwrap().push(format!("{method} {name}").trim().to_owned());
            async {}.boxed()
        };
        let link = relay::connect(&kept.spec.socket, before).await;
        let live = Live::start(link, State::default()).await.unwrap();
        let live = live.on_profile(profile).headless();
        let agent = kept.connect(Role::Client).await;
        Self { running: Running { kept, live, agent }, asked, _folder: folder }
    }

    /// How often a target was muted.
    pub(crate) fn mutings(&self) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|method| *method == "DOMStorage.disable").count()
    }

    /// Waits until targets were muted `count` times more than at the last call.
    pub(crate) async fn muted(&self, count: usize) {
        let what = format!("{count} are muted");
        eventually(&what, async || self.mutings() >= count).await;
        self.asked.lock().unwrap().clear();
    }

    /// The agent's hand on a new tab at `url`, once it is muted.
    pub(crate) async fn flood(&self, url: &str) -> CdpSession {
        let page = self.running.open(url).await;
        self.muted(1).await;
        page
    }
}

/// A value of the sessionStorage of a tab for the page at `url`.
pub(crate) fn session(state: &State, tab: usize, url: &str, name: &str) -> Option<String> {
    value(state.tabs[tab].session_storage.get(&key_of(url))?, name)
}
