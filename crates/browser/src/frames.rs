//! The frames of a target and the storage key of each.

use crate::cdp::{CALL_LIMIT, CdpError, CdpSession};
use crate::targets;
use baton_session::StorageKey;
use serde::Deserialize;
use serde_json::{Value, json};

/// A frame that lives in the process of its target's session.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Frame {
    /// For as long as the frame lives, over its navigations.
    pub(crate) id: String,
    /// For as long as its document is there.
    #[serde(default)]
    pub(crate) loader_id: String,
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
pub(crate) async fn list(session: &CdpSession) -> Result<Vec<Frame>, CdpError> {
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
    !is_opaque && !targets::is_internal(key)
}
