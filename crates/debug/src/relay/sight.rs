//! Who sees secrets.

/// What somebody sees of the secrets in a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    /// None of them.
    Hidden,
    /// Those that were kept because somebody asked for it. Whoever gives this has checked the scope
    /// `reveal`, and notes it.
    Revealed,
}
