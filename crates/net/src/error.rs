//! Why nobody elsewhere is asked.

use baton_api::{Answers, ErrorCode};
use url::Url;

/// Why nobody elsewhere is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WayError {
    /// An address that is not asked.
    #[error(
        "expected an address that this node may ask, found {found}\n\
         outbound.allow in the settings names others"
    )]
    AddressNotAllowed {
        /// Which one, and why not.
        found: String,
    },
    /// There is no client for it.
    #[error("expected a node of Baton at {url}, found something else: {why}")]
    NoClient {
        /// Where.
        url: Url,
        /// What went wrong.
        why: String,
    },
    /// What was given as an API key or a token cannot be one.
    #[error("expected an API key or a token, found letters that none has")]
    NotAKey,
}

impl Answers for WayError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::AddressNotAllowed { .. } => ErrorCode::AddressNotAllowed,
            Self::NoClient { .. } => ErrorCode::PeerUnreachable,
            Self::NotAKey => ErrorCode::InvalidRequest,
        }
    }
}
