//! A request that can be read, but makes no sense.

/// The request can be read, but makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {field} to be {expected}, found {found}")]
pub struct Invalid {
    /// Which part of the request.
    pub field: &'static str,
    /// What it may be.
    pub expected: &'static str,
    /// What it is.
    pub found: String,
}
