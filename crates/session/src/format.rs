//! In which form a session leaves.

use crate::words::words;

words! {
    /// In which form a session leaves.
    ExportFormat, else UnknownFormat ("format"):
    /// Playwright's file: cookies, localStorage and IndexedDB of first parties.
    StorageState "storage-state",
    /// Baton's own: everything that a state holds.
    Session "session",
}
