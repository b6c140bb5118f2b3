//! What is switched on in each target, so that events tell of its changes.
//!
//! Auto-attach, `Page` and `DOMStorage` cost nothing that can be measured, where no page writes without
//! end (see [`mute`](super::mute)); `Network` and `Runtime` would cost a quarter of a page's speed and
//! stay off.
//!
//! A listener in our isolated world, which no page script can see, says only *that* something was done,
//! at most four times a second, or that a password was entered; never what. `Network` events would tell of answers, too, and cost a
//! page a quarter of its speed.
//!
//! A worker that runs has its scripts in memory, exactly as they ran, also where the site would answer
//! otherwise by now. A debugger tells of them, and is switched off again at once, so that no worker ever
//! waits for us.

use super::crashes;
use super::messages::ScriptParsed;
use super::mirror::DirtyDatabases;
use super::seen::Sources;
use super::shared::{Attached, Counters, Shared};
use crate::cdp::{CdpError, CdpSession};
use crate::targets;
use crate::targets::{Frame, TargetId};
use baton_session::StorageKey;
use baton_session::stored::{WorkerScript, WorkerType};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::{sleep, timeout};

/// How long a target that could not be watched is left alone.
const PAUSE: Duration = Duration::from_millis(200);

/// What we want to be attached to of all that a browser runs. Workers of one page alone see no more
/// than the page does; these outlive it.
pub(super) const OF_A_BROWSER: [&str; 4] = ["page", "iframe", "service_worker", "shared_worker"];
/// And below a page or frame.
const OF_A_PAGE: [&str; 2] = ["page", "iframe"];

/// Asks to be attached to every target of these kinds below `session`, now and later.
pub(super) async fn auto_attach(session: &CdpSession, kinds: &[&str]) -> Result<(), CdpError> {
    let mut filter: Vec<_> = kinds.iter().map(|kind| json!({ "type": kind })).collect();
    filter.push(json!({ "exclude": true }));
    let params = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": false,
        "flatten": true,
        "filter": filter,
    });
    session.call("Target.setAutoAttach", params).await.map(drop)
}

/// Watches the databases of a worker's storage key, whether or not a page shows it.
pub(super) async fn worker(session: CdpSession, shared: Arc<Shared>, activity: Counters) {
    let key = loop {
        match watch_databases(&session).await {
            Ok(Some(key)) => break key,
            Ok(None) => return,
            Err(error) => tracing::debug!(%error, "a worker is not watched yet"),
        }
        if session.connection().is_closed() || !shared.is_worker(&session) {
            return;
        }
        sleep(PAUSE).await;
    };
    shared.watched_worker(&session, key.clone());
    let mut mirror = shared.mirror();
    mirror.dirty().databases.insert(key.clone(), DirtyDatabases::All);
    mirror.dirty().stored(key).all = true;
    drop(mirror);
    activity.wrote();
}

async fn watch_databases(worker: &CdpSession) -> Result<Option<StorageKey>, CdpError> {
    let key = targets::own_storage_key(worker).await?;
    if let Some(key) = &key {
        targets::track(worker, key).await?;
    }
    Ok(key)
}

/// Switches on the events of a target that was just attached, and watches the documents in it. One
/// that hangs, say in a dialog, is asked again until it answers or leaves.
pub(super) async fn target(
    session: CdpSession,
    shared: Arc<Shared>,
    attached: Attached,
    activity: Counters,
) {
    while let Err(error) =
        crashes::wait_for(&session, switch_on(&session, &shared, &attached.tab)).await
    {
        tracing::debug!(%error, tab = %attached.tab, "a target is not watched yet");
        if error.is_closed() || !shared.is_attached(&session) {
            return;
        }
        sleep(PAUSE).await;
    }
    shared.watched(&session);
    activity.navigation();
}

async fn switch_on(session: &CdpSession, shared: &Shared, tab: &TargetId) -> Result<(), CdpError> {
    // The browser itself answers this one: a page that hangs does not hide its frames.
    auto_attach(session, &OF_A_PAGE).await?;
    session.call("Page.enable", json!({})).await?;
    session.call("DOMStorage.enable", json!({})).await?;
    for frame in targets::frames_of(session).await? {
        // The browser knows of these for long, and tells of the next ones.
        document(session, shared, tab, &frame, Duration::ZERO).await;
    }
    Ok(())
}

/// Marks the storage of a new document as unread, and watches its databases; whether it has any. The browser has so
/// long to hear of it.
pub(super) async fn document(
    session: &CdpSession,
    shared: &Shared,
    tab: &TargetId,
    frame: &Frame,
    patience: Duration,
) -> bool {
    if shared.tells_input() {
        INPUT.listen_in(session, frame).await;
    }
    let Some(key) = storage_key(session, shared, frame, patience).await else { return false };
    if let Err(error) = targets::track(session, &key).await {
        tracing::debug!(%error, %key, "the databases of a document are not watched");
    }
    shared.mirror().dirty().mark_document(tab, &key);
    REQUESTS.listen_in(session, frame).await;
    true
}

/// How long the browser may take until it has heard of a document of which its page tells.
pub(super) const HEARS_WITHIN: Duration = Duration::from_secs(10);
/// How long it is let be before it is asked again, at first.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// The storage key of a document. The page tells of it by another way than the one by which the browser hears of it,
/// and until then the browser answers for the document before: with its key, or that it has none. A document that
/// never has one, as in a frame that is kept from its own site, looks the same; so the last answer counts in the end.
/// Of one whose page is closed the browser says no more.
async fn storage_key(
    session: &CdpSession,
    shared: &Shared,
    frame: &Frame,
    patience: Duration,
) -> Option<StorageKey> {
    let (mut pause, mut left) = (FIRST_PAUSE, patience);
    loop {
        let found = targets::storage_key(session, &frame.id).await;
        let is_it = match &found {
            Ok(Some(key)) => !frame.is_of_a_site() || key.origin() == frame.security_origin,
            Ok(None) => !frame.is_of_a_site(),
            Err(error) => error.is_closed(),
        };
        if is_it || left.is_zero() || !shared.is_attached(session) {
            return found.ok().flatten();
        }
        pause = pause.min(left);
        sleep(pause).await;
        (left, pause) = (left.saturating_sub(pause), 2 * pause);
    }
}

/// How long a listener says nothing more once it has said something.
pub(super) const QUIET: Duration = Duration::from_millis(250);

/// Something that documents can be asked to tell.
#[derive(Debug)]
pub(super) struct Listener {
    /// The name under which it calls.
    pub(super) binding: &'static str,
    world: &'static str,
    /// Its body, which calls `tell`.
    script: &'static str,
}

/// Clicks and typing, for those who want a capture after them. Heard in the capture phase, so that a
/// page that stops its events does not hide them.
pub(super) const INPUT: Listener = Listener {
    binding: "batonInput",
    world: "baton input",
    script: "for (const kind of ['click', 'input', 'change', 'keydown', 'submit', 'drop']) {
        addEventListener(kind, tell, { capture: true, passive: true });
    }",
};

/// Requests of a document that have been answered, whatever for (Resource Timing, section 4.2): each answer
/// may have set cookies. Of requests of dedicated workers those alone hear. The world is that of captures,
/// which is made for each document anyway.
///
/// That a password or a code was entered is told as well, by the origin of the document, and what it was is not:
/// what changes next may be a login.
pub(super) const REQUESTS: Listener = Listener {
    binding: "batonRequests",
    world: "baton",
    script: "new PerformanceObserver(tell).observe({ type: 'resource', buffered: true });
        const secret = (one) => one instanceof HTMLInputElement && one.value !== ''
            && (one.type === 'password' || /password|one-time-code/.test(one.autocomplete));
        const entered = (event) => {
            const at = event.composedPath()[0];
            const all = at instanceof HTMLFormElement ? [...at.elements] : [at];
            if (all.some(secret)) batonRequests(location.origin);
        };
        for (const kind of ['change', 'focusout', 'submit']) {
            addEventListener(kind, entered, { capture: true, passive: true });
        }",
};

/// Whether a document asks for a password: one that is wrong is asked for again.
const ASKS: &str = "[...document.querySelectorAll('input[type=password]')]
    .some((one) => one.getClientRects().length > 0)";

/// Whether a document of a target asks for a password where a person sees it.
pub(super) async fn asks_for_password(session: &CdpSession) -> Result<bool, CdpError> {
    for frame in targets::frames_of(session).await? {
        let world = REQUESTS.world_in(session, &frame).await?;
        let params = json!({ "expression": ASKS, "contextId": world, "returnByValue": true });
        let answer = session.call("Runtime.evaluate", params).await?;
        if answer["result"]["value"] == true {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Listener {
    /// Listens in every document of a target that is there now.
    pub(super) async fn listen(&self, session: &CdpSession) {
        match targets::frames_of(session).await {
            Ok(frames) => {
                for frame in frames {
                    self.listen_in(session, &frame).await;
                }
            }
            Err(error) => tracing::debug!(%error, self.binding, "a tab does not tell"),
        }
    }

    /// Listens in one document; where that is done already, nothing is done.
    async fn listen_in(&self, session: &CdpSession, frame: &Frame) {
        if let Err(error) = self.try_listen(session, frame).await {
            tracing::debug!(%error, self.binding, "a document does not tell");
        }
    }

    async fn try_listen(&self, session: &CdpSession, frame: &Frame) -> Result<(), CdpError> {
        let context = self.world_in(session, frame).await?;
        let params = json!({ "name": self.binding, "executionContextId": context });
        session.call("Runtime.addBinding", params).await?;
        let params = json!({ "expression": self.expression(), "contextId": context });
        session.call("Runtime.evaluate", params).await.map(drop)
    }

    /// Its world in a document.
    async fn world_in(&self, session: &CdpSession, frame: &Frame) -> Result<Value, CdpError> {
        let params = json!({ "frameId": frame.id, "worldName": self.world });
        let mut world = session.call("Page.createIsolatedWorld", params).await?;
        Ok(world["executionContextId"].take())
    }

    /// One that is there already, of a session before this one, calls under the same name.
    fn expression(&self) -> String {
        let Self { binding, script, .. } = self;
        let quiet = QUIET.as_millis();
        format!(
            "if (!self.{binding}Listens) {{
                self.{binding}Listens = true;
                let last = -Infinity;
                const tell = () => {{
                    const now = performance.now();
                    if (now - last < {quiet}) return;
                    last = now;
                    {binding}('');
                }};
                {script}
            }}"
        )
    }
}

/// How long a worker may take to run its main script.
const LIMIT: Duration = Duration::from_secs(10);
/// How many UTF-16 code units the scripts of a worker may have together.
const LARGEST: usize = 10_000_000;
/// The name of a script of ours: once the debugger tells of it, it has told of all that was parsed before.
const MARK: &str = "baton:mark";

/// Keeps the scripts of a worker in the mirror. One that cannot be read is left to its site.
pub(super) async fn keep_sources(
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
    let Some(key) = targets::own_storage_key(worker).await? else {
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
        let source = crate::live::messages::script_source(&answer)
            .map_err(|source| CdpError::Decode { method, source })?;
        let Some(rest) = left.checked_sub(source.len()) else {
            return Ok(None);
        };
        left = rest;
        scripts.push(WorkerScript { url, source });
    }
    Ok(Some(scripts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdp::{Connection, Transport};
    use baton_session::State;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

    /// A browser that answers so when it is asked for a storage key, by how often it was.
    async fn answering(browser: DuplexStream, key: impl Fn(usize) -> Value) {
        let (reader, mut writer) = tokio::io::split(browser);
        let mut messages = BufReader::new(reader).split(0);
        let mut asked = 0;
        while let Ok(Some(message)) = messages.next_segment().await {
            let message: Value = serde_json::from_slice(&message).unwrap();
            let mut answer = json!({ "result": {} });
            if message["method"] == "Storage.getStorageKey" {
                asked += 1;
                answer = key(asked);
            }
            answer["id"] = message["id"].clone();
            answer["sessionId"] = message["sessionId"].clone();
            writer.write_all(format!("{answer}\0").as_bytes()).await.unwrap();
        }
    }

    fn no_key() -> Value {
        json!({ "error": { "code": -32000, "message": "an opaque origin" } })
    }

    /// One that is late hears of a document when it was asked for the third time.
    fn late(asked: usize) -> Value {
        match asked {
            1 => no_key(),
            2 => json!({ "result": { "storageKey": "https://before.test/" } }),
            _ => json!({ "result": { "storageKey": "https://app.test/" } }),
        }
    }

    /// What is known of a browser whose session `S` watches the tab `T`.
    fn watching() -> Arc<Shared> {
        let shared = Shared::new(State::default());
        shared.mirror().take_dirty();
        let tab = TargetId::new("T");
        let attached = Attached { tab, opener: None, is_page: true, is_watched: true };
        shared.attached().insert("S".into(), attached);
        Arc::new(shared)
    }

    fn frame() -> Frame {
        let frame =
            json!({ "id": "F", "url": "https://app.test/", "securityOrigin": "https://app.test" });
        serde_json::from_value(frame).unwrap()
    }

    #[tokio::test]
    async fn a_document_of_which_the_browser_does_not_know_yet_is_watched() {
        let (ours, browser) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, _events) = Connection::start(Transport::nul(reader, writer));
        let answers = tokio::spawn(answering(browser, late));
        let shared = watching();
        let (session, tab) = (connection.session("S".into()), TargetId::new("T"));
        assert!(document(&session, &shared, &tab, &frame(), HEARS_WITHIN).await);
        let marked = |origin| {
            let key = StorageKey::first_party(origin);
            shared.mirror().dirty().wanted_databases(&key).is_some()
        };
        assert!(marked("https://app.test"));
        assert!(!marked("https://before.test"));
        answers.abort();
    }

    /// A page with many frames that are kept from their own sites is watched without a wait for each.
    #[tokio::test]
    async fn a_document_that_was_there_before_is_asked_about_once() {
        let (ours, browser) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, _events) = Connection::start(Transport::nul(reader, writer));
        let answers = tokio::spawn(answering(browser, late));
        let shared = watching();
        let session = connection.session("S".into());
        assert_eq!(storage_key(&session, &shared, &frame(), Duration::ZERO).await, None);
        let second = storage_key(&session, &shared, &frame(), Duration::ZERO).await;
        assert_eq!(second, Some(StorageKey::first_party("https://before.test")));
        answers.abort();
    }

    #[tokio::test]
    async fn a_document_whose_page_is_closed_is_asked_about_no_more() {
        let (ours, browser) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        let (connection, _events) = Connection::start(Transport::nul(reader, writer));
        let shared = watching();
        let known = Arc::clone(&shared);
        let answers = tokio::spawn(answering(browser, move |asked| {
            if asked == 2 {
                known.attached().clear();
            }
            no_key()
        }));
        let (session, tab, frame) = (connection.session("S".into()), TargetId::new("T"), frame());
        let watched = document(&session, &shared, &tab, &frame, HEARS_WITHIN);
        assert!(!timeout(HEARS_WITHIN / 2, watched).await.expect("to be asked about no more"));
        answers.abort();
    }
}
