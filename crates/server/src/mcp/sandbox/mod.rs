//! The sandbox tools: isolated workspaces that start logged in.
//!
//! One file a verb. What a command writes is told up to a bound: its beginning and its end. The doc
//! comments of the structs are what a model reads.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod create;
mod delete;
mod exec;
mod list;
mod said;

use super::verb::Entry;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<create::SandboxCreate>(),
            Entry::of::<exec::SandboxExec>(),
            Entry::of::<list::SandboxList>(),
            Entry::of::<delete::SandboxDelete>(),
        ]
    });
    &ENTRIES
}
