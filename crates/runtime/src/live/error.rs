//! Why a browser could not do what was asked.

use crate::table::Busy;
use baton_browser::cdp::CdpError;
use baton_browser::keeper::KeeperError;
use baton_browser::launch::{LaunchError, NotThisBrowser};
use baton_browser::profile::ProfileError;
use baton_browser::profile::compile::CompileError;
use baton_browser::restore::RestoreError;
use baton_session::{NodeId, SandboxId, SessionId, SnapshotId};
use baton_store::StoreError;
use baton_store::blocking::Stopping;
use baton_store::data::DataError;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a browser could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// No browser runs here for the session.
    #[error("expected session {0} to have a running browser, found none\nresume it first")]
    NotActive(SessionId),
    /// A browser runs here for the session already.
    #[error("session {0} has a running browser already")]
    AlreadyActive(SessionId),
    /// Something else is being done with the session.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// A sandbox has the session.
    #[error(
        "expected session {id} to be held by nobody, found that sandbox {sandbox} holds it\n\
         baton sandbox delete {sandbox} ends it and writes the session back"
    )]
    CheckedOut {
        /// Which session.
        id: SessionId,
        /// Which sandbox.
        sandbox: SandboxId,
    },
    /// Nothing to come back from.
    #[error("expected session {0} to have a snapshot, found none")]
    NoSnapshot(SessionId),
    /// Another process holds the session's profile.
    #[error("the profile {} is in use by process {pid}\nend that browser, then try again", profile.display())]
    ProfileInUse {
        /// The profile folder.
        profile: PathBuf,
        /// The process that holds it.
        pid: u32,
    },
    /// There are snapshots, and none of them can be read.
    #[error(
        "expected session {id} to have a snapshot that can be read, found all damaged: {why}\n\
         restore the database from a backup; the session's profile is still there"
    )]
    SnapshotsDamaged {
        /// Which session.
        id: SessionId,
        /// What is wrong with the newest one.
        why: String,
    },
    /// Nothing can be read of the snapshot that was asked for.
    #[error(
        "expected a snapshot of which something can be read, found snapshot {snapshot} damaged: {why}\n\
         choose another one: baton sessions history --verify says of each what is damaged"
    )]
    SnapshotDamaged {
        /// Which snapshot.
        snapshot: SnapshotId,
        /// What is wrong with it.
        why: String,
    },
    /// Another node bears this one's id.
    #[error(
        "expected node {node} to run once, found it running at {place}\n\
         a copy of a data folder needs an id of its own: remove its file node.id, then try again"
    )]
    Twin {
        /// The id of both.
        node: NodeId,
        /// Where the other one runs.
        place: String,
    },
    /// Another node holds the session by now.
    #[error(
        "another node holds session {session} by now\n\
         what this one captured is kept as snapshot {sibling}, beside those of the other"
    )]
    LeaseLost {
        /// Which session.
        session: SessionId,
        /// What was captured too late.
        sibling: SnapshotId,
    },
    /// Something took longer than it may.
    #[error("expected {what} within {limit:?}, found it still under way")]
    TooSlow {
        /// What was awaited.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The browser cannot be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The browser cannot be what it should say that it is.
    #[error(
        "expected a user agent that this browser can be, found that {0}\n\
         leave it out, or keep browser, version and system and add a name of your own at the end"
    )]
    NotThisBrowser(#[from] NotThisBrowser),
    /// The keeper, or the browser behind it, does not answer.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The browser does not answer.
    #[error(transparent)]
    Browser(#[from] CdpError),
    /// The state could not be given to the browser.
    #[error(transparent)]
    Restore(#[from] RestoreError),
    /// The profile could not be kept beside, or put back.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A profile could not be compiled.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A file of the session could not be written or removed.
    #[error("could not use {}: {source}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the data folder could not be written, or a folder that a browser sees would give it away.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The node is stopping.
    #[error("the node is stopping")]
    Stopping,
    /// The database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl LiveError {
    pub(super) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

impl From<Stopping> for LiveError {
    fn from(_: Stopping) -> Self {
        Self::Stopping
    }
}
