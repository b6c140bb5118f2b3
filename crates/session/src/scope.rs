//! Scopes: what an API key allows, and how something that is audited ended.

use crate::text_form::words;

words! {
    /// What a key allows. No scope includes another.
    Scope, else UnknownScope ("scope"):
    /// See sessions and their redacted state.
    Read "read",
    /// Open, capture, resume, close, abandon and delete sessions.
    Drive "drive",
    /// See secret values.
    Reveal "reveal",
    /// See sessions live, as a person at their browser does.
    Watch "watch",
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

words! {
    /// How something that is audited ended.
    AuditOutcome, else UnknownOutcome ("outcome"):
    /// As it should.
    Done "done",
    /// The key did not allow it.
    Denied "denied",
    /// With an error.
    Failed "failed",
}
