//! Writes into the sync directory what does not say there what the database says.
//!
//! The one idea: a session has its own place, and a file there that is somebody else's and cannot be
//! read here is theirs. Then ours goes beside it, under the name of this node, or two nodes of which one
//! does not know the other would take the place from each other without end.

use super::failures::Failures;
use super::known::{Said, Standing};
use super::on_disk;
use super::readers::Readers;
use crate::context::Sync;
use crate::directory::{
    DirectoryIndex, NodeRegistry, RegisteredPeer, RegistrySelf, SyncConfig, SyncDirectory, place_of,
};
use crate::error::SyncError;
use crate::file;
use crate::index;
use crate::settings::ConflictResolution;
use baton_api::sync::IndexedSession;
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_session::Owner;
use baton_session::View;
use baton_store::Peer;
use std::collections::BTreeSet;

/// Writes the sessions that have gone on, then both lists. A session that cannot be written keeps no other
/// from it, and the next pass tries it again.
pub(super) async fn write(
    context: &Sync,
    owner: &Owner,
    directory: &SyncDirectory,
) -> Result<(), SyncError> {
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
        // Every peer has heard of it, and nobody needs to be told any more.
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
        Some(Said::Session(standing)) if standing.says(session, readers) => {
            return remove_if_there(context, directory, beside).await;
        }
        Some(Said::Foreign(_)) => match context.own.folder.said(&beside) {
            Some(Said::Session(standing)) if standing.says(session, readers) => return Ok(()),
            _ => beside,
        },
        Some(Said::Damaged) => {
            let name = own.clone();
            on_disk(directory, move |directory| directory.set_aside(&name)).await?;
            own
        }
        _ => own,
    };
    let is_plain = context.own.settings.directory_plain;
    let wanted = file::Wanted { view: &View::whole(), others: &readers.others, is_plain };
    let file = match file::pack(context, owner, session.id, &wanted).await? {
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
    let standing = Said::Session(Box::new(Standing::of(&file, mark.bytes)));
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
