//! Reads what has become of a session in a sandbox, and writes it back.

use super::registry::{Kept, Lent};
use super::run::LIMIT;
use super::{PROFILE, SandboxRefusal};
use crate::live::LiveError;
use crate::{Context, NodeError, clock, sync};
use baton_api::sandbox::WrittenBack;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::keyring::KeyringError;
use baton_browser::profile::packed;
use baton_browser::profile::read::{self, ProfileFolder};
use baton_sandbox::Sandbox;
use baton_session::cookie::Expiry;
use baton_session::write_back::written_back;
use baton_session::{Holdings, Receipt, Site, State, admit};
use std::collections::BTreeMap;
use std::path::Path;
use tokio_util::io::SyncIoBridge;

/// How many items of which sites were not taken back.
pub(super) type LeftSites = BTreeMap<Site, usize>;

/// Reads the profile of a sandbox in which nothing runs any more, stores what the session holds now, and
/// gives the session back. What cannot be read costs nothing: the snapshot before stands, and the answer
/// says so. An error of the database leaves everything as it is. Also says which sites were not taken.
pub(super) async fn take_back(
    context: &Context,
    kept: &Kept,
    lent: &Lent,
) -> Result<(WrittenBack, LeftSites), NodeError> {
    let mut left_sites = LeftSites::new();
    let session = &lent.loan.session;
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
        Err(why) => {
            tracing::warn!(session = %session.id, sandbox = %kept.view.id, why, "a session was not written back");
            told.reason = Some(why);
        }
    }
    context.hub.give_back(&lent.loan).await?;
    sync::lease::release(context, &session.owner, session.id).await?;
    Ok((told, left_sites))
}

/// What the profile in a sandbox holds, and what of it could not be read; or why nothing could.
async fn read_profile(
    context: &Context,
    sandbox: &dyn Sandbox,
) -> Result<(State, Receipt), String> {
    let scratch = context.sandboxes.scratch().clone();
    let read = async {
        let command = sandbox.tool("pack", PROFILE);
        let mut process = sandbox.start(&command).await.map_err(SandboxRefusal::from)?;
        let empty = Box::new(tokio::io::empty());
        let output = SyncIoBridge::new(std::mem::replace(&mut process.output, empty));
        let work = move || {
            let folder = tempfile::tempdir_in(&scratch).map_err(|error| error.to_string())?;
            let is_whole = packed::unpack(output, folder.path());
            match is_whole {
                Ok(true) => read(folder.path()),
                Ok(false) => {
                    Err("the profile in the sandbox is larger than is taken back".to_owned())
                }
                Err(error) => Err(format!("the profile in the sandbox is damaged: {error}")),
            }
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| NodeError::from(LiveError::Stopping))
    };
    match tokio::time::timeout(LIMIT, read).await {
        Ok(Ok(read)) => read,
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("the profile was not read within {LIMIT:?}")),
    }
}

/// Blocks on the disk.
fn read(folder: &Path) -> Result<(State, Receipt), String> {
    let now = clock::now().as_microsecond();
    let profile =
        ProfileFolder::find(folder).map_err(|_| "no profile is left in the sandbox".to_owned())?;
    // A browser in a sandbox has no keyring.
    let mut no_key = || Err(KeyringError::Locked);
    let found = read::read(&profile, &mut no_key, Instant(now));
    if let Some(why) = found.is_damaged() {
        return Err(format!("the profile in the sandbox cannot be read: {why}"));
    }
    let (mut state, mut left_out) = (found.state, found.left_out);
    // Whatever ran there could write what it liked.
    left_out.extend(admit::admit(&mut state, Expiry(now)));
    Ok((state, left_out))
}
