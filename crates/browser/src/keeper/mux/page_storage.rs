//! sessionStorage for pages and their frames, handed over before their first script.
//!
//! The one idea: a script puts it there, in one document and no other. So the keeper looks at each document before a
//! page or a frame shows it: the one that is to have it waits until the script is there, and the next one, of that
//! frame or of another one with the same storage, until it is gone. However fast a page clears its storage and loads
//! anew, it does not find it filled again.
//!
//! A frame may begin in the process of its page and show its document in one of its own: the script is said to both.
//! Whether it had the storage that was meant for it, it says once it shows the document; a sandboxed one has none.
//!
//! A document that a service worker answers is not looked at: a frame gets none there, and a page
//! [stops](super::worker_pages).

use super::documents::{DetachedFrame, PageNavigation, PausedDocument, added_script};
use super::worker_pages::StoppingPage;
use super::{Call, Mux, Params};
use crate::cdp::{CallFailure, Envelope, quoted};
use crate::keeper::hand_over::{DocumentPlace, HandOver, SessionStorageArea};
use crate::keeper::mux;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet, VecDeque};
use std::mem::take;

/// Documents when they are asked for, and when they are answered.
const ASKED: &str = r#"{"urlPattern":"*","resourceType":"Document"}"#;
const ANSWERED: &str = r#"{"urlPattern":"*","resourceType":"Document","requestStage":"Response"}"#;
/// Where the browser is when it shows no document but that there is none, such as one that refuses to be in a frame.
const ERROR_PAGE: &str = "chrome-error:";
/// How many documents wait for one that is handed something.
const WAITING: usize = 16;

/// What is handed over, and to whom just now.
#[derive(Debug, Default)]
pub(super) struct PageStorage {
    pub(super) hand_over: HandOver,
    /// Whether frames are handed any.
    has_frames: bool,
    /// By the frame; a page is one too.
    steps: HashMap<String, PageHandOver>,
    /// By the keeper's own session.
    pub(super) shown: HashMap<String, ShownDocument>,
    /// By the keeper's own session on the page.
    pub(super) stopping: HashMap<String, StoppingPage>,
    /// Contexts that clients made: nothing of a session's is in those.
    contexts: HashSet<String>,
}

/// What a page shows, or a frame in a process of its own.
#[derive(Debug, Default)]
pub(super) struct ShownDocument {
    url: String,
    /// Of which tab the page was given something.
    pub(super) tab: Option<usize>,
}

/// A page or a frame to which something is being handed over.
#[derive(Debug)]
struct PageHandOver {
    area: SessionStorageArea,
    is_framed: bool,
    /// The keeper's own session on the page.
    page: String,
    /// The document that waits for the script.
    held: Option<HeldDocument>,
    /// The script, once it is there, by the session on which it was said.
    scripts: HashMap<String, Option<String>>,
    /// Whether the document that it is for is shown.
    shown: IsShown,
    /// The session on which a frame is asked which storage it has.
    asked: Option<String>,
    is_leaving: bool,
    /// The documents that wait until the script is gone.
    next: VecDeque<HeldDocument>,
}

/// Whether a document is shown to which something is handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IsShown {
    No,
    /// It was shown before the browser answered that the script is there: a tab that was just opened has no process that
    /// could answer until it shows something, and runs the script then.
    Unanswered,
    Yes,
}

impl IsShown {
    /// What was shown before it was answered may have had it: no other gets it.
    fn settle(&mut self) {
        if *self == Self::Unanswered {
            *self = Self::Yes;
        }
    }
}

/// A document that was answered, and the session that holds it.
#[derive(Debug)]
struct HeldDocument {
    session: String,
    document: PausedDocument,
}

impl Mux {
    /// The same, with sessionStorage for its pages.
    pub(in crate::keeper) fn handing_over(mut self, hand_over: HandOver) -> Self {
        self.storage.has_frames = hand_over.has_frames();
        self.storage.hand_over = hand_over;
        self
    }

    /// Whether the keeper has to be attached to frames for it.
    pub(super) fn hands_over_to_frames(&self) -> bool {
        self.storage.has_frames
    }

    /// Whether there is any to be handed over.
    pub(super) fn has_storage(&self) -> bool {
        !self.storage.hand_over.is_empty()
    }

    /// A client made a context of its own.
    pub(super) fn context_made(&mut self, context: &str) {
        if self.has_storage() {
            self.storage.contexts.insert(context.to_owned());
        }
    }

    /// Looks at the documents of a page or a frame that was attached: at the one that is asked for first, if `first`,
    /// and at those that are answered, if it may be handed something.
    pub(super) fn watch_documents(&mut self, page: &str, first: bool, params: &Params<'_>) {
        let has_any = self.has_storage() || !self.storage.steps.is_empty();
        let has_storage = has_any && !self.is_in_a_made_context(params);
        if has_storage {
            // Without this the browser runs no script in new documents.
            self.send_own(Some(page), "Page.enable", "{}");
        }
        let patterns = [(first, ASKED), (has_storage, ANSWERED)];
        let patterns = patterns.into_iter().filter(|(is_wanted, _)| *is_wanted);
        let patterns: Vec<&str> = patterns.map(|(_, pattern)| pattern).collect();
        if !patterns.is_empty() {
            let params = format!("{{\"patterns\":[{}]}}", patterns.join(","));
            self.send_own(Some(page), "Fetch.enable", &params);
        }
    }

    /// Whether a page is in a context that a client made.
    pub(super) fn is_in_a_made_context(&self, params: &Params<'_>) -> bool {
        let context = params.info.as_ref().and_then(|info| info.context.as_deref());
        context.is_some_and(|context| self.storage.contexts.contains(context))
    }

    /// Looks at no first request of a page any more.
    pub(super) fn watch_no_first(&mut self, page: &str) {
        if self.has_storage() {
            let params = format!("{{\"patterns\":[{ANSWERED}]}}");
            self.send_own(Some(page), "Fetch.enable", &params);
        } else {
            // It lets everything go that it holds.
            self.send_own(Some(page), "Fetch.disable", "{}");
        }
    }

    /// Whether an event of a session of the keeper's own is about documents of its page; then it is seen to.
    pub(super) fn is_about_documents(
        &mut self,
        page: &str,
        method: &str,
        params: Option<&RawValue>,
    ) -> bool {
        match method {
            "Fetch.requestPaused" => match PausedDocument::read(params) {
                Some(answered) => self.answered(page, answered),
                None => self.first_request(page, params),
            },
            "Page.frameNavigated" => self.navigated(page, params),
            "Page.frameDetached" => self.frame_detached(params),
            "Debugger.paused" => self.stopped(page, params),
            _ => return false,
        }
        true
    }

    fn answered(&mut self, session: &str, document: PausedDocument) {
        if !document.is_shown() {
            self.continue_document(session, &document.id);
            return;
        }
        let paused = HeldDocument { session: session.to_owned(), document };
        let frame = paused.document.frame_id.clone();
        if self.storage.steps.contains_key(&frame) {
            self.keep_document(&frame, paused);
            self.leave_step(&frame);
            return;
        }
        let Some((place, page)) = self.place_of(&paused) else {
            self.continue_document(session, &paused.document.id);
            return;
        };
        if self.will_stop(&page, &place) {
            self.continue_document(session, &paused.document.id);
            return;
        }
        let same = |step: &PageHandOver| step.page == page && place.has(step.area.key());
        let same = self.storage.steps.iter().find(|(_, step)| same(step));
        if let Some(same) = same.map(|(frame, _)| frame.clone()) {
            self.keep_document(&same, paused);
            return;
        }
        let tab = self.storage.shown.get(&page).and_then(|shown| shown.tab);
        let Some(area) = self.storage.hand_over.claim(&place, tab) else {
            self.continue_document(session, &paused.document.id);
            if !self.has_storage() && self.storage.steps.is_empty() {
                self.send_own(Some(session), "Fetch.disable", "{}");
            }
            return;
        };
        if !place.is_framed() {
            self.storage.shown.entry(page.clone()).or_default().tab = Some(area.tab());
        }
        let step = PageHandOver {
            area,
            is_framed: place.is_framed(),
            page,
            held: Some(paused),
            scripts: HashMap::new(),
            shown: IsShown::No,
            asked: None,
            is_leaving: false,
            next: VecDeque::new(),
        };
        self.storage.steps.insert(frame.clone(), step);
        self.set_script(&frame, session);
    }

    /// Where a document is shown that was answered, and the session of its page; none where nothing is handed over.
    /// A frame in a process of its own that comes back to the site around it is shown there, where no script is.
    fn place_of(&self, paused: &HeldDocument) -> Option<(DocumentPlace, String)> {
        let HeldDocument { session, document } = paused;
        let (mut around, mut page) = (Vec::new(), session);
        loop {
            let route = self.sessions.get(page)?;
            if !self.is_of_target(page, &document.frame_id) {
                around.push(self.storage.shown.get(page)?.url.clone());
            }
            let Some(parent) = &route.parent else { break };
            page = parent;
        }
        around.reverse();
        let is_alone = page != session && self.is_of_target(session, &document.frame_id);
        let place = DocumentPlace { url: document.request.url.clone(), around };
        let is_wanted = !place.is_framed() || self.storage.has_frames;
        (is_wanted && !(is_alone && place.is_in_its_site())).then(|| (place, page.clone()))
    }

    /// Whether this is the session of that very page or frame.
    pub(super) fn is_of_target(&self, session: &str, frame: &str) -> bool {
        let route = self.sessions.get(session);
        route.is_some_and(|route| route.target.as_deref() == Some(frame))
    }

    /// Has a document wait until this frame's step is done. One of the same frame takes the place of an older one.
    fn keep_document(&mut self, frame: &str, paused: HeldDocument) {
        let Some(step) = self.storage.steps.get_mut(frame) else { return };
        let is_older = |one: &HeldDocument| one.document.frame_id == paused.document.frame_id;
        let older = step.next.iter().position(is_older);
        let older = older.or_else(|| (step.next.len() >= WAITING).then_some(0));
        let older = older.and_then(|at| step.next.remove(at));
        step.next.push_back(paused);
        if let Some(older) = older {
            self.continue_document(&older.session, &older.document.id);
        }
    }

    fn continue_document(&mut self, session: &str, request: &str) {
        let params = mux::object("requestId", request);
        self.send_own(Some(session), "Fetch.continueRequest", &params);
    }

    /// Says the script of a frame's step on a session.
    fn set_script(&mut self, frame: &str, session: &str) {
        let Some(step) = self.storage.steps.get_mut(frame) else { return };
        step.scripts.insert(session.to_owned(), None);
        let source = mux::object("source", &step.area.script(step.is_framed));
        let call = Call::StorageSet { frame: frame.to_owned(), session: session.to_owned() };
        self.send(Some(session), "Page.addScriptToEvaluateOnNewDocument", &source, call);
    }

    /// A frame shows its document in a process of its own, to which the keeper was attached.
    pub(super) fn moved_out(&mut self, frame: &str, session: &str) {
        if self.storage.steps.get(frame).is_some_and(|step| !step.is_leaving) {
            self.set_script(frame, session);
        }
    }

    /// The browser answered whether the script is there.
    pub(super) fn storage_set(&mut self, frame: &str, session: &str, envelope: &Envelope<'_>) {
        let Some(step) = self.storage.steps.get_mut(frame) else { return };
        match added_script(envelope.result) {
            Some(identifier) if step.scripts.contains_key(session) => {
                step.scripts.insert(session.to_owned(), Some(identifier));
                step.shown.settle();
            }
            _ => {
                step.scripts.remove(session);
            }
        }
        let is_over = step.shown != IsShown::No && !step.is_framed && !step.is_leaving;
        let is_none = step.scripts.is_empty();
        let is_leaving = step.is_leaving;
        let held = step.held.take_if(|held| held.session == session);
        if let Some(held) = held {
            // What a frame may have had is handed to no other, unless it turns out to have no storage at all.
            if step.is_framed && !is_none && !is_leaving {
                step.shown = IsShown::Yes;
            }
            self.continue_document(session, &held.document.id);
        }
        if is_leaving {
            self.remove_script(frame, session);
            self.end_if_left(frame);
        } else if is_none || is_over {
            self.leave_step(frame);
        }
    }

    fn navigated(&mut self, session: &str, params: Option<&RawValue>) {
        let read = params.and_then(|raw| serde_json::from_str::<PageNavigation>(raw.get()).ok());
        let Some(navigation) = read else { return };
        self.shown_before_it_stops(session, &navigation);
        let frame = navigation.frame;
        if self.storage.has_frames && self.is_of_target(session, &frame.id) {
            self.storage.shown.entry(session.to_owned()).or_default().url.clone_from(&frame.url);
            self.leave_inside(session, &frame.id);
        }
        let Some(step) = self.storage.steps.get_mut(&frame.id) else { return };
        let has_script = step.scripts.get(session).is_some_and(Option::is_some);
        if has_script && !step.is_leaving && frame.url.starts_with(ERROR_PAGE) {
            // That is of no origin, so the script put nothing there: the document that was meant never came to be. One
            // that is shown behind another one, whose step is leaving, says nothing about that one.
            step.shown = IsShown::No;
            self.leave_step(&frame.id);
            return;
        }
        if !step.area.is_of(&frame.url) {
            return;
        }
        if !has_script {
            if !step.is_framed && step.scripts.contains_key(session) {
                step.shown = IsShown::Unanswered;
            }
            return;
        }
        step.shown = IsShown::Yes;
        if step.is_framed {
            step.asked = Some(session.to_owned());
            let params = mux::object("frameId", &frame.id);
            let call = Call::StorageKey(frame.id.clone());
            self.send(Some(session), "Storage.getStorageKey", &params, call);
        }
        self.leave_step(&frame.id);
    }

    /// What a page or a frame shows is another document: the frames of the one before are gone.
    fn leave_inside(&mut self, session: &str, frame: &str) {
        let all = self.storage.steps.iter();
        let gone = all.filter(|(of, step)| *of != frame && step.scripts.contains_key(session));
        let gone: Vec<String> = gone.map(|(of, _)| of.clone()).collect();
        for of in gone {
            let step = self.storage.steps.get_mut(&of);
            for HeldDocument { session, document } in
                step.map(|step| take(&mut step.next)).unwrap_or_default()
            {
                self.continue_document(&session, &document.id);
            }
            self.leave_step(&of);
        }
    }

    /// The browser answered which storage a frame has. One that is gone meanwhile had what it was handed, and so had
    /// one of which another key is told: that may still be the key of the document before.
    pub(super) fn storage_key_told(&mut self, frame: &str, envelope: &Envelope<'_>) {
        let Some(step) = self.storage.steps.get_mut(frame) else { return };
        step.asked = None;
        let refused = envelope.error.map(CallFailure::parse);
        let has_storage = refused.is_none_or(|failure| !failure.message.contains("opaque"));
        step.shown = if has_storage { IsShown::Yes } else { IsShown::No };
        self.end_if_left(frame);
    }

    fn frame_detached(&mut self, params: Option<&RawValue>) {
        let read = params.and_then(|raw| serde_json::from_str::<DetachedFrame>(raw.get()).ok());
        // One that goes on in another process is none that is gone.
        if let Some(gone) = read.filter(|read| read.reason != "swap") {
            for step in self.storage.steps.values_mut() {
                step.next.retain(|one| one.document.frame_id != gone.frame_id);
            }
            self.leave_step(&gone.frame_id);
        }
    }

    /// Takes the script away from where it is: the frame has what it is handed, or goes elsewhere.
    fn leave_step(&mut self, frame: &str) {
        let Some(step) = self.storage.steps.get_mut(frame).filter(|step| !step.is_leaving) else {
            return;
        };
        step.is_leaving = true;
        let sessions: Vec<String> = step.scripts.keys().cloned().collect();
        for session in sessions {
            self.remove_script(frame, &session);
        }
        self.end_if_left(frame);
    }

    /// Nothing while it is not there yet.
    fn remove_script(&mut self, frame: &str, session: &str) {
        let step = self.storage.steps.get(frame);
        let Some(Some(script)) = step.and_then(|step| step.scripts.get(session)) else { return };
        let params = format!("{{\"identifier\":{}}}", quoted(script));
        let call = Call::StorageLeft { frame: frame.to_owned(), session: session.to_owned() };
        self.send(Some(session), "Page.removeScriptToEvaluateOnNewDocument", &params, call);
    }

    /// The browser answered that the script is gone.
    pub(super) fn storage_left(&mut self, frame: &str, session: &str) {
        if let Some(step) = self.storage.steps.get_mut(frame) {
            step.scripts.remove(session);
            self.end_if_left(frame);
        }
    }

    /// Ends a step: the frame has what it was handed, or it never came to it. What it shows next is looked at anew.
    fn end_if_left(&mut self, frame: &str) {
        let is_left = |step: &PageHandOver| {
            step.is_leaving && step.scripts.is_empty() && step.asked.is_none()
        };
        if !self.storage.steps.get(frame).is_some_and(is_left) {
            return;
        }
        let Some(step) = self.storage.steps.remove(frame) else { return };
        if step.shown != IsShown::Yes {
            self.storage.hand_over.put_back(step.area);
        }
        for HeldDocument { session, document } in step.next {
            self.answered(&session, document);
        }
    }

    /// A page ended, or a frame in a process of its own.
    pub(super) fn lose_steps(&mut self, session: &str) {
        self.storage.shown.remove(session);
        self.lose_stop(session);
        let mut ended = Vec::new();
        for (frame, step) in &mut self.storage.steps {
            let had_script = step.scripts.remove(session).is_some();
            // It ended before it was answered, and may have had it: no other gets it.
            step.shown.settle();
            let was_asked = step.asked.take_if(|asked| asked == session).is_some();
            step.held.take_if(|held| held.session == session);
            step.next.retain(|one| one.session != session);
            if had_script || was_asked {
                ended.push(frame.clone());
            }
        }
        for frame in ended {
            self.leave_step(&frame);
            self.end_if_left(&frame);
        }
    }

    /// Whether a document waits for us.
    pub(super) fn holds_documents(&self) -> bool {
        let mut steps = self.storage.steps.values();
        steps.any(|step| step.held.is_some() || !step.next.is_empty()) || self.stands_still()
    }

    /// Documents go on whose page does not answer.
    pub(super) fn let_documents_go(&mut self) {
        self.let_stopped_go();
        let mut waiting = Vec::new();
        for step in self.storage.steps.values_mut() {
            waiting.extend(step.held.take().into_iter().chain(step.next.drain(..)));
        }
        for HeldDocument { session, document } in waiting {
            self.continue_document(&session, &document.id);
        }
    }
}
