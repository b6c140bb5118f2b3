//! The keep tools: sessions are opened, captured, brought back, compared, and carried as files.
//!
//! One file a verb. The doc comments of the structs are what a model reads, so they are short and
//! exact; all of them together stay below 6 kB.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod abandon;
mod capture;
mod close;
mod diff;
mod export;
mod files;
mod history;
mod import;
mod list;
mod open;
mod resume;
mod rollback;

pub(super) use resume::resume;

use super::verb::Entry;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<list::ListSessions>(),
            Entry::of::<open::SessionOpen>(),
            Entry::of::<resume::SessionResume>(),
            Entry::of::<capture::SessionCapture>(),
            Entry::of::<close::SessionClose>(),
            Entry::of::<abandon::SessionAbandon>(),
            Entry::of::<history::SessionHistory>(),
            Entry::of::<rollback::SessionRollback>(),
            Entry::of::<diff::SessionDiff>(),
            Entry::of::<export::SessionExport>(),
            Entry::of::<import::SessionImport>(),
            Entry::of::<files::SessionFiles>(),
        ]
    });
    &ENTRIES
}
