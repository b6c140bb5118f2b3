//! Reads the scripts of a service worker, once, when we are attached to it.
//!
//! The one idea: a worker that runs has its scripts in memory, exactly as they ran, also where the
//! site would answer otherwise by now. A debugger tells of them, and is switched off again at once,
//! so that no worker ever stands still for us.

use super::activity::Counters;
use super::messages::ScriptParsed;
use super::seen::Sources;
use super::shared::Shared;
use crate::cdp::{CdpError, CdpSession};
use crate::frames;
use baton_session::StorageKey;
use baton_session::registration::{WorkerScript, WorkerType};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

/// How long a worker may take to run its main script.
const LIMIT: Duration = Duration::from_secs(10);
/// How many UTF-16 code units the scripts of a worker may have together.
const LARGEST: usize = 10_000_000;
/// The name of a script of ours: whatever was parsed before it has been told when it is.
const MARK: &str = "baton:mark";

/// Keeps the scripts of a worker in the mirror. One that cannot be read is left to its site.
pub(super) async fn keep(
    worker: CdpSession,
    script_url: String,
    shared: Arc<Shared>,
    activity: Counters,
) {
    let parsed = shared.hear_scripts(&worker);
    let found = timeout(LIMIT, read(&worker, &script_url, parsed)).await;
    shared.leave_scripts(&worker);
    worker.post("Debugger.disable", json!({}));
    let found =
        found.unwrap_or(Err(CdpError::TimedOut { method: "Debugger.enable", limit: LIMIT }));
    match found {
        Ok(Some((key, sources))) => {
            let mut mirror = shared.mirror();
            mirror.keep_sources(key.clone(), script_url, sources);
            mirror.dirty().stored(key).workers = true;
            drop(mirror);
            activity.wrote();
        }
        Ok(None) => tracing::debug!("the scripts of a worker are too large, or nobody's"),
        Err(error) => tracing::debug!(%error, "the scripts of a worker could not be read"),
    }
}

async fn read(
    worker: &CdpSession,
    script_url: &str,
    mut parsed: Receiver<ScriptParsed>,
) -> Result<Option<(StorageKey, Sources)>, CdpError> {
    // One right after the other: a `debugger` statement must not stop the worker, and one that did
    // so in between is passed over.
    worker.post("Debugger.enable", json!({}));
    worker.call("Debugger.setSkipAllPauses", json!({ "skip": true })).await?;
    worker.post("Debugger.resume", json!({}));
    let Some(key) = frames::own_storage_key(worker).await? else {
        return Ok(None);
    };
    let mut found = BTreeMap::new();
    let mut worker_type = None;
    let mut is_marked = false;
    while let Some(script) = parsed.recv().await {
        if script.url == MARK {
            break;
        }
        let address =
            if script.embedder_name.is_empty() { script.url } else { script.embedder_name };
        if address == script_url && worker_type.is_none() {
            worker_type =
                Some(if script.is_module { WorkerType::Module } else { WorkerType::Classic });
        }
        if address.starts_with("http") {
            found.insert(address, script.script_id);
        }
        // The worker takes the mark when it has run its main script, and with it all imports.
        if worker_type.is_some() && !std::mem::replace(&mut is_marked, true) {
            let expression = format!("0\n//# sourceURL={MARK}");
            worker.post("Runtime.evaluate", json!({ "expression": expression }));
        }
    }
    let scripts = fetch(worker, found).await?;
    Ok(worker_type
        .zip(scripts)
        .map(|(worker_type, scripts)| (key, Sources { worker_type, scripts })))
}

/// The texts of scripts; none when they are too large.
async fn fetch(
    worker: &CdpSession,
    found: BTreeMap<String, String>,
) -> Result<Option<Vec<WorkerScript>>, CdpError> {
    let method = "Debugger.getScriptSource";
    let mut scripts = Vec::new();
    let mut left = LARGEST;
    for (url, id) in found {
        let answer = worker.call_raw(LIMIT, method, json!({ "scriptId": id })).await?;
        let source = super::messages::script_source(&answer)
            .map_err(|source| CdpError::Decode { method, source })?;
        let Some(rest) = left.checked_sub(source.len()) else {
            return Ok(None);
        };
        left = rest;
        scripts.push(WorkerScript { url, source });
    }
    Ok(Some(scripts))
}
