//! Peers as rows: `create find update delete`, how much each of them is given (`limits`), and what each
//! of them is known to hold (`acks`).
//!
//! Names, addresses and keys of peers are no secrets; what we show them is, and is sealed.

mod acks;
mod create;
mod delete;
mod find;
mod limits;
mod update;

use crate::error::StoreError;
use crate::row::{instant, maybe_instant, refuse_nul, word};
use crate::seal::{Seal, SealError};
use baton_session::wire::NodeType;
use baton_session::{AuthMethod, NodeId, NodeKey, Owner, PeerLimits, PeerState};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use sqlx::Row;
use sqlx::any::AnyRow;

/// The most bytes of a credential.
const CREDENTIAL_MAX: u64 = 64 << 10;

/// Another node that an owner registered.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Who registered it.
    pub owner: Owner,
    /// Which node.
    pub node: NodeId,
    /// Unique among the owner's peers.
    pub name: String,
    /// Where it is asked; none when only it can ask us.
    pub url: Option<String>,
    /// How it is deployed.
    pub node_type: NodeType,
    /// What we show it to be let in.
    pub auth: AuthMethod,
    /// Whether it is trusted.
    pub state: PeerState,
    /// What it signs with; pinned.
    pub key: NodeKey,
    /// For what we seal that which only it is to read.
    pub seal_key: String,
    /// What we show it, as its method has it; none when it asks for nothing, or when what was stored
    /// cannot be read any more.
    pub credential: Option<SecretString>,
    /// The id of the API key of ours that it shows, or of the client whose tokens it shows; unique among
    /// the owner's peers.
    pub api_key: Option<String>,
    /// How much of sessions goes to it and is taken from it.
    pub limits: PeerLimits,
    /// When it was registered.
    pub added_at: Timestamp,
    /// When it last answered or asked.
    pub last_seen: Option<Timestamp>,
    /// When sessions were last exchanged with it.
    pub last_sync: Option<Timestamp>,
}

/// A query for whole peers; the argument is what follows `from peers`.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select owner, node, name, url, node_type, auth, state, node_key, seal_key, credential, \
                 api_key, limits, added_at, last_seen, last_sync \
             from peers ",
            $rest
        )
    };
}
use select;

fn decode(row: &AnyRow, seal: &Seal) -> Result<Peer, StoreError> {
    let (owner, node) = (word(row, "owner")?, word(row, "node")?);
    let sealed: Option<Vec<u8>> = row.try_get("credential")?;
    Ok(Peer {
        credential: sealed.and_then(|sealed| open(seal, &owner, node, &sealed)),
        owner,
        node,
        name: row.try_get("name")?,
        url: row.try_get("url")?,
        node_type: node_type(row)?,
        auth: word(row, "auth")?,
        state: word(row, "state")?,
        key: word(row, "node_key")?,
        seal_key: row.try_get("seal_key")?,
        api_key: row.try_get("api_key")?,
        limits: limits::read(row)?,
        added_at: instant(row, "added_at")?,
        last_seen: maybe_instant(row, "last_seen")?,
        last_sync: maybe_instant(row, "last_sync")?,
    })
}

fn decode_all(rows: &[AnyRow], seal: &Seal) -> Result<Vec<Peer>, StoreError> {
    rows.iter().map(|row| decode(row, seal)).collect()
}

fn node_type_word(node_type: NodeType) -> &'static str {
    match node_type {
        NodeType::Cloud => "cloud",
        NodeType::Hosted => "hosted",
    }
}

fn node_type(row: &AnyRow) -> Result<NodeType, StoreError> {
    match row.try_get::<String, _>("node_type")?.as_str() {
        "cloud" => Ok(NodeType::Cloud),
        "hosted" => Ok(NodeType::Hosted),
        found => Err(StoreError::InvalidRow {
            column: "node_type",
            expected: "cloud or hosted".to_owned(),
            found: found.to_owned(),
        }),
    }
}

/// Refuses what PostgreSQL cannot keep, and seals the credential.
fn check_and_seal(peer: &Peer, seal: &Seal) -> Result<Option<Vec<u8>>, StoreError> {
    refuse_nul("the name of a peer", &peer.name)?;
    refuse_nul("the address of a peer", peer.url.as_deref().unwrap_or_default())?;
    refuse_nul("the seal key of a peer", &peer.seal_key)?;
    refuse_nul("the id of an API key", peer.api_key.as_deref().unwrap_or_default())?;
    let Some(credential) = &peer.credential else { return Ok(None) };
    let plain = credential.expose_secret().as_bytes();
    let sealed = match plain.len() as u64 {
        ..=CREDENTIAL_MAX => seal.seal_raw(plain, &subject(&peer.owner, &peer.node.to_string())),
        _ => Err(SealError::TooLarge { limit: CREDENTIAL_MAX }),
    };
    sealed.map(Some).map_err(|error| StoreError::CredentialRefused {
        name: peer.name.clone(),
        why: error.to_string(),
    })
}

/// A credential that is damaged costs itself only: the peer can be given another one.
fn open(seal: &Seal, owner: &Owner, node: NodeId, sealed: &[u8]) -> Option<SecretString> {
    let plain = seal.open(sealed, &subject(owner, &node.to_string()), CREDENTIAL_MAX);
    let text = plain
        .map_err(|error| error.to_string())
        .and_then(|plain| String::from_utf8(plain).map_err(|_| "expected it in UTF-8".to_owned()));
    let readable = text.inspect_err(|why| {
        tracing::warn!(%node, why, "the credential for a peer cannot be read");
    });
    readable.ok().map(SecretString::from)
}

fn subject<'a>(owner: &'a Owner, node: &'a str) -> [&'a str; 3] {
    ["peer credential", owner.as_str(), node]
}

fn not_found(reference: impl std::fmt::Display) -> StoreError {
    StoreError::PeerNotFound { reference: reference.to_string() }
}
