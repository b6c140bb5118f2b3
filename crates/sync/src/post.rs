//! Sync files that travel: what is shared of a session, packed into one, and what one offers, taken.
//!
//! People carry them, with no network between the nodes, and the sync directory holds them. What one offers counts
//! once a pinned key has proven who wrote it.

use crate::contents::AtHand;
use crate::context::Sync;
use crate::error::SyncError;
use crate::file::{FILE_LIMIT, STATE, SyncFile, TABS};
use crate::given::exchange_for;
use crate::identity::{Identity, SealKey};
use crate::movement::part_refs;
use crate::save::save;
use crate::sealing::{SealContext, SealingError};
use crate::shelf::Shelf;
use crate::{contents, given, parcels, partial, peers, receive, sealing, session_files};
use baton_api::FileText;
use baton_api::sync::exchange::{read as read_parcels, write as write_parcels};
use baton_api::sync::{Exchange, Parcel, SaveSession, SealedFile, Taken, TakenFile};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, RuntimeError};
use baton_session::peer::PeerState;
use baton_session::wire::{Head, SessionFile};
use baton_session::{NodeId, NodeKey, Owner, PartRef, SessionId, Signed, View, json, wire};
use baton_store::blocking::blocking;
use baton_store::{Peer, StoreError};
use serde_json::{Map, Value};

const PURPOSE: &str = "sync file";
/// What a text of base64 is longer than its bytes, and room for the head.
const BASE64: (u64, u64) = (4, 3);

/// A session that is too large for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a session that fits in a file of {FILE_LIMIT} bytes, found one of {found} bytes")]
pub struct TooLarge {
    found: u64,
}

/// What a file is to hold, and who is to read it.
pub(crate) struct WantedFile<'a> {
    /// What of the session.
    pub(crate) view: &'a View,
    /// For whom beside this node.
    pub(crate) others: &'a [(NodeId, SealKey)],
    /// Whether it has what counts in the clear too.
    pub(crate) is_plain: bool,
}

/// Packs what is shared of a session.
pub(crate) async fn pack(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    wanted: &WantedFile<'_>,
) -> Result<Result<SyncFile, TooLarge>, SyncError> {
    let view = wanted.view;
    let mut exchange = given::exchange(context, owner, session, view).await?;
    // Who holds a session now is nothing that a file could know.
    exchange.peer_lease = None;
    let parts: Vec<PartRef> = part_refs(&exchange).into_values().collect();
    let found: u64 = parts.iter().map(|part| part.size).sum();
    if found > FILE_LIMIT / BASE64.0 * BASE64.1 {
        return Ok(Err(TooLarge { found }));
    }
    let parcels = partial::pack(context, owner, session, view, &parts).await?;
    let shelf = Shelf::expect(context, owner, session).await?;
    let gone = || SyncError::NotShared { session: session.to_string() };
    let told = exchange.offer.heads.iter().max_by_key(|head| head.modified_at);
    let current = shelf.shared.replica.current().filter(|_| view.is_whole());
    let current = current.or(told).ok_or_else(gone)?;
    let head = described_by(context, owner, &shelf, current).await?;
    let is_shown = wanted.is_plain && !current.deleted;
    let shown = if is_shown { shown(context, owner, current, &head).await? } else { None };
    let identity = context.own.identity.now();
    let mut recipients = vec![identity.node()];
    let mut keys = vec![identity.seal_key()];
    for (node, key) in wanted.others {
        recipients.push(*node);
        keys.push(key.clone());
    }
    let sealed = blocking(move || {
        let contents = sealed(&identity, session, &keys, &exchange, &parcels)?;
        Ok::<_, SealingError>(SyncFile::sign(
            (head, shown.unwrap_or_default()),
            session,
            identity.secret(),
            recipients,
            contents,
        ))
    });
    let file = sealed.await?.map_err(|error| bad(&error))?;
    Ok(Ok(file))
}

/// What the file says in the clear: how far all that is in it has come.
async fn described_by(
    context: &Sync,
    owner: &Owner,
    shelf: &Shelf,
    current: &Signed,
) -> Result<Head, SyncError> {
    let mut head = session_files::head(context, owner, shelf, current).await?;
    head.sync.checksum = current.checksum.to_string();
    head.sync.vector = shelf.vector();
    head.sync.conflicts.sort_unstable();
    Ok(head)
}

/// What counts, as a session file says it; none when that is too long for a file.
async fn shown(
    context: &Sync,
    owner: &Owner,
    current: &Signed,
    head: &Head,
) -> Result<Option<Map<String, Value>>, SyncError> {
    let found = context.store.fetch_content(owner, current.session, current.id()).await?;
    let found = found.ok_or(SyncError::NoContent { rev: current.id() })?;
    let state = contents::state(context, owner, &contents::shared_parts(&found)).await?;
    let file = SessionFile { head: head.clone(), state };
    let members = move || {
        let text = wire::write(&file);
        let room = text.len() as u64 <= FILE_LIMIT / BASE64.0;
        let mut members: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
        members.retain(|name, _| [STATE, TABS].contains(&name.as_str()));
        room.then_some(members)
    };
    Ok(blocking(members).await?)
}

fn sealed(
    identity: &Identity,
    session: SessionId,
    keys: &[SealKey],
    exchange: &Exchange,
    parcels: &[Parcel],
) -> Result<Vec<u8>, SealingError> {
    let exchange = json::bytes(exchange);
    let mut plain = (exchange.len() as u64).to_be_bytes().to_vec();
    plain.extend(exchange);
    plain.extend(write_parcels(parcels));
    sealing::seal_for_all(keys, &described(identity.node(), session), &plain)
}

/// What is in a file that its sender has proven to have written.
pub(crate) async fn unpack(
    context: &Sync,
    file: SyncFile,
) -> Result<(Exchange, Vec<Parcel>), SyncError> {
    let identity = context.own.identity.now();
    let limit = usize::try_from(FILE_LIMIT).unwrap_or(usize::MAX);
    let opened = blocking(move || {
        let described = described(file.sender, file.session);
        let plain = sealing::open(&identity, &described, &file.contents, limit)?;
        read(&plain).ok_or_else(|| SealingError::Damaged("it holds something else".to_owned()))
    });
    opened.await?.map_err(|error| bad(&error))
}

fn read(plain: &[u8]) -> Option<(Exchange, Vec<Parcel>)> {
    let (length, rest) = plain.split_first_chunk::<8>()?;
    let (exchange, parcels) =
        rest.split_at_checked(u64::from_be_bytes(*length).try_into().ok()?)?;
    Some((serde_json::from_slice(exchange).ok()?, read_parcels(parcels).ok()?))
}

fn described(sender: NodeId, session: SessionId) -> SealContext<'static> {
    SealContext {
        purpose: PURPOSE,
        session: Some(session),
        revision: None,
        recipient: sender,
        sender,
    }
}

fn bad(error: &SealingError) -> SyncError {
    SyncError::BadContent { why: error.to_string() }
}

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
    let wanted = WantedFile { view: give, others: &[(peer.node, key)], is_plain: false };
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

/// Takes a sync file that a person brought.
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
    let bad = |error: crate::file::InvalidFile| {
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

/// Who wrote a file: the key that proves it, and the peer, unless it was this node.
pub(crate) type Writer = (NodeKey, Option<Peer>);

/// The key of the node that says that it wrote the file; none when it is not pinned.
pub(crate) async fn writer(
    context: &Sync,
    owner: &Owner,
    file: &SyncFile,
) -> Result<Option<Writer>, SyncError> {
    if file.sender == context.node {
        return Ok(Some((context.own.identity.now().key(), None)));
    }
    match context.store.find_peer(owner, &file.sender.to_string()).await {
        Ok(peer) if peer.node == file.sender && peer.state == PeerState::Confirmed => {
            Ok(Some((peer.key, Some(peer))))
        }
        Ok(_) | Err(StoreError::PeerNotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Takes what a file offers. All or nothing.
pub(crate) async fn receive(
    context: &Sync,
    owner: &Owner,
    file: SyncFile,
    (key, peer): Writer,
) -> Result<Taken, SyncError> {
    let (sender, session) = (file.sender, file.session);
    file.verify(&key).map_err(|_| SyncError::ForgedFile { node: sender })?;
    let (exchange, parcels) = unpack(context, file).await?;
    if exchange.offer.session != session {
        return Err(SyncError::ForgedFile { node: sender });
    }
    let mut taken =
        receive::receive(context, owner, sender, &exchange, &mut AtHand::of(context), None).await?;
    if !taken.missing.is_empty() {
        parcels::stage(context, owner, session, parcels, |_| ()).await?;
        taken = receive::receive(context, owner, sender, &exchange, &mut AtHand::of(context), None)
            .await?;
    }
    if let Some(view) = taken.takes {
        return Err(SyncError::TooMuch { session, view });
    }
    if !taken.missing.is_empty() {
        let why = "its file lacks parts that it names".to_owned();
        return Err(SyncError::BadContent { why });
    }
    if let Some(peer) = peer {
        peers::holds(context, &peer, &exchange.offer, taken.rev).await?;
    }
    Ok(taken)
}
