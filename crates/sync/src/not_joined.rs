//! Why a node did not join another one by an invitation.

use baton_api::{Answers, ErrorCode};
use baton_session::invitation::InvalidCode;
use url::Url;

/// Why this node did not join the one that invited. Nothing was registered on either side.
#[derive(Debug, thiserror::Error)]
pub enum NotJoined {
    /// What was typed is no invitation.
    #[error(transparent)]
    BadCode(#[from] InvalidCode),
    /// The node that invited lets nobody join by this invitation any more.
    #[error(
        "the invitation of {name} counts no more: it was used, has ended, or was taken back\n\
         there, run: baton peers invite"
    )]
    Over {
        /// Where that node is asked.
        name: String,
    },
    /// Nobody answers where the node that invited is to be asked.
    #[error(
        "expected the node that invited, found none of its addresses that answers: {tried}\n\
         nothing was registered; is one of them reached from here, past the firewall of the other machine? \
         there, baton peers invite --address names another one"
    )]
    NotFound {
        /// The addresses, each with what happened.
        tried: String,
    },
    /// Another machine answers where the node that invited is to be asked.
    #[error(
        "expected the node that invited at {url}, found another one: {why}\n\
         nothing was registered; somebody may be in between, or the addresses of the machines changed: \
         run baton peers invite there again"
    )]
    Another {
        /// Where.
        url: Url,
        /// By what that shows.
        why: String,
    },
}

impl Answers for NotJoined {
    fn code(&self) -> ErrorCode {
        match self {
            Self::BadCode(_) => ErrorCode::InvalidRequest,
            Self::Over { .. } => ErrorCode::InvitationNotFound,
            Self::NotFound { .. } => ErrorCode::PeerUnreachable,
            Self::Another { .. } => ErrorCode::Untrusted,
        }
    }
}
