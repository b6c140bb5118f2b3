//! How something that is audited ended.

use crate::words::words;

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
