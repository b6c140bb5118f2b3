//! What a tool answers: text for the model to read, in short lines and nothing said twice, and the same for
//! programs.
//!
//! Whatever it tells was written by others in part, so all of it becomes clean here, in one place.

use crate::error::NodeError;
use baton_agents::AgentsError;
use baton_api::{Answers, EgressView, Invalid, SessionView, SnapshotView, Tab, by_way_of};
use baton_runtime::RuntimeError;
use baton_session::printable::{Printable, data_for_model};
use baton_session::receipt::{Group, Outcome};
use baton_session::{Lifecycle, Receipt, Unread, json};
use baton_sync::SyncError;
use jiff::Timestamp;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, InputRequests, InputRequiredResult,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What was done.
pub(super) struct ToolAnswer {
    /// What a model reads.
    pub(super) text: String,
    /// The same for programs.
    pub(super) data: Value,
}

impl ToolAnswer {
    /// An answer that reads as these lines and says the same to programs as `data`, an object.
    pub(super) fn new(lines: &[String], data: Value) -> Self {
        Self { text: lines.join("\n"), data }
    }
}

/// Why it was not done.
pub(super) enum Failure {
    /// The operation refused or failed.
    Node(Box<NodeError>),
    /// The arguments cannot be read.
    Arguments(String),
    /// The call names no session, and it cannot be guessed.
    Which {
        /// What was found instead of one.
        found: String,
    },
    /// No session at the peers is meant, or more than one.
    AtPeers {
        /// What was found instead of one.
        found: String,
    },
    /// A person has to be asked first, by a client that asks and then calls again.
    Ask {
        /// What they are asked.
        requests: InputRequests,
        /// What it is about, which the client says when it calls again.
        about: String,
    },
    /// The same, by the node that asked for its client.
    AskThere {
        /// What it is about.
        about: String,
        /// What they are asked.
        what: String,
        /// The command with which a person does it.
        command: String,
    },
    /// What another node says of it.
    There {
        /// A stable word.
        code: String,
        /// What was expected, and what was found.
        detail: String,
        /// What to do next.
        next: Option<String>,
    },
    /// The person said no.
    Declined {
        /// What was to be done.
        what: String,
    },
    /// No person can be asked.
    NobodyToAsk {
        /// What was to be done.
        what: String,
        /// The command with which a person does it.
        command: String,
    },
}

impl From<NodeError> for Failure {
    fn from(error: NodeError) -> Self {
        Self::Node(Box::new(error))
    }
}

by_way_of! {
    Failure: NodeError { RuntimeError, SyncError, AgentsError, Invalid }
}

impl From<ToolAnswer> for CallToolResponse {
    fn from(answer: ToolAnswer) -> Self {
        let text = Printable::for_model(&answer.text);
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(data_for_model(answer.data));
        result.into()
    }
}

impl From<Failure> for CallToolResponse {
    fn from(failure: Failure) -> Self {
        let failure = match failure {
            Failure::Ask { requests, about } => {
                return InputRequiredResult::new(Some(requests), Some(about)).into();
            }
            failure => failure,
        };
        let (code, detail, next) = failure.into_texts();
        let text = match &next {
            Some(next) => format!("{detail}\nNext: {next}"),
            None => detail.clone(),
        };
        let text = Printable::for_model(&text);
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        let data = json!({"code": code, "detail": detail, "next": next});
        result.structured_content = Some(data_for_model(data));
        result.into()
    }
}

impl Failure {
    /// A stable word, what was expected and what was found, and what to do next.
    pub(super) fn into_texts(self) -> (String, String, Option<String>) {
        let word = str::to_owned;
        match self {
            Self::Node(error) => {
                let problem = error.problem();
                if problem.status >= 500 {
                    tracing::error!(code = problem.code.as_str(), %error, "a tool failed");
                }
                let next = next_for(&error).or_else(|| next(problem.code.as_str()));
                let next = next.map(word).or(problem.hint);
                (problem.code.as_str().to_owned(), problem.detail, next)
            }
            Self::Arguments(found) => (
                word("invalid_request"),
                format!("expected arguments as the tool's schema says: {found}"),
                Some(word("call it again with these corrected")),
            ),
            Self::Which { found } => (
                word("invalid_request"),
                format!("expected sessionId, or one active session; found {found}"),
                Some(word("give sessionId: a name or an id; list_sessions lists them")),
            ),
            Self::AtPeers { found } => (
                word("session_not_found"),
                format!("expected one session that is called so, found {found}"),
                Some(word(
                    "browser_sync_list_remote_sessions lists those at peers, with their ids",
                )),
            ),
            Self::Declined { what } => (
                word("declined"),
                format!("the user was asked and did not agree: {what}"),
                Some(word("do something else, or ask the user what they want")),
            ),
            Self::NobodyToAsk { what, command } => (
                word("needs_confirmation"),
                format!("a person has to confirm this, and this client cannot ask one: {what}"),
                Some(format!("ask the user to type: {command}")),
            ),
            Self::There { code, detail, next } => (code, detail, next),
            Self::Ask { .. } | Self::AskThere { .. } => {
                (word("needs_confirmation"), String::new(), None)
            }
        }
    }
}

/// What a model does next, where the error's code alone does not tell.
fn next_for(error: &NodeError) -> Option<&'static str> {
    match error {
        NodeError::Sync(SyncError::WhichRevision { .. }) => {
            Some("browser_sync_conflicts lists the revisions that there are")
        }
        NodeError::Sync(SyncError::Pending { .. } | SyncError::NoKey { .. }) => {
            Some("ask the user; browser_sync_list_peers tells what they type")
        }
        NodeError::Sync(SyncError::NotShared { .. }) => Some("browser_save_profile saves it"),
        _ => None,
    }
}

/// What a model does next, where it differs from what a person at a terminal does.
fn next(code: &str) -> Option<&'static str> {
    match code {
        "session_not_found" => Some("list_sessions lists the sessions that there are"),
        "wrong_state" => Some(
            "list_sessions tells the state: an active session is used as it is or closed first, \
             any other is brought back with session_resume",
        ),
        "peer_not_found" => Some("browser_sync_list_peers lists the peers that there are"),
        "tab_gone" => Some("browser_debug_list_tabs lists the tabs that there are"),
        "no_snapshot" => Some("session_history lists the snapshots that there are"),
        "name_taken" => {
            Some("use the session that has this name (session_resume), or choose another name")
        }
        _ => None,
    }
}

/// How many tabs, or lines of a receipt, are listed one by one.
const TOLD: usize = 20;
/// How much of a title is shown, in characters.
const TITLE: usize = 80;
/// How much of an address is shown, in characters.
const ADDRESS: usize = 200;

/// How long ago something was, in one unit.
pub(super) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        ..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A session: its lifecycle, its tabs, its latest snapshot.
pub(super) fn session(view: &SessionView, now: Timestamp) -> (Vec<String>, Value) {
    let (name, state) = (&view.session.name, view.session.state);
    let mut text = vec![match &view.snapshot {
        Some(snapshot) => {
            format!("{name} is {state}. Last snapshot: {}.", self::snapshot(snapshot, now))
        }
        None => format!("{name} is {state}."),
    }];
    for (at, tab) in view.tabs.iter().take(TOLD).enumerate() {
        let mark = if tab.active { "*" } else { "" };
        text.push(format!("tab {}{mark}: {} {}", at + 1, title(tab), address(tab)));
    }
    if view.tabs.len() > TOLD {
        text.push(format!("and {} more tabs", view.tabs.len() - TOLD));
    }
    let tabs: Vec<Value> = view.tabs.iter().take(TOLD).map(tab).collect();
    let mut data = json!({
        "sessionId": view.session.id, "name": name, "state": state, "tabs": tabs,
        "snapshot": view.snapshot.as_ref().map(|snapshot| snapshot.id),
    });
    text.extend(shut_out(view.egress.as_ref(), &mut data));
    (text, data)
}

/// Where a login is that its way out does not reach, for a model and, as a member of `data`, for programs; none
/// where there is none.
pub(super) fn shut_out(egress: Option<&EgressView>, data: &mut Value) -> Option<String> {
    let sites = &egress?.shut_out;
    let named = &sites[..sites.len().min(TOLD)];
    if named.is_empty() {
        return None;
    }
    data["shutOut"] = json!(named);
    let more = match sites.len() - named.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    let named = named.join(", ");
    Some(format!("Signed in at {named}{more}, which it may not reach: its list has no such host."))
}

/// Whether a session's browser can be used now, and how.
pub(super) fn next_step(state: Lifecycle) -> &'static str {
    match state {
        Lifecycle::Active => "The browser runs; use the browser tools on it.",
        _ => "No browser runs; session_resume brings it back.",
    }
}

fn tab(tab: &Tab) -> Value {
    json!({"title": title(tab), "url": address(tab), "active": tab.active})
}

/// A title on one line and not too long: a page may write what it likes there.
fn title(tab: &Tab) -> String {
    cut(&tab.title.split_whitespace().collect::<Vec<_>>().join(" "), TITLE)
}

/// An address as it is shown, and not too long.
fn address(tab: &Tab) -> String {
    cut(tab.url.as_str(), ADDRESS)
}

/// A text that is not too long, in characters.
pub(super) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// A snapshot in a few words.
pub(super) fn snapshot(view: &SnapshotView, now: Timestamp) -> String {
    let mut text = format!("{} ago ({})", age(view.taken_at, now), view.reason);
    for (is, word) in [
        (view.shrunk, ", shrunk: a resume passes it over"),
        (view.sibling, ", beside the line of the others"),
        (view.saved, ", kept for good"),
    ] {
        if is {
            text.push_str(word);
        }
    }
    text
}

/// What a capture could not read or does not hold, line by line.
pub(super) fn unread(view: &SnapshotView) -> impl Iterator<Item = String> {
    let line = |unread: &Unread| {
        let what = if unread.lost { "not kept" } else { "not read, kept as last known" };
        format!("{what}: {} {}", cut(&unread.place, ADDRESS), unread.reason)
    };
    view.unread.iter().take(TOLD).map(line)
}

/// A receipt: its sums, and what did not come back, line by line.
pub(super) fn receipt(receipt: &Receipt) -> (Vec<String>, Value) {
    let Receipt { restored, rejected, not_portable, pending, .. } = receipt;
    let mut text = vec![format!(
        "{restored} items restored, {rejected} rejected, {not_portable} not portable, {pending} pending."
    )];
    let mut lines: BTreeMap<(Outcome, String, String, String), usize> = BTreeMap::new();
    // What came back is told where there is something to say of it.
    let is_told = |group: &Group| group.outcome != Outcome::Restored || group.reason.is_some();
    for group in receipt.groups().into_iter().filter(is_told) {
        let reason = group.reason.unwrap_or_default();
        let key = (group.outcome, group.kind.to_string(), cut(&group.place, ADDRESS), reason);
        *lines.entry(key).or_default() += group.count;
    }
    let more = lines.len().saturating_sub(TOLD);
    let mut items = Vec::new();
    for ((outcome, kind, place, reason), count) in lines.into_iter().take(TOLD) {
        let word = json::value(&outcome);
        let shown = word.as_str().unwrap_or_default().replace('_', " ");
        text.push(format!("{shown}: {kind} {place} ({count}) {reason}"));
        items.push(json!({"outcome": word, "kind": kind, "where": place, "count": count, "reason": reason}));
    }
    if more > 0 {
        text.push(format!("and {more} more lines: the resource baton://sessions/NAME/receipt"));
    }
    let data = json!({
        "restored": restored, "rejected": rejected, "not_portable": not_portable,
        "pending": pending, "items": items,
    });
    (text, data)
}
