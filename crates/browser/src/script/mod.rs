//! The scripts that read and fill storage inside a page, the one way to run them, and what no script
//! can read: the positions of key generators.
//!
//! The one idea: values are arguments, never source text. Each script is one function that gets one
//! JSON argument and returns one JSON text; in a page it runs in an isolated world, where no page
//! script can change what it calls.

pub(crate) mod collected;

use crate::cdp::{CdpError, CdpSession, WideText};
use baton_session::stored::{LAST_KEY, next_key};
use baton_session::{Database, StorageKey};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt;
use std::sync::LazyLock;
use std::time::Duration;

/// Where a script runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum World {
    /// An execution context of a frame in which no page script runs.
    Isolated(i64),
    /// The global object of a worker, which has no other world than that of its own scripts, or of a
    /// page. They can change what ours calls, and so what is said of their own site; of nothing else.
    Global(String),
}

/// One of the functions below.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Script {
    /// Reads what a frame can see of its storage key.
    Collect,
    /// Reads its caches, its files, or its service worker registrations.
    CollectStored,
    /// Makes the storage of a document's storage key equal to a snapshot.
    Fill,
    /// The same for one cache, the files, or one service worker registration.
    FillStored,
    /// Tells what a page sees of its environment, and of the history entry at which it is.
    Inspect,
    /// Tells `history.state`, in the world of the page's own scripts.
    TellState,
    /// Makes history entries of one document.
    Walk,
    /// Begins to tell by itself what a document stores.
    Sample,
    /// Tells which icons a page names.
    Icons,
}

const VALUE: &str = include_str!("value.js");
const LIMITS: &str = include_str!("limits.js");
const DATABASE: &str = include_str!("database.js");
const CACHE: &str = include_str!("cache.js");
const FILES: &str = include_str!("files.js");
const REGISTRATIONS: &str = include_str!("registrations.js");
const HISTORY_STATE: &str = include_str!("history_state.js");

static COLLECT: LazyLock<String> = LazyLock::new(|| {
    declaration(&[VALUE, LIMITS, DATABASE, include_str!("collect.js")], "collect")
});
static COLLECT_STORED: LazyLock<String> = LazyLock::new(|| {
    let entry = include_str!("collect_stored.js");
    declaration(&[VALUE, LIMITS, CACHE, FILES, REGISTRATIONS, entry], "collectStored")
});
static FILL: LazyLock<String> =
    LazyLock::new(|| declaration(&[VALUE, LIMITS, DATABASE, include_str!("fill.js")], "fill"));
static FILL_STORED: LazyLock<String> = LazyLock::new(|| {
    let entry = include_str!("fill_stored.js");
    declaration(&[VALUE, LIMITS, CACHE, FILES, REGISTRATIONS, entry], "fillStored")
});
static INSPECT: LazyLock<String> =
    LazyLock::new(|| declaration(&[VALUE, HISTORY_STATE, include_str!("inspect.js")], "inspect"));
static TELL_STATE: LazyLock<String> =
    LazyLock::new(|| declaration(&[VALUE, HISTORY_STATE], "tellState"));
static WALK: LazyLock<String> =
    LazyLock::new(|| declaration(&[VALUE, include_str!("walk.js")], "walk"));
static SAMPLE: LazyLock<String> =
    LazyLock::new(|| declaration(&[VALUE, LIMITS, include_str!("sample.js")], "sample"));
static ICONS: LazyLock<String> =
    LazyLock::new(|| declaration(&[include_str!("icons.js")], "icons"));

fn declaration(sources: &[&str], entry: &str) -> String {
    format!("async function (argument) {{\n{}\nreturn {entry}(argument);\n}}", sources.join("\n"))
}

impl Script {
    fn source(self) -> &'static str {
        match self {
            Self::Collect => &COLLECT,
            Self::CollectStored => &COLLECT_STORED,
            Self::Fill => &FILL,
            Self::FillStored => &FILL_STORED,
            Self::Inspect => &INSPECT,
            Self::TellState => &TELL_STATE,
            Self::Walk => &WALK,
            Self::Sample => &SAMPLE,
            Self::Icons => &ICONS,
        }
    }
}

/// Why a script gave no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ScriptError {
    /// The call itself failed.
    #[error(transparent)]
    Cdp(#[from] CdpError),
    /// The script threw.
    #[error("expected a result from the page, found an exception: {0}")]
    Threw(String),
    /// The script returned something else than promised.
    #[error("expected a result of another shape from the page: {0}")]
    Shape(String),
    /// What was read may be of two documents.
    #[error("expected the page to stay while it was read, found that it moved on")]
    Left,
}

impl ScriptError {
    /// Whether an answer came, and was no: another document may give another one.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Threw(_) | Self::Cdp(CdpError::Protocol { .. }))
    }
}

/// Makes an isolated world in a frame.
pub(crate) async fn world(session: &CdpSession, frame: &str) -> Result<World, ScriptError> {
    let params = json!({ "frameId": frame, "worldName": "baton" });
    let created = session.call("Page.createIsolatedWorld", params).await?;
    let id = created["executionContextId"].as_i64();
    id.map(World::Isolated).ok_or_else(|| ScriptError::Shape("no executionContextId".to_owned()))
}

/// A global object that the browser keeps for us until this is dropped.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    session: &'a CdpSession,
    world: World,
}

impl Held<'_> {
    /// The world of which it is the global object.
    pub(crate) fn world(&self) -> &World {
        &self.world
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let World::Global(id) = &self.world {
            self.session.post("Runtime.releaseObject", json!({ "objectId": id }));
        }
    }
}

/// The one world of a worker, or that of a page's own scripts.
pub(crate) async fn global(session: &CdpSession) -> Result<Held<'_>, ScriptError> {
    let found = session.call("Runtime.evaluate", json!({ "expression": "globalThis" })).await?;
    let id = found["result"]["objectId"].as_str().map(str::to_owned);
    let world =
        id.map(World::Global).ok_or_else(|| ScriptError::Shape("no objectId".to_owned()))?;
    Ok(Held { session, world })
}

/// Runs `script` with `argument` and waits at most `limit` for what it returns.
pub(crate) async fn run<A: Serialize, R: DeserializeOwned>(
    session: &CdpSession,
    world: &World,
    script: Script,
    argument: &A,
    limit: Duration,
) -> Result<R, ScriptError> {
    run_counted(session, world, script, argument, limit).await.map(|(returned, _)| returned)
}

/// The same, with how many bytes that has.
pub(crate) async fn run_counted<A: Serialize, R: DeserializeOwned>(
    session: &CdpSession,
    world: &World,
    script: Script,
    argument: &A,
    limit: Duration,
) -> Result<(R, usize), ScriptError> {
    let mut params = json!({
        "functionDeclaration": script.source(),
        "arguments": [{ "value": argument }],
        "awaitPromise": true,
        "returnByValue": true,
        // The browser's back button passes entries by that were made without a gesture.
        "userGesture": matches!(script, Script::Walk),
    });
    match world {
        World::Isolated(id) => params["executionContextId"] = json!(id),
        World::Global(id) => params["objectId"] = json!(id),
    }
    let answer = session.call_within(limit, "Runtime.callFunctionOn", params).await?;
    if let Some(exception) = answer.get("exceptionDetails") {
        return Err(ScriptError::Threw(exception_text(exception)));
    }
    let text = answer["result"]["value"].as_str().unwrap_or_default();
    let returned = serde_json::from_str(text);
    Ok((returned.map_err(|error| ScriptError::Shape(error.to_string()))?, text.len()))
}

fn exception_text(exception: &Value) -> String {
    let text = exception["exception"]["description"].as_str().or(exception["text"].as_str());
    text.unwrap_or("unknown").lines().next().unwrap_or_default().to_owned()
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Collect => "collect",
            Self::CollectStored => "collect stored",
            Self::Fill => "fill",
            Self::FillStored => "fill stored",
            Self::Inspect => "inspect",
            Self::TellState => "tell state",
            Self::Walk => "walk",
            Self::Sample => "sample",
            Self::Icons => "icons",
        })
    }
}

/// How long the browser may take to tell the positions of one database.
const LIMIT: Duration = Duration::from_secs(5);

/// Notes in each store of a database that was just read the key which comes next. `session` is that
/// of a page or worker which can see the database.
pub(crate) async fn read_generators(
    session: &CdpSession,
    key: &StorageKey,
    database: &mut Database,
) -> Result<(), CdpError> {
    for store in database.stores.iter_mut().filter(|store| store.auto_increment) {
        let params = GetMetadata {
            storage_key: key,
            database_name: WideText(database.name.clone()),
            object_store_name: WideText(store.name.clone()),
        };
        let metadata = session.call_within(LIMIT, "IndexedDB.getMetadata", params).await?;
        let told = as_key(&metadata["keyGeneratorValue"]);
        store.next_key = told.map(|told| meant(told, next_key(&store.records)));
    }
    Ok(())
}

/// The parameters of `IndexedDB.getMetadata`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GetMetadata<'a> {
    storage_key: &'a StorageKey,
    database_name: WideText,
    object_store_name: WideText,
}

/// Key generators count from 1 to 2^53, which the protocol carries as a double.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
#[expect(clippy::cast_precision_loss, reason = "a power of two is exact")]
fn as_key(value: &Value) -> Option<u64> {
    value.as_f64().filter(|key| (1.0..=LAST_KEY as f64).contains(key)).map(|key| key as u64)
}

/// What is meant by a key that the browser told. A generator that has none left is one behind the last key,
/// and a double says the same of both; it is at the last one where the records say so, and hardly otherwise.
fn meant(told: u64, by_records: u64) -> u64 {
    if told == LAST_KEY && by_records != LAST_KEY { LAST_KEY + 1 } else { told }
}
