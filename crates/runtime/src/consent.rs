//! Whether whoever has a session is asked for it.

/// Whether whoever runs a session elsewhere is asked to give it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// They are: they capture, save and close it.
    Asked,
    /// They are not: the session is taken only if it is still this node's.
    IfFree,
}
