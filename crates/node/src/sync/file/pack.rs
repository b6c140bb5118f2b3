//! Packs what is shared of a session into a sync file, and unpacks it.

use super::{FILE_LIMIT, SyncFile};
use crate::identity::{Identity, SealKey};
use crate::sealing::{self, SealContext, SealingError};
use crate::sync::contents::blocking;
use crate::sync::movement::part_refs;
use crate::sync::shelf::Shelf;
use crate::sync::{SyncError, download, offer, seen};
use crate::{Context, NodeError};
use baton_api::sync::parcel::{read as read_parcels, write as write_parcels};
use baton_api::sync::{Exchange, Parcel};
use baton_session::wire::Head;
use baton_session::{NodeId, Owner, PartRef, SessionId, Signed, View};

const PURPOSE: &str = "sync file";
/// What a text of base64 is longer than its bytes, and room for the head.
const BASE64: (u64, u64) = (4, 3);

/// A session that is too large for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a session that fits in a file of {FILE_LIMIT} bytes, found one of {found} bytes")]
pub struct TooLarge {
    found: u64,
}

/// Packs what is shared of a session for this node and `others`, as far as it is in a view.
pub(in crate::sync) async fn pack(
    context: &Context,
    owner: &Owner,
    session: SessionId,
    view: &View,
    others: &[(NodeId, SealKey)],
) -> Result<Result<SyncFile, TooLarge>, NodeError> {
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
    let identity = context.identity.now();
    let mut recipients = vec![identity.node()];
    let mut keys = vec![identity.seal_key()];
    for (node, key) in others {
        recipients.push(*node);
        keys.push(key.clone());
    }
    let sealed = blocking(move || {
        let contents = seal(&identity, session, &keys, &exchange, &parcels)?;
        Ok::<_, SealingError>(SyncFile::sign(
            head,
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
    context: &Context,
    owner: &Owner,
    shelf: &Shelf,
    current: &Signed,
) -> Result<Head, NodeError> {
    let mut head = download::head(context, owner, shelf, current).await?;
    head.sync.checksum = current.checksum.to_string();
    head.sync.vector = shelf.vector();
    head.sync.conflicts.sort_unstable();
    Ok(head)
}

fn seal(
    identity: &Identity,
    session: SessionId,
    keys: &[SealKey],
    exchange: &Exchange,
    parcels: &[Parcel],
) -> Result<Vec<u8>, SealingError> {
    let exchange = serde_json::to_vec(exchange).unwrap_or_default();
    let mut plain = (exchange.len() as u64).to_be_bytes().to_vec();
    plain.extend(exchange);
    plain.extend(write_parcels(parcels));
    sealing::seal_for_all(keys, &described(identity.node(), session), &plain)
}

/// What is in a file that its sender has proven to have written.
pub(in crate::sync) async fn unpack(
    context: &Context,
    file: SyncFile,
) -> Result<(Exchange, Vec<Parcel>), NodeError> {
    let identity = context.identity.now();
    let limit = usize::try_from(FILE_LIMIT).unwrap_or(usize::MAX);
    let opened = blocking(move || {
        let described = described(file.sender, file.session);
        let plain = sealing::open(&identity, &described, &file.contents, limit)?;
        read(&plain).ok_or_else(|| SealingError::Damaged("it holds something else".to_owned()))
    });
    Ok(opened.await?.map_err(|error| bad(&error))?)
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
