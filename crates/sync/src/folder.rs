//! Keeps the sync directory and the database in step: the directory is a projection of what is shared,
//! and an inbox for what others put there.
//!
//! The one idea: first everything is read that is new in the directory, then everything is written that does
//! not say there what the database says. What says the same already stays as it is, of whichever node, so
//! nodes that share one directory come to rest. The database is the truth: a file that is missing deletes
//! nothing.
//!
//! A file counts only when a key vouches for it that a person has pinned, this node's own among them; then it
//! is an offer like any other, and no clock and no name decides what it is worth. What is refused is noted
//! once and left where it lies. What is written has its own place for each session, and a file there of
//! another node that cannot be read here stays that node's. Then ours goes beside it, under the name of this
//! node, or two nodes of which one does not know the other would take the place from each other without end.
//!
//! What is wrong with one session or file is reported, and stops nothing; what is wrong with the directory or
//! the database would be wrong with each that follows, and ends the pass.

use crate::context::folder::{FileContent, FileLooks, FileStanding, Readers};
use crate::context::{ConflictResolution, Sync};
use crate::directory::{
    DirectoryError, DirectoryIndex, IndexLine, Mark, NodeRegistry, RegisteredPeer, RegistrySelf,
    SyncConfig, SyncDirectory, place_of,
};
use crate::error::SyncError;
use crate::file::SyncFile;
use crate::post::{receive, writer};
use crate::{index, post};
use baton_api::sync::{DirectoryView, IndexedSession};
use baton_runtime::audit::{Action, Note};
use baton_runtime::live::LiveError;
use baton_runtime::{Actor, Caller, RuntimeError};
use baton_session::{Owner, View};
use baton_store::blocking::blocking;
use baton_store::{Peer, StoreError};
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::time::sleep;

/// How often the directory is looked at. A network's file system tells of no changes, so it is asked.
const PAUSE: Duration = Duration::from_secs(1);

/// Begins to look at the directory, if there is one, until the node ends.
pub fn start(context: &Sync) {
    let Some(path) = &context.own.settings.directory else { return };
    let (context, directory) = (context.clone(), SyncDirectory::new(path));
    context.tasks.clone().spawn(async move {
        let look_and_wait = async || {
            tell(&context, step(&context, &directory).await);
            sleep(PAUSE).await;
        };
        while context.ending.run_until_cancelled(Box::pin(look_and_wait())).await.is_some() {}
    });
}

/// How it stands with the directory, which is for the owner that the node runs as.
pub fn view(context: &Sync, caller: &Caller) -> DirectoryView {
    match &context.own.settings.directory {
        Some(path) if caller.owner == Owner::local() => context.own.folder.view(path),
        _ => DirectoryView::default(),
    }
}

/// Reads what is new, then writes what is.
async fn step(context: &Sync, directory: &SyncDirectory) -> Result<(), SyncError> {
    let owner = Owner::local();
    if context.own.folder.begins() {
        on_disk(directory, SyncDirectory::initialize).await?;
    }
    on_disk(directory, SyncDirectory::ensure_directories).await?;
    let read = read(context, &owner, directory).await;
    if read.as_ref().is_err_and(concerns_all) {
        return read;
    }
    // What one file cannot tell keeps nothing from being written.
    write(context, &owner, directory).await.and(read)
}

/// Notes how it went; what goes wrong again and again is logged once.
fn tell(context: &Sync, stepped: Result<(), SyncError>) {
    let failed = stepped.err().map(|error| error.to_string());
    match (context.own.folder.failed(failed.clone()), failed) {
        (before, Some(error)) if before.as_ref() != Some(&error) => {
            tracing::warn!(error, "the sync directory is not as the database says");
        }
        (Some(_), None) => tracing::info!("the sync directory is in step again"),
        _ => {}
    }
}

/// Does something with the directory, away from the async threads.
async fn on_disk<T: Send + 'static>(
    directory: &SyncDirectory,
    work: impl FnOnce(&SyncDirectory) -> Result<T, DirectoryError> + Send + 'static,
) -> Result<T, SyncError> {
    let directory = directory.clone();
    let done = blocking(move || work(&directory)).await?;
    done.map_err(SyncError::from)
}

/// What went wrong in one pass.
#[derive(Debug, Default)]
struct Failures(Option<SyncError>);

impl Failures {
    /// Notes how it went with one. Returns what is wrong with all.
    fn note(&mut self, what: &impl Display, done: Result<(), SyncError>) -> Result<(), SyncError> {
        let Err(error) = done else { return Ok(()) };
        if concerns_all(&error) {
            return Err(error);
        }
        tracing::debug!(%what, %error, "one was passed over in the sync directory");
        self.0.get_or_insert(error);
        Ok(())
    }

    /// The first that went wrong.
    fn first(self) -> Result<(), SyncError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Whether the next one would fail in the same way.
fn concerns_all(error: &SyncError) -> bool {
    match error {
        SyncError::Runtime(RuntimeError::Live(LiveError::Stopping)) => true,
        SyncError::Directory(error) => match error {
            DirectoryError::Locked { .. } => true,
            DirectoryError::Io { source, .. } => is_of_the_system(source),
            _ => false,
        },
        SyncError::Runtime(RuntimeError::Store(error)) => matches!(
            error,
            StoreError::Unreachable { .. }
                | StoreError::Busy { .. }
                | StoreError::DiskFull { .. }
                | StoreError::NoAccess { .. }
                | StoreError::ReadOnly { .. }
                | StoreError::Interrupted
        ),
        _ => false,
    }
}

/// Files are put there by a rename, so what may not be written is the folder.
fn is_of_the_system(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::PermissionDenied
            | ErrorKind::StaleNetworkFileHandle
            | ErrorKind::NotConnected
            | ErrorKind::TimedOut
    )
}

/// Reads every file that looks otherwise than it did, and those once more that were looked at just now.
/// One that this node cannot take in now keeps no other from it, and is read again at the next pass.
async fn read(context: &Sync, owner: &Owner, directory: &SyncDirectory) -> Result<(), SyncError> {
    let doubtful = context.own.folder.doubtful();
    let there = on_disk(directory, SyncDirectory::files).await?;
    let news = context.own.folder.news(there);
    let mut failed = Failures::default();
    for (name, mark) in &news {
        failed.note(name, Box::pin(read_one(context, owner, directory, name, *mark)).await)?;
    }
    let is_new = |name: &String| news.iter().any(|(new, _)| new == name);
    for (name, (mark, digest)) in doubtful.into_iter().filter(|(name, _)| !is_new(name)) {
        let looked = name.clone();
        match on_disk(directory, move |directory| directory.digest(&looked)).await {
            Ok(Some(found)) if digest.is_some_and(|digest| digest != found) => {
                let read = Box::pin(read_one(context, owner, directory, &name, mark)).await;
                failed.note(&name, read)?;
            }
            _ => context.own.folder.settles(&name),
        }
    }
    failed.first()
}

async fn read_one(
    context: &Sync,
    owner: &Owner,
    directory: &SyncDirectory,
    name: &str,
    mark: Mark,
) -> Result<(), SyncError> {
    let wanted = name.to_owned();
    let (file, digest) = match on_disk(directory, move |directory| directory.load(&wanted)).await {
        Ok(Some(read)) => read,
        // It goes, or it grows: next time.
        Ok(None) | Err(SyncError::Directory(DirectoryError::Moving { .. })) => {
            return Ok(());
        }
        Err(error) => {
            return refuse(context, owner, name, (mark, None), FileContent::Damaged, error).await;
        }
    };
    let looks = (mark, Some(digest));
    let foreign = FileContent::Foreign(Box::new(IndexLine::of(&file, mark.bytes)));
    let standing = FileStanding::of(&file, mark.bytes);
    let places = [None, Some(file.sender)].map(|node| place_of(file.session, node));
    let is_copy = !places.iter().any(|place| place == name);
    let received = match writer(context, owner, &file).await? {
        None => Err(SyncError::UnknownWriter { node: file.sender }),
        Some(_) if !file.recipients.contains(&context.node) => {
            context.own.folder.knows(name, looks, foreign);
            return Ok(());
        }
        Some(writer) => receive_file(context, owner, name, file, writer).await,
    };
    match received {
        Ok(()) if is_copy => {
            // Whatever was in it is in the database now, and goes from there to its own place.
            let name = name.to_owned();
            on_disk(directory, move |directory| directory.remove(&name)).await
        }
        Ok(()) => {
            context.own.folder.knows(name, looks, FileContent::Session(Box::new(standing)));
            Ok(())
        }
        Err(error) if is_ours_to_mend(&error) => Err(error),
        Err(error @ (SyncError::UnknownWriter { .. } | SyncError::TooMuch { .. })) => {
            refuse(context, owner, name, looks, foreign, error).await
        }
        Err(error) => refuse(context, owner, name, looks, FileContent::Damaged, error).await,
    }
}

/// Takes what a file offers, and notes it when anything in it was new.
async fn receive_file(
    context: &Sync,
    owner: &Owner,
    name: &str,
    file: SyncFile,
    writer: post::Writer,
) -> Result<(), SyncError> {
    let (session, sender) = (file.session, file.sender);
    if receive(context, owner, file, writer).await?.changed {
        let note = note(owner, &session.to_string(), name).with("node", sender.to_string());
        note.done(&context.store).await?;
        tracing::info!(%session, file = name, "a session came from the sync directory");
    }
    Ok(())
}

/// Whether it is no fault of the file: it is read again.
fn is_ours_to_mend(error: &SyncError) -> bool {
    matches!(
        error,
        SyncError::Runtime(RuntimeError::Store(_) | RuntimeError::Live(_))
            | SyncError::Contended { .. }
    )
}

async fn refuse(
    context: &Sync,
    owner: &Owner,
    name: &str,
    looks: FileLooks,
    said: FileContent,
    error: SyncError,
) -> Result<(), SyncError> {
    let reason = error.to_string();
    tracing::warn!(file = name, reason, "a file in the sync directory is left aside");
    note(owner, name, name).failed(&context.store, error).await;
    context.own.folder.refuses(name, looks, said, reason);
    Ok(())
}

fn note(owner: &Owner, subject: &str, name: &str) -> Note {
    Note::new(&Actor::node(), owner, Action::Receive, subject).with("file", name)
}

/// Writes the sessions that have gone on, then both lists. A session that cannot be written keeps no other
/// from it, and the next pass tries it again.
async fn write(context: &Sync, owner: &Owner, directory: &SyncDirectory) -> Result<(), SyncError> {
    let peers = context.store.list_peers(owner).await?;
    let readers = Readers::of(context.node, &peers, context.own.settings.directory_plain);
    let index = index::of(context, owner).await?;
    let mut failed = Failures::default();
    for session in &index.sessions {
        let written = write_one(context, owner, directory, session, &readers).await;
        failed.note(&session.id, written)?;
    }
    let shared: BTreeSet<_> = index.sessions.iter().map(|session| session.id).collect();
    for (name, session) in context.own.folder.deleted() {
        // Every peer has heard of it.
        if !shared.contains(&session) {
            failed.note(&session, remove(context, directory, name).await)?;
        }
    }
    let index = DirectoryIndex::of(context.node, context.own.folder.lines());
    let registry = registry(context, &peers);
    on_disk(directory, move |directory| {
        directory.save_index(&index)?;
        directory.save_node_registry(&registry)
    })
    .await?;
    failed.first()
}

async fn write_one(
    context: &Sync,
    owner: &Owner,
    directory: &SyncDirectory,
    session: &IndexedSession,
    readers: &Readers,
) -> Result<(), SyncError> {
    let (own, beside) = (place_of(session.id, None), place_of(session.id, Some(context.node)));
    let place = match context.own.folder.said(&own) {
        Some(FileContent::Session(standing)) if standing.says(session, readers) => {
            return remove_if_there(context, directory, beside).await;
        }
        Some(FileContent::Foreign(_)) => match context.own.folder.said(&beside) {
            Some(FileContent::Session(standing)) if standing.says(session, readers) => {
                return Ok(());
            }
            _ => beside,
        },
        Some(FileContent::Damaged) => {
            let name = own.clone();
            on_disk(directory, move |directory| directory.set_aside(&name)).await?;
            own
        }
        _ => own,
    };
    let is_plain = context.own.settings.directory_plain;
    let wanted = post::WantedFile { view: &View::whole(), others: &readers.others, is_plain };
    let file = match post::pack(context, owner, session.id, &wanted).await? {
        Ok(file) => file,
        Err(error) => {
            tracing::debug!(session = %session.id, %error, "a session is not in the directory");
            return Ok(());
        }
    };
    if !readers.others.is_empty() || is_plain {
        let nodes: Vec<String> = readers.others.iter().map(|(node, _)| node.to_string()).collect();
        let note = Note::new(&Actor::node(), owner, Action::Give, session.id.to_string());
        let note = note.with("file", place.as_str()).with("peers", nodes).with("plain", is_plain);
        note.end(&context.store, Ok::<_, SyncError>(())).await?;
    }
    let name = place.clone();
    let (file, (mark, digest)) = on_disk(directory, move |directory| {
        directory.save(&name, &file).map(|looks| (file, looks))
    })
    .await?;
    let standing = FileContent::Session(Box::new(FileStanding::of(&file, mark.bytes)));
    context.own.folder.knows(&place, (mark, Some(digest)), standing);
    Ok(())
}

async fn remove_if_there(
    context: &Sync,
    directory: &SyncDirectory,
    name: String,
) -> Result<(), SyncError> {
    match context.own.folder.said(&name) {
        None => Ok(()),
        Some(_) => remove(context, directory, name).await,
    }
}

async fn remove(context: &Sync, directory: &SyncDirectory, name: String) -> Result<(), SyncError> {
    context.own.folder.forget(&name);
    on_disk(directory, move |directory| directory.remove(&name)).await
}

fn registry(context: &Sync, peers: &[Peer]) -> NodeRegistry {
    let node = &context.own.node_settings;
    let peer = |peer: &Peer| RegisteredPeer {
        node_id: peer.node,
        node_type: peer.node_type,
        url: peer.url.clone().unwrap_or_default(),
        name: peer.name.clone(),
        last_seen: peer.last_seen,
        last_sync: peer.last_sync,
        status: "unknown".to_owned(),
        auth_method: peer.auth.as_str().to_owned(),
    };
    let resolution = match context.own.settings.conflict_resolution {
        ConflictResolution::LatestWins => "latest-wins",
        ConflictResolution::Manual => "manual",
        ConflictResolution::Merge => "merge",
    };
    let pause = context.own.settings.interval.unwrap_or_default().as_millis();
    NodeRegistry {
        own: RegistrySelf {
            node_id: context.node,
            node_type: node.node_type,
            public_url: node.public_url.as_ref().map(ToString::to_string),
            internal_url: node.internal_url.as_ref().map(ToString::to_string).unwrap_or_default(),
        },
        peers: peers.iter().map(peer).collect(),
        sync_config: SyncConfig {
            auto_sync: context.own.settings.auto_sync,
            sync_interval: u64::try_from(pause).unwrap_or(u64::MAX),
            conflict_resolution: resolution.to_owned(),
        },
    }
}
