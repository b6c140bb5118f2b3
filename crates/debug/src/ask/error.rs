//! Questions that make no sense.

/// The longest pattern, in bytes.
pub(super) const MAX_PATTERN: usize = 1_000;

/// Why a question makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The pattern is no regular expression, or too large a one.
    #[error("expected a regular expression in {field}, found one that is refused: {reason}")]
    Pattern {
        /// Which filter.
        field: &'static str,
        /// Why.
        reason: String,
    },
    /// The pattern is too long.
    #[error("expected a regular expression of up to {MAX_PATTERN} bytes in {field}, found {found}")]
    TooLong {
        /// Which filter.
        field: &'static str,
        /// How long it is.
        found: usize,
    },
    /// A limit of nothing.
    #[error("expected a limit from 1 on, found 0")]
    NoLimit,
    /// No status fits.
    #[error("expected a status_min of at most status_max, found {min} and {max}")]
    Status {
        /// `status_min`
        min: u16,
        /// `status_max`
        max: u16,
    },
    /// Two ways to go at once.
    #[error("expected after or before, found both")]
    BothWays,
}
