//! Peers as rows: `create find update limit delete`, and what each of them is known to hold (`acks`).
//!
//! Names, addresses and keys of peers are no secrets; what we show them is, and is sealed. How much of
//! sessions goes to a peer and is taken from it is a column of JSON. What cannot be read there is an error:
//! it never means that there are no limits, or a damaged row would open everything to a peer.

mod acks;

use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{
    MATCHES_MAX, behind_prefix, instant, is_taken, maybe_instant, maybe_word, parse_prefix,
    refuse_nul, word,
};
use crate::seal::{Seal, SealError};
use crate::store::Store;
use baton_session::invitation::CertificatePin;
use baton_session::wire::NodeType;
use baton_session::{AuthMethod, NodeId, NodeKey, Owner, PeerLimits, PeerState, View};
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
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
    /// Which key its certificate has, where an invitation said so: then that counts, and no authority, and
    /// its address is asked although it is private.
    pub pin: Option<CertificatePin>,
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
                 api_key, limits, pin, added_at, last_seen, last_sync \
             from peers ",
            $rest
        )
    };
}

fn decode(row: &AnyRow, seal: &Seal) -> Result<Peer, StoreError> {
    let (owner, node) = (word(row, "owner")?, word(row, "node")?);
    let sealed: Option<Vec<u8>> = row.try_get("credential")?;
    Ok(Peer {
        credential: sealed.and_then(|sealed| open(seal, &owner, node, &sealed)),
        owner,
        node,
        name: row.try_get("name")?,
        url: row.try_get("url")?,
        pin: maybe_word(row, "pin")?,
        node_type: node_type(row)?,
        auth: word(row, "auth")?,
        state: word(row, "state")?,
        key: word(row, "node_key")?,
        seal_key: row.try_get("seal_key")?,
        api_key: row.try_get("api_key")?,
        limits: read_limits(row)?,
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

impl Store {
    /// Registers a peer. Fails with `PeerTaken` when the owner has registered the node already,
    /// `PeerNameTaken` when another peer bears the name, and `PeerKeyTaken` when another one shows the
    /// same API key.
    pub async fn create_peer(&self, peer: &Peer) -> Result<(), StoreError> {
        let sealed = check_and_seal(peer, &self.seal())?;
        let mut write = self.write().await?;
        if is_registered(write.connection(), peer).await? {
            return Err(taken(peer));
        }
        refuse_taken(write.connection(), peer).await?;
        let made = sqlx::query(
            "insert into peers (owner, node, name, url, node_type, auth, state, node_key, seal_key,
                 credential, api_key, limits, added_at, last_seen, last_sync, pin)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
        )
        .bind(peer.owner.as_str())
        .bind(peer.node.to_string())
        .bind(&peer.name)
        .bind(&peer.url)
        .bind(node_type_word(peer.node_type))
        .bind(peer.auth.as_str())
        .bind(peer.state.as_str())
        .bind(peer.key.to_string())
        .bind(&peer.seal_key)
        .bind(sealed)
        .bind(&peer.api_key)
        .bind(limits_text(&peer.limits))
        .bind(peer.added_at.as_millisecond())
        .bind(peer.last_seen.map(Timestamp::as_millisecond))
        .bind(peer.last_sync.map(Timestamp::as_millisecond))
        .bind(peer.pin.map(|pin| pin.to_string()))
        .execute(write.connection())
        .await;
        match made {
            Ok(_) => write.commit().await,
            // On PostgreSQL another writer can come between the look and the row.
            Err(error) if is_taken(&error) => Err(taken(peer)),
            Err(error) => Err(error.into()),
        }
    }
}

async fn is_registered(connection: &mut PooledConnection, peer: &Peer) -> Result<bool, StoreError> {
    let row = sqlx::query("select node from peers where owner = $1 and node = $2")
        .bind(peer.owner.as_str())
        .bind(peer.node.to_string())
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

/// Refuses a name or an API key that another peer of the owner has.
async fn refuse_taken(connection: &mut PooledConnection, peer: &Peer) -> Result<(), StoreError> {
    let row = sqlx::query(
        "select name from peers where owner = $1 and node <> $2 and (name = $3 or api_key = $4)
         order by case when name = $3 then 0 else 1 end limit 1",
    )
    .bind(peer.owner.as_str())
    .bind(peer.node.to_string())
    .bind(&peer.name)
    .bind(&peer.api_key)
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let name: String = row.try_get("name")?;
    if name == peer.name {
        return Err(StoreError::PeerNameTaken { name });
    }
    Err(StoreError::PeerKeyTaken { name })
}

/// Some value of a peer has another bearer.
fn taken(peer: &Peer) -> StoreError {
    StoreError::PeerTaken { node: peer.node }
}

impl Store {
    /// The owner's peer that a person means: by its whole id; by its name; or by the start of its id,
    /// at least four digits, when no other one's starts so. Fails with `PeerNotFound` and
    /// `AmbiguousPeer`.
    pub async fn find_peer(&self, owner: &Owner, reference: &str) -> Result<Peer, StoreError> {
        if let Ok(node) = reference.parse::<NodeId>() {
            let (sql, id) = (select!("where owner = $1 and node = $2"), node.to_string());
            let found = self.peer_with(sql, owner, &id).await?;
            return found.ok_or_else(|| not_found(reference));
        }
        if reference.contains('\0') {
            return Err(not_found(reference));
        }
        let named = self.peer_with(select!("where owner = $1 and name = $2"), owner, reference);
        if let Some(peer) = named.await? {
            return Ok(peer);
        }
        let prefix = parse_prefix(reference).ok_or_else(|| not_found(reference))?;
        let mut peers = self.peers_from(owner, &prefix).await?;
        match peers.len() {
            0 => Err(not_found(reference)),
            1 => Ok(peers.remove(0)),
            _ => Err(StoreError::AmbiguousPeer {
                reference: reference.to_owned(),
                matches: peers.iter().map(|peer| peer.node).collect(),
            }),
        }
    }

    /// The owner's peer that shows this API key of ours, by the key's id.
    pub async fn peer_of_key(
        &self,
        owner: &Owner,
        api_key: &str,
    ) -> Result<Option<Peer>, StoreError> {
        self.peer_with(select!("where owner = $1 and api_key = $2"), owner, api_key).await
    }

    /// Every owner who has registered a peer.
    pub async fn list_peer_owners(&self) -> Result<Vec<Owner>, StoreError> {
        let rows = sqlx::query("select distinct owner from peers order by owner");
        let rows = rows.fetch_all(self.pool()).await?;
        rows.iter().map(|row| word(row, "owner")).collect()
    }

    /// The owner's peers, by name.
    pub async fn list_peers(&self, owner: &Owner) -> Result<Vec<Peer>, StoreError> {
        let rows = sqlx::query(select!("where owner = $1 order by name"))
            .bind(owner.as_str())
            .fetch_all(self.pool())
            .await?;
        decode_all(&rows, &self.seal())
    }

    async fn peer_with(
        &self,
        sql: &'static str,
        owner: &Owner,
        value: &str,
    ) -> Result<Option<Peer>, StoreError> {
        let query = sqlx::query(sql).bind(owner.as_str()).bind(value);
        let row = query.fetch_optional(self.pool()).await?;
        row.map(|row| decode(&row, &self.seal())).transpose()
    }

    async fn peers_from(&self, owner: &Owner, prefix: &str) -> Result<Vec<Peer>, StoreError> {
        let rows = sqlx::query(select!(
            "where owner = $1 and node >= $2 and node < $3 order by node limit $4"
        ))
        .bind(owner.as_str())
        .bind(prefix)
        .bind(behind_prefix(prefix))
        .bind(MATCHES_MAX)
        .fetch_all(self.pool())
        .await?;
        decode_all(&rows, &self.seal())
    }
}

impl Store {
    /// Stores what may change of a peer: its name, address, pin, type, way to authenticate,
    /// credential, seal key, and the API key that it shows. Its key is pinned, and its state, its limits and its
    /// instants have verbs of their own. Fails with `PeerNotFound`, and as [`create_peer`](Self::create_peer) does.
    pub async fn update_peer(&self, peer: &Peer) -> Result<(), StoreError> {
        let sealed = check_and_seal(peer, &self.seal())?;
        let mut write = self.write().await?;
        refuse_taken(write.connection(), peer).await?;
        let updated = sqlx::query(
            "update peers set name = $3, url = $4, node_type = $5, auth = $6, credential = $7,
                 seal_key = $8, api_key = $9, pin = $10
             where owner = $1 and node = $2",
        )
        .bind(peer.owner.as_str())
        .bind(peer.node.to_string())
        .bind(&peer.name)
        .bind(&peer.url)
        .bind(node_type_word(peer.node_type))
        .bind(peer.auth.as_str())
        .bind(sealed)
        .bind(&peer.seal_key)
        .bind(&peer.api_key)
        .bind(peer.pin.map(|pin| pin.to_string()))
        .execute(write.connection())
        .await;
        match updated {
            Ok(done) if done.rows_affected() == 0 => Err(not_found(peer.node)),
            Ok(_) => write.commit().await,
            Err(error) if is_taken(&error) => Err(taken(peer)),
            Err(error) => Err(error.into()),
        }
    }

    /// Notes that a person has compared the fingerprint of a peer. Fails with `PeerNotFound`.
    pub async fn confirm_peer(&self, owner: &Owner, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let confirmed = sqlx::query("update peers set state = $3 where owner = $1 and node = $2")
            .bind(owner.as_str())
            .bind(node.to_string())
            .bind(PeerState::Confirmed.as_str())
            .execute(write.connection())
            .await?;
        if confirmed.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }

    /// Notes when a peer was last heard of and, when sessions were exchanged with it, when that was.
    /// Fails with `PeerNotFound`.
    pub async fn touch_peer(
        &self,
        owner: &Owner,
        node: NodeId,
        seen: Timestamp,
        synced: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let touched = sqlx::query(
            "update peers set last_seen = $3, last_sync = coalesce($4, last_sync)
             where owner = $1 and node = $2",
        )
        .bind(owner.as_str())
        .bind(node.to_string())
        .bind(seen.as_millisecond())
        .bind(synced.map(Timestamp::as_millisecond))
        .execute(write.connection())
        .await?;
        if touched.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }
}

/// How much of a column is shown that cannot be read, in characters.
const SHOWN_MAX: usize = 200;

/// Limits as the column has them: both directions are always named.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object with give and take")]
struct Stored {
    give: View,
    take: View,
}

impl Store {
    /// Sets how much of sessions goes to a peer and is taken from it, in the place of what was set
    /// before. Fails with `PeerNotFound`.
    pub async fn limit_peer(
        &self,
        owner: &Owner,
        node: NodeId,
        limits: &PeerLimits,
    ) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let limited = sqlx::query("update peers set limits = $3 where owner = $1 and node = $2")
            .bind(owner.as_str())
            .bind(node.to_string())
            .bind(limits_text(limits))
            .execute(write.connection())
            .await?;
        if limited.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }
}

/// What the column holds; nothing when there are no limits.
fn limits_text(limits: &PeerLimits) -> Option<String> {
    let PeerLimits { give, take } = limits.clone();
    // Lists of words, so this cannot fail.
    let text = || serde_json::json!(Stored { give, take }).to_string();
    (!limits.is_none()).then(text)
}

/// What a row says.
fn read_limits(row: &AnyRow) -> Result<PeerLimits, StoreError> {
    let Some(found) = row.try_get::<Option<String>, _>("limits")? else {
        return Ok(PeerLimits::default());
    };
    let why = match serde_json::from_str(&found) {
        Ok(Stored { give, take }) => match (PeerLimits { give, take }) {
            limits if limits.is_none() => "these limit nothing".to_owned(),
            limits => return Ok(limits),
        },
        Err(error) => error.to_string(),
    };
    Err(StoreError::InvalidRow {
        column: "limits",
        expected: format!("limits of a peer in JSON ({why})"),
        found: found.chars().take(SHOWN_MAX).collect(),
    })
}

impl Store {
    /// Removes a peer of the owner, and what it was known to hold. Fails with `PeerNotFound`.
    pub async fn delete_peer(&self, owner: &Owner, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        let gone = sqlx::query("delete from peers where owner = $1 and node = $2")
            .bind(owner.as_str())
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        if gone.rows_affected() == 0 {
            return Err(not_found(node));
        }
        write.commit().await
    }
}
