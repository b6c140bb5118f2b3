//! Targets: which tabs a browser has, how to make, reach and close one, and the frames of one with the
//! storage key of each.

use crate::cdp::{CALL_LIMIT, CdpError, CdpSession, CdpSessionId};
use baton_session::{StorageKey, Tab};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;

/// The browser's own name for a tab, frame or worker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetId(String);

impl TargetId {
    /// An id as the browser wrote it.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as the browser wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The browser's own name for a context that a client made: an incognito window, or what Playwright calls
/// a browser context. It ends with the client, at the latest with the browser.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextId(String);

impl ContextId {
    /// The id as the browser wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A context that a client made.
#[derive(Debug, Clone)]
pub struct MadeContext {
    /// Its id.
    pub id: ContextId,
    /// Its tabs, with address and title.
    pub tabs: Vec<Tab>,
}

/// `Target.TargetInfo`, as far as Baton uses it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TargetInfo {
    pub(crate) target_id: TargetId,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) title: String,
    #[serde(default)]
    browser_context_id: Option<ContextId>,
    /// The tab that opened it.
    #[serde(default)]
    opener_id: Option<TargetId>,
    /// Whether its page may reach that one, by `window.opener`.
    #[serde(default)]
    can_access_opener: bool,
}

impl TargetInfo {
    /// Whether it is a tab of a site, not a page of the browser itself.
    pub(crate) fn is_tab(&self) -> bool {
        self.kind == "page" && !is_internal(&self.url)
    }

    /// The tab that opened it, if its page may reach that one.
    pub(crate) fn opener(&self) -> Option<&TargetId> {
        self.opener_id.as_ref().filter(|_| self.can_access_opener)
    }
}

/// `Target.attachedToTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttachedToTarget {
    pub(crate) session_id: CdpSessionId,
    pub(crate) target_info: TargetInfo,
    /// Whether the target waits to be let go on.
    #[serde(default)]
    pub(crate) waiting_for_debugger: bool,
}

/// `Target.detachedFromTarget`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DetachedFromTarget {
    pub(crate) session_id: CdpSessionId,
}

/// `Page.frameNavigated`.
#[derive(Debug, Deserialize)]
pub(crate) struct FrameNavigated {
    pub(crate) frame: Frame,
}

/// Whether an address, or a storage key, is one of the browser's own pages.
pub(crate) fn is_internal(url: &str) -> bool {
    ["chrome://", "devtools://", "chrome-untrusted://"].iter().any(|scheme| url.starts_with(scheme))
}

/// What a tab shows, by its address as the browser tells it from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows<'a> {
    /// A page, of a site or of anything else.
    Page,
    /// Nothing yet: a blank page, or the one that a new tab begins with.
    Nothing,
    /// The source of the page at this address.
    Source(&'a str),
    /// A page of the browser's own, such as its settings.
    OfTheBrowser,
}

impl Shows<'_> {
    /// What is said of a tab that shows the source of a page.
    pub(crate) const SOURCE: &'static str =
        "it shows the source of a page, and comes as the page itself";
    /// What is said of a tab that shows a page of the browser's own.
    pub(crate) const BROWSER: &'static str =
        "a page of the browser's own is not kept: open it again";
}

/// What a tab at this address shows.
pub(crate) fn shows(url: &str) -> Shows<'_> {
    if let Some(page) = url.strip_prefix("view-source:") {
        return if is_internal(page) { Shows::OfTheBrowser } else { Shows::Source(page) };
    }
    // `chrome://newtab/` becomes one of several (`chrome/common/webui_url_constants.h`).
    let page = url.strip_prefix("chrome://").unwrap_or_default();
    let is_new = ["newtab", "new-tab-page", "new-tab-page-third-party"]
        .contains(&page.split(['/', '?', '#']).next().unwrap_or_default());
    match url {
        "" | "about:blank" => Shows::Nothing,
        _ if is_new => Shows::Nothing,
        _ if is_internal(url) => Shows::OfTheBrowser,
        _ => Shows::Page,
    }
}

/// Which context is watched, among all others. That is the default one, unless one that a client
/// made (incognito, Playwright's own) was asked for: those are not kept by themselves.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contexts {
    default: Option<ContextId>,
    made: BTreeSet<ContextId>,
    only: Option<ContextId>,
}

impl Contexts {
    /// Asks the browser; `only` is the one that is watched in the place of the default one.
    pub(crate) async fn fetch(
        browser: &CdpSession,
        only: Option<&ContextId>,
    ) -> Result<Self, CdpError> {
        let answer = browser.call("Target.getBrowserContexts", json!({})).await?;
        let made = Deserialize::deserialize(&answer["browserContextIds"]).unwrap_or_default();
        let default = Deserialize::deserialize(&answer["defaultBrowserContextId"]).ok();
        Ok(Self { default, made, only: only.cloned() })
    }

    /// Whether a target belongs to the context that is watched. An older browser does not name it: then
    /// every context is, that was not made before we asked.
    pub(crate) fn keep(&self, target: &TargetInfo) -> bool {
        if let Some(only) = &self.only {
            return target.browser_context_id.as_ref() == Some(only);
        }
        match (&target.browser_context_id, &self.default) {
            (Some(context), Some(default)) => context == default,
            (Some(context), None) => !self.made.contains(context),
            (None, _) => true,
        }
    }
}

/// The tabs that a browser has.
#[derive(Debug, Default)]
pub(crate) struct Tabs {
    /// Those of the context that is watched.
    pub(crate) kept: Vec<TargetInfo>,
    /// Those of that context that show a page of the browser's own.
    pub(crate) internal: Vec<TargetInfo>,
    /// How many tabs other contexts have.
    pub(crate) foreign: usize,
}

/// Asks a browser for its tabs, those of one context (`only`, or the default one) above all.
pub(crate) async fn list(browser: &CdpSession, only: Option<&ContextId>) -> Result<Tabs, CdpError> {
    let contexts = Contexts::fetch(browser, only).await?;
    let mut tabs = Tabs::default();
    for target in all(browser).await? {
        match (target.is_tab(), contexts.keep(&target)) {
            (true, true) => tabs.kept.push(target),
            (true, false) => tabs.foreign += 1,
            (false, true) if target.kind == "page" => tabs.internal.push(target),
            (false, _) => {}
        }
    }
    Ok(tabs)
}

/// Whatever a browser runs, in all contexts.
pub(crate) async fn all(browser: &CdpSession) -> Result<Vec<TargetInfo>, CdpError> {
    let answer = browser.call("Target.getTargets", json!({})).await?;
    let infos = answer["targetInfos"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(infos.iter().filter_map(|info| TargetInfo::deserialize(info).ok()).collect())
}

/// The contexts that clients made, with their tabs.
pub(crate) async fn made(browser: &CdpSession) -> Result<Vec<MadeContext>, CdpError> {
    let contexts = Contexts::fetch(browser, None).await?;
    let tabs: Vec<_> = all(browser).await?.into_iter().filter(TargetInfo::is_tab).collect();
    let of = |id: &ContextId| {
        let own = tabs.iter().filter(|tab| tab.browser_context_id.as_ref() == Some(id));
        let tab = |info: &TargetInfo| Tab {
            id: info.target_id.to_string(),
            url: info.url.clone(),
            title: info.title.clone(),
            ..Tab::default()
        };
        own.map(tab).collect()
    };
    Ok(contexts.made.iter().map(|id| MadeContext { id: id.clone(), tabs: of(id) }).collect())
}

/// Whether a target is still there.
pub(crate) async fn exists(browser: &CdpSession, target: &TargetId) -> Result<bool, CdpError> {
    match browser.call("Target.getTargetInfo", json!({ "targetId": target })).await {
        Ok(_) => Ok(true),
        Err(CdpError::Protocol { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes an empty tab behind the others.
pub(crate) async fn create(browser: &CdpSession) -> Result<TargetId, CdpError> {
    create_with(browser, json!({ "url": "about:blank", "background": true })).await
}

/// Makes a tab behind the others that has been nowhere yet, not even at `about:blank`: the first page
/// that it goes to takes the place of its initial entry, and nothing is left to go back to.
///
/// A `javascript:` address commits no document, so Chromium leaves the tab at the entry with which
/// `NavigationControllerImpl` begins (`NavigationEntryImpl::IsInitialEntry`), which any navigation
/// replaces. To forget an entry afterwards would race with the site, which may have made more by then.
pub(crate) async fn create_unvisited(browser: &CdpSession) -> Result<TargetId, CdpError> {
    create_with(browser, json!({ "url": "javascript:", "background": true })).await
}

/// Makes an empty page that no window shows and no other client sees; it ends with the connection.
pub(crate) async fn create_hidden(browser: &CdpSession) -> Result<TargetId, CdpError> {
    create_with(browser, json!({ "url": "about:blank", "hidden": true })).await
}

async fn create_with(
    browser: &CdpSession,
    params: serde_json::Value,
) -> Result<TargetId, CdpError> {
    let method = "Target.createTarget";
    let answer = browser.call(method, params).await?;
    TargetId::deserialize(&answer["targetId"]).map_err(|source| CdpError::Decode { method, source })
}

/// Attaches to a target with a session of its own.
pub(crate) async fn attach(
    browser: &CdpSession,
    target: &TargetId,
) -> Result<CdpSession, CdpError> {
    let method = "Target.attachToTarget";
    let answer = browser.call(method, json!({ "targetId": target, "flatten": true })).await?;
    let id = CdpSessionId::deserialize(&answer["sessionId"])
        .map_err(|source| CdpError::Decode { method, source })?;
    Ok(browser.connection().session(id))
}

/// Lets go of a target that was attached with [`attach`].
pub(crate) async fn detach(session: &CdpSession) -> Result<(), CdpError> {
    let params = json!({ "sessionId": session.id() });
    session.connection().browser().call("Target.detachFromTarget", params).await.map(drop)
}

/// Closes a target; one that is gone already is no error.
pub(crate) async fn close(browser: &CdpSession, target: &TargetId) -> Result<(), CdpError> {
    match browser.call("Target.closeTarget", json!({ "targetId": target })).await {
        Ok(_) | Err(CdpError::Protocol { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// A frame that lives in the process of its target's session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    /// For as long as the frame lives, over its navigations.
    pub(crate) id: String,
    /// For as long as its document is there.
    #[serde(default)]
    pub(crate) loader_id: String,
    /// The origin of its document.
    #[serde(default)]
    pub(crate) security_origin: String,
    /// Its address, without what follows `#`.
    #[serde(default)]
    url: String,
    /// What follows `#` in its address, with it.
    #[serde(default)]
    url_fragment: String,
    /// The frame around it, also when that lives in another process.
    pub(crate) parent_id: Option<String>,
    /// Set when the document is an error page in place of this address.
    pub(crate) unreachable_url: Option<String>,
}

impl Frame {
    /// Whether its document is of a site, and so has a storage key.
    pub(crate) fn is_of_a_site(&self) -> bool {
        self.security_origin.starts_with("http")
    }

    /// Its address, as a person would see it.
    pub(crate) fn address(&self) -> String {
        let shown = || format!("{}{}", self.url, self.url_fragment);
        self.unreachable_url.clone().unwrap_or_else(shown)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTreeAnswer {
    frame_tree: Tree,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tree {
    frame: Frame,
    #[serde(default)]
    child_frames: Vec<Tree>,
}

impl Tree {
    fn flatten(self, frames: &mut Vec<Frame>) {
        frames.push(self.frame);
        self.child_frames.into_iter().for_each(|child| child.flatten(frames));
    }
}

/// The frames of a target, the topmost first.
pub(crate) async fn frames_of(session: &CdpSession) -> Result<Vec<Frame>, CdpError> {
    let method = "Page.getFrameTree";
    // A frame's name, which is not read here, may hold lone surrogates.
    let answer = session.call_raw(CALL_LIMIT, method, json!({})).await?;
    let answer: FrameTreeAnswer =
        serde_json::from_str(answer.get()).map_err(|source| CdpError::Decode { method, source })?;
    let mut frames = Vec::new();
    answer.frame_tree.flatten(&mut frames);
    Ok(frames)
}

/// The storage key of a frame; none for a document without storage (an opaque origin).
pub(crate) async fn storage_key(
    session: &CdpSession,
    frame: &str,
) -> Result<Option<StorageKey>, CdpError> {
    ask_storage_key(session, json!({ "frameId": frame })).await
}

/// The storage key of what a session is attached to, such as a worker.
pub(crate) async fn own_storage_key(session: &CdpSession) -> Result<Option<StorageKey>, CdpError> {
    ask_storage_key(session, json!({})).await
}

async fn ask_storage_key(
    session: &CdpSession,
    params: Value,
) -> Result<Option<StorageKey>, CdpError> {
    match session.call("Storage.getStorageKey", params).await {
        Ok(answer) => Ok(answer["storageKey"].as_str().map(StorageKey::new).filter(is_lasting)),
        // The frame is gone, or its origin is opaque: the browser says so with an error.
        Err(CdpError::Protocol { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Asks to hear of changes to the databases and caches of a storage key for as long as the session lasts.
pub(crate) async fn track(session: &CdpSession, key: &StorageKey) -> Result<(), CdpError> {
    let params = json!({ "storageKey": key });
    session.call("Storage.trackIndexedDBForStorageKey", &params).await?;
    session.call("Storage.trackCacheStorageForStorageKey", params).await.map(drop)
}

/// Whether storage outlives its document and belongs to a site. Keys with a nonce (`^1`) and those of
/// opaque origins die with their document; the browser's own pages are none of ours.
pub(crate) fn is_lasting(key: &StorageKey) -> bool {
    let key = key.as_str();
    let is_opaque = key.contains("^1") || key.starts_with("null") || !key.contains("://");
    !is_opaque && !is_internal(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_tab_shows_is_told_by_its_address() {
        let source = "view-source:https://app.test/?q=1";
        for (url, wanted) in [
            ("https://app.test/", Shows::Page),
            ("file:///etc/hosts", Shows::Page),
            ("chrome-extension://abc/page.html", Shows::Page),
            ("", Shows::Nothing),
            ("about:blank", Shows::Nothing),
            ("chrome://newtab/", Shows::Nothing),
            ("chrome://new-tab-page-third-party/", Shows::Nothing),
            ("chrome://newtabs/", Shows::OfTheBrowser),
            ("chrome://settings/?search=a", Shows::OfTheBrowser),
            ("devtools://devtools/bundled/devtools_app.html", Shows::OfTheBrowser),
            ("view-source:chrome://version/", Shows::OfTheBrowser),
            (source, Shows::Source("https://app.test/?q=1")),
        ] {
            assert_eq!(shows(url), wanted, "{url}");
        }
    }
}
