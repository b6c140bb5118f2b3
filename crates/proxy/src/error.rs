//! Why something of a cocoon is refused, and what that is for a client.

use baton_api::{Answers, CocoonId, ErrorCode};
use std::net::SocketAddr;

/// Why something of a cocoon is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CocoonError {
    /// The settings name it.
    #[error(
        "expected a cocoon that was named over the API, found {id}, which the settings name\nchange it there, under [[cocoons]]"
    )]
    InSettings {
        /// Which one.
        id: CocoonId,
    },
    /// Another owner has it.
    #[error("expected an id that is free, found that another owner has {id}\nchoose another one")]
    Taken {
        /// Which one.
        id: CocoonId,
    },
    /// There is none, or it belongs to someone else.
    #[error("no cocoon {id}\nbaton cocoons list shows yours")]
    NotFound {
        /// Which one was asked for.
        id: CocoonId,
    },
    /// There are too many.
    #[error("expected at most {most} cocoons, found as many\nremove one first")]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// What is said of it makes no sense.
    #[error("{why}")]
    Invalid {
        /// What was expected, and what was found.
        why: String,
    },
    /// It wants no key, and other machines reach the proxy.
    #[error(
        "expected a cocoon that wants a key, because other machines reach the proxy at {found}, found one that \
         wants none\nset its access to \"key\" (baton cocoons add --with-key)"
    )]
    Open {
        /// Where the proxy listens.
        found: SocketAddr,
    },
    /// The node has no proxy.
    #[error(
        "expected a node with a proxy, found one without\nset [proxy] listen in its settings, and start it again"
    )]
    NoProxy,
}

impl Answers for CocoonError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::CocoonNotFound,
            Self::Taken { .. } => ErrorCode::NameTaken,
            Self::InSettings { .. } | Self::NoProxy => ErrorCode::Conflict,
            Self::TooMany { .. } => ErrorCode::StorageFull,
            Self::Invalid { .. } | Self::Open { .. } => ErrorCode::InvalidRequest,
        }
    }
}
