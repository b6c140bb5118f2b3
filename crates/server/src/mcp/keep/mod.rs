//! The keep tools: sessions are opened, captured, brought back, compared, and carried as files.
//!
//! The doc comments of the structs are what a model reads, so they are short and exact; all of them together stay
//! below 6 kB.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod files;
mod sessions;

pub(super) use sessions::resume;

use super::verb::Entry;
use crate::mcp::answer;
use crate::mcp::answer::{Failure, ToolAnswer};
use crate::mcp::verb::{Call, Effect, ToolPlace, Verb};
use baton_api::{CompareSnapshots, ListHistory, RollBack, Scope};
use baton_runtime::sessions as operations;
use baton_session::SnapshotId;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sessions::result;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<sessions::ListSessions>(),
            Entry::of::<sessions::SessionOpen>(),
            Entry::of::<sessions::SessionResume>(),
            Entry::of::<sessions::SessionCapture>(),
            Entry::of::<sessions::SessionClose>(),
            Entry::of::<sessions::SessionAbandon>(),
            Entry::of::<SessionHistory>(),
            Entry::of::<SessionRollback>(),
            Entry::of::<SessionDiff>(),
            Entry::of::<files::SessionExport>(),
            Entry::of::<files::SessionImport>(),
            Entry::of::<files::SessionFiles>(),
        ]
    });
    &ENTRIES
}

/// How many snapshots a page has.
const PAGE: u32 = 20;

/// Lists a session's snapshots, newest first, and which one a resume takes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SessionHistory {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// nextCursor of the page before
    #[schemars(with = "Option<String>")]
    cursor: Option<SnapshotId>,
}

impl Verb for SessionHistory {
    const NAME: &'static str = "session_history";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Read).await?;
        let session = call.session(self.session_id).await?;
        let query = ListHistory { after: self.cursor, limit: Some(PAGE), verify: false };
        let found = operations::history(&call.context, &call.caller.owner, &session, query).await?;
        let now = clock::now();
        let mut told = vec![match found.items.len() {
            0 => "No snapshots.".to_owned(),
            1 => format!("1 snapshot of {session}; * is what a resume takes"),
            count => {
                format!("{count} snapshots of {session}, newest first; * is what a resume takes")
            }
        }];
        let mut rows = Vec::new();
        for view in &found.items {
            let is_taken = found.resumes_from == Some(view.id);
            let mark = if is_taken { "*" } else { "" };
            told.push(format!("{}{mark} {}", view.id, answer::snapshot(view, now)));
            rows.push(json!({
                "snapshot": view.id, "takenAt": view.taken_at, "reason": view.reason,
                "shrunk": view.shrunk, "resumesFrom": is_taken,
            }));
        }
        for damaged in &found.damaged {
            told.push(format!("{damaged} is damaged and cannot be read"));
        }
        if let Some(next) = found.next {
            told.push(format!("More: cursor {next}"));
        }
        let data = json!({
            "snapshots": rows, "damaged": found.damaged, "nextCursor": found.next,
        });
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Resumes a session from an older snapshot, such as before a logout. Nothing is lost: an active one is
/// saved first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SessionRollback {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// A snapshot that session_history lists
    to: String,
}

impl Verb for SessionRollback {
    const NAME: &'static str = "session_rollback";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let doing = format!("taking {} back", answer::cut(&session, 100));
        let request = RollBack { to: self.to };
        let rolling =
            Box::pin(operations::rollback(&call.context, &call.caller, &session, request));
        let (told, data) = result(&call.progress.during(&doing, rolling).await?);
        Ok(ToolAnswer::new(&told, data))
    }
}

/// How many changes are listed one by one.
const TOLD: usize = 50;

/// Tells what changed between two snapshots, without values.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SessionDiff {
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// The snapshot before
    from: String,
    /// The snapshot after
    to: String,
}

impl Verb for SessionDiff {
    const NAME: &'static str = "session_diff";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Read).await?;
        let session = call.session(self.session_id).await?;
        let query = CompareSnapshots { a: self.from, b: self.to };
        let found = operations::diff(&call.context, &call.caller.owner, &session, query).await?;
        let diff = found.diff;
        let told =
            format!("{} added, {} removed, {} changed.", diff.added, diff.removed, diff.changed);
        let mut told = vec![told];
        let mut items = Vec::new();
        for item in diff.items.iter().take(TOLD) {
            let place = answer::cut(&item.place, 200);
            let entry = item.entry.as_deref().map(|entry| answer::cut(entry, 100));
            let shown = entry.as_deref().unwrap_or_default();
            told.push(format!("{} {} {place} {shown}", item.change, item.kind));
            items.push(json!({
                "change": item.change, "kind": item.kind, "where": place, "entry": entry,
            }));
        }
        if diff.items.len() > TOLD {
            told.push(format!("and {} more", diff.items.len() - TOLD));
        }
        for part in &found.unreadable {
            told.push(format!("not readable: {part}"));
        }
        let data = json!({
            "added": diff.added, "removed": diff.removed, "changed": diff.changed, "items": items,
            "unreadable": found.unreadable,
        });
        Ok(ToolAnswer::new(&told, data))
    }
}
