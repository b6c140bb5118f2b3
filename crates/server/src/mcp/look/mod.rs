//! The look tools: network and console of tabs, in few words.
//!
//! One file a verb. The names and the arguments of the three `browser_debug_*` are those of the debug
//! protocol; what we add may be left out. The doc comments of the structs are what a model reads.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod console;
mod network;
mod number;
mod switch;
mod tabs;
mod token;

use super::verb::Entry;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<tabs::BrowserDebugListTabs>(),
            Entry::of::<network::BrowserDebugGetNetwork>(),
            Entry::of::<console::BrowserDebugGetConsole>(),
            Entry::of::<switch::SessionDebug>(),
        ]
    });
    &ENTRIES
}
