//! Sync files that people carry: one session for one peer, with no network between the nodes.

use super::pack::Wanted;
use super::receive::writer;
use super::{SyncFile, pack, receive};
use crate::context::Sync;
use crate::error::SyncError;
use crate::identity::SealKey;
use crate::offer::exchange_for;
use crate::peers;
use crate::save::save;
use baton_api::FileText;
use baton_api::sync::{SaveSession, SealedFile, TakenFile};
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_runtime::audit::{Action, Note};
use baton_session::Owner;
use baton_store::blocking::blocking;

/// Saves a session, and seals all that is shared of it for a confirmed peer.
pub async fn seal(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    peer: &str,
) -> Result<SealedFile, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Export, reference);
    let sealed = seal_here(context, caller, reference, peer).await;
    let note = match &sealed {
        Ok(sealed) => {
            let note = note.about(sealed.id.to_string()).with("peer", sealed.node_id.to_string());
            note.with_losses(&sealed.left_out)
        }
        Err(_) => note.with("peer", peer),
    };
    note.end(&context.store, sealed).await
}

async fn seal_here(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    peer: &str,
) -> Result<SealedFile, SyncError> {
    let peer = peers::find_confirmed(context, &caller.owner, peer).await?;
    let key: SealKey = peer.seal_key.parse().map_err(|_| SyncError::BadContent {
        why: format!("the seal key of peer {} cannot be read", peer.name),
    })?;
    let saved = save(context, caller, reference, SaveSession::default()).await?;
    let (owner, give) = (&caller.owner, &peer.limits.give);
    let may_have = peers::may_have(context, &peer, saved.id).await?;
    exchange_for(context, owner, saved.id, give, may_have).await?;
    let wanted = Wanted { view: give, others: &[(peer.node, key)], is_plain: false };
    let packed = pack(context, owner, saved.id, &wanted).await?;
    let file = packed.map_err(|error| SyncError::BadContent { why: error.to_string() })?;
    peers::may_hold(context, &peer, saved.id).await?;
    let text = blocking(move || text_of(&file)).await?;
    let file = FileText::new(text).map_err(|source| {
        SyncError::Runtime(RuntimeError::NotShown { name: saved.name.clone(), source })
    })?;
    let (id, name, rev, left_out) = (saved.id, saved.name, saved.rev, saved.left_out);
    Ok(SealedFile { id, name, rev, node_id: peer.node, peer: peer.name, left_out, file })
}

fn text_of(file: &SyncFile) -> String {
    // It is JSON, and so valid.
    String::from_utf8(file.write()).unwrap_or_default()
}

/// Takes a sync file that somebody brought.
pub async fn open(context: &Sync, caller: &Caller, file: FileText) -> Result<TakenFile, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Receive, "a sync file");
    let taken = open_here(context, &caller.owner, file).await;
    let note = match &taken {
        Ok(taken) => note.about(taken.id.to_string()).with("node", taken.node_id.to_string()),
        Err(_) => note,
    };
    note.end(&context.store, taken).await
}

async fn open_here(context: &Sync, owner: &Owner, file: FileText) -> Result<TakenFile, SyncError> {
    let bad = |error: super::InvalidFile| {
        SyncError::Runtime(RuntimeError::BadFile { reason: error.to_string() })
    };
    let file = blocking(move || SyncFile::read(file.as_str().as_bytes())).await?;
    let file = file.map_err(bad)?;
    let (id, node_id) = (file.session, file.sender);
    let writer = writer(context, owner, &file).await?;
    let writer = writer.ok_or(SyncError::UnknownWriter { node: node_id })?;
    let peer = writer.1.as_ref().map(|peer| peer.name.clone());
    let taken = receive(context, owner, file, writer).await?;
    let name = context.store.fetch_session(owner, id).await.map(|session| session.name).ok();
    let (rev, conflicts, changed) = (taken.rev, taken.conflicts, taken.changed);
    Ok(TakenFile { id, name, rev, conflicts, changed, node_id, peer })
}
