//! The one page that turns what an operation answers into what a door says.

use crate::cocoons::CocoonError;
use crate::data::{DataError, FileError};
use crate::error::NodeError;
use crate::gateway::GatewayRefusal;
use crate::live::LiveError;
use crate::sandboxes::SandboxRefusal;
use crate::sync::{DamageError, SyncError};
use baton_api::{ErrorCode, Problem};
use baton_browser::cdp::CdpError;
use baton_browser::keeper::KeeperError;
use baton_browser::launch::LaunchError;
use baton_browser::profile::compile::CompileError;
use baton_browser::restore::RestoreError;
use baton_debug::LookError;
use baton_federation::{FederationError, Kind};
use baton_sandbox::SandboxError;
use baton_session::Lifecycle;
use baton_session::login::NoLogin;
use baton_store::StoreError;
use std::io::{self, ErrorKind};

impl From<&NodeError> for Problem {
    /// The first line of an error's text is the detail, the others are what to do.
    fn from(error: &NodeError) -> Self {
        let text = error.to_string();
        let (detail, hint) = match text.split_once('\n') {
            Some((detail, hint)) => (detail, Some(hint)),
            None => (text.as_str(), None),
        };
        let problem = Problem::new(code(error), detail);
        match hint.or(hint_for(error)) {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

fn code(error: &NodeError) -> ErrorCode {
    match error {
        NodeError::Store(error) => store(error),
        NodeError::Live(error) => live(error),
        NodeError::Sync(error) => sync(error),
        NodeError::Look(error) => look(error),
        NodeError::Cocoon(error) => cocoon(error),
        NodeError::Sandbox(error) => sandbox(error),
        NodeError::Gateway(error) => gateway(error),
        NodeError::Attach(error) => attach(error),
        NodeError::File(error) => file_of_session(error),
        NodeError::NotConfined { .. } => ErrorCode::NotConfined,
        NodeError::Invalid { .. } | NodeError::BadFile { .. } | NodeError::NoName => {
            ErrorCode::InvalidRequest
        }
        NodeError::FileTooLarge { .. } => ErrorCode::StorageFull,
        NodeError::Exchange(DataError::Io { source, .. }) => file(source),
        // The protocol knows by 404 that it is to begin anew.
        NodeError::NoMcpSession => ErrorCode::RouteNotFound,
        NodeError::Token(refusal) if refusal.is_passing() => ErrorCode::ProviderUnavailable,
        NodeError::Token(_)
        | NodeError::Unauthenticated { .. }
        | NodeError::BadTicket { .. }
        | NodeError::BadPairingCode => ErrorCode::Unauthenticated,
        NodeError::Forbidden { .. } | NodeError::KeyOfLimitedPeer { .. } => ErrorCode::Forbidden,
        NodeError::TooManyRequests { .. }
        | NodeError::TooManyConnections { .. }
        | NodeError::TooManyTickets { .. }
        | NodeError::TooManyMcpSessions { .. } => ErrorCode::TooManyRequests,
        NodeError::NotNoted { source, .. } => store(source),
        NodeError::Board(error) => board(error),
        NodeError::NoBoard => ErrorCode::NotOnBoard,
        NodeError::WrongState { .. } => ErrorCode::WrongState,
        NodeError::OtherAgent { .. } => ErrorCode::OtherAgent,
        NodeError::OtherNode { .. } | NodeError::NotDeep { .. } => ErrorCode::Conflict,
        NodeError::NoSnapshot { .. } => ErrorCode::NoSnapshot,
        NodeError::Exchange(_) | NodeError::NotShown { .. } => ErrorCode::Internal,
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

fn cocoon(error: &CocoonError) -> ErrorCode {
    match error {
        CocoonError::NotFound { .. } => ErrorCode::CocoonNotFound,
        CocoonError::Taken { .. } => ErrorCode::NameTaken,
        CocoonError::InSettings { .. } | CocoonError::NoProxy => ErrorCode::Conflict,
        CocoonError::TooMany { .. } => ErrorCode::StorageFull,
        CocoonError::Invalid { .. } | CocoonError::Open { .. } => ErrorCode::InvalidRequest,
    }
}

fn look(error: &LookError) -> ErrorCode {
    match error {
        LookError::TabGone { .. } => ErrorCode::TabGone,
        LookError::BrowserOffline { .. } => ErrorCode::BrowserOffline,
        LookError::TooManyTabs { .. } => ErrorCode::StorageFull,
        LookError::NotRevealed { .. } => ErrorCode::Conflict,
        LookError::Ask(_) => ErrorCode::InvalidRequest,
    }
}

fn sandbox(error: &SandboxRefusal) -> ErrorCode {
    match error {
        SandboxRefusal::NotFound { .. } => ErrorCode::SandboxNotFound,
        SandboxRefusal::Ambiguous { .. } => ErrorCode::AmbiguousReference,
        SandboxRefusal::Unavailable { .. } => ErrorCode::SandboxUnavailable,
        SandboxRefusal::NoDisplay { .. } | SandboxRefusal::NotIsolated => ErrorCode::VncUnavailable,
        SandboxRefusal::UnknownFlavor { .. } => ErrorCode::UnknownFlavor,
        SandboxRefusal::TooMany { .. } => ErrorCode::TooManyRequests,
        SandboxRefusal::UnknownService => ErrorCode::AddressNotAllowed,
        SandboxRefusal::Service { .. } => ErrorCode::SessionServiceFailed,
        SandboxRefusal::NotThere { .. } => ErrorCode::SessionNotFound,
        SandboxRefusal::NoSession { .. } | SandboxRefusal::BadState(_) => ErrorCode::InvalidSession,
        SandboxRefusal::NoLogin(NoLogin::Expired { .. }) => ErrorCode::SessionExpired,
        SandboxRefusal::NoLogin(
            NoLogin::Missing { .. } | NoLogin::Unlikely { .. } | NoLogin::NotHandedIn { .. },
        )
        | SandboxRefusal::NotTaken { .. } => ErrorCode::LoginMissing,
        SandboxRefusal::Held { .. } | SandboxRefusal::Driven { .. } => ErrorCode::SessionHeld,
        SandboxRefusal::Profile(CompileError::Profile(error)) => file(&error.source),
        SandboxRefusal::Profile(_)
        | SandboxRefusal::NotPut { .. }
        | SandboxRefusal::NotRead { .. } => ErrorCode::Internal,
        SandboxRefusal::Path { .. } => ErrorCode::InvalidRequest,
        SandboxRefusal::Full { .. } => ErrorCode::StorageFull,
        SandboxRefusal::Sandbox(error) => provider(error),
    }
}

fn gateway(error: &GatewayRefusal) -> ErrorCode {
    match error {
        GatewayRefusal::UnknownModel { .. } => ErrorCode::ModelNotFound,
        GatewayRefusal::Agent { .. } => ErrorCode::AgentFailed,
        GatewayRefusal::Upstream { .. } => ErrorCode::UpstreamFailed,
        GatewayRefusal::TooSlow { .. } => ErrorCode::TimedOut,
    }
}

fn provider(error: &SandboxError) -> ErrorCode {
    match error {
        SandboxError::Missing { .. } | SandboxError::NotStarted { .. } => {
            ErrorCode::SandboxUnavailable
        }
        SandboxError::TimedOut { .. } => ErrorCode::TimedOut,
        SandboxError::Gone => ErrorCode::SandboxNotFound,
        SandboxError::NotRun { .. } | SandboxError::TooLong { .. } => ErrorCode::InvalidRequest,
        SandboxError::TooMany { .. } => ErrorCode::TooManyRequests,
        SandboxError::System { source, .. } => file(source),
        SandboxError::InvalidMount(_) | SandboxError::NotShown { .. } => ErrorCode::Internal,
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

fn sync(error: &SyncError) -> ErrorCode {
    match error {
        SyncError::NoPeer { .. } => ErrorCode::PeerNotFound,
        SyncError::DeletedElsewhere { .. } => ErrorCode::SessionNotFound,
        SyncError::Pending { .. } => ErrorCode::PeerPending,
        SyncError::PendingHere { .. } | SyncError::PendingThere { .. } => ErrorCode::PendingThere,
        SyncError::NoIcon { .. } => ErrorCode::NoSnapshot,
        SyncError::NotWritten { .. } => ErrorCode::Internal,
        SyncError::NotShared { .. }
        | SyncError::NotThere { .. }
        | SyncError::NothingSeen { .. } => ErrorCode::NotShared,
        SyncError::AddressNotAllowed { .. } => ErrorCode::AddressNotAllowed,
        SyncError::NoToken { why, .. } if !why.is_passing() => ErrorCode::PeerDenied,
        SyncError::NotLetIn { .. } | SyncError::Tunnel { .. } => ErrorCode::PeerDenied,
        SyncError::NoToken { .. }
        | SyncError::Unreachable { .. }
        | SyncError::TooSlow { .. }
        | SyncError::Silent { .. }
        | SyncError::NotAskedYet { .. }
        | SyncError::NotANode { .. } => ErrorCode::PeerUnreachable,
        SyncError::Denied { .. } => ErrorCode::PeerRefused,
        SyncError::OtherNode { .. }
        | SyncError::KeyOfOtherNode { .. }
        | SyncError::OtherFingerprint { .. }
        | SyncError::UnknownWriter { .. }
        | SyncError::ForgedFile { .. }
        | SyncError::Untrusted { .. } => ErrorCode::Untrusted,
        SyncError::OtherRevision { .. } => ErrorCode::OtherRevision,
        SyncError::Kept { .. }
        | SyncError::HeldInSilence { .. }
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
        | SyncError::NotAKey
        | SyncError::TooManyParts { .. }
        | SyncError::BatchTooLarge { .. }
        | SyncError::WhichRevision { .. } => ErrorCode::InvalidRequest,
    }
}

fn live(error: &LiveError) -> ErrorCode {
    match error {
        LiveError::NotActive(_) | LiveError::AlreadyActive(_) => ErrorCode::WrongState,
        LiveError::Busy(_) | LiveError::LeaseLost { .. } | LiveError::Twin { .. } => {
            ErrorCode::Conflict
        }
        LiveError::Lent { .. } => ErrorCode::SessionHeld,
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

fn file(error: &io::Error) -> ErrorCode {
    if is_full(error) { ErrorCode::StorageFull } else { ErrorCode::Internal }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

fn store(error: &StoreError) -> ErrorCode {
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
        StoreError::CocoonNotFound { .. } => ErrorCode::CocoonNotFound,
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

fn hint_for(error: &NodeError) -> Option<&'static str> {
    if let NodeError::WrongState { found, .. } = error {
        return Some(match found {
            Lifecycle::Active => "its browser runs; baton sessions close ends it",
            Lifecycle::Closed => "baton sessions resume brings it back, delete removes it",
            _ => "baton sessions resume brings it back",
        });
    }
    if let NodeError::Store(StoreError::SnapshotNotFound { .. }) = error {
        return Some("baton sessions history shows the snapshots there are");
    }
    match code(error) {
        ErrorCode::SessionNotFound => Some("baton sessions list shows the sessions there are"),
        ErrorCode::NoSnapshot => Some("baton sessions capture takes one while a session is active"),
        ErrorCode::BrowserUnavailable => Some("baton doctor says what is missing"),
        ErrorCode::Forbidden => Some("baton keys create makes a key with other scopes"),
        _ => None,
    }
}
