//! Why a token does not count.

/// The longest token.
pub const MAX_TOKEN_BYTES: usize = 4096;

/// Why a token does not count. No text repeats the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Longer than any token.
    #[error("expected a token of at most {MAX_TOKEN_BYTES} bytes, found a longer one")]
    Oversized,
    /// Not both of its parts are there.
    #[error("expected a token of two parts with a dot between them, found a part of one")]
    Truncated,
    /// Another secret signed it, or nobody did.
    #[error(
        "expected a token that this node's proxy signed, found another one\n\
         if they run apart, give both the same HIVE_SECRET"
    )]
    Forged,
    /// It opens something else.
    #[error("expected a token for {expected}, found one for something else")]
    Audience {
        /// What it should be for.
        expected: &'static str,
    },
    /// It was signed in the future.
    #[error(
        "expected a token that counts already, found one of the future\n\
         compare the clocks of the two machines"
    )]
    NotYetValid,
    /// Its time is over.
    #[error(
        "expected a token that still counts, found one whose time has passed\nload the page again"
    )]
    Expired,
    /// It counted before.
    #[error(
        "expected a token for the first time, found one that was used already\nload the page again"
    )]
    Used,
    /// So many were used just now that another one could not be remembered.
    #[error(
        "expected fewer tokens within a minute, found too many to remember\nload the page again later"
    )]
    Crowded,
    /// Another browser got it.
    #[error("expected a token of this browser, found one of another browser\nload the page again")]
    OtherBrowser,
}
