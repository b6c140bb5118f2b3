//! What an error of an operation on a session is for a client.

use super::error::RuntimeError;
use crate::live::LiveError;
use baton_api::{Answers, ErrorCode};
use baton_browser::cdp::CdpError;
use baton_browser::keeper::KeeperError;
use baton_browser::launch::LaunchError;
use baton_browser::profile::compile::CompileError;
use baton_browser::restore::RestoreError;
use baton_federation::{FederationError, Kind};
use baton_session::Lifecycle;
use baton_session::login::NoLogin;
use baton_store::StoreError;
use baton_store::data::{DataError, FileError};
use std::io::{self, ErrorKind};

impl Answers for RuntimeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) | Self::NotNoted { source: error, .. } => store(error),
            Self::Live(error) => live(error),
            Self::Attach(error) => attach(error),
            Self::File(error) => file_of_session(error),
            Self::Board(error) => board(error),
            Self::Elsewhere(error) => error.code(),
            Self::NotConfined { .. } => ErrorCode::NotConfined,
            Self::Invalid(_) | Self::BadFile { .. } | Self::NoName => ErrorCode::InvalidRequest,
            Self::FileTooLarge { .. } => ErrorCode::StorageFull,
            Self::BadTicket { .. } => ErrorCode::Unauthenticated,
            Self::Forbidden { .. } => ErrorCode::Forbidden,
            Self::TooManyTickets { .. } => ErrorCode::TooManyRequests,
            Self::NoBoard => ErrorCode::NotOnBoard,
            Self::WrongState { .. } => ErrorCode::WrongState,
            Self::OtherAgent { .. } => ErrorCode::OtherAgent,
            Self::OtherNode { .. } | Self::NotDeep { .. } => ErrorCode::Conflict,
            Self::NoSnapshot { .. } => ErrorCode::NoSnapshot,
            Self::Held { .. } | Self::Driven { .. } => ErrorCode::SessionHeld,
            Self::NoLogin(NoLogin::Expired { .. }) => ErrorCode::SessionExpired,
            Self::NoLogin(
                NoLogin::Missing { .. } | NoLogin::Unlikely { .. } | NoLogin::NotHandedIn { .. },
            ) => ErrorCode::LoginMissing,
            Self::NotShown { .. } => ErrorCode::Internal,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::WrongState { found, .. } => Some(match found {
                Lifecycle::Active => "its browser runs; baton sessions close ends it",
                Lifecycle::Closed => "baton sessions resume brings it back, delete removes it",
                _ => "baton sessions resume brings it back",
            }),
            Self::Store(StoreError::SnapshotNotFound { .. }) => {
                Some("baton sessions history shows the snapshots there are")
            }
            Self::Elsewhere(error) => error.hint(),
            error => baton_api::usual_hint(error.code()),
        }
    }
}

fn live(error: &LiveError) -> ErrorCode {
    match error {
        LiveError::NotActive(_) | LiveError::AlreadyActive(_) => ErrorCode::WrongState,
        LiveError::Busy(_) | LiveError::LeaseLost { .. } | LiveError::Twin { .. } => {
            ErrorCode::Conflict
        }
        LiveError::CheckedOut { .. } => ErrorCode::SessionHeld,
        LiveError::NoSnapshot(_) => ErrorCode::NoSnapshot,
        LiveError::ProfileInUse { .. } => ErrorCode::ProfileInUse,
        LiveError::SnapshotsDamaged { .. } | LiveError::SnapshotDamaged { .. } => {
            ErrorCode::StorageDamaged
        }
        LiveError::TooSlow { .. } => ErrorCode::TimedOut,
        LiveError::Launch(error) | LiveError::Keeper(KeeperError::Launch(error)) => launch(error),
        LiveError::Keeper(KeeperError::Address(_)) => ErrorCode::CdpUnreachable,
        LiveError::Keeper(KeeperError::File { source, .. }) if is_full(source) => {
            ErrorCode::StorageFull
        }
        LiveError::Keeper(_) | LiveError::Stopping => ErrorCode::BrowserUnavailable,
        LiveError::Browser(error) | LiveError::Restore(RestoreError::Cdp(error)) => browser(error),
        LiveError::File { source, .. } | LiveError::Data(DataError::Io { source, .. }) => {
            file(source)
        }
        LiveError::Data(DataError::HoldsData { .. }) | LiveError::NotThisBrowser(_) => {
            ErrorCode::InvalidRequest
        }
        LiveError::Profile(error) | LiveError::Compile(CompileError::Profile(error)) => {
            file(&error.source)
        }
        LiveError::Data(_) | LiveError::Compile(_) => ErrorCode::Internal,
        LiveError::Store(error) => store(error),
    }
}

/// Whatever keeps an attachment from starting, the address is what its caller can mend.
fn attach(error: &LiveError) -> ErrorCode {
    match live(error) {
        ErrorCode::BrowserUnavailable => ErrorCode::CdpUnreachable,
        other => other,
    }
}

fn launch(error: &LaunchError) -> ErrorCode {
    match error {
        LaunchError::InUse { .. } | LaunchError::OtherHost { .. } | LaunchError::Claimed { .. } => {
            ErrorCode::ProfileInUse
        }
        LaunchError::File { source, .. } => file(source),
        LaunchError::NotFound { .. }
        | LaunchError::NotRunnable { .. }
        | LaunchError::NotConfined { .. }
        | LaunchError::Rules { .. } => ErrorCode::BrowserUnavailable,
    }
}

fn browser(error: &CdpError) -> ErrorCode {
    match error {
        CdpError::TimedOut { .. } => ErrorCode::TimedOut,
        _ => ErrorCode::BrowserUnavailable,
    }
}

/// What a file that cannot be read or written is for a client.
pub fn file(error: &io::Error) -> ErrorCode {
    if is_full(error) { ErrorCode::StorageFull } else { ErrorCode::Internal }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

pub(crate) fn store(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::NameTaken { .. }
        | StoreError::KeyNameTaken { .. }
        | StoreError::PeerNameTaken { .. } => ErrorCode::NameTaken,
        StoreError::SessionNotFound { .. } => ErrorCode::SessionNotFound,
        StoreError::Ambiguous { .. }
        | StoreError::AmbiguousSnapshot { .. }
        | StoreError::AmbiguousPeer { .. } => ErrorCode::AmbiguousReference,
        StoreError::LifecycleConflict { .. } | StoreError::LifecycleForbidden { .. } => {
            ErrorCode::WrongState
        }
        StoreError::SnapshotNotFound { .. } => ErrorCode::NoSnapshot,
        StoreError::KeyNotFound { .. } => ErrorCode::KeyNotFound,
        StoreError::UpstreamNotFound { .. } => ErrorCode::UpstreamNotFound,
        StoreError::IdTaken { .. }
        | StoreError::HeldElsewhere { .. }
        | StoreError::PeerTaken { .. }
        | StoreError::PeerKeyTaken { .. }
        | StoreError::SharedChanged { .. }
        | StoreError::DriverChanged { .. } => ErrorCode::Conflict,
        StoreError::InvalidText { .. }
        | StoreError::PeerNotFound { .. }
        | StoreError::CredentialRefused { .. }
        | StoreError::PartRefused { .. } => ErrorCode::InvalidRequest,
        StoreError::PartTooLarge { .. }
        | StoreError::TooManyParts { .. }
        | StoreError::TooManyStaged { .. }
        | StoreError::DiskFull { .. } => ErrorCode::StorageFull,
        StoreError::SnapshotCorrupt { .. }
        | StoreError::PartMissing { .. }
        | StoreError::PartCorrupt { .. }
        | StoreError::ReceiptCorrupt { .. }
        | StoreError::SharedCorrupt { .. }
        | StoreError::IdentityCorrupt { .. }
        | StoreError::IdentityNotFound { .. }
        | StoreError::InvalidRow { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::NotOurs { .. }
        | StoreError::Damaged { .. } => ErrorCode::StorageDamaged,
        StoreError::NoAccess { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Busy { .. }
        | StoreError::Interrupted => ErrorCode::StorageUnavailable,
        StoreError::NotMigrated { source, .. } => store(source),
        StoreError::Key(_)
        | StoreError::WrongKey { .. }
        | StoreError::InvalidUrl(_)
        | StoreError::NewerSchema { .. }
        | StoreError::Migration { .. }
        | StoreError::DuplicatePart { .. }
        | StoreError::Filled { .. }
        | StoreError::Database(_) => ErrorCode::Internal,
    }
}

fn board(error: &FederationError) -> ErrorCode {
    match error.kind() {
        Kind::Invalid => ErrorCode::InvalidRequest,
        Kind::NotFound => ErrorCode::NotOnBoard,
        Kind::Conflict => ErrorCode::Conflict,
        Kind::Denied | Kind::Failed => ErrorCode::Internal,
    }
}

fn file_of_session(error: &FileError) -> ErrorCode {
    match error {
        FileError::NotFound { .. } => ErrorCode::FileNotFound,
        FileError::TooLarge { .. } => ErrorCode::BodyTooLarge,
        FileError::Full { .. } => ErrorCode::StorageFull,
        FileError::Cut(_) => ErrorCode::InvalidRequest,
        FileError::Disk { source, .. } => file(source),
    }
}
