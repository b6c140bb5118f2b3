//! The gestures of the stories about capture and restore: start, look into a tab, crash, resume.

use crate::fixture::{Kept, attach, eventually, options, shows, spec};
use baton_browser::capture::Depth;
use baton_browser::cdp::CdpSession;
use baton_browser::keeper::{self, BrowserSpec, KeeperLink, Role};
use baton_browser::live::Live;
use baton_browser::restore::{Restored, restore};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, Outcome};
use baton_session::{Entries, State, StorageKey};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use url::Url;

/// How long a site may take to answer.
const LIMIT: Duration = Duration::from_mins(1);
/// How many captures may be asked for before one read every place.
const CAPTURES: usize = 10;

/// A folder with a place for a profile.
pub(crate) fn profile() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("profile");
    (folder, profile)
}

/// A running browser that is watched, and a second client of it, as an agent would be.
pub(crate) struct Running {
    pub(crate) kept: Kept,
    pub(crate) live: Live,
    pub(crate) agent: KeeperLink,
}

impl Running {
    /// A browser on `profile`, watched from its start.
    pub(crate) async fn start(profile: &Path) -> Self {
        Self::watch(browser(profile).await, profile, State::default()).await
    }

    /// Watches a browser of which `known` is known.
    pub(crate) async fn watch(kept: Kept, profile: &Path, known: State) -> Self {
        let live = Live::start(kept.connect(Role::Node).await, known).await.unwrap();
        let live = live.on_profile(profile.to_owned()).headless();
        let agent = kept.connect(Role::Client).await;
        Self { kept, live, agent }
    }

    /// A browser on `profile` that was given `state`.
    pub(crate) async fn resume(profile: &Path, state: &State) -> (Self, Restored) {
        let kept = browser(profile).await;
        let now = Expiry(jiff::Timestamp::now().as_microsecond());
        let link = kept.connect(Role::Node).await;
        let restored = restore(link, state.clone(), now, None).await.unwrap();
        (Self::watch(kept, profile, restored.state.clone()).await, restored)
    }

    /// Opens a tab and returns the agent's hand on it.
    pub(crate) async fn open(&self, url: &str) -> CdpSession {
        assert_eq!(self.live.open_tab(&url.parse().unwrap(), LIMIT).await.unwrap(), None);
        self.page(url).await
    }

    /// The agent's hand on the tab at `url`, once its page has loaded.
    pub(crate) async fn page(&self, url: &str) -> CdpSession {
        let browser = self.agent.connection.browser();
        let mut target = None;
        eventually("a tab is there", async || {
            let targets = browser.call("Target.getTargets", json!({})).await.unwrap();
            let infos = targets["targetInfos"].as_array().unwrap();
            let found = infos.iter().find(|info| info["type"] == "page" && info["url"] == url);
            target = found.map(|info| info["targetId"].as_str().unwrap().to_owned());
            target.is_some()
        })
        .await;
        let page = attach(&browser, &target.unwrap()).await;
        shows(&page, "document.readyState", "complete").await;
        page
    }

    /// A whole capture, of which every place could be read: a page that a busy machine keeps from answering
    /// in time is named by the capture, and read by a later one.
    pub(crate) async fn capture(&self) -> State {
        let mut captured = self.live.capture(Depth::Whole, false).await.unwrap();
        for _ in 1..CAPTURES {
            if captured.unread.iter().all(|unread| unread.kind.is_some()) {
                break;
            }
            captured = self.live.capture(Depth::Whole, false).await.unwrap();
        }
        captured.unread.retain(|unread| unread.kind.is_none());
        assert_eq!(captured.unread, []);
        captured.state
    }

    /// A capture of what events told of.
    pub(crate) async fn changed(&self) -> State {
        self.live.capture(Depth::Changed, false).await.unwrap().state
    }

    /// Ends the browser as a crash would.
    pub(crate) async fn crash(self) {
        keeper::kill(&self.kept.connect(Role::Node).await.connection).await.unwrap();
        self.kept.joined().await;
    }
}

/// A browser on `profile`.
pub(crate) async fn browser(profile: &Path) -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options(profile))));
    Kept::start(folder, spec).await.unwrap()
}

/// The first-party storage key of a page.
pub(crate) fn key_of(url: &str) -> StorageKey {
    StorageKey::first_party(&url.parse::<Url>().unwrap().origin().ascii_serialization())
}

/// A value of the localStorage of the page at `url`, as the state has it.
pub(crate) fn local(state: &State, url: &str, key: &str) -> Option<String> {
    value(&state.origins.get(&key_of(url))?.local_storage, key)
}

/// A value of web storage.
pub(crate) fn value(entries: &Entries, key: &str) -> Option<String> {
    entries.0.get(&key.into()).map(baton_session::Text::to_lossy)
}

/// The outcomes of the receipt's items of a kind, with their reasons.
pub(crate) fn outcomes(restored: &Restored, kind: ItemKind) -> Vec<(Outcome, Option<&str>)> {
    let of_kind = restored.receipt.items.iter().filter(|item| item.kind == kind);
    of_kind.map(|item| (item.outcome, item.reason.as_deref())).collect()
}
