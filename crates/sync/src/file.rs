//! Files of a session, sealed for those who may open them: the sync file, one session with all that is
//! shared of it, signed by the node that wrote it, and a bundle.
//!
//! The one idea: a file that lies in a folder is a message to its readers. So it says who wrote it, and a
//! pinned key proves that; what it says in the clear is what the index of a node says, and the rest opens
//! only for the nodes that it names. It is the spec's session state file, whose `state` is sealed in
//! `sealed.contents`, and only where that is set in the clear as well.
//!
//! A bundle has the form of age (<https://age-encryption.org/v1>) with X25519 keys or a passphrase, so that its own tools
//! seal and open bundles too. Nothing is believed before its last byte is verified: one that was cut
//! off or changed opens not at all.

use age::{scrypt, x25519};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::wire::Head;
use baton_session::{
    BadSignature, NodeId, NodeKey, NodeSecret, NodeSignature, PartHash, SessionId, json,
};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::io;
use std::io::{Read, Write};

/// What a sealed part of a file begins with.
const LAYOUT: &str = "baton sync file v1";
/// The members of a session file that say what it holds.
pub(super) const STATE: &str = "state";
pub(super) const TABS: &str = "tabs";
/// The longest file that is read or written.
pub(super) const FILE_LIMIT: u64 = 128 << 20;

/// A sync file.
#[derive(Debug, Clone)]
pub struct SyncFile {
    /// What it says in the clear.
    pub head: Head,
    /// Which session it holds.
    pub session: SessionId,
    /// Who wrote it.
    pub sender: NodeId,
    /// Who can read it.
    pub recipients: Vec<NodeId>,
    /// What it holds, in the clear, if it says so: the spec's `state` and `tabs`. What is sealed counts more.
    shown: Map<String, Value>,
    pub(super) contents: Vec<u8>,
    covered: Vec<u8>,
    signature: NodeSignature,
}

/// A file that is no sync file, or a damaged one. It names no value of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidFile {
    /// It is something else.
    #[error("expected a sync file, found something else: {0}")]
    Shape(String),
    /// It is sealed in a way that is not known here.
    #[error("expected a sync file of the layout {LAYOUT:?}, found another one")]
    Layout,
    /// What is sealed is not base64.
    #[error("expected sealed contents in base64, found something else")]
    Base64,
}

#[derive(Serialize, Deserialize)]
struct Sealed {
    layout: String,
    sender: NodeId,
    recipients: Vec<NodeId>,
    contents: String,
}

#[derive(Deserialize)]
struct FileDocument {
    #[serde(flatten)]
    head: Head,
    sealed: Sealed,
    signature: NodeSignature,
}

impl SyncFile {
    /// Signs a file that was sealed for `recipients`, and shows what it holds as far as `shown` says.
    pub(super) fn sign(
        (head, shown): (Head, Map<String, Value>),
        session: SessionId,
        secret: &NodeSecret,
        recipients: Vec<NodeId>,
        contents: Vec<u8>,
    ) -> Self {
        let sender = secret.key().node_id();
        let mut document = in_the_clear(&head, &shown);
        let sealed = json!({"layout": LAYOUT, "sender": sender, "recipients": &recipients});
        document["sealed"] = sealed;
        let covered = covered(document, &contents);
        let signature = secret.sign(&covered);
        Self { head, session, sender, recipients, shown, contents, covered, signature }
    }

    /// Whether it has what it holds in the clear too.
    pub fn is_plain(&self) -> bool {
        self.shown.contains_key(STATE)
    }

    /// Reads a file. That it is well formed says nothing of who wrote it.
    pub fn read(bytes: &[u8]) -> Result<Self, InvalidFile> {
        let shape = |error: serde_json::Error| {
            InvalidFile::Shape(format!("line {}, column {}", error.line(), error.column()))
        };
        let mut document: Value = serde_json::from_slice(bytes).map_err(shape)?;
        let FileDocument { head, sealed, signature } =
            serde_json::from_slice(bytes).map_err(shape)?;
        let Sealed { layout, sender, recipients, contents } = sealed;
        if layout != LAYOUT {
            return Err(InvalidFile::Layout);
        }
        let session = head.id.parse();
        let session = session.map_err(|_| InvalidFile::Shape("its id is no session's".into()))?;
        let contents = STANDARD.decode(contents).map_err(|_| InvalidFile::Base64)?;
        let mut shown = Map::new();
        if let Some(members) = document.as_object_mut() {
            members.remove("signature");
            let is_shown = |(name, _): &(&String, &Value)| [STATE, TABS].contains(&name.as_str());
            let found = members.iter().filter(is_shown);
            shown.extend(found.map(|(name, value)| (name.clone(), value.clone())));
        }
        let covered = covered(document, &contents);
        Ok(Self { head, session, sender, recipients, shown, contents, covered, signature })
    }

    /// The text of the file.
    pub fn write(&self) -> Vec<u8> {
        let mut document = in_the_clear(&self.head, &self.shown);
        document["sealed"] = json!(Sealed {
            layout: LAYOUT.to_owned(),
            sender: self.sender,
            recipients: self.recipients.clone(),
            contents: STANDARD.encode(&self.contents),
        });
        document["signature"] = json!(self.signature);
        json::lines(&document).into_bytes()
    }

    /// Checks that the node with this key wrote every word of it.
    pub fn verify(&self, key: &NodeKey) -> Result<(), BadSignature> {
        key.verify(&self.covered, &self.signature)
    }
}

/// What a file has beside what is sealed.
fn in_the_clear(head: &Head, shown: &Map<String, Value>) -> Value {
    let mut document = json::value(head);
    if let Some(members) = document.as_object_mut() {
        members.extend(shown.clone());
    }
    document
}

/// What is signed: the canonical JSON (RFC 8785) of the file without its signature, in which the hash of the
/// sealed contents takes their place. So a field that a reader does not know is signed too.
fn covered(mut document: Value, contents: &[u8]) -> Vec<u8> {
    // A list there is understood, and no signature vouches for it.
    if let Some(sealed) = document.get_mut("sealed").and_then(Value::as_object_mut) {
        sealed.insert("contents".to_owned(), json!(PartHash::of(contents)));
    }
    json::canonical(&document)
}

/// What every bundle begins with.
const MAGIC: &[u8] = b"age-encryption.org/";

/// For whom a bundle is sealed.
#[derive(Debug, Clone)]
pub struct Recipient(x25519::Recipient);

/// What opens a bundle.
#[derive(Clone)]
pub struct BundleKey(x25519::Identity);

/// A bundle that was not made or not opened.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A text that names no recipient.
    #[error(
        "expected a recipient such as age1…, 62 letters and digits, found {0:?}\nage-keygen makes an \
         identity and says its recipient"
    )]
    NoRecipient(String),
    /// A file without an identity.
    #[error(
        "expected a line that begins with AGE-SECRET-KEY-1 in the identity file, found none that can \
         be read\nage-keygen -o FILE makes one; other kinds of keys are not supported"
    )]
    NoIdentity,
    /// None of the identities opens it.
    #[error("expected a bundle for one of these identities, found one that is sealed for others")]
    ForOthers,
    /// Another passphrase opens it.
    #[error("expected the passphrase of this bundle, found another one")]
    OtherPassphrase,
    /// It is not as it was sealed.
    #[error("expected a whole bundle, found one that was cut off or changed: {0}")]
    Damaged(String),
    /// It holds more than anybody exports.
    #[error("expected a bundle that holds at most {limit} bytes, found more")]
    TooLarge {
        /// How much it may hold.
        limit: usize,
    },
    /// It could not be sealed.
    #[error("the bundle could not be sealed: {0}")]
    NotSealed(String),
}

impl Recipient {
    /// The recipient that `text` names.
    pub fn parse(text: &str) -> Result<Self, BundleError> {
        let shown = || text.chars().take(80).collect();
        text.trim().parse().map(Self).map_err(|_| BundleError::NoRecipient(shown()))
    }
}

impl BundleKey {
    /// The identities in the text of a file, as `age-keygen` writes it: one a line, besides comments.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, BundleError> {
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
        let all: Vec<Self> = lines.filter_map(|line| line.parse().ok().map(Self)).collect();
        if all.is_empty() { Err(BundleError::NoIdentity) } else { Ok(all) }
    }
}

/// Whether `bytes` begin like a bundle.
pub fn is_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Seals `file` for each of `recipients`.
pub fn seal(file: &[u8], recipients: &[Recipient]) -> Result<Vec<u8>, BundleError> {
    encrypt(file, recipients.iter().map(|recipient| &recipient.0 as &dyn age::Recipient))
}

/// Seals `file` with a passphrase. Finding a key from it takes about a second, here and for a guesser.
pub fn seal_by_passphrase(file: &[u8], passphrase: SecretString) -> Result<Vec<u8>, BundleError> {
    let recipient = scrypt::Recipient::new(passphrase);
    encrypt(file, std::iter::once(&recipient as &dyn age::Recipient))
}

/// Whether a passphrase opens a bundle, and nothing else.
pub fn is_by_passphrase(sealed: &[u8]) -> bool {
    age::Decryptor::new(sealed).is_ok_and(|decryptor| decryptor.is_scrypt())
}

/// Opens a bundle that was sealed with a passphrase and holds at most `limit` bytes.
pub fn open_by_passphrase(
    sealed: &[u8],
    passphrase: SecretString,
    limit: usize,
) -> Result<Vec<u8>, BundleError> {
    let identity = scrypt::Identity::new(passphrase);
    match decrypt(sealed, std::iter::once(&identity as &dyn age::Identity), limit) {
        Err(BundleError::ForOthers) => Err(BundleError::OtherPassphrase),
        opened => opened,
    }
}

fn encrypt<'a>(
    file: &[u8],
    each: impl Iterator<Item = &'a dyn age::Recipient>,
) -> Result<Vec<u8>, BundleError> {
    let failed = |error: &dyn std::error::Error| BundleError::NotSealed(error.to_string());
    let encryptor = age::Encryptor::with_recipients(each).map_err(|error| failed(&error))?;
    let mut sealed = Vec::with_capacity(file.len() + 1024);
    let written = || -> io::Result<()> {
        let mut writer = encryptor.wrap_output(&mut sealed)?;
        writer.write_all(file)?;
        writer.finish()?;
        Ok(())
    };
    written().map_err(|error| failed(&error))?;
    Ok(sealed)
}

/// Opens a bundle that holds at most `limit` bytes.
pub fn open(sealed: &[u8], identities: &[BundleKey], limit: usize) -> Result<Vec<u8>, BundleError> {
    let each = identities.iter().map(|identity| &identity.0 as &dyn age::Identity);
    decrypt(sealed, each, limit)
}

fn decrypt<'a>(
    sealed: &[u8],
    each: impl Iterator<Item = &'a dyn age::Identity>,
    limit: usize,
) -> Result<Vec<u8>, BundleError> {
    let decryptor = age::Decryptor::new(sealed).map_err(refused)?;
    let reader = decryptor.decrypt(each).map_err(refused)?;
    let mut file = Vec::new();
    // One byte more than allowed tells whether there is more.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read = reader.take(most).read_to_end(&mut file);
    read.map_err(|error| BundleError::Damaged(error.to_string()))?;
    if file.len() > limit { Err(BundleError::TooLarge { limit }) } else { Ok(file) }
}

fn refused(error: age::DecryptError) -> BundleError {
    match error {
        // The second is said of a passphrase that opens nothing.
        age::DecryptError::NoMatchingKeys | age::DecryptError::DecryptionFailed => {
            BundleError::ForOthers
        }
        other => BundleError::Damaged(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        BundleError, BundleKey, Recipient, SyncFile, is_by_passphrase, is_sealed, open,
        open_by_passphrase, seal, seal_by_passphrase,
    };
    use age::secrecy::ExposeSecret;
    use baton_session::wire::Head;
    use baton_session::{NodeSecret, SessionId};
    use jiff::Timestamp;
    use serde_json::{Map, Value, json};

    fn signed() -> (SyncFile, NodeSecret) {
        let secret = NodeSecret::from_seed(&[7; 32]);
        let session = SessionId::new(Timestamp::UNIX_EPOCH, [1; 10]);
        let head = Head { id: session.to_string(), name: "shop".to_owned(), ..Head::default() };
        let recipients = vec![secret.key().node_id()];
        (SyncFile::sign((head, Map::new()), session, &secret, recipients, vec![1; 300]), secret)
    }

    /// The file as it is read after a change, and whether its writer vouches for it.
    fn vouched(change: impl Fn(&mut Value)) -> Option<bool> {
        let (file, secret) = signed();
        let mut document: Value = serde_json::from_slice(&file.write()).unwrap();
        change(&mut document);
        let read = SyncFile::read(&serde_json::to_vec(&document).unwrap()).ok()?;
        Some(read.verify(&secret.key()).is_ok())
    }

    #[test]
    fn what_was_written_is_vouched_for_and_nothing_else() {
        assert_eq!(vouched(|_| ()), Some(true));
        assert_eq!(vouched(|document| document["name"] = json!("other")), Some(false));
        assert_eq!(vouched(|document| document["unknown"] = json!(1)), Some(false));
        assert_eq!(vouched(|document| document["sync"]["version"] = json!(9)), Some(false));
        assert_eq!(vouched(|document| document["sealed"]["contents"] = json!("AAAA")), Some(false));
        assert_eq!(vouched(|document| document["sealed"]["recipients"] = json!([])), Some(false));
    }

    #[test]
    fn what_is_no_sync_file_is_refused_and_never_panics() {
        let list = |document: &mut Value| {
            let sealed = document["sealed"].take();
            let members = ["layout", "sender", "recipients", "contents"];
            document["sealed"] = members.iter().map(|name| sealed[name].clone()).collect();
        };
        assert_ne!(vouched(list), Some(true));
        assert_eq!(vouched(|document| document["id"] = json!("../../etc/passwd")), None);
        assert_eq!(vouched(|document| document["sealed"]["layout"] = json!("v2")), None);
        assert_eq!(vouched(|document| document["sealed"]["contents"] = json!("%%")), None);
        for text in ["", "null", "[]", "{}", "{\"sealed\": 1}", "\u{0}"] {
            assert!(SyncFile::read(text.as_bytes()).is_err(), "{text:?}");
        }
        let whole = signed().0.write();
        for end in (0..whole.len()).step_by(97) {
            assert!(SyncFile::read(&whole[..end]).is_err(), "cut at {end}");
        }
    }

    fn somebody() -> (Recipient, Vec<BundleKey>) {
        let identity = age::x25519::Identity::generate();
        let recipient = Recipient::parse(&identity.to_public().to_string()).unwrap();
        let file = format!("# a comment\n\n{}\n", identity.to_string().expose_secret());
        (recipient, BundleKey::parse_all(&file).unwrap())
    }

    const LIMIT: usize = 1 << 20;

    #[test]
    fn what_was_sealed_is_opened_by_whom_it_is_for_and_by_nobody_else() {
        let [(ada, hers), (bob, his), (_, others)] = [somebody(), somebody(), somebody()];
        let file = vec![7; 200_000];
        let sealed = seal(&file, &[ada, bob]).unwrap();
        assert!(is_sealed(&sealed) && !is_sealed(&file));
        assert_eq!(open(&sealed, &hers, LIMIT).unwrap(), file);
        assert_eq!(open(&sealed, &his, LIMIT).unwrap(), file);
        assert!(matches!(open(&sealed, &others, LIMIT), Err(BundleError::ForOthers)));
        assert!(matches!(open(&sealed, &his, 199_999), Err(BundleError::TooLarge { .. })));
    }

    #[test]
    fn what_was_cut_off_or_changed_is_not_opened() {
        let (ada, hers) = somebody();
        let sealed = seal(&vec![7; 150_000], &[ada]).unwrap();
        for end in [0, 10, 100, 200, 300, 65_000, 66_000, 140_000, sealed.len() - 1] {
            let cut = open(&sealed[..end], &hers, LIMIT);
            assert!(matches!(cut, Err(BundleError::Damaged(_))), "cut at {end}: {cut:?}");
        }
        for place in (0..sealed.len()).step_by(9_973).chain([sealed.len() - 1]) {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(open(&changed, &hers, LIMIT).is_err(), "changed at {place}");
        }
        let longer = [sealed.as_slice(), b"x"].concat();
        assert!(open(&longer, &hers, LIMIT).is_err());
    }

    #[test]
    fn what_names_nobody_says_what_would() {
        let told = |error: BundleError| error.to_string();
        let text = told(Recipient::parse("ada").unwrap_err());
        assert!(text.contains("\"ada\"") && text.contains("age-keygen"), "{text}");
        let secret = "AGE-SECRET-KEY-1NOTREALLYONE";
        let text = BundleKey::parse_all(secret).err().map(told).unwrap();
        assert!(!text.contains("NOTREALLYONE") && text.contains("age-keygen"), "{text}");
    }

    #[test]
    fn a_passphrase_opens_what_it_sealed_and_nothing_else() {
        let sealed = seal_by_passphrase(b"dear Ada", "correct horse battery".into()).unwrap();
        assert!(is_sealed(&sealed) && is_by_passphrase(&sealed));
        let opened = open_by_passphrase(&sealed, "correct horse battery".into(), LIMIT);
        assert_eq!(opened.unwrap(), b"dear Ada");
        let refused = open_by_passphrase(&sealed, "another horse".into(), LIMIT);
        assert!(matches!(refused, Err(BundleError::OtherPassphrase)), "{refused:?}");
        let (ada, hers) = somebody();
        assert!(matches!(open(&sealed, &hers, LIMIT), Err(BundleError::ForOthers)));
        assert!(!is_by_passphrase(&seal(b"dear Ada", &[ada]).unwrap()));
    }
}
