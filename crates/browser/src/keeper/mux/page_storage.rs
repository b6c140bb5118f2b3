//! sessionStorage for pages, handed over before their first script.
//!
//! The one idea: a script puts it there, in one document and no other. So the keeper looks at each document before a
//! page shows it: the one that is to have it waits until the script is there, and the next one of that page until it
//! is gone. However fast a page clears its storage and loads anew, it does not find it filled again.
//!
//! A document that a service worker answers without the network is not looked at, and gets none.

use super::{Call, Mux, Params};
use crate::cdp::{Envelope, quoted};
use crate::keeper::hand_over::{HandOver, SessionStorageArea};
use crate::keeper::mux;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// Documents when they are asked for, and when they are answered.
const ASKED: &str = r#"{"urlPattern":"*","resourceType":"Document"}"#;
const ANSWERED: &str = r#"{"urlPattern":"*","resourceType":"Document","requestStage":"Response"}"#;
/// Answers that a page does not show: it stays, or goes elsewhere (RFC 9110, 15).
const SHOWN_BY_NO_PAGE: [u16; 7] = [204, 205, 301, 302, 303, 307, 308];

/// What is handed over, and to whom just now.
#[derive(Debug, Default)]
pub(super) struct PageStorage {
    hand_over: HandOver,
    /// By the keeper's own session on the page.
    steps: HashMap<String, PageHandOver>,
    /// Contexts that clients made: nothing of a session's is in those.
    contexts: HashSet<String>,
}

/// A page to which something is being handed over.
#[derive(Debug)]
struct PageHandOver {
    area: SessionStorageArea,
    /// The document that waits for the script.
    held: Option<String>,
    /// The script, once it is there.
    script: Option<String>,
    /// Whether the page shows the document.
    is_shown: bool,
    is_leaving: bool,
    /// The document that waits until the script is gone.
    next: Option<PausedDocument>,
}

/// What is read of `Fetch.requestPaused`, of a document that was answered.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PausedDocument {
    #[serde(rename = "requestId")]
    id: String,
    request: DocumentRequest,
    #[serde(default)]
    frame_id: String,
    response_status_code: Option<u16>,
    response_error_reason: Option<String>,
    #[serde(default)]
    response_headers: Vec<Header>,
}

#[derive(Debug, Deserialize)]
struct DocumentRequest {
    url: String,
}

#[derive(Debug, Deserialize)]
struct Header {
    name: String,
    value: String,
}

impl PausedDocument {
    /// None of what was only asked for.
    fn read(params: Option<&RawValue>) -> Option<Self> {
        let read: Self = serde_json::from_str(params?.get()).ok()?;
        let is_answered =
            read.response_status_code.is_some() || read.response_error_reason.is_some();
        is_answered.then_some(read)
    }

    fn is_shown(&self) -> bool {
        let is_download = |header: &Header| {
            header.name.eq_ignore_ascii_case("content-disposition")
                && header.value.trim_start().to_ascii_lowercase().starts_with("attachment")
        };
        self.response_status_code.is_some_and(|status| !SHOWN_BY_NO_PAGE.contains(&status))
            && !self.response_headers.iter().any(is_download)
    }
}

/// What is read of `Page.frameNavigated`.
#[derive(Deserialize)]
struct PageNavigation {
    frame: PageFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageFrame {
    url: String,
    parent_id: Option<String>,
}

impl Mux {
    /// The same, with sessionStorage for its pages.
    pub(in crate::keeper) fn handing_over(mut self, hand_over: HandOver) -> Self {
        self.storage.hand_over = hand_over;
        self
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

    /// Looks at the documents of a page that was attached: at the one that is asked for first, if `first`, and at
    /// those that are answered, if it may be handed something.
    pub(super) fn watch_documents(&mut self, page: &str, first: bool, params: &Params<'_>) {
        let context = params.info.as_ref().and_then(|info| info.context.as_deref());
        let is_made = context.is_some_and(|context| self.storage.contexts.contains(context));
        let has_storage = self.has_storage() && !is_made;
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
            _ => return false,
        }
        true
    }

    fn answered(&mut self, page: &str, document: PausedDocument) {
        let target = self.sessions.get(page).and_then(|route| route.target.as_deref());
        if target != Some(&document.frame_id) || !document.is_shown() {
            self.continue_document(page, &document.id);
            return;
        }
        if let Some(step) = self.storage.steps.get_mut(page) {
            let older = step.next.replace(document);
            if let Some(older) = older {
                self.continue_document(page, &older.id);
            }
            self.remove_script(page);
            return;
        }
        let Some(area) = self.storage.hand_over.claim(&document.request.url) else {
            self.continue_document(page, &document.id);
            if !self.has_storage() && self.storage.steps.is_empty() {
                self.send_own(Some(page), "Fetch.disable", "{}");
            }
            return;
        };
        let source = mux::object("source", &area.script());
        let step = PageHandOver {
            area,
            held: Some(document.id),
            script: None,
            is_shown: false,
            is_leaving: false,
            next: None,
        };
        self.storage.steps.insert(page.to_owned(), step);
        let call = Call::StorageSet(page.to_owned());
        self.send(Some(page), "Page.addScriptToEvaluateOnNewDocument", &source, call);
    }

    fn continue_document(&mut self, page: &str, request: &str) {
        let params = mux::object("requestId", request);
        self.send_own(Some(page), "Fetch.continueRequest", &params);
    }

    /// The browser answered whether the script is there.
    pub(super) fn storage_set(&mut self, page: &str, envelope: &Envelope<'_>) {
        #[derive(Deserialize)]
        struct AddedScript {
            identifier: String,
        }
        let Some(step) = self.storage.steps.get_mut(page) else { return };
        let added =
            envelope.result.and_then(|raw| serde_json::from_str::<AddedScript>(raw.get()).ok());
        step.script = added.map(|added| added.identifier);
        let is_there = step.script.is_some();
        let held = step.held.take();
        let is_left = step.next.is_some();
        if let Some(held) = held {
            self.continue_document(page, &held);
        }
        if !is_there {
            self.end_step(page);
        } else if is_left {
            self.remove_script(page);
        }
    }

    fn navigated(&mut self, page: &str, params: Option<&RawValue>) {
        let Some(step) = self.storage.steps.get_mut(page) else { return };
        let read = params.and_then(|raw| serde_json::from_str::<PageNavigation>(raw.get()).ok());
        let Some(PageNavigation { frame }) = read else { return };
        if frame.parent_id.is_none() && step.script.is_some() && step.area.is_of(&frame.url) {
            step.is_shown = true;
            self.remove_script(page);
        }
    }

    fn remove_script(&mut self, page: &str) {
        let Some(step) = self.storage.steps.get_mut(page).filter(|step| !step.is_leaving) else {
            return;
        };
        let Some(script) = &step.script else { return };
        step.is_leaving = true;
        let params = format!("{{\"identifier\":{}}}", quoted(script));
        let call = Call::StorageLeft(page.to_owned());
        self.send(Some(page), "Page.removeScriptToEvaluateOnNewDocument", &params, call);
    }

    /// Ends a step: the page has what it was handed, or it never came to it. What it shows next is looked at anew.
    pub(super) fn end_step(&mut self, page: &str) {
        let Some(step) = self.storage.steps.remove(page) else { return };
        if !step.is_shown {
            self.storage.hand_over.put_back(step.area);
        }
        if let Some(next) = step.next {
            self.answered(page, next);
        }
    }

    /// A page ended.
    pub(super) fn lose_step(&mut self, page: &str) {
        if let Some(step) = self.storage.steps.get_mut(page) {
            step.next = None;
            self.end_step(page);
        }
    }

    /// Whether a document waits for us.
    pub(super) fn holds_documents(&self) -> bool {
        let mut steps = self.storage.steps.values();
        steps.any(|step| step.held.is_some() || step.next.is_some())
    }

    /// Documents go on whose page does not answer.
    pub(super) fn let_documents_go(&mut self) {
        let mut waiting = Vec::new();
        for (page, step) in &mut self.storage.steps {
            let next = step.next.take().map(|next| next.id);
            waiting.extend(step.held.take().into_iter().chain(next).map(|id| (page.clone(), id)));
        }
        for (page, id) in waiting {
            self.continue_document(&page, &id);
        }
    }
}
