//! The sync file: one session with all that is shared of it, signed by the node that wrote it and
//! sealed for those that may read it.
//!
//! The one idea: a file that lies in a folder is a message to its readers. So it says who wrote it, and a
//! pinned key proves that; what it says in the clear is what the index of a node says, and the rest opens
//! only for the nodes that it names. It is the spec's session state file, whose `state` is sealed in
//! `sealed.contents`, and only where that is set in the clear as well.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::wire::Head;
use baton_session::{
    BadSignature, NodeId, NodeKey, NodeSecret, NodeSignature, PartHash, SessionId, json,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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

#[cfg(test)]
mod tests {
    use super::SyncFile;
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
}
