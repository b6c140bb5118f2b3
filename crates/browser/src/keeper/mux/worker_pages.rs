//! sessionStorage for pages that a service worker answers.
//!
//! The one idea: nobody can look at the request of such a page, so the page itself stops, at a script that stands
//! before its own first one and does what a breakpoint does. While it stands still the keeper claims what is the
//! page's and puts it there. So a page that clears its storage and loads anew stops again, and is given nothing: what
//! was claimed is gone.
//!
//! A page that may stop has a debugger, which costs it something. So it is there at origins with a service worker of
//! which something waits to be handed over, and goes with the last of that.

use super::documents::{PageNavigation, StoppedPage, added_script};
use super::{Call, Mux, Params};
use crate::cdp::{Envelope, quoted};
use crate::keeper::hand_over::{DocumentPlace, SessionStorageArea};
use crate::keeper::mux;
use serde_json::value::RawValue;

const RESUME: &str = "Debugger.resume";

/// A page that stops before its first script.
#[derive(Debug, Default)]
pub(super) struct StoppingPage {
    /// What it shows.
    url: String,
    /// The script, once it is there.
    script: Option<String>,
    /// What it is being given.
    filling: Option<SessionStorageArea>,
    /// Whether it went on before it was known that it has that.
    is_let_go: bool,
}

impl Mux {
    /// Has a page stop at origins whose service worker may answer it, if something waits there.
    pub(super) fn stop_at_workers(&mut self, page: &str, params: &Params<'_>) {
        let origins = self.storage.hand_over.worker_origins();
        if origins.is_empty() || self.is_in_a_made_context(params) {
            return;
        }
        let origins: Vec<String> = origins.into_iter().map(quoted).collect();
        let (origins, stop) = (origins.join(","), name(page));
        let script = format!(
            "if (self === self.top && [{origins}].includes(self.origin) && /^http/.test(location.protocol)) {{
                (function {stop}() {{ debugger; }})();
            }}"
        );
        self.storage.stopping.insert(page.to_owned(), StoppingPage::default());
        self.send_own(Some(page), "Debugger.enable", "{}");
        let source = mux::object("source", &script);
        let call = Call::StopSet(page.to_owned());
        self.send(Some(page), "Page.addScriptToEvaluateOnNewDocument", &source, call);
    }

    /// The browser answered whether the script is there at which a page stops. Where it is not, nothing stops.
    pub(super) fn stop_set(&mut self, page: &str, envelope: &Envelope<'_>) {
        let Some(identifier) = added_script(envelope.result) else {
            self.lose_stop(page);
            return;
        };
        match self.storage.stopping.get_mut(page) {
            Some(stopping) => stopping.script = Some(identifier),
            None => self.remove_stop(page, &identifier),
        }
    }

    /// Whether a page will stop before this document runs a script. A browser may ask the network beside a worker, and
    /// show what the worker answers: so what the network answered is not what is waited for. A page has its script
    /// once it is said, as a rule long before a process that only begins answers; one that has it not keeps what waits.
    pub(super) fn will_stop(&self, page: &str, place: &DocumentPlace) -> bool {
        self.storage.stopping.contains_key(page)
            && !place.is_framed()
            && place.is_at(&self.storage.hand_over.worker_origins())
    }

    /// A page shows another document, before that runs a script.
    pub(super) fn shown_before_it_stops(&mut self, page: &str, navigation: &PageNavigation) {
        if self.is_of_target(page, &navigation.frame.id)
            && let Some(stopping) = self.storage.stopping.get_mut(page)
        {
            stopping.url.clone_from(&navigation.frame.url);
        }
    }

    /// A page stands still: at our script, or at a breakpoint of its own. It goes on at once, unless something is its
    /// own: then once it has that.
    pub(super) fn stopped(&mut self, page: &str, params: Option<&RawValue>) {
        let read = params.and_then(|raw| serde_json::from_str::<StoppedPage>(raw.get()).ok());
        let is_filled = read
            .and_then(|read| read.at(&name(page)))
            .is_some_and(|call_frame| self.fill_stopped(page, &call_frame));
        if !is_filled {
            self.send_own(Some(page), RESUME, "{}");
            self.stop_no_more();
        }
    }

    /// Puts into a page that stands still what is its own, if anything is.
    fn fill_stopped(&mut self, page: &str, call_frame: &str) -> bool {
        let Some(stopping) = self.storage.stopping.get_mut(page) else { return false };
        if stopping.filling.is_some() {
            return false;
        }
        let place = DocumentPlace { url: stopping.url.clone(), around: Vec::new() };
        let shown = self.storage.shown.entry(page.to_owned()).or_default();
        let Some(area) = self.storage.hand_over.claim(&place, shown.tab) else { return false };
        shown.tab = Some(area.tab());
        let (call_frame, expression) = (quoted(call_frame), quoted(&area.script(false)));
        (stopping.filling, stopping.is_let_go) = (Some(area), false);
        let params =
            format!("{{\"callFrameId\":{call_frame},\"expression\":{expression},\"silent\":true}}");
        let call = Call::StopFilled(page.to_owned());
        self.send(Some(page), "Debugger.evaluateOnCallFrame", &params, call);
        true
    }

    /// The browser answered whether a page has what is its own, and the page goes on. The two are not said at once: a
    /// browser may let a page go before it does what was said first.
    pub(super) fn stop_filled(&mut self, page: &str, envelope: &Envelope<'_>) {
        let Some(stopping) = self.storage.stopping.get_mut(page) else { return };
        if let Some(area) = stopping.filling.take().filter(|_| envelope.error.is_some()) {
            self.storage.hand_over.put_back(area);
        }
        self.send_own(Some(page), RESUME, "{}");
        self.stop_no_more();
    }

    /// A page ended. If it stood still until then, it has done nothing with what it was given.
    pub(super) fn lose_stop(&mut self, page: &str) {
        let stopping = self.storage.stopping.remove(page);
        if let Some(area) = stopping.filter(|one| !one.is_let_go).and_then(|one| one.filling) {
            self.storage.hand_over.put_back(area);
        }
    }

    /// Whether a page stands still until it has what is its own.
    pub(super) fn stands_still(&self) -> bool {
        let mut stopping = self.storage.stopping.values();
        stopping.any(|one| one.filling.is_some() && !one.is_let_go)
    }

    /// Pages go on that are not answered for: what they get now, if they get it, they say later.
    pub(super) fn let_stopped_go(&mut self) {
        let mut waiting = Vec::new();
        for (page, stopping) in &mut self.storage.stopping {
            if stopping.filling.is_some() && !stopping.is_let_go {
                stopping.is_let_go = true;
                waiting.push(page.clone());
            }
        }
        for page in waiting {
            self.send_own(Some(&page), RESUME, "{}");
        }
    }

    /// Where nothing waits any more at which a service worker answers, no page stops.
    fn stop_no_more(&mut self) {
        if !self.storage.hand_over.worker_origins().is_empty() || self.stands_still() {
            return;
        }
        let stopping: Vec<_> = self.storage.stopping.drain().collect();
        for (page, StoppingPage { script, .. }) in stopping {
            self.send_own(Some(&page), "Debugger.disable", "{}");
            if let Some(script) = script {
                self.remove_stop(&page, &script);
            }
        }
    }

    fn remove_stop(&mut self, page: &str, script: &str) {
        let params = mux::object("identifier", script);
        self.send_own(Some(page), "Page.removeScriptToEvaluateOnNewDocument", &params);
    }
}

/// The name of the function in which a page stops. No site knows the session of the keeper's own that it has.
fn name(page: &str) -> String {
    format!("stop{page}")
}
