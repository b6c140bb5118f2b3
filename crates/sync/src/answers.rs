//! What an error of what moves is for a client, and for those who know nothing of other nodes; and which of
//! theirs become one.

use crate::damage::DamageError;
use crate::error::SyncError;
use baton_api::{Answers, ErrorCode, Invalid, by_way_of};
use baton_runtime::live::LiveError;
use baton_runtime::{Elsewhere, RuntimeError, Stand};
use baton_session::login::NoLogin;
use baton_store::StoreError;
use baton_store::blocking::Stopping;

impl Answers for SyncError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            SyncError::NoPeer { .. } => ErrorCode::PeerNotFound,
            SyncError::NotJoined(error) => error.code(),
            SyncError::DeletedElsewhere { .. } => ErrorCode::SessionNotFound,
            SyncError::Pending { .. } => ErrorCode::PeerPending,
            SyncError::PendingHere { .. } | SyncError::PendingThere { .. } => {
                ErrorCode::PendingThere
            }
            SyncError::NoIcon { .. } => ErrorCode::NoSnapshot,
            SyncError::NotWritten { .. } => ErrorCode::Internal,
            SyncError::NotShared { .. }
            | SyncError::NotThere { .. }
            | SyncError::NothingSeen { .. } => ErrorCode::NotShared,
            SyncError::Way(error) => error.code(),
            SyncError::NoToken { why, .. } if !why.is_passing() => ErrorCode::PeerDenied,
            SyncError::NotLetIn { .. } | SyncError::Tunnel { .. } => ErrorCode::PeerDenied,
            SyncError::NoToken { .. }
            | SyncError::Unreachable { .. }
            | SyncError::BrokeOff { .. }
            | SyncError::TooSlow { .. }
            | SyncError::Silent { .. }
            | SyncError::NotAskedYet { .. }
            | SyncError::NotANode { .. } => ErrorCode::PeerUnreachable,
            SyncError::Denied { .. } => ErrorCode::PeerRefused,
            SyncError::NotTrusted(_)
            | SyncError::OtherNode { .. }
            | SyncError::KeyOfOtherNode { .. }
            | SyncError::OtherFingerprint { .. }
            | SyncError::UnknownWriter { .. }
            | SyncError::ForgedFile { .. }
            | SyncError::Untrusted { .. } => ErrorCode::Untrusted,
            SyncError::OtherRevision { .. } => ErrorCode::OtherRevision,
            SyncError::Kept { .. }
            | SyncError::HeldInDoubt { .. }
            | SyncError::Contended { .. }
            | SyncError::LetInByToken { .. }
            | SyncError::AdminKey { .. } => ErrorCode::Conflict,
            SyncError::TooLarge { .. } | SyncError::FileTooLarge { .. } => ErrorCode::StorageFull,
            SyncError::BadContent { .. }
            | SyncError::Damaged(DamageError::Hurt { .. })
            | SyncError::NothingWhole { .. }
            | SyncError::NoContent { .. }
            | SyncError::Directory(_) => ErrorCode::StorageDamaged,
            SyncError::Refused(_)
            | SyncError::TooMuch { .. }
            | SyncError::BeyondViews { .. }
            | SyncError::NoList { .. }
            | SyncError::OfOneNode { .. }
            | SyncError::WrongSize { .. }
            | SyncError::WrongChecksum { .. }
            | SyncError::Damaged(DamageError::NoState { .. } | DamageError::OtherPart { .. })
            | SyncError::NotOfSession { .. }
            | SyncError::BadParcels(_)
            | SyncError::BadDelta { .. } => ErrorCode::RevisionRefused,
            SyncError::NoAddress { .. }
            | SyncError::NoKey { .. }
            | SyncError::TooManyParts { .. }
            | SyncError::BatchTooLarge { .. }
            | SyncError::WhichRevision { .. } => ErrorCode::InvalidRequest,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Way(error) => error.hint(),
            error => baton_api::usual_hint(error.code()),
        }
    }
}

impl SyncError {
    /// Whether a peer could not be asked: it would be the same whatever it is asked for, and may be another time.
    pub(crate) fn is_unanswered(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::BrokeOff { .. }
                | Self::NotTrusted(_)
                | Self::TooSlow { .. }
                | Self::Silent { .. }
        )
    }
}

impl From<SyncError> for RuntimeError {
    fn from(error: SyncError) -> Self {
        let stand = match &error {
            SyncError::Kept { .. } => Stand::Kept,
            error if error.is_unanswered() => Stand::Unanswered,
            _ => Stand::Other,
        };
        match error {
            SyncError::Runtime(error) => error,
            error => Self::Elsewhere(Elsewhere::new(stand, error)),
        }
    }
}

impl From<RuntimeError> for SyncError {
    fn from(error: RuntimeError) -> Self {
        match error {
            // It went through those who know nothing of other nodes, and is what it was.
            RuntimeError::Elsewhere(elsewhere) => match elsewhere.downcast::<Self>() {
                Ok(error) => *error,
                Err(other) => Self::Runtime(RuntimeError::Elsewhere(other)),
            },
            error => Self::Runtime(error),
        }
    }
}

by_way_of! {
    SyncError: RuntimeError { StoreError, LiveError, Invalid, NoLogin, Stopping }
}
