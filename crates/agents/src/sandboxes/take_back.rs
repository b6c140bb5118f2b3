//! Reads what has become of a session in a sandbox, and writes it back.
//!
//! The one idea: what an agent left there may be anything, and costs its own session only; but a session is
//! never given up because this node had no room, no time or a fault. What it holds is stored once, and the
//! session is free only when nothing is left that can fail.

use super::PROFILE;
use super::error::SandboxRefusal;
use super::registry::{Kept, Lent};
use super::run::LIMIT;
use super::taken::{LeftSites, Taken};
use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::sandbox::WrittenBack;
use baton_browser::profile::Fault;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::keyring::KeyringError;
use baton_browser::profile::packed;
use baton_browser::profile::read::{self, ProfileFolder, ReadError};
use baton_sandbox::{Sandbox, SandboxError};
use baton_session::cookie::Expiry;
use baton_session::write_back::written_back;
use baton_session::{Holdings, Receipt, State, admit};
use baton_store::clock;
use std::path::Path;
use std::time::Duration;
use tokio_util::io::SyncIoBridge;

/// For how long a sandbox is kept that this node cannot read: whoever looks after the node may make room
/// on its disk meanwhile, but a session does not stay away for ever.
const PATIENCE: Duration = Duration::from_hours(1);

/// Asks what runs in a sandbox to end, reads its profile, stores what the session holds now, and gives the
/// session back. What lies there and cannot be read costs nothing: the snapshot before stands, and the
/// answer says so. After an error of ours the sandbox has the session yet, and this can be done again: then
/// what was stored is not stored a second time.
pub(super) async fn take_back(
    context: &Agents,
    kept: &Kept,
    lent: &Lent,
) -> Result<Taken, AgentsError> {
    let session = &lent.loan.session;
    let taken = lent.taken.get_or_try_init(|| settle_and_store(context, kept, lent)).await?;
    context.peers.release(context, &session.owner, session.id).await?;
    // Last of all: from here on it is somebody else's, and may run.
    context.hub.give_back(&lent.loan).await?;
    Ok(taken.clone())
}

async fn settle_and_store(
    context: &Agents,
    kept: &Kept,
    lent: &Lent,
) -> Result<Taken, AgentsError> {
    let settled = kept.sandbox.settle().await;
    let mut taken = store(context, kept, lent).await?;
    if let Err(error) = settled {
        tracing::warn!(sandbox = %kept.view.id, %error, "what ran in a sandbox did not end by itself");
        taken.told.reason.get_or_insert(format!(
            "what a browser had not written down yet is not in it: {error}"
        ));
    }
    Ok(taken)
}

/// Stores what the profile of a sandbox holds in which nothing runs any more.
async fn store(context: &Agents, kept: &Kept, lent: &Lent) -> Result<Taken, AgentsError> {
    let session = &lent.loan.session;
    let mut left_sites = LeftSites::new();
    let mut told = WrittenBack {
        session_id: session.id,
        snapshot: None,
        shrunk: false,
        reason: None,
        left_out: Receipt::default(),
    };
    match read_profile(context, &*kept.sandbox).await {
        Ok((after, left_out)) => {
            let (before, unread) = context.hub.recall(&lent.loan).await?;
            let held = Holdings::of(&before);
            let taken = written_back(before, after, &lent.receipt, lent.take_back);
            let snapshot = context.hub.write_back(&lent.loan, held, taken.state).await?;
            told.left_out = left_out;
            told.left_out.extend(unread);
            told.left_out.extend(taken.left_out);
            left_sites = taken.left_sites;
            told.shrunk = snapshot.shrunk;
            told.snapshot = Some(snapshot.id);
            if snapshot.sibling {
                told.reason = Some("another node took the session: what the sandbox left is kept beside what that one captured".to_owned());
            }
        }
        Err(Fault::Ours(why)) if is_kept(kept) => {
            return Err(SandboxRefusal::NotRead { why }.into());
        }
        Err(Fault::Bytes(why) | Fault::Ours(why)) => {
            tracing::warn!(session = %session.id, sandbox = %kept.view.id, why, "a session was not written back");
            told.reason = Some(why);
        }
    }
    Ok(Taken { told, left_sites })
}

/// Whether a sandbox that this node could not read is kept, to be read later.
fn is_kept(kept: &Kept) -> bool {
    kept.unread_since.get_or_init(tokio::time::Instant::now).elapsed() < PATIENCE
}

/// What the profile in a sandbox holds, and what of it could not be read; or why nothing could.
async fn read_profile(context: &Agents, sandbox: &dyn Sandbox) -> Result<(State, Receipt), Fault> {
    let scratch = context.sandboxes.scratch().clone();
    let read = async {
        let command = sandbox.tool("pack", PROFILE);
        let mut process = sandbox.start(&command).await.map_err(|error| not_started(&error))?;
        let empty = Box::new(tokio::io::empty());
        let output = SyncIoBridge::new(std::mem::replace(&mut process.output, empty));
        let work = move || {
            let folder = tempfile::tempdir_in(&scratch).map_err(|error| {
                Fault::Ours(format!("could not make a folder in {}: {error}", scratch.display()))
            })?;
            match packed::unpack(output, folder.path()) {
                Ok(true) => read(folder.path()),
                Ok(false) => Err(Fault::Bytes(
                    "the profile in the sandbox is larger than is taken back".to_owned(),
                )),
                Err(Fault::Bytes(why)) => {
                    Err(Fault::Bytes(format!("the profile in the sandbox is damaged: {why}")))
                }
                Err(ours) => Err(ours),
            }
        };
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
            let why = if error.is_panic() {
                "the reader of profiles panicked, which is a fault of Baton"
            } else {
                "the node is stopping"
            };
            Err(Fault::Ours(why.to_owned()))
        })
    };
    let slow = || Fault::Ours(format!("the profile was not read within {LIMIT:?}"));
    tokio::time::timeout(LIMIT, read).await.unwrap_or_else(|_| Err(slow()))
}

/// Why a sandbox does not pack its profile. One that has ended never will.
fn not_started(error: &SandboxError) -> Fault {
    let why = error.to_string();
    if matches!(error, SandboxError::Gone) { Fault::Bytes(why) } else { Fault::Ours(why) }
}

/// Blocks on the disk.
fn read(folder: &Path) -> Result<(State, Receipt), Fault> {
    let now = clock::now().as_microsecond();
    let profile = ProfileFolder::find(folder).map_err(|error| match error {
        ReadError::Profile(error) => Fault::Ours(error.to_string()),
        _ => Fault::Bytes("no profile is left in the sandbox".to_owned()),
    })?;
    // A browser in a sandbox has no keyring.
    let mut no_key = || Err(KeyringError::Locked);
    let found = read::read(&profile, &mut no_key, Instant(now));
    let told = |why| format!("the profile in the sandbox cannot be read: {why}");
    match found.fault {
        Some(Fault::Bytes(why)) => return Err(Fault::Bytes(told(why))),
        Some(Fault::Ours(why)) => return Err(Fault::Ours(told(why))),
        None => {}
    }
    let (mut state, mut left_out) = (found.state, found.left_out);
    // Whatever ran there could write what it liked.
    left_out.extend(admit::admit(&mut state, Expiry(now)));
    Ok((state, left_out))
}
