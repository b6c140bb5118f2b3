//! Who this node is: its key, the id that is a hash of it, and the key for which others seal.
//!
//! The one idea: *the key is the node*. Who has seen it once can tell for good what this node wrote. The
//! secret halves are sealed in the database, so a backup carries them, and what is restored is the same node.
//! What a backup must not carry is how far the node had come: wherever its data folder turns up anew, it
//! begins another epoch, and counts there from the start.
//!
//! The file `node.id` says which identity of the database is this folder's. After a crash the two may
//! disagree in two ways, and the next start mends both: an id that the database does not know gets an
//! identity that remembers it; an id that an identity remembers is the older name of that identity.

use age::x25519;
use baton_api::{NodeCard, NodeIdentity};
use baton_session::wire::NodeType;
use baton_session::{Actor, BadSignature, Epoch, NodeId, NodeKey, NodeSecret};
use baton_store::data::{DataError, DataFolder};
use baton_store::{Store, StoreError, StoredIdentity};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use url::{Position, Url};
use zeroize::Zeroizing;

/// The identity of this node. Neither shown nor written to a log.
#[derive(Clone)]
pub struct Identity {
    epoch: Epoch,
    secret: NodeSecret,
    seal: x25519::Identity,
}

/// A secret that is no identity of age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the secret of a seal key, AGE-SECRET-KEY-1…, found something else")]
pub struct InvalidSealSecret;

impl Identity {
    /// The identity with this seed (32 random bytes), and the secret half of its seal key.
    pub fn new(
        seed: &[u8; 32],
        seal: &SecretString,
        epoch: Epoch,
    ) -> Result<Self, InvalidSealSecret> {
        let seal = seal.expose_secret().parse().map_err(|_| InvalidSealSecret)?;
        Ok(Self { epoch, secret: NodeSecret::from_seed(seed), seal })
    }

    /// Counts in another epoch from now on.
    pub(super) fn enter(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// Which node this is.
    pub fn node(&self) -> NodeId {
        self.key().node_id()
    }

    /// The public half of its key.
    pub fn key(&self) -> NodeKey {
        self.secret.key()
    }

    /// What signs for it.
    pub fn secret(&self) -> &NodeSecret {
        &self.secret
    }

    /// Whose counter its revisions advance: this node in this epoch.
    pub fn actor(&self) -> Actor {
        Actor::new(self.node(), self.epoch)
    }

    /// For whom others seal what only this node may read.
    pub fn seal_key(&self) -> SealKey {
        SealKey::of(&self.seal)
    }

    /// What opens that.
    pub(crate) fn opener(&self) -> &x25519::Identity {
        &self.seal
    }

    /// What this node says of itself.
    pub fn card(&self, settings: &NodeSettings) -> NodeCard {
        let NodeSettings { node_type, name, public_url, internal_url } = settings.clone();
        let seal_key = self.seal_key().to_string();
        let seal_signature = self.secret.sign(&NodeCard::seal_message(&seal_key));
        let (node_id, key) = (self.node(), self.key());
        NodeCard {
            node_id,
            node_type,
            name,
            public_url,
            internal_url,
            key,
            seal_key,
            seal_signature,
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity(of {})", self.actor())
    }
}

/// For whom something is sealed: the public half of a seal key, in text a recipient of age, `age1…`.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey(x25519::Recipient);

/// A text that is no seal key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a seal key, age1…, found something else")]
pub struct InvalidSealKey;

/// A card that is not what it says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UntrustedCard {
    /// The id is not the hash of the key.
    #[error("expected a card of node {found} with that node's key, found the key of node {key}")]
    OtherKey {
        /// The id on the card.
        found: NodeId,
        /// The id that belongs to the key on it.
        key: NodeId,
    },
    /// The seal key is no key.
    #[error("expected a card with a seal key, age1…, found something else in its place")]
    SealKey(#[from] InvalidSealKey),
    /// Another node put the seal key on the card.
    #[error("expected a card whose node signed its seal key, found that it did not: {0}")]
    SealSignature(#[from] BadSignature),
    /// A name that would fool its reader in a terminal.
    #[error(
        "expected a card with a name of 1 to 64 characters that can be shown, found another name"
    )]
    Name,
    /// An address at which no node is asked.
    #[error(
        "expected a card whose addresses begin with http or https and have no path, found another"
    )]
    Url,
}

/// Checks that a card belongs to the node that it names: its id is the hash of its key, and its key
/// signed its seal key. The rest is checked for its form only.
pub fn verify_card(card: &NodeCard) -> Result<(), UntrustedCard> {
    verify_identity(&card.identity())?;
    if !is_node_name(&card.name) {
        return Err(UntrustedCard::Name);
    }
    let mut urls = card.public_url.iter().chain(&card.internal_url);
    if urls.all(is_node_url) { Ok(()) } else { Err(UntrustedCard::Url) }
}

/// The same for who a node is, without what it says of itself.
pub fn verify_identity(identity: &NodeIdentity) -> Result<(), UntrustedCard> {
    let NodeIdentity { node_id: found, key, seal_key, seal_signature, .. } = identity;
    if *found != key.node_id() {
        return Err(UntrustedCard::OtherKey { found: *found, key: key.node_id() });
    }
    seal_key.parse::<SealKey>()?;
    Ok(key.verify(&NodeCard::seal_message(seal_key), seal_signature)?)
}

impl SealKey {
    /// The public half of `identity`.
    fn of(identity: &x25519::Identity) -> Self {
        Self(identity.to_public())
    }

    /// As age wants it.
    pub(crate) fn recipient(&self) -> &x25519::Recipient {
        &self.0
    }
}

impl FromStr for SealKey {
    type Err = InvalidSealKey;

    fn from_str(text: &str) -> Result<Self, InvalidSealKey> {
        text.parse().map(Self).map_err(|_| InvalidSealKey)
    }
}

impl fmt::Display for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealKey({})", self.0)
    }
}

/// This node cannot say who it is.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// The data folder.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The database holds something else in the place of the identity.
    #[error(
        "expected the key of node {0} in the database, found another key\nthe database was changed: \
         restore a backup"
    )]
    Damaged(NodeId),
}

/// Who this node is. A folder without an identity gets one; a folder that was copied, moved or
/// restored begins a new epoch. The node's lock must be held.
pub async fn load_or_create(store: &Store, data: &DataFolder) -> Result<Identity, IdentityError> {
    let (named, place) = (data.node_id()?, data.place()?);
    let known = match named {
        Some(node) => store.fetch_identity(node).await?,
        None => None,
    };
    // A folder that was used with another database in between bears the id that it had there.
    let known = match known {
        Some(stored) => Some(stored),
        None => store.find_identity_at(&place).await?,
    };
    let mut stored = match known {
        Some(stored) => stored,
        None => create(store, data, named, &place).await?,
    };
    if stored.place != place {
        stored.epoch = Epoch::new(rand::random());
        store.move_identity(stored.node, &place, stored.epoch).await?;
        tracing::info!(node = %stored.node, epoch = %stored.epoch, "the data folder is elsewhere than before: a new epoch");
    }
    if named != Some(stored.node) {
        data.write_node_id(stored.node)?;
    }
    let damaged = IdentityError::Damaged(stored.node);
    match Identity::new(&stored.seed, &stored.seal_secret, stored.epoch) {
        Ok(identity) if identity.node() == stored.node => Ok(identity),
        _ => Err(damaged),
    }
}

/// Makes an identity. What belonged to `formerly`, the id of the folder from before nodes had keys,
/// belongs to it from then on.
async fn create(
    store: &Store,
    data: &DataFolder,
    formerly: Option<NodeId>,
    place: &str,
) -> Result<StoredIdentity, IdentityError> {
    let seed: Zeroizing<[u8; 32]> = Zeroizing::new(rand::random());
    let made = StoredIdentity {
        node: NodeSecret::from_seed(&seed).key().node_id(),
        place: place.to_owned(),
        epoch: Epoch::new(rand::random()),
        seed,
        seal_secret: x25519::Identity::generate().to_string(),
    };
    if formerly.is_none() {
        // A node that dies behind this line leaves an id that the next start takes for a former one, and no
        // identity without a name.
        data.write_node_id(made.node)?;
    }
    store.create_identity(&made, formerly).await?;
    tracing::info!(node = %made.node, "made the key of this node");
    Ok(made)
}

/// The identity of the running node. Cheap to clone; all clones are in the same epoch.
#[derive(Debug, Clone)]
pub struct OwnIdentity {
    identity: Arc<RwLock<Identity>>,
    place: Arc<str>,
}

impl OwnIdentity {
    /// The identity of a node that runs at `place`.
    pub fn new(identity: Identity, place: &str) -> Self {
        Self { identity: Arc::new(RwLock::new(identity)), place: place.into() }
    }

    /// It, as it is now.
    pub fn now(&self) -> Identity {
        self.identity.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Which node this is.
    pub fn node(&self) -> NodeId {
        self.now().node()
    }

    /// Whose counter its revisions advance.
    pub fn actor(&self) -> Actor {
        self.now().actor()
    }

    /// What signs for it.
    pub fn secret(&self) -> NodeSecret {
        self.now().secret().clone()
    }

    /// Begins another epoch, because a copy of this node counts on in this one. It is on disk when this
    /// returns.
    pub async fn begin_epoch(&self, store: &Store) -> Result<(), StoreError> {
        let epoch = Epoch::new(rand::random());
        store.move_identity(self.node(), &self.place, epoch).await?;
        self.identity.write().unwrap_or_else(PoisonError::into_inner).enter(epoch);
        tracing::warn!(%epoch, "a copy of this node is about: a new epoch");
        Ok(())
    }
}

/// The longest name of a node, in characters.
const NAME_MAX: usize = 64;
/// The longest address of a node, in bytes.
const URL_MAX: usize = 2048;

/// What a node says of itself to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSettings {
    /// How it is deployed.
    pub node_type: NodeType,
    /// What it calls itself.
    pub name: String,
    /// Where the world asks it.
    pub public_url: Option<Url>,
    /// Where its own network asks it.
    pub internal_url: Option<Url>,
}

/// Whether a node may be called so: others show it in a terminal.
pub fn is_node_name(text: &str) -> bool {
    let shown = |c: char| !c.is_control() && !is_invisible(c);
    (1..=NAME_MAX).contains(&text.chars().count()) && text.trim() == text && text.chars().all(shown)
}

/// Marks that change in which order a line is shown, or that are invisible.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a node may be asked there. The path stays empty: what is signed names the path, which a
/// proxy that cuts its beginning off would change.
pub fn is_node_url(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.as_str().len() <= URL_MAX
        && url.username().is_empty()
        && url.password().is_none()
        && matches!(&url[Position::BeforePath..], "" | "/")
}

#[cfg(test)]
mod tests {
    use super::{is_node_name, is_node_url};

    #[test]
    fn a_name_can_be_shown() {
        for good in ["laptop", "Ada's laptop", "büro-1", &"x".repeat(64)] {
            assert!(is_node_name(good), "{good:?}");
        }
        for bad in ["", " laptop", "a\nb", "\u{1b}[2J", "safe\u{202e}txt", &"x".repeat(65)] {
            assert!(!is_node_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn an_address_has_neither_path_nor_user() {
        let is_one = |text: &str| text.parse().is_ok_and(|url| is_node_url(&url));
        for good in ["https://baton.example.org", "http://10.0.0.7:7420/", "https://[2001:db8::1]"]
        {
            assert!(is_one(good), "{good}");
        }
        for bad in [
            "baton.example.org",
            "ftp://baton.example.org",
            "https://ada@baton.example.org",
            "https://baton.example.org/baton",
            "https://baton.example.org/?a",
            "https://baton.example.org/#a",
        ] {
            assert!(!is_one(bad), "{bad}");
        }
    }
}
