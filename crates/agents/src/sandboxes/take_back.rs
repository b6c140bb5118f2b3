//! Reads what a sandbox holds of a session in which nothing runs any more: cookies and localStorage from the
//! files of its profile, what only pages made with a browser of this node that reaches nothing.
//!
//! The one idea: whatever ran there could write what it liked. A profile that is damaged or too large costs
//! itself, a folder in it that folder, and only what this machine could not do is tried again.

use super::exec::{LIMIT, complaint, ended, nothing};
use super::{NOTES_NAME, PROFILE, WRAPPER, tabs};
use crate::Agents;
use crate::error::AgentsError;
use crate::registry::SandboxSession;
use baton_browser::keeper::{HandedOver, NOTES_LIMIT};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::keyring::KeyringError;
use baton_browser::profile::packed::PageFolders;
use baton_browser::profile::read::{ProfileFolder, ReadError};
use baton_browser::profile::{Fault, packed, read};
use baton_browser::restore::offstage::Kinds;
use baton_runtime::live::LiveError;
use baton_sandbox::{Process, Sandbox, SandboxError};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::write_back::{After, Before, TakeBack};
use baton_session::{Entries, Pages, Receipt, Site, State, StorageKey, admit};
use baton_store::blocking::blocking;
use baton_store::clock;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::task::JoinError;
use tokio_util::io::SyncIoBridge;

/// Of how many storage keys the pages are read at most.
const MOST_KEYS: usize = 200;

/// What a session held when it was handed in, and what of it a sandbox holds now.
pub(super) struct ReadSession {
    pub(super) before: Before,
    pub(super) after: After,
    /// What could not be read, or is not taken.
    pub(super) left_out: Receipt,
}

/// Why nothing was read.
pub(super) enum NotRead {
    /// Of the profile, or of this machine.
    Profile(Fault),
    /// The database does not say what the session held.
    Store(AgentsError),
}

impl From<Fault> for NotRead {
    fn from(fault: Fault) -> Self {
        Self::Profile(fault)
    }
}

/// Reads what a sandbox holds of its session. What this node cannot read now may be read later, when
/// `is_kept`; else it is as it was, and named.
pub(super) async fn read_session(
    context: &Agents,
    sandbox: &dyn Sandbox,
    session: &SandboxSession,
    is_kept: bool,
) -> Result<ReadSession, NotRead> {
    let before = context.supervisor.read_checked_out(&session.checkout).await;
    let (before, unread) = before.map_err(|error| NotRead::Store(error.into()))?;
    let taken = AcceptedSites::of(&before, session.take_back);
    let Profile { mut state, mut left_out, folders, folder } =
        read_profile(context, sandbox, taken.sites()).await?;
    let notes = read_notes(sandbox).await;
    let tabs = tabs::after(std::mem::take(&mut state.tabs), session.given.clone(), notes);
    left_out.extend(unread);
    let others = folders.keys().into_iter().filter(|key| !taken.has(key)).collect();
    let keys = taken.keys(&before.state, &state, &folders);
    let mut pages = Pages::new();
    if !keys.is_empty() && !folders.is_empty() {
        match read_pages(context, &before.state, keys, folders, &mut left_out).await {
            Ok(found) => pages = found,
            Err(Fault::Ours(why)) if is_kept => return Err(Fault::Ours(why).into()),
            Err(fault) => {
                let all = "what only pages made";
                left_out.push(ReceiptItem::rejected(ItemKind::IndexedDb, all, fault));
            }
        }
    }
    // It takes its time where there is much of it.
    let _ = blocking(move || drop(folder)).await;
    Ok(ReadSession { before, after: After { state, tabs, pages, others }, left_out })
}

/// Of which sites what only pages made is taken back.
enum AcceptedSites {
    All,
    Lent(BTreeSet<Site>),
}

impl AcceptedSites {
    fn of(before: &Before, which: TakeBack) -> Self {
        match which {
            TakeBack::All => Self::All,
            TakeBack::Lent => Self::Lent(before.sites.clone()),
        }
    }

    /// The sites; none: all.
    fn sites(&self) -> Option<BTreeSet<Site>> {
        match self {
            Self::All => None,
            Self::Lent(sites) => Some(sites.clone()),
        }
    }

    fn has(&self, key: &StorageKey) -> bool {
        match self {
            Self::All => true,
            Self::Lent(sites) => sites.contains(&key.site()),
        }
    }

    /// The keys that are read: those that held something first, then those that have databases now, and
    /// those that may have caches or files.
    fn keys(&self, before: &State, after: &State, folders: &PageFolders) -> Vec<StorageKey> {
        let held = before.origins.iter().filter(|(_, origin)| origin.has_pages());
        let mut keys: Vec<StorageKey> = held.map(|(key, _)| key.clone()).collect();
        keys.extend(folders.keys());
        if folders.has_stored() {
            keys.extend(after.origins.keys().filter(|key| key.is_first_party()).cloned());
        }
        let mut seen = BTreeSet::new();
        keys.retain(|key| self.has(key) && seen.insert(key.clone()));
        keys
    }
}

async fn read_pages(
    context: &Agents,
    before: &State,
    mut keys: Vec<StorageKey>,
    mut folders: PageFolders,
    left_out: &mut Receipt,
) -> Result<Pages, Fault> {
    for key in keys.split_off(keys.len().min(MOST_KEYS)) {
        let why = format!("pages of {MOST_KEYS} storage keys are read at most");
        left_out.push(ReceiptItem::rejected(ItemKind::IndexedDb, key.to_string(), why));
    }
    let wanted: BTreeSet<StorageKey> = keys.iter().cloned().collect();
    let looked = move || folders.leave_damaged(&wanted).map(|()| folders);
    let folders = blocking(looked).await.map_err(|error| Fault::Ours(error.to_string()))??;
    for (folder, why) in folders.left_out() {
        if keys.iter().any(|key| folder.may_hold(key)) {
            left_out.push(ReceiptItem::rejected(folder.kind(), folder.place(), why));
        }
    }
    let known = keys.into_iter().map(|key| {
        let mut origin = before.origins.get(&key).cloned().unwrap_or_default();
        origin.local_storage = Entries::default();
        let kinds = Kinds::without(&key, &folders);
        (key, (origin, kinds))
    });
    let scratch = context.sandboxes.scratch();
    let read = Box::pin(context.supervisor.read_pages(&folders, known.collect(), scratch)).await;
    let (origins, unread) = read.map_err(|error| match error {
        // What lies there makes pages slow, or ends the browser, however often it is looked at.
        LiveError::TooSlow { .. } | LiveError::Restore(_) => Fault::Bytes(error.to_string()),
        error => Fault::Ours(error.to_string()),
    })?;
    left_out.extend(unread);
    let mut found = State { origins, ..State::default() };
    left_out.extend(admit::admit(&mut found, Expiry(clock::now().as_microsecond())));
    Ok(found.origins)
}

/// What was read of the files of a profile.
struct Profile {
    state: State,
    left_out: Receipt,
    /// What only pages made, not read yet.
    folders: PageFolders,
    /// Where all of it lies, for as long as this is held.
    folder: TempDir,
}

/// What the files of the profile in a sandbox hold, of what only pages made that of these sites; or why nothing
/// could be read.
async fn read_profile(
    context: &Agents,
    sandbox: &dyn Sandbox,
    sites: Option<BTreeSet<Site>>,
) -> Result<Profile, Fault> {
    let scratch = context.sandboxes.scratch().clone();
    let read = async {
        let command = sandbox.tool("pack", PROFILE);
        let mut process = sandbox.start(&command).await.map_err(|error| not_started(&error))?;
        let output = SyncIoBridge::new(std::mem::replace(&mut process.output, nothing()));
        let work = move || {
            let folder = tempfile::tempdir_in(&scratch).map_err(|error| {
                Fault::Ours(format!("could not make a folder in {}: {error}", scratch.display()))
            })?;
            let folders = PageFolders::new(folder.path().join("pages"));
            let mut folders = match sites {
                Some(sites) => folders.of_sites(sites),
                None => folders,
            };
            let rows = folder.path().join("rows");
            std::fs::create_dir(&rows).map_err(|error| {
                Fault::Ours(format!("could not make {}: {error}", rows.display()))
            })?;
            match packed::unpack(output, &rows, &mut folders) {
                Ok(true) => {
                    let (state, left_out) = read(&rows)?;
                    Ok(Profile { state, left_out, folders, folder })
                }
                Ok(false) => Err(Fault::Bytes(
                    "the profile in the sandbox is larger than is taken back".to_owned(),
                )),
                Err(Fault::Bytes(why)) => {
                    Err(Fault::Bytes(format!("the profile in the sandbox is damaged: {why}")))
                }
                Err(ours) => Err(ours),
            }
        };
        let read = finished(tokio::task::spawn_blocking(work).await);
        whole(read, process).await
    };
    in_time(LIMIT, read).await
}

/// How the system says that nobody reads on (`EPIPE`).
const NOBODY_READS: &str = "os error 32";

/// What was read of an archive, if its tool has packed all of it: what is missing would count as deleted. One that broke
/// off, and not because its reader did, may be whole the next time, whatever was read of it.
async fn whole<T>(read: Result<T, Fault>, mut process: Process) -> Result<T, Fault> {
    let complaint = complaint(&mut process).await;
    match (read, ended(process, &complaint).await) {
        (read, Ok(())) => read,
        (Err(fault), Err(why)) if why.contains(NOBODY_READS) => Err(fault),
        (_, Err(why)) => Err(Fault::Ours(format!("the profile was not packed: {why}"))),
    }
}

/// What came of reading a profile; what ended the reader says nothing of the profile.
fn finished<T>(read: Result<Result<T, Fault>, JoinError>) -> Result<T, Fault> {
    read.unwrap_or_else(|error| {
        let why = if error.is_panic() {
            "the reader of profiles panicked, which is a fault of Baton"
        } else {
            "the node is stopping"
        };
        Err(Fault::Ours(why.to_owned()))
    })
}

/// The same, unless it takes longer than this, which a machine that has much to do may do.
async fn in_time<T>(
    limit: Duration,
    read: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let slow = || Fault::Ours(format!("the profile was not read within {limit:?}"));
    tokio::time::timeout(limit, read).await.unwrap_or_else(|_| Err(slow()))
}

/// What the wrapper of a browser noted; none where there was none, or nothing was handed over.
async fn read_notes(sandbox: &dyn Sandbox) -> Option<HandedOver> {
    let mut command = sandbox.tool("read", &format!("{WRAPPER}/{NOTES_NAME}"));
    command.words.push(NOTES_LIMIT.to_string());
    let read = async {
        let process = sandbox.start(&command).await.ok()?;
        let mut notes = String::new();
        process.output.take(NOTES_LIMIT).read_to_string(&mut notes).await.ok()?;
        Some(HandedOver::read(&notes))
    };
    tokio::time::timeout(LIMIT, read).await.ok()?
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
    let tells_of_tabs = !state.tabs.is_empty();
    // Whatever ran there could write what it liked.
    left_out.extend(admit::admit(&mut state, Expiry(now)));
    if !tells_of_tabs {
        // A blank one stands for none now, which the browser need not have had open.
        state.tabs.clear();
    }
    Ok((state, left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_sandbox::{Ended, Output};
    use std::future::pending;
    use std::io::Cursor;
    use tokio::sync::oneshot;
    use tokio_util::sync::CancellationToken;

    /// Why nothing was read; a fault of the node's has the sandbox kept, and read later.
    fn ours(read: Result<(), Fault>) -> String {
        match read {
            Err(Fault::Ours(why)) => why,
            other => panic!("expected a fault of the node's, found {other:?}"),
        }
    }

    #[tokio::test]
    async fn a_reader_that_takes_too_long_is_the_nodes_fault() {
        let why = ours(in_time(Duration::ZERO, pending()).await);
        assert_eq!(why, "the profile was not read within 0ns");
    }

    #[tokio::test]
    async fn a_reader_that_panics_is_the_nodes_fault() {
        let read = tokio::task::spawn_blocking(|| panic!("anything")).await;
        assert!(ours(finished(read)).contains("a fault of Baton"));
    }

    /// A tool that has ended like this, with a last word.
    fn tool(end: Ended, said: &str) -> Process {
        let (ends, ended) = oneshot::channel();
        ends.send(end).unwrap();
        let outputs = ["", said].map(|said| Box::new(Cursor::new(said.to_owned())) as Output);
        Process::new(None, outputs, ended, CancellationToken::new().drop_guard())
    }

    #[tokio::test]
    async fn an_archive_that_breaks_off_says_nothing_of_the_profile() {
        let why = ours(whole(Ok(()), tool(Ended::Code(1), "error: /a: Input/output error")).await);
        assert_eq!(why, "the profile was not packed: /a: Input/output error");
        let cut = || Err(Fault::Bytes("cut".to_owned()));
        let why = ours(whole(cut(), tool(Ended::Signal(9), "")).await);
        assert_eq!(why, "the profile was not packed: it said nothing");
        // One whose reader wants no more of it ends, too.
        let broken = tool(Ended::Code(1), "error: /a: Broken pipe (os error 32)");
        assert_eq!(whole::<()>(cut(), broken).await, Err(Fault::Bytes("cut".to_owned())));
        assert_eq!(whole(Ok(7), tool(Ended::Code(0), "")).await, Ok(7));
    }

    #[test]
    fn what_cannot_be_packed_is_called_alike_by_who_packs_and_who_unpacks() {
        assert_eq!(baton_sandbox::UNREAD, packed::UNREAD);
    }

    #[tokio::test]
    async fn a_profile_that_is_damaged_is_not() {
        let damaged = || Err::<(), _>(Fault::Bytes("cut".to_owned()));
        let read = tokio::task::spawn_blocking(damaged).await;
        let read = in_time(LIMIT, async { finished(read) }).await;
        assert!(matches!(read, Err(Fault::Bytes(why)) if why == "cut"));
    }
}
