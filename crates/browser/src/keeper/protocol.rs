//! What the two sides of a keeper say: what it gets at its start and answers, the first words on its socket,
//! before CDP flows, the secret by which both know each other, and what can go wrong on either side.
//!
//! The words are NUL-delimited JSON in both directions. Any process of the user can knock at a keeper's
//! socket, and could listen at one. So a keeper makes a secret at its start and lays it beside its
//! socket, 0600, where the node of its data folder finds it and no browser can look. Both prove that
//! they know it, and neither shows it.
//!
//! The clock is the time since the machine was started. It cannot be set, and goes on while the machine
//! sleeps. So an instant of it means the same in both processes, however long one of them was stopped before
//! it could say it.

use super::prelude::PreludeCall;
use crate::cdp::{AddressError, CdpError};
use crate::launch::{LaunchError, LaunchOptions};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_egress::{Fence, NotProxyUrl};
use baton_session::egress::{Egress, ProxyCredentials};
use baton_session::{Confinement, SessionId};
use hmac::{Hmac, KeyInit, Mac};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use sha2::Sha256;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use tokio::time::sleep;

/// The version of this protocol; a keeper may be older than the node that finds it.
pub(super) const VERSION: u32 = 2;
/// The version of keepers that have no secret: any client that says hello comes in. They are spoken to, so
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
pub(super) enum KeeperAnswer {
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
    /// Whether the browser's only way out to the network is the keeper's; not of a keeper that is older than
    /// that.
    #[serde(default)]
    pub fenced: bool,
}

/// What a proof is about, so that it proves nothing elsewhere.
const LABEL: &[u8] = b"baton keeper 2";

/// The secret of one keeper.
#[derive(Clone)]
pub(super) struct KeeperSecret([u8; 32]);

/// Which of the two proves.
#[derive(Clone, Copy)]
pub(super) enum Side {
    Client,
    Keeper,
}

impl KeeperSecret {
    /// A new one, laid beside `socket` in the place of an older one's.
    pub(super) fn create(socket: &Path) -> Result<Self, KeeperError> {
        let secret = Self(rand::random());
        let path = Self::path(socket);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(KeeperError::file("replace", path)(error));
            }
            _ => {}
        }
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(KeeperError::file("create", &path))?;
        file.write_all(&secret.0).map_err(KeeperError::file("write", path))?;
        Ok(secret)
    }

    /// The one beside `socket`; none beside that of a keeper of an older version.
    pub(super) fn read(socket: &Path) -> Result<Option<Self>, KeeperError> {
        let path = Self::path(socket);
        match fs::read(&path) {
            Ok(bytes) => match bytes.try_into() {
                Ok(bytes) => Ok(Some(Self(bytes))),
                Err(found) => Err(KeeperError::NotUnderstood {
                    expected: "32 bytes in the file beside the keeper's socket",
                    found: format!("{} in {}", found.len(), path.display()),
                }),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(KeeperError::file("read", path)(error)),
        }
    }

    /// Removes it from beside `socket`, unless another keeper's lies there by now.
    pub(super) fn remove(&self, socket: &Path) {
        let path = Self::path(socket);
        if fs::read(&path).is_ok_and(|found| found == self.0)
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(path = %path.display(), %error, "a secret was not removed");
        }
    }

    /// Where the secret of the keeper at `socket` lies.
    pub(super) fn path(socket: &Path) -> PathBuf {
        socket.with_extension("key")
    }

    /// The proof of one side that it knows the secret: HMAC-SHA-256.
    pub(super) fn prove(&self, side: Side, role: Role, client: Nonce, keeper: Nonce) -> Proof {
        Word(self.mac(side, role, client, keeper).finalize().into_bytes().into())
    }

    /// Whether a proof holds, in a time that does not tell how near it is.
    pub(super) fn holds(
        &self,
        proof: Proof,
        side: Side,
        role: Role,
        client: Nonce,
        keeper: Nonce,
    ) -> bool {
        self.mac(side, role, client, keeper).verify_slice(&proof.0).is_ok()
    }

    fn mac(&self, side: Side, role: Role, client: Nonce, keeper: Nonce) -> Hmac<Sha256> {
        let mut block = [0; 64];
        block[..self.0.len()].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        let who = [side as u8, role as u8];
        for part in [LABEL, &who, &client.0, &keeper.0] {
            mac.update(part);
        }
        mac
    }
}

/// Why a keeper does not run, or cannot be spoken to.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// No keeper listens there: no socket, or one that a dead keeper left behind.
    #[error("expected a keeper at {}, found none running", socket.display())]
    NotRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// Another keeper of the same session lives.
    #[error("expected a free socket at {}, found a keeper running there", socket.display())]
    AlreadyRunning {
        /// The socket.
        socket: PathBuf,
    },
    /// The system cannot bind such a path.
    #[error(
        "expected a socket path of at most {limit} bytes, found {found}: {}\n\
         use a data folder with a shorter path",
        socket.display()
    )]
    PathTooLong {
        /// The socket.
        socket: PathBuf,
        /// What the system allows.
        limit: usize,
        /// The length of the path.
        found: usize,
    },
    /// The keeper did not let us in.
    #[error("the keeper refused the connection: {reason}")]
    Refused {
        /// The keeper's own words.
        reason: String,
    },
    /// The other side spoke something else.
    #[error("expected {expected}, found {found}")]
    NotUnderstood {
        /// What should have come.
        expected: &'static str,
        /// What came.
        found: String,
    },
    /// Something took too long.
    #[error("expected {what} within {limit:?}, found nothing")]
    TimedOut {
        /// What was awaited.
        what: &'static str,
        /// How long.
        limit: Duration,
    },
    /// The keeper could not start.
    #[error("the keeper did not start: {reason}")]
    NotStarted {
        /// The keeper's own words.
        reason: String,
    },
    /// The browser started and ended, or did not speak.
    #[error("expected a browser that speaks, found {found}")]
    Browser {
        /// What happened instead.
        found: String,
    },
    /// The browser could not be started.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// The browser could not be attached to.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The further proxy of a session cannot be one.
    #[error(transparent)]
    Proxy(#[from] NotProxyUrl),
    /// A command to the keeper failed.
    #[error(transparent)]
    Call(#[from] CdpError),
    /// A file or socket could not be used.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried, such as `bind`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl KeeperError {
    /// A closure for `map_err` that names the file.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}

/// Everything that a keeper needs for its life; it reads it as JSON, the first line of its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeeperSpec {
    /// The session whose browser it holds.
    pub session: SessionId,
    /// Where it listens: at most 107 bytes, in a folder that only its user may enter.
    pub socket: PathBuf,
    /// The browser.
    pub browser: BrowserSpec,
    /// Where it and its browser log; kept below 1 MiB.
    pub log: PathBuf,
    /// Until when its browser lives unless the node gives it more time; none means that it does not
    /// need the node. For nodes that share a database: when this one falls silent, another one may
    /// run the session.
    #[serde(default)]
    pub hold_until: Option<BootInstant>,
    /// What must hold for every page from its first script on.
    #[serde(default)]
    pub prelude: Vec<PreludeCall>,
    /// Its browser's only way out to the network; none when that goes there by itself. Not for one that is
    /// attached.
    #[serde(default)]
    pub egress: Option<EgressSpec>,
}

/// What a session's way out is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct EgressSpec {
    /// Which hosts it reaches.
    #[serde(default)]
    pub fence: Fence,
    /// The further proxy through which it goes, if it does.
    #[serde(default)]
    pub proxy: Option<ProxySpec>,
    /// What the session asked for, of which this was made; none when it asked for nothing.
    #[serde(default)]
    pub asked: Option<Egress>,
}

/// By which further proxy it goes. It travels to the keeper over its standard input, and is in no output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxySpec {
    /// By this one.
    One(OneProxy),
    /// As the machine says.
    Machine {
        /// For requests without TLS.
        http: Option<OneProxy>,
        /// For all else.
        https: Option<OneProxy>,
        /// But for these hosts, as `NO_PROXY` has them.
        except: String,
    },
}

/// A further proxy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OneProxy {
    /// Where it is, such as `http://proxy.example:3128`.
    pub url: String,
    /// Who comes; none if it does not ask.
    #[serde(default)]
    pub credentials: Option<ProxyCredentials>,
}

/// Which browser a keeper holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowserSpec {
    /// Start one, and end with it.
    Launch(Box<LaunchOptions>),
    /// Attach to one that runs; it is left running when the keeper ends.
    Attach {
        /// Its CDP address, `http://…` or `ws://…`.
        url: String,
    },
}

/// A keeper that listens and whose browser speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The keeper's process.
    pub pid: u32,
    /// The browser's process; none when it was attached.
    pub browser_pid: Option<u32>,
    /// What the browser says of itself, such as `Chrome/156.0.8078.79`.
    pub browser_version: String,
    /// By which rules the files of the machine are taken away from the browser.
    pub confinement: Confinement,
}

/// The one line that a keeper writes to its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// It runs.
    Ready(Ready),
    /// It could not start, and ends.
    Error(String),
}

/// The longest sleep: a timer does not go on while the machine sleeps, and has to be looked at then.
const STEP: Duration = Duration::from_secs(1);

/// An instant of this machine, since its start (`CLOCK_BOOTTIME`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootInstant(Duration);

impl BootInstant {
    /// Now.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Self(Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default()))
    }

    /// So much later.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// Waits until then.
    pub(super) async fn reached(self) {
        loop {
            let left = self.0.saturating_sub(Self::now().0);
            if left.is_zero() {
                return;
            }
            sleep(left.min(STEP)).await;
        }
    }
}
