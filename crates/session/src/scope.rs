//! Scopes: what an API key allows.

use crate::words::words;

words! {
    /// What a key allows. No scope includes another.
    Scope, else UnknownScope ("scope"):
    /// See sessions and their redacted state.
    Read "read",
    /// Open, capture, resume, close, abandon and delete sessions.
    Drive "drive",
    /// See secret values.
    Reveal "reveal",
    /// Exchange sessions with other nodes.
    Sync "sync",
    /// Work in sandboxes.
    Sandbox "sandbox",
    /// Watch network and console of tabs.
    Debug "debug",
    /// Tell of the tabs of a browser.
    Browser "browser",
    /// Make and revoke keys, attach to browsers of this machine.
    Admin "admin",
}
