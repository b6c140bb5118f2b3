//! What the events of a browser say, as far as we listen.

use crate::cdp::WideText;
use baton_session::{StorageKey, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What an event says; none when it is not as we know it.
pub(super) fn parse<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

/// The text of `Debugger.getScriptSource`, which may hold lone surrogates.
pub(super) fn script_source(answer: &RawValue) -> Result<Text, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ScriptSource {
        script_source: WideText,
    }
    serde_json::from_str(answer.get()).map(|ScriptSource { script_source }| script_source.0)
}

/// `Runtime.bindingCalled`.
#[derive(Deserialize)]
pub(super) struct BindingCalled {
    pub(super) name: String,
    #[serde(default)]
    pub(super) payload: String,
}

/// What `sample.js` tells of a document.
#[derive(Debug, Deserialize)]
pub(super) struct Sampled {
    /// Which sampler tells.
    pub(super) mark: u64,
    /// Whether it ends, or its document may: events are to be heard again.
    pub(super) ends: bool,
    /// Whether its areas are larger than samples are for.
    pub(super) large: bool,
    pub(super) local: Option<SampledArea>,
    pub(super) session: Option<SampledArea>,
}

/// What a sampler tells of one area.
#[derive(Debug, Deserialize)]
pub(super) struct SampledArea {
    /// Whether these are all entries, not only those that changed.
    pub(super) whole: bool,
    pub(super) set: Vec<(Text, Text)>,
    pub(super) removed: Vec<Text>,
}

/// `Page.frameStartedLoading`, `Page.frameStoppedLoading` and `Page.frameDetached`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameLoad {
    pub(super) frame_id: String,
}

/// `Page.downloadProgress`.
#[derive(Deserialize)]
pub(super) struct DownloadProgress {
    pub(super) state: String,
}

/// `Page.navigatedWithinDocument`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigatedWithinDocument {
    pub(super) frame_id: String,
    pub(super) url: String,
}

/// Every change that `DOMStorage` tells.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StorageChange {
    pub(super) storage_id: StorageId,
    pub(super) key: Option<WideText>,
    pub(super) new_value: Option<WideText>,
}

/// Where it happened.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StorageId {
    pub(super) storage_key: StorageKey,
    pub(super) is_local_storage: bool,
}

/// `Storage.cacheStorageContentUpdated`, and `cacheStorageListUpdated`, which names no cache.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CacheChange {
    pub(super) storage_key: StorageKey,
    pub(super) cache_name: Option<WideText>,
}

/// `Debugger.scriptParsed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScriptParsed {
    pub(super) script_id: String,
    /// What the script calls itself, or else its address.
    pub(super) url: String,
    /// Its address.
    #[serde(default)]
    pub(super) embedder_name: String,
    #[serde(default)]
    pub(super) is_module: bool,
}

/// `Network.requestWillBeSent`; a redirect bears the id of what it follows.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestSent {
    pub(super) request_id: String,
    #[serde(rename = "type", default)]
    pub(super) kind: String,
}

/// `Network.loadingFinished` and `Network.loadingFailed`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestOver {
    pub(super) request_id: String,
}

/// `Fetch.requestPaused`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RequestHeld {
    /// What `Network` calls it.
    pub(super) network_id: Option<String>,
}

/// `Storage.indexedDBContentUpdated`, and `indexedDBListUpdated`, which names no database.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DatabaseChange {
    pub(super) storage_key: StorageKey,
    pub(super) database_name: Option<WideText>,
}
