//! Reads what is new in the sync directory.
//!
//! The one idea: a file counts only when a key vouches for it that a person has pinned, this node's own
//! among them; then it is an offer like any other, and no clock and no name decides what it is worth.
//! What is refused is noted once and left where it lies.

use super::failures::Failures;
use super::known::{Looks, Said, Standing};
use super::on_disk;
use crate::context::Sync;
use crate::directory::{DirectoryError, IndexLine, Mark, SyncDirectory, place_of};
use crate::error::SyncError;
use crate::file::{SyncFile, receive, writer};
use baton_runtime::Actor;
use baton_runtime::RuntimeError;
use baton_runtime::audit::{Action, Note};
use baton_session::Owner;

/// Reads every file that looks otherwise than it did, and those once more that were looked at just now.
/// One that this node cannot take in now keeps no other from it, and is read again at the next pass.
pub(super) async fn read(
    context: &Sync,
    owner: &Owner,
    directory: &SyncDirectory,
) -> Result<(), SyncError> {
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
            return refuse(context, owner, name, (mark, None), Said::Damaged, error).await;
        }
    };
    let looks = (mark, Some(digest));
    let foreign = Said::Foreign(Box::new(IndexLine::of(&file, mark.bytes)));
    let standing = Standing::of(&file, mark.bytes);
    let places = [None, Some(file.sender)].map(|node| place_of(file.session, node));
    let is_copy = !places.iter().any(|place| place == name);
    let received = match writer(context, owner, &file).await? {
        None => Err(SyncError::UnknownWriter { node: file.sender }),
        Some(_) if !file.recipients.contains(&context.node) => {
            context.own.folder.knows(name, looks, foreign);
            return Ok(());
        }
        Some(writer) => take(context, owner, name, file, writer).await,
    };
    match received {
        Ok(()) if is_copy => {
            // Whatever was in it is in the database now, and goes from there to its own place.
            let name = name.to_owned();
            on_disk(directory, move |directory| directory.remove(&name)).await
        }
        Ok(()) => {
            context.own.folder.knows(name, looks, Said::Session(Box::new(standing)));
            Ok(())
        }
        Err(error) if is_ours_to_mend(&error) => Err(error),
        Err(error @ (SyncError::UnknownWriter { .. } | SyncError::TooMuch { .. })) => {
            refuse(context, owner, name, looks, foreign, error).await
        }
        Err(error) => refuse(context, owner, name, looks, Said::Damaged, error).await,
    }
}

/// Takes what a file offers, and notes it when anything in it was new.
async fn take(
    context: &Sync,
    owner: &Owner,
    name: &str,
    file: SyncFile,
    writer: crate::file::Writer,
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
    looks: Looks,
    said: Said,
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
