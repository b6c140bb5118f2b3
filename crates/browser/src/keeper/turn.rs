//! Whose turn it is: what a client of a browser may not do while a person drives.
//!
//! The one idea: a client that a person takes over from keeps its connection, and goes on in the same tabs when
//! they are given back. Until then each call that acts is answered with who drives; those that read, and those
//! that let a page go on which waits for this client, pass. A script may do anything, so it is one that acts,
//! unless the browser itself sees to it that it changes nothing (`throwOnSideEffect`). What a client has switched on
//! before, it goes on with: requests that it holds and scripts that it has stopped wait for nobody else, and what it
//! sets up in each target it sets up in those that come meanwhile, too.
//!
//! It keeps agents and people out of each other's way, and is no wall: what is not listed passes.

use crate::cdp::{Envelope, quoted};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::Arc;

/// Who drives, for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The client itself.
    Own,
    /// A person of this name.
    Of(Arc<str>),
}

/// What Chromium answers when it does not do as asked.
const REFUSED: i64 = -32000;

/// It adds a script for the documents that come, and may run it at once in the one that is there.
const ADDS_SCRIPT: &str = "Page.addScriptToEvaluateOnNewDocument";

/// What clients call in each target that they come to, before it goes on: Puppeteer and Playwright where requests are
/// intercepted, or scripts are added for all documents. One that is refused there has no such target, and may end.
const SETS_UP: [&str; 2] = ["Fetch.enable", ADDS_SCRIPT];

/// Within so many bytes a call says its method, in all clients that are known.
const HEAD: usize = 128;
/// How many sessions of targets are remembered of a client. In further ones nothing is set up in a person's turn.
const MOST_SET_UP: usize = 4096;

/// What a client has set up so far, and where.
#[derive(Debug, Default)]
pub(super) struct ClientSetup {
    done: HashSet<(&'static str, Option<Box<str>>)>,
    /// What it set up while the turn was its own.
    used: [bool; SETS_UP.len()],
}

impl ClientSetup {
    /// Remembers a call of a client whose turn it is. Nearly all of them are others, and cost a look at their begin.
    fn note(&mut self, call: &[u8]) {
        let head = &call[..call.len().min(HEAD)];
        let names =
            |method: &&str| head.windows(method.len()).any(|part| part == method.as_bytes());
        if !SETS_UP.iter().any(names) {
            return;
        }
        let Ok(call) = Envelope::parse(call) else { return };
        let Some(at) = SETS_UP.iter().position(|method| call.method.as_deref() == Some(*method))
        else {
            return;
        };
        self.used[at] = true;
        self.remember(SETS_UP[at], call.session.as_deref());
    }

    /// Whether a call sets up, in a target that came since a person drives, what the client has in its others.
    fn goes_on(&mut self, method: &str, session: Option<&str>) -> bool {
        let Some(at) = SETS_UP.iter().position(|one| *one == method) else { return false };
        self.used[at] && session.is_some() && self.remember(SETS_UP[at], session)
    }

    /// Whether it is new.
    fn remember(&mut self, method: &'static str, session: Option<&str>) -> bool {
        self.done.len() < MOST_SET_UP && self.done.insert((method, session.map(Box::from)))
    }
}

/// Methods that act; a name that ends with a dot is a whole domain, one that ends with a star all that begin so.
const ACTS: &[&str] = &[
    "Autofill.",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setPermission",
    "Browser.setWindowBounds",
    "CSS.addRule",
    "CSS.set*",
    "CacheStorage.delete*",
    "DOM.copyTo",
    "DOM.focus",
    "DOM.moveTo",
    "DOM.redo",
    "DOM.remove*",
    "DOM.setAttribute*",
    "DOM.setFileInputFiles",
    "DOM.setNode*",
    "DOM.setOuterHTML",
    "DOM.undo",
    "DOMDebugger.set*",
    "DOMStorage.clear",
    "DOMStorage.remove*",
    "DOMStorage.set*",
    "Debugger.evaluateOnCallFrame",
    "Debugger.pause*",
    "Debugger.restartFrame",
    "Debugger.setBreakpoint",
    "Debugger.setBreakpointBy*",
    "Debugger.setBreakpointOn*",
    "Debugger.setInstrumentationBreakpoint",
    "Debugger.setPauseOnExceptions",
    "Debugger.setReturnValue",
    "Debugger.setScriptSource",
    "Debugger.setVariableValue",
    "DeviceAccess.selectPrompt",
    "Emulation.setScriptExecutionDisabled",
    "Emulation.setVirtualTimePolicy",
    "EventBreakpoints.set*",
    "FedCm.",
    "Fetch.enable",
    "IndexedDB.clear*",
    "IndexedDB.delete*",
    "Input.",
    "Network.clearBrowserCache",
    "Network.clearBrowserCookies",
    "Network.deleteCookies",
    "Network.replayXHR",
    "Network.setCookie*",
    "Network.setRequestInterception",
    "Overlay.setInspectMode",
    ADDS_SCRIPT,
    "Page.bringToFront",
    "Page.close",
    "Page.crash",
    "Page.handleJavaScriptDialog",
    "Page.navigate*",
    "Page.reload",
    "Page.resetNavigationHistory",
    "Page.setDocumentContent",
    "Page.setWebLifecycleState",
    "Page.stopLoading",
    "Page.waitForDebugger",
    "Runtime.callFunctionOn",
    "Runtime.evaluate",
    "Runtime.runScript",
    "Runtime.terminateExecution",
    "ServiceWorker.deliverPushMessage",
    "ServiceWorker.dispatch*",
    "ServiceWorker.skipWaiting",
    "ServiceWorker.startWorker",
    "ServiceWorker.stop*",
    "ServiceWorker.unregister",
    "Storage.clear*",
    "Storage.delete*",
    "Storage.set*Cookies",
    "Target.activateTarget",
    "Target.closeTarget",
    "Target.createBrowserContext",
    "Target.createTarget",
    "Target.disposeBrowserContext",
    "WebAuthn.",
];

/// Whether a method is one that acts.
fn acts(method: &str) -> bool {
    ACTS.iter().any(|pattern| match pattern.split_once('*') {
        Some((start, end)) => method.starts_with(start) && method.ends_with(end),
        None if pattern.ends_with('.') => method.starts_with(pattern),
        None => method == *pattern,
    })
}

/// What says of a script that it does nothing here and now.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScriptParams {
    throw_on_side_effect: bool,
    run_immediately: bool,
}

/// Whether nothing is changed by a script here and now: the browser itself sees to that, or runs it in later documents
/// alone. What cannot be read, as where one name stands twice, may be read otherwise by the browser.
fn is_harmless(method: &str, call: &Envelope<'_>) -> bool {
    let params = call.params.and_then(|params| serde_json::from_str(params.get()).ok());
    let Some(ScriptParams { throw_on_side_effect, run_immediately }) = params else { return false };
    match method {
        "Runtime.evaluate" | "Runtime.callFunctionOn" => throw_on_side_effect,
        ADDS_SCRIPT => !run_immediately,
        _ => false,
    }
}

/// What a client hears instead of its call; none when that goes on.
pub(super) fn refusal(turn: &Turn, set_up: &mut ClientSetup, call: &[u8]) -> Option<Vec<u8>> {
    let Turn::Of(person) = turn else {
        set_up.note(call);
        return None;
    };
    // What is no call, the keeper judges.
    let call = Envelope::parse(call).ok()?;
    let (id, method) = (call.id?, call.method.as_deref()?);
    if !acts(method) || is_harmless(method, &call) {
        return None;
    }
    if set_up.goes_on(method, call.session.as_deref()) {
        return None;
    }
    let is_script = matches!(method, "Runtime.evaluate" | "Runtime.callFunctionOn");
    let hint = if is_script { "; a script with throwOnSideEffect reads" } else { "" };
    let text = format!(
        "{method}: {person} has taken over and drives this session until it is given back; calls that read go on{hint}"
    );
    let session = call.session.as_deref().map(|id| format!(",\"sessionId\":{}", quoted(id)));
    let (session, text) = (session.unwrap_or_default(), quoted(&text));
    let answer =
        format!("{{\"id\":{id},\"error\":{{\"code\":{REFUSED},\"message\":{text}}}{session}}}");
    Some(answer.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_known_by_its_name() {
        for method in [
            "Input.dispatchKeyEvent",
            "Page.navigate",
            "Page.navigateToHistoryEntry",
            "DOM.setAttributesAsText",
            "Storage.setCookies",
            "Runtime.evaluate",
            "Debugger.pause",
            "Debugger.setBreakpoint",
            "Debugger.setBreakpointByUrl",
            "Debugger.setScriptSource",
            "Emulation.setScriptExecutionDisabled",
            "Fetch.enable",
        ] {
            assert!(acts(method), "{method}");
        }
        for method in [
            "Page.captureScreenshot",
            "Page.enable",
            "DOM.getDocument",
            "Storage.getCookies",
            "Storage.setInterestGroupTracking",
            "Target.setAutoAttach",
            "Runtime.runIfWaitingForDebugger",
            // What waits for this client goes on by it alone.
            "Debugger.resume",
            "Debugger.setBreakpointsActive",
            "Fetch.continueRequest",
            "Fetch.continueWithAuth",
            "Fetch.disable",
            "Fetch.failRequest",
            "Fetch.fulfillRequest",
        ] {
            assert!(!acts(method), "{method}");
        }
    }

    #[test]
    fn a_refusal_says_who_drives_and_answers_the_call() {
        let person = Turn::Of("ada".into());
        let call = br#"{"id":7,"method":"Runtime.evaluate","params":{"expression":"1"}}"#;
        let refused = refusal(&person, &mut ClientSetup::default(), call)
            .map(|answer| String::from_utf8(answer).unwrap());
        insta::assert_snapshot!(refused.unwrap(), @r#"{"id":7,"error":{"code":-32000,"message":"Runtime.evaluate: ada has taken over and drives this session until it is given back; calls that read go on; a script with throwOnSideEffect reads"}}"#);
        assert_eq!(refusal(&Turn::Own, &mut ClientSetup::default(), call), None);
        let reads = br#"{"id":7,"method":"Runtime.evaluate","params":{"throwOnSideEffect":true}}"#;
        assert_eq!(refusal(&person, &mut ClientSetup::default(), reads), None);
        assert_eq!(refusal(&person, &mut ClientSetup::default(), b"no call"), None);
    }

    #[test]
    fn a_script_for_later_documents_passes_and_one_that_runs_at_once_does_not() {
        let person = Turn::Of("ada".into());
        let adds = |params: &str| {
            let call = format!("{{\"id\":7,\"method\":\"{ADDS_SCRIPT}\",\"params\":{params}}}");
            refusal(&person, &mut ClientSetup::default(), call.as_bytes()).is_some()
        };
        assert!(!adds(r#"{"source":"1"}"#));
        assert!(!adds(r#"{"source":"1","runImmediately":false}"#));
        assert!(adds(r#"{"source":"1","runImmediately":true}"#));
        let twice = r#"{"source":"1","runImmediately":false,"runImmediately":true}"#;
        assert!(adds(twice), "the browser takes the second one");
        assert!(adds(r#"{"source":"1","throwOnSideEffect":true,"runImmediately":true}"#));
    }

    #[test]
    fn what_a_client_sets_up_in_all_its_targets_it_sets_up_in_new_ones_too() {
        let (person, mut set_up) = (Turn::Of("ada".into()), ClientSetup::default());
        let call = |method: &str, session: &str, params: &str| {
            format!(
                "{{\"id\":7,\"method\":\"{method}\",\"params\":{params},\"sessionId\":\"{session}\"}}"
            )
        };
        let fetch = |session| call("Fetch.enable", session, "{}");
        let script =
            |session| call(ADDS_SCRIPT, session, r#"{"source":"1","runImmediately":true}"#);
        let mut refuses =
            |turn: &Turn, call: String| refusal(turn, &mut set_up, call.as_bytes()).is_some();
        assert!(refuses(&person, fetch("popup")), "it never did, so it begins to");
        assert!(!refuses(&Turn::Own, fetch("tab")));
        assert!(refuses(&person, fetch("tab")), "in a tab that was there it begins anew");
        assert!(!refuses(&person, fetch("popup")));
        assert!(refuses(&person, fetch("popup")), "once is enough");
        assert!(refuses(&person, script("popup")), "another habit");
        assert!(!refuses(&Turn::Own, script("tab")));
        assert!(refuses(&person, script("tab")));
        assert!(!refuses(&person, script("popup")));
    }
}
