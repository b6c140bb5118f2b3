//! The keep tools: sessions are opened, captured, brought back, compared, and carried as files.
//!
//! The doc comments of the structs are what a model reads, so they are short and exact; all of them together stay
//! below 6 kB.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod files;
mod history;
mod sessions;

pub(super) use sessions::resume;

use super::verb::Entry;
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
            Entry::of::<history::SessionHistory>(),
            Entry::of::<history::SessionRollback>(),
            Entry::of::<history::SessionDiff>(),
            Entry::of::<files::SessionExport>(),
            Entry::of::<files::SessionImport>(),
            Entry::of::<files::SessionFiles>(),
        ]
    });
    &ENTRIES
}
