//! Reads what is new in the sync directory.
//!
//! The one idea: a file counts only when a key vouches for it that a person has pinned, this node's own
//! among them; then it is an offer like any other, and no clock and no name decides what it is worth.
//! What is refused is noted once and left where it lies.

use super::known::{Said, Standing};
use super::on_disk;
use crate::audit::{Action, Actor, Note};
use crate::sync::at_hand::AtHand;
use crate::sync::directory::{DirectoryError, IndexLine, Mark, SyncDirectory, place_of};
use crate::sync::file::{SyncFile, unpack};
use crate::sync::receive::take;
use crate::sync::{SyncError, parcels, peers};
use crate::{Context, NodeError};
use baton_session::peer::PeerState;
use baton_session::{NodeKey, Owner};
use baton_store::{Peer, StoreError};

/// Reads every file that looks otherwise than it did.
pub(super) async fn read(
    context: &Context,
    owner: &Owner,
    directory: &SyncDirectory,
) -> Result<(), NodeError> {
    let there = on_disk(directory, SyncDirectory::files).await?;
    for (name, mark) in context.folder.news(there) {
        read_one(context, owner, directory, &name, mark).await?;
    }
    Ok(())
}

async fn read_one(
    context: &Context,
    owner: &Owner,
    directory: &SyncDirectory,
    name: &str,
    mark: Mark,
) -> Result<(), NodeError> {
    let wanted = name.to_owned();
    let file = match on_disk(directory, move |directory| directory.load(&wanted)).await {
        Ok(Some(file)) => file,
        // It goes, or it grows: next time.
        Ok(None) | Err(NodeError::Sync(SyncError::Directory(DirectoryError::Moving { .. }))) => {
            return Ok(());
        }
        Err(error) => return refuse(context, owner, (name, mark), Said::Damaged, error).await,
    };
    let foreign = Said::Foreign(Box::new(IndexLine::of(&file, mark.bytes)));
    let standing = Standing::of(&file, mark.bytes);
    let is_copy =
        ![None, Some(file.sender)].map(|of| place_of(file.session, of)).contains(&name.to_owned());
    let received = match writer(context, owner, &file).await? {
        None => Err(SyncError::UnknownWriter { node: file.sender }.into()),
        Some(_) if !file.recipients.contains(&context.node) => {
            context.folder.knows(name, mark, foreign);
            return Ok(());
        }
        Some(writer) => receive(context, owner, name, file, writer).await,
    };
    match received {
        Ok(()) if is_copy => {
            // Whatever was in it is in the database now, and goes from there to its own place.
            let name = name.to_owned();
            on_disk(directory, move |directory| directory.remove(&name)).await
        }
        Ok(()) => {
            context.folder.knows(name, mark, Said::Session(Box::new(standing)));
            Ok(())
        }
        Err(error) if is_ours_to_mend(&error) => Err(error),
        Err(error @ NodeError::Sync(SyncError::UnknownWriter { .. })) => {
            refuse(context, owner, (name, mark), foreign, error).await
        }
        Err(error) => refuse(context, owner, (name, mark), Said::Damaged, error).await,
    }
}

/// Takes what a file offers, once its writer is proven.
async fn receive(
    context: &Context,
    owner: &Owner,
    name: &str,
    file: SyncFile,
    (key, peer): (NodeKey, Option<Peer>),
) -> Result<(), NodeError> {
    let (sender, session) = (file.sender, file.session);
    file.verify(&key).map_err(|_| SyncError::ForgedFile { node: sender })?;
    let (exchange, parcels) = unpack(context, file).await?;
    if exchange.offer.session != session {
        return Err(SyncError::ForgedFile { node: sender }.into());
    }
    let mut taken = take(context, owner, &exchange, &mut AtHand::of(context)).await?;
    if !taken.missing.is_empty() {
        parcels::stage(context, owner, session, parcels, |_| ()).await?;
        taken = take(context, owner, &exchange, &mut AtHand::of(context)).await?;
        if !taken.missing.is_empty() {
            let why = "its file lacks parts that it names".to_owned();
            return Err(SyncError::BadContent { why }.into());
        }
    }
    if let Some(peer) = peer {
        peers::holds(context, &peer, &exchange.offer, taken.rev).await?;
    }
    if taken.changed {
        let note = note(owner, &session.to_string(), name).with("node", sender.to_string());
        note.done(&context.store).await?;
        tracing::info!(%session, file = name, "a session came from the sync directory");
    }
    Ok(())
}

/// The key of who says that they wrote it; none when nobody has pinned it.
async fn writer(
    context: &Context,
    owner: &Owner,
    file: &SyncFile,
) -> Result<Option<(NodeKey, Option<Peer>)>, NodeError> {
    if file.sender == context.node {
        return Ok(Some((context.identity.now().key(), None)));
    }
    match context.store.find_peer(owner, &file.sender.to_string()).await {
        Ok(peer) if peer.node == file.sender && peer.state == PeerState::Confirmed => {
            Ok(Some((peer.key, Some(peer))))
        }
        Ok(_) | Err(StoreError::PeerNotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether it is no fault of the file: it is read again.
fn is_ours_to_mend(error: &NodeError) -> bool {
    matches!(
        error,
        NodeError::Store(_) | NodeError::Live(_) | NodeError::Sync(SyncError::Contended { .. })
    )
}

async fn refuse(
    context: &Context,
    owner: &Owner,
    (name, mark): (&str, Mark),
    said: Said,
    error: NodeError,
) -> Result<(), NodeError> {
    let reason = error.to_string();
    tracing::warn!(file = name, reason, "a file in the sync directory is left aside");
    note(owner, name, name).failed(&context.store, error).await;
    context.folder.refuses(name, mark, said, reason);
    Ok(())
}

fn note(owner: &Owner, subject: &str, name: &str) -> Note {
    Note::new(&Actor::node(), owner, Action::Receive, subject).with("file", name)
}
