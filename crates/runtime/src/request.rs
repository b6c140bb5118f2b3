//! A request: who asks, what they may and agreed to, and which session and which page they name.

use crate::error::RuntimeError;
use baton_api::{Invalid, Scope};
use baton_session::{AgentName, Owner, Session};
use baton_store::{ApiKey, AuditEntry};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Whose sessions are seen.
    pub owner: Owner,
    /// The id of the key, or of the client that a provider vouches for.
    pub key: String,
    /// What the audit log calls the caller.
    pub actor: Actor,
    /// What the key allows.
    pub scopes: BTreeSet<Scope>,
    /// Which agent it says it is.
    pub agent: Option<AgentName>,
}

/// What stands for a key where a node does something by itself.
const NODE_KEY: &str = "node";

impl Caller {
    /// The node itself, in the name of an owner: what it does without anybody asking for it.
    pub fn node(owner: Owner) -> Self {
        let scopes = [Scope::Read, Scope::Sync].into();
        Self { owner, key: NODE_KEY.to_owned(), actor: Actor::node(), scopes, agent: None }
    }

    /// Whether it is the node itself. No key has this id: those of keys are random.
    pub fn is_node(&self) -> bool {
        self.key == NODE_KEY
    }

    /// Checks that the key allows `needed`.
    pub fn require(&self, needed: Scope) -> Result<(), RuntimeError> {
        if self.scopes.contains(&needed) {
            return Ok(());
        }
        let found: Vec<&str> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        Err(RuntimeError::Forbidden { needed, found: found.join(", ") })
    }
}

/// Who does something: an API key, a client of a provider, or the node by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor(String);

impl Actor {
    /// The node, at its start or on its own account.
    pub fn node() -> Self {
        Self(AuditEntry::NODE.to_owned())
    }

    /// A key. Its id follows its name, so that no name can pass for another's, or the node's.
    pub fn key(key: &ApiKey) -> Self {
        Self(format!("{} ({})", key.name, key.id))
    }

    /// Another node, by a token that the provider `issuer` gave to `client`.
    pub fn client(client: &str, issuer: &str) -> Self {
        Self(format!("client {client} of {issuer}"))
    }

    /// Another node, by an invitation of this one.
    pub fn invited(invitation: &str) -> Self {
        Self(format!("a node by {invitation}"))
    }

    /// A caller as the node of the same cluster called it that let it in.
    pub fn passed_on(text: String) -> Self {
        Self(text)
    }

    /// Somebody whom the provider `issuer` sent back, or is said to have, and who is not let in.
    pub fn newcomer(issuer: &str) -> Self {
        Self(format!("a person of {issuer}"))
    }

    /// A caller with a token that opens nothing.
    pub fn stranger() -> Self {
        Self("a token".to_owned())
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a node that runs a session elsewhere is asked to give it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// They are: they capture, save and close it.
    Asked,
    /// They are not: the session is taken only if it is still this node's.
    IfFree,
}

/// Which session an operation is about.
pub enum Reference<'a> {
    /// One that is to be found by its id, the start of that, or its name.
    Words(&'a str),
    /// One that the caller has found.
    Found(Box<Session>),
}

impl<'a> From<&'a str> for Reference<'a> {
    fn from(words: &'a str) -> Self {
        Self::Words(words)
    }
}

impl<'a> From<&'a String> for Reference<'a> {
    fn from(words: &'a String) -> Self {
        Self::Words(words)
    }
}

impl From<Session> for Reference<'_> {
    fn from(session: Session) -> Self {
        Self::Found(Box::new(session))
    }
}

/// The size of a page when none is asked for.
const DEFAULT_LIMIT: u32 = 50;

/// How long a page of a list may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageBound {
    most: u32,
    expected: &'static str,
}

impl PageBound {
    /// Of lists whose items are read one by one.
    pub(crate) const USUAL: Self = Self { most: 200, expected: "a number from 1 to 200" };
    /// Of the list of sessions, whose items are short: whoever shows it shows it whole.
    pub(crate) const OF_SESSIONS: Self = Self { most: 1000, expected: "a number from 1 to 1000" };

    /// The size of a page that is asked for.
    pub(crate) fn size(self, asked: Option<u32>) -> Result<u32, RuntimeError> {
        let size = asked.unwrap_or(DEFAULT_LIMIT);
        if (1..=self.most).contains(&size) {
            return Ok(size);
        }
        let expected = self.expected;
        Err(Invalid { field: "limit", expected, found: size.to_string() }.into())
    }
}

/// The page, and the id after which the next one begins, when there is one. A caller that fetches one more
/// than the limit knows.
pub(crate) fn cut<T, I>(
    mut found: Vec<T>,
    limit: u32,
    id: impl Fn(&T) -> I,
) -> (Vec<T>, Option<I>) {
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(id);
    (found, next)
}

/// When this node was last asked for something.
#[derive(Clone)]
pub struct Activity(Arc<ActivityState>);

struct ActivityState {
    in_flight: AtomicUsize,
    last: Mutex<Instant>,
}

impl Default for Activity {
    fn default() -> Self {
        let last = Mutex::new(Instant::now());
        Self(Arc::new(ActivityState { in_flight: AtomicUsize::new(0), last }))
    }
}

/// A request under way.
pub struct Request(Activity);

impl Activity {
    /// Notes that a request begins; it ends when the answer is dropped.
    pub fn start_request(&self) -> Request {
        self.0.in_flight.fetch_add(1, Ordering::SeqCst);
        Request(self.clone())
    }

    /// How long no request has been under way.
    pub fn quiet(&self) -> Duration {
        if self.0.in_flight.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        self.0.last.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        let Self(Activity(inner)) = self;
        *inner.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        inner.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}
