//! Packs what is shared of a session into a sync file, and unpacks it.

use super::{FILE_LIMIT, STATE, SyncFile, TABS};
use crate::contents;
use crate::context::Sync;
use crate::download;
use crate::error::SyncError;
use crate::identity::{Identity, SealKey};
use crate::movement::part_refs;
use crate::sealing::{self, SealContext, SealingError};
use crate::shelf::Shelf;
use crate::{offer, seen};
use baton_api::sync::parcel::{read as read_parcels, write as write_parcels};
use baton_api::sync::{Exchange, Parcel};
use baton_session::wire::{self, Head, SessionFile};
use baton_session::{NodeId, Owner, PartRef, SessionId, Signed, View, json};
use baton_store::blocking::blocking;
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
pub(crate) struct Wanted<'a> {
    /// What of the session.
    pub(crate) view: &'a View,
    /// For whom beside this node.
    pub(crate) others: &'a [(NodeId, SealKey)],
    /// Whether what counts stands in it in the clear too.
    pub(crate) is_plain: bool,
}

/// Packs what is shared of a session.
pub(crate) async fn pack(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    wanted: &Wanted<'_>,
) -> Result<Result<SyncFile, TooLarge>, SyncError> {
    let view = wanted.view;
    let mut exchange = offer::exchange(context, owner, session, view).await?;
    // Who holds a session now is nothing that a file could know.
    exchange.lease = None;
    let parts: Vec<PartRef> = part_refs(&exchange).into_values().collect();
    let found: u64 = parts.iter().map(|part| part.size).sum();
    if found > FILE_LIMIT / BASE64.0 * BASE64.1 {
        return Ok(Err(TooLarge { found }));
    }
    let parcels = seen::pack(context, owner, session, view, &parts).await?;
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
        let contents = seal(&identity, session, &keys, &exchange, &parcels)?;
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
    let mut head = download::head(context, owner, shelf, current).await?;
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

fn seal(
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
