//! Targets: which tabs a browser has, and how to make, reach and close one.

use crate::cdp::{CdpError, CdpSession, CdpSessionId};
use baton_session::Tab;
use serde::{Deserialize, Serialize};
use serde_json::json;
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
    title: String,
    #[serde(default)]
    browser_context_id: Option<ContextId>,
}

impl TargetInfo {
    /// Whether it is a tab of a site, not a page of the browser itself.
    pub(crate) fn is_tab(&self) -> bool {
        self.kind == "page" && !is_internal(&self.url)
    }
}

/// Whether an address, or a storage key, is one of the browser's own pages.
pub(crate) fn is_internal(url: &str) -> bool {
    ["chrome://", "devtools://", "chrome-untrusted://"].iter().any(|scheme| url.starts_with(scheme))
}

/// Tells the context that is watched from all others. That is the default one, unless one that a client
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

/// The tabs of the context that is watched (`only`, or the default one), and how many others have.
pub(crate) async fn list(
    browser: &CdpSession,
    only: Option<&ContextId>,
) -> Result<(Vec<TargetInfo>, usize), CdpError> {
    let contexts = Contexts::fetch(browser, only).await?;
    let tabs = tabs(browser).await?;
    let (kept, foreign): (Vec<_>, Vec<_>) = tabs.into_iter().partition(|tab| contexts.keep(tab));
    Ok((kept, foreign.len()))
}

/// The tabs of all contexts.
async fn tabs(browser: &CdpSession) -> Result<Vec<TargetInfo>, CdpError> {
    let answer = browser.call("Target.getTargets", json!({})).await?;
    let infos = answer["targetInfos"].as_array().map(Vec::as_slice).unwrap_or_default();
    let tabs = infos.iter().filter_map(|info| TargetInfo::deserialize(info).ok());
    Ok(tabs.filter(TargetInfo::is_tab).collect())
}

/// The contexts that clients made, with their tabs.
pub(crate) async fn made(browser: &CdpSession) -> Result<Vec<MadeContext>, CdpError> {
    let contexts = Contexts::fetch(browser, None).await?;
    let tabs = tabs(browser).await?;
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
