//! The kinds of failure, which doors translate.

/// What sort of failure it is; doors translate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was asked makes no sense.
    Invalid,
    /// What was asked for is not there.
    NotFound,
    /// Somebody or something stands in the way.
    Conflict,
    /// The file system does not allow it.
    Denied,
    /// Anything else.
    Failed,
}
