//! What pages ask of the person who drives: whether they may know where the browser is, show notifications, and so on.
//!
//! The one idea: a browser without a window refuses in the place of a person. So, only while one drives, what a page
//! calls for that is held in the page until the person has answered, or for [`LIMIT`], and done then. A page tells
//! only what kind it wishes for, and any page can say so at any time; whose wish it is, the browser says. Holding
//! decides nothing: what was allowed, the node has set before it lets go.
//!
//! A tab has one question at a time and [`A_MINUTE`] of them in a minute, equal ones are one; what is beyond is let
//! go at once. When the last person stops to drive, nothing of it stays in pages.

use super::{Chooser, ScreenState, ScreenTab, Sessions};
use crate::cdp::{CdpError, CdpSession, CdpSessionId};
use crate::targets;
use crate::targets::Frame;
use baton_session::permission::origin_of;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How long a question stands.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// How much longer a page holds what it calls: it hears that the question is over, as a rule.
const GRACE: Duration = Duration::from_secs(5);
/// How many questions a tab asks in a minute.
const A_MINUTE: usize = 10;
/// How many documents wait for one answer.
const WAITING: usize = 16;
/// How many frames of other processes are held.
const FRAMES: usize = 256;
/// The name under which a document tells of a wish.
const BINDING: &str = "batonWish";
/// What is told: names of the Permissions API, as in [`baton_session::permission::NAMES`].
const WISHES: [&str; 7] = [
    "camera",
    "clipboard-read",
    "geolocation",
    "microphone",
    "midi",
    "midi-sysex",
    "notifications",
];

/// A site wishes for something that a person has to allow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionQuestion {
    /// Names it for as long as the screen lives.
    pub number: u64,
    /// The origin of the document that asks.
    pub origin: String,
    /// The origin of the page around it, where that is another one.
    pub within: Option<String>,
    /// What it wishes for, in the names of the Permissions API.
    pub names: Vec<&'static str>,
}

/// A document told of a wish.
#[derive(Debug)]
pub(super) struct DocumentWish {
    tab: u32,
    frame: CdpSession,
    context: i64,
    names: Vec<&'static str>,
}

/// Whose wish it is: the origin, and that of the page around it where it is another one.
pub(super) type Whose = (String, Option<String>);

/// What pages ask on one screen.
#[derive(Debug, Clone)]
pub(super) struct Asking(Arc<AskingShared>);

#[derive(Debug)]
struct AskingShared {
    state: watch::Sender<ScreenState>,
    sessions: Sessions,
    limit: Duration,
    known: Mutex<AskingState>,
}

#[derive(Debug, Default)]
struct AskingState {
    /// The viewers who drive.
    drivers: BTreeSet<u64>,
    /// The sessions in which wishes are held, until these are dropped.
    holds: HashMap<CdpSessionId, DropGuard>,
    /// One hold of a session begins when the one before has left.
    turns: HashMap<CdpSessionId, Arc<tokio::sync::Mutex<()>>>,
    /// Frames of processes of their own, and the numbers of their tabs.
    frames: HashMap<CdpSessionId, (u32, CdpSession)>,
    /// The questions that stand, by tab.
    standing: BTreeMap<u32, Standing>,
    /// When the last questions of a tab were asked.
    asked: BTreeMap<u32, VecDeque<Instant>>,
    last: u64,
}

#[derive(Debug)]
struct Standing {
    question: PermissionQuestion,
    waiting: Vec<DocumentWish>,
    until: Instant,
}

impl Asking {
    pub(super) fn new(
        state: watch::Sender<ScreenState>,
        sessions: Sessions,
        limit: Duration,
    ) -> Self {
        Self(Arc::new(AskingShared { state, sessions, limit, known: Mutex::default() }))
    }

    fn known(&self) -> MutexGuard<'_, AskingState> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether a viewer drives. Files are asked for by the same people.
    pub(super) fn drive(&self, viewer: u64, on: bool) {
        let mut known = self.known();
        let was_on = !known.drivers.is_empty();
        if on {
            known.drivers.insert(viewer);
        } else {
            known.drivers.remove(&viewer);
        }
        let is_on = !known.drivers.is_empty();
        if is_on == was_on {
            return;
        }
        let tabs: Vec<_> = self.0.sessions.lock().values().cloned().collect();
        let frames: Vec<_> = known.frames.values().map(|(_, session)| session.clone()).collect();
        for session in tabs.iter().chain(&frames) {
            choosers(session, is_on);
            if is_on {
                self.hold(&mut known, session);
            }
        }
        if !is_on {
            known.holds.clear();
            // Nobody could give a file any more.
            self.0.state.send_if_modified(|state| {
                let asked = state.tabs.iter_mut().filter_map(|tab| tab.chooser.take());
                asked.count() > 0
            });
            // Documents are let go with all that is held in them.
            for number in std::mem::take(&mut known.standing).into_keys() {
                self.show(number, None);
            }
        }
    }

    fn hold(&self, known: &mut AskingState, session: &CdpSession) {
        let Some(id) = session.id().cloned() else { return };
        // Who begins to drive may have found it before it was told of.
        if known.holds.contains_key(&id) {
            return;
        }
        let turn = Arc::clone(known.turns.entry(id.clone()).or_default());
        let end = CancellationToken::new();
        let held = hold(session.clone(), self.0.limit, end.clone());
        tokio::spawn(async move {
            let _turn = turn.lock().await;
            held.await;
        });
        known.holds.insert(id, end.drop_guard());
    }

    /// A tab has come.
    pub(super) fn attached(&self, session: &CdpSession) {
        let mut known = self.known();
        if !known.drivers.is_empty() {
            choosers(session, true);
            self.hold(&mut known, session);
        }
    }

    /// A frame of a tab has come that has a process of its own; false where it is not wanted.
    pub(super) fn frame_attached(&self, tab: u32, session: &CdpSession) -> bool {
        let mut known = self.known();
        let Some(id) = session.id().filter(|_| known.frames.len() < FRAMES).cloned() else {
            return false;
        };
        known.frames.insert(id, (tab, session.clone()));
        if !known.drivers.is_empty() {
            choosers(session, true);
            self.hold(&mut known, session);
        }
        true
    }

    /// A target has a new document, which cannot tell by itself: a binding is only given to those that are there.
    pub(super) fn arrived(&self, session: &CdpSession) {
        let is_held = session.id().is_some_and(|id| self.known().holds.contains_key(id));
        if is_held {
            session.post("Runtime.addBinding", json!({ "name": BINDING }));
        }
    }

    /// A tab or frame has gone.
    pub(super) fn detached(&self, session: &CdpSessionId, tab: Option<u32>) {
        let mut known = self.known();
        known.holds.remove(session);
        known.turns.remove(session);
        known.frames.remove(session);
        if let Some(tab) = tab {
            known.standing.remove(&tab);
            known.asked.remove(&tab);
        }
    }

    /// The tab of a frame that has a process of its own.
    pub(super) fn tab_of(&self, session: &CdpSessionId) -> Option<u32> {
        self.known().frames.get(session).map(|(tab, _)| *tab)
    }

    /// The page of a tab is another one.
    pub(super) fn moved(&self, tab: u32) {
        if self.known().standing.remove(&tab).is_some() {
            self.show(tab, None);
        }
    }

    /// Asks the person, unless there is a question or there were many.
    pub(super) fn ask(&self, told: DocumentWish, whose: Option<Whose>) {
        let mut known = self.known();
        let Some((origin, within)) = whose.filter(|_| !known.drivers.is_empty()) else {
            return told.let_go();
        };
        let (tab, now) = (told.tab, Instant::now());
        if let Some(standing) = known.standing.get_mut(&tab) {
            let PermissionQuestion { origin: asks, within: at, names, .. } = &standing.question;
            let is_same = (asks, at, names) == (&origin, &within, &told.names);
            if is_same && standing.waiting.len() < WAITING {
                standing.waiting.push(told);
            } else {
                told.let_go();
            }
            return;
        }
        let asked = known.asked.entry(tab).or_default();
        asked.retain(|at| now.duration_since(*at) < Duration::from_mins(1));
        if asked.len() >= A_MINUTE {
            return told.let_go();
        }
        asked.push_back(now);
        known.last += 1;
        let (number, names) = (known.last, told.names.clone());
        let question = PermissionQuestion { number, origin, within, names };
        let until = now + self.0.limit;
        let shown = Some(question.clone());
        known.standing.insert(tab, Standing { question, waiting: vec![told], until });
        self.show(tab, shown);
    }

    /// Lets go of what waits for the answer to a question: it was given.
    pub(super) fn settle(&self, tab: u32, number: u64) {
        let mut known = self.known();
        if known.standing.get(&tab).is_some_and(|one| one.question.number == number) {
            self.end(&mut known, tab);
        }
    }

    /// Ends questions that nobody answered.
    pub(super) fn expire(&self) {
        let (mut known, now) = (self.known(), Instant::now());
        let over = known.standing.iter().filter(|(_, standing)| standing.until <= now);
        for tab in over.map(|(tab, _)| *tab).collect::<Vec<_>>() {
            self.end(&mut known, tab);
        }
    }

    fn end(&self, known: &mut AskingState, tab: u32) {
        for told in known.standing.remove(&tab).into_iter().flat_map(|one| one.waiting) {
            told.let_go();
        }
        self.show(tab, None);
    }

    /// Asks the person for files, if one drives still; a tab has one such question at a time, the newest.
    pub(super) fn ask_for_files(&self, number: u32, chooser: Chooser) {
        let known = self.known();
        if known.drivers.is_empty() {
            return;
        }
        self.0.state.send_if_modified(|state| {
            let found = state.tabs.iter_mut().find(|tab| tab.number == number);
            let Some(tab) = found else { return false };
            tab.chooser = Some(chooser);
            true
        });
    }

    /// Files were chosen, or none: the browser does not say that a page asks for some no longer.
    pub(super) fn chosen(&self, number: u32, chooser: u64) {
        self.0.state.send_if_modified(|state| {
            let found = state.tabs.iter_mut().find(|tab| tab.number == number);
            found.is_some_and(|tab| tab.chooser.take_if(|asked| asked.number == chooser).is_some())
        });
    }

    fn show(&self, number: u32, question: Option<PermissionQuestion>) {
        let of = |tab: &&mut ScreenTab| tab.number == number;
        self.0.state.send_if_modified(|state| {
            let Some(tab) = state.tabs.iter_mut().find(of) else { return false };
            let before = std::mem::replace(&mut tab.permission, question);
            before != tab.permission
        });
    }
}

impl DocumentWish {
    /// What a document said by a binding; none of what is no wish.
    pub(super) fn read(tab: u32, frame: CdpSession, params: &str) -> Option<Self> {
        let called: WishCall = serde_json::from_str(params).ok()?;
        let names = (called.name == BINDING).then(|| wishes(&called.payload))??;
        Some(Self { tab, frame, context: called.execution_context_id, names })
    }

    /// Whose wish it is, by the browser; none where it has no origin of the web. `top` is the tab.
    pub(super) async fn whose(self, top: CdpSession) -> (Self, Option<Whose>) {
        let found = whose(&self.frame, &top, self.context).await;
        let found = found.unwrap_or_else(|error| {
            tracing::debug!(%error, "a page asks for something, and is gone");
            None
        });
        (self, found)
    }

    fn let_go(self) {
        let words = self.names.join(" ");
        let expression = format!("self[Symbol.for('baton.wishes')]?.settle('{words}')");
        let params = json!({ "expression": expression, "contextId": self.context, "silent": true });
        self.frame.post("Runtime.evaluate", params);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WishCall {
    name: String,
    payload: String,
    execution_context_id: i64,
}

/// The wishes of a list with blanks between; none where something else is in it.
fn wishes(payload: &str) -> Option<Vec<&'static str>> {
    let names: Option<BTreeSet<_>> = (payload.len() < 100)
        .then(|| payload.split(' ').map(|word| WISHES.into_iter().find(|wish| *wish == word)))?
        .collect();
    names.map(|names| names.into_iter().collect())
}

/// The document itself cannot be replaced by a script, nor what the browser says of it.
async fn whose(
    frame: &CdpSession,
    top: &CdpSession,
    context: i64,
) -> Result<Option<Whose>, CdpError> {
    let params = json!({ "expression": "document", "contextId": context, "silent": true });
    let document = frame.call("Runtime.evaluate", params).await?;
    let object = &document["result"]["objectId"];
    let params = json!({ "objectId": object, "depth": 1 });
    let node = frame.call("DOM.describeNode", params).await;
    frame.post("Runtime.releaseObject", json!({ "objectId": object }));
    let node = node?;
    // The root of a document that is `html` names its own frame, and no other one.
    let children = node["node"]["children"].as_array().map(Vec::as_slice).unwrap_or_default();
    let root = children.iter().find(|child| child["localName"] == "html");
    let Some(id) = root.and_then(|root| root["frameId"].as_str()) else { return Ok(None) };
    whose_frame(frame, top, id).await
}

/// Whose a frame is that is reached by `frame`, by the browser; none where it is gone, or has no origin of the web.
/// `top` is the tab.
pub(super) async fn whose_frame(
    frame: &CdpSession,
    top: &CdpSession,
    id: &str,
) -> Result<Option<Whose>, CdpError> {
    let Some(origin) = origin_in(&targets::frames_of(frame).await?, id) else { return Ok(None) };
    let page = targets::frames_of(top).await?;
    let around = page.first().and_then(|page| origin_of(&page.security_origin));
    Ok(around.map(|around| {
        let within = (around != origin).then_some(around);
        (origin, within)
    }))
}

fn origin_in(frames: &[Frame], id: &str) -> Option<String> {
    frames.iter().find(|frame| frame.id == id).and_then(|frame| origin_of(&frame.security_origin))
}

fn choosers(session: &CdpSession, on: bool) {
    session.post("Page.setInterceptFileChooserDialog", json!({ "enabled": on }));
}

/// Holds the wishes of all documents of a target, those to come too, until `end`; then lets go of all of them.
async fn hold(session: CdpSession, limit: Duration, end: CancellationToken) {
    match begin(&session, limit).await {
        Ok(script) => {
            end.cancelled().await;
            if let Err(error) = leave(&session, &script).await {
                tracing::debug!(%error, "a tab was gone before its wishes were let go");
            }
        }
        Err(error) => tracing::debug!(%error, "what a tab wishes for is not held"),
    }
}

async fn begin(session: &CdpSession, limit: Duration) -> Result<Value, CdpError> {
    let frames = json!([{ "type": "iframe" }, { "exclude": true }]);
    let attach = json!({
        "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true, "filter": frames,
    });
    session.call("Target.setAutoAttach", attach).await?;
    session.call("Page.enable", json!({})).await?;
    session.call("Runtime.addBinding", json!({ "name": BINDING })).await?;
    let argument = json!({ "binding": BINDING, "limit": (limit + GRACE).as_millis() });
    let script = include_str!("../script/hold_wishes.js");
    run(session, &format!("({script})({argument})")).await
}

async fn leave(session: &CdpSession, script: &Value) -> Result<(), CdpError> {
    forget(session, script).await?;
    session.call("Runtime.removeBinding", json!({ "name": BINDING })).await?;
    let script = run(session, "self[Symbol.for('baton.wishes')]?.end()").await?;
    forget(session, &script).await
}

/// Runs a script in all documents, those to come too, until it is forgotten.
async fn run(session: &CdpSession, source: &str) -> Result<Value, CdpError> {
    let params = json!({ "source": source, "runImmediately": true });
    let mut answer = session.call("Page.addScriptToEvaluateOnNewDocument", params).await?;
    Ok(answer["identifier"].take())
}

async fn forget(session: &CdpSession, script: &Value) -> Result<(), CdpError> {
    let params = json!({ "identifier": script });
    session.call("Page.removeScriptToEvaluateOnNewDocument", params).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_wish_is_nothing() {
        assert_eq!(wishes("geolocation"), Some(vec!["geolocation"]));
        assert_eq!(wishes("microphone camera camera"), Some(vec!["camera", "microphone"]));
        let long = "midi ".repeat(1000);
        for odd in ["", " ", "midi ", "geolocation\n", "Camera", "popups", "<b>", &long] {
            assert_eq!(wishes(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_frame_is_found_with_its_own_origin() {
        let frame = |id: &str, origin: &str| -> Frame {
            serde_json::from_value(json!({ "id": id, "securityOrigin": origin })).unwrap()
        };
        let frames =
            [frame("a", "https://a.test/"), frame("b", "null"), frame("c", "https://c.test:8443")];
        let found = |id| origin_in(&frames, id);
        assert_eq!(found("a").as_deref(), Some("https://a.test"));
        assert_eq!(found("c").as_deref(), Some("https://c.test:8443"));
        assert_eq!((found("b"), found("d")), (None, None));
    }
}
