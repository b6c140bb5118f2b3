//! The first words on a keeper's socket, before CDP flows: NUL-delimited JSON in both directions.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_session::{Confinement, SessionId};
use serde::{Deserialize, Serialize};

/// The version of this protocol; a keeper may be older than the node that finds it.
pub(super) const VERSION: u32 = 2;
/// The version of keepers that have no secret: whoever says hello comes in. They are spoken to, so
/// that their browsers are not lost with an upgrade.
pub(super) const WITHOUT_SECRET: u32 = 1;

/// What a client may see and do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The node: sees Baton's hidden pages and may use the domain `Baton`. One at a time.
    Node,
    /// Anyone else: an agent, a library, a person.
    Client,
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Greeting {
    /// The first frame.
    Hello {
        /// As what it comes.
        role: Role,
        /// The protocol that it speaks.
        version: u32,
        /// What the keeper is to prove itself with; none in the version without a secret.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nonce: Option<Nonce>,
    },
    /// The second frame: that the client knows the keeper's secret.
    Proof(Proof),
}

/// What a keeper answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    /// The keeper proves that it is the one whose secret lies beside its socket, and asks for the same.
    Challenge {
        /// What the client is to prove itself with.
        nonce: Nonce,
        /// The keeper's proof.
        proof: Proof,
    },
    /// CDP flows from here on.
    Welcome(Welcome),
    /// The keeper closes the connection; the text says why.
    Refused(String),
}

/// 32 bytes as they travel: base64url without padding (RFC 4648, section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Word(pub(super) [u8; 32]);

/// Random bytes that are used once.
pub(super) type Nonce = Word;
/// What only who knows the secret can say of two nonces.
pub(super) type Proof = Word;

impl Word {
    /// A new nonce.
    pub(super) fn random() -> Self {
        Self(rand::random())
    }
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        URL_SAFE_NO_PAD.encode(word.0)
    }
}

impl TryFrom<String> for Word {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or("expected 32 bytes in base64url")
    }
}

/// Whose browser this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The session.
    pub session: SessionId,
    /// The keeper's process.
    pub pid: u32,
    /// The browser's process; none when it was attached.
    pub browser_pid: Option<u32>,
    /// What the browser says of itself, such as `Chrome/156.0.8078.79`.
    pub browser_version: String,
    /// Whether the browser was attached and will outlive the keeper.
    pub attached: bool,
    /// By which rules the files of the machine are taken away from the browser; none of a keeper that
    /// is older than that, and so as good as `off`.
    #[serde(default)]
    pub confinement: Option<Confinement>,
}
