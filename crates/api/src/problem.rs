//! How a request fails: the body of every answer that is an error (RFC 9457, `application/problem+json`),
//! and the table of codes that says what each means over HTTP and on the command line.
//!
//! The one idea: an error of any crate says which code it is ([`Answers`]); status, exit code and hint follow
//! from the code.

use serde::{Deserialize, Serialize};
use std::error::Error;
use utoipa::ToSchema;

/// The media type of a problem.
pub const CONTENT_TYPE: &str = "application/problem+json";

/// Why a request failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `urn:baton:problem:` and the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the code means, in a few words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// A stable word that programs may rely on.
    pub code: ErrorCode,
    /// What was expected and what was found. Never a secret.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The request's id, as in the node's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Problem {
    /// A problem with this code; `detail` says what was expected and what was found.
    pub fn new(code: ErrorCode, detail: impl Into<String>) -> Self {
        Self {
            kind: format!("urn:baton:problem:{}", code.as_str()),
            title: code.title().to_owned(),
            status: code.status(),
            code,
            detail: detail.into(),
            hint: None,
            request_id: None,
        }
    }

    /// The same problem, with what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// Failed for a reason that has no code of its own.
    Failed = 1,
    /// The command line, a setting or a request was wrong.
    Usage = 2,
    /// What was asked for does not exist, or belongs to someone else.
    NotFound = 3,
    /// Something else stands in the way.
    Conflict = 4,
    /// The key does not allow it.
    Denied = 5,
    /// Done, but not everything came back: the receipt says what.
    Losses = 6,
}

impl Exit {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// One row a code: the variant, its HTTP status, its exit code, its title.
macro_rules! error_codes {
    ($($(#[$doc:meta])* $code:ident $word:tt $status:literal $exit:ident $title:literal;)*) => {
        /// Why a request failed: stable words that programs may rely on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
        pub enum ErrorCode {
            $($(#[$doc])* #[serde(rename = $word)] $code,)*
        }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$code => $word,)* }
            }

            /// The status of an HTTP answer.
            pub fn status(self) -> u16 {
                match self { $(Self::$code => $status,)* }
            }

            /// How a command ends.
            pub fn exit(self) -> Exit {
                match self { $(Self::$code => Exit::$exit,)* }
            }

            /// What it means, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$code => $title,)* }
            }
        }
    };
}

error_codes! {
    /// The body is not JSON.
    InvalidJson "invalid_json" 400 Usage "the body is not JSON";
    /// The key is missing, unknown or revoked.
    Unauthenticated "unauthenticated" 401 Denied "an API key is needed";
    /// The key lacks a scope, or the request is not allowed at all.
    Forbidden "forbidden" 403 Denied "not allowed";
    /// The browser has every file of its user, so others than that user may not drive it.
    NotConfined "not_confined" 403 Denied "the browser is not confined";
    /// The owner has as much as the settings of its nodes allow.
    QuotaReached "quota_reached" 403 Denied "the owner has all that it may have";
    /// A message between nodes is not from whom it should be, or was changed.
    Untrusted "untrusted" 403 Denied "the message cannot be trusted";
    /// The node does not ask this address.
    AddressNotAllowed "address_not_allowed" 403 Denied "the address is not asked";
    /// The `Host` or `Origin` header is not this node's.
    ForeignOrigin "foreign_origin" 403 Denied "the request comes from elsewhere";
    /// No such session, or it belongs to someone else.
    SessionNotFound "session_not_found" 404 NotFound "no such session";
    /// The session has no snapshot, or the snapshot lacks what was asked for.
    NoSnapshot "no_snapshot" 404 NotFound "no snapshot";
    /// No such peer, or it belongs to someone else.
    PeerNotFound "peer_not_found" 404 NotFound "no such peer";
    /// No such invitation that counts: it was used, has ended, or never was.
    InvitationNotFound "invitation_not_found" 404 NotFound "no open invitation";
    /// The session has no such file.
    FileNotFound "file_not_found" 404 NotFound "no such file";
    /// No such ask, or not in this session.
    AskNotFound "ask_not_found" 404 NotFound "no such ask";
    /// Nothing of the session is shared, or not this.
    NotShared "not_shared" 404 NotFound "nothing of the session is shared";
    /// The board has no such agent or task, or there is no board.
    NotOnBoard "not_on_board" 404 NotFound "not on the board";
    /// The tab was closed, there never was one, or it belongs to someone else.
    TabGone "tab_gone" 404 NotFound "no such tab";
    /// No such key, or it belongs to someone else.
    KeyNotFound "key_not_found" 404 NotFound "no such key";
    /// No such cocoon, or it belongs to someone else.
    UpstreamNotFound "cocoon_not_found" 404 NotFound "no such cocoon";
    /// No such sandbox, it has ended, or it belongs to someone else.
    SandboxNotFound "sandbox_not_found" 404 NotFound "no such sandbox";
    /// There is no such agent behind the gateway.
    ModelNotFound "model_not_found" 404 NotFound "no such model";
    /// The cluster has no such node, or this node is of no cluster.
    NodeNotFound "node_not_found" 404 NotFound "no such node";
    /// No such address.
    RouteNotFound "route_not_found" 404 NotFound "no such address";
    /// The address exists, but not with this method.
    MethodNotAllowed "method_not_allowed" 405 Usage "wrong method";
    /// The body came too slowly, or broke off without a word.
    BodyTooSlow "body_too_slow" 408 Failed "the body comes too slowly";
    /// The name belongs to another session or key.
    NameTaken "name_taken" 409 Conflict "the name is taken";
    /// The prefix fits more than one session, or more than one snapshot.
    AmbiguousReference "ambiguous_reference" 409 Conflict "more than one fits";
    /// The session's lifecycle state does not allow it.
    WrongState "wrong_state" 409 Conflict "the session's state does not allow it";
    /// A living browser holds the profile.
    ProfileInUse "profile_in_use" 409 Conflict "the profile is in use";
    /// Nobody has confirmed who the peer is.
    PeerPending "peer_pending" 409 Conflict "the peer is not confirmed";
    /// The node that asks is known there, and nobody there has confirmed that it is the one that is meant.
    PendingThere "pending_there" 409 Conflict "the node that asks is not confirmed there";
    /// The node does not listen where other machines could ask it.
    NotReachable "not_reachable" 409 Conflict "other machines cannot ask this node";
    /// Another agent drives the session.
    OtherAgent "other_agent" 409 Conflict "another agent drives the session";
    /// A sandbox or a browser has the session.
    SessionHeld "session_held" 409 Conflict "the session is held";
    /// The login that should be handed in has expired.
    SessionExpired "session_expired" 409 Conflict "the login has expired";
    /// The session has no login where one is needed.
    LoginMissing "login_missing" 409 Conflict "no login where one is needed";
    /// Something else changed the same thing, or holds it.
    Conflict "conflict" 409 Conflict "something else stands in the way";
    /// The revision that the request is based on is not the newest.
    OtherRevision "other_revision" 412 Conflict "the revision is another one";
    /// The body is larger than the node takes.
    BodyTooLarge "body_too_large" 413 Usage "the body is too large";
    /// The body does not say that it is JSON.
    UnsupportedMediaType "unsupported_media_type" 415 Usage "expected JSON";
    /// A request that another node of the cluster passed on, about a session that is not here.
    Misdirected "misdirected" 421 Failed "the request is for another node";
    /// The request can be read, but makes no sense.
    InvalidRequest "invalid_request" 422 Usage "the request is not valid";
    /// What should be handed in is no session.
    InvalidSession "invalid_session" 422 Usage "the session is not valid";
    /// The settings know no such kind of sandbox.
    UnknownFlavor "unknown_flavor" 422 Usage "no such flavor";
    /// Revisions from elsewhere are not what they say.
    RevisionRefused "revision_refused" 422 Usage "the revisions are refused";
    /// More requests, or more refused keys, than the node takes in this time.
    TooManyRequests "too_many_requests" 429 Failed "too many requests";
    /// A fault of Baton.
    Internal "internal" 500 Failed "a fault inside the node";
    /// The database or a stored part is damaged.
    StorageDamaged "storage_damaged" 500 Failed "stored data is damaged";
    /// Nothing answers at the DevTools address.
    CdpUnreachable "cdp_unreachable" 502 Failed "no browser answers at the address";
    /// A peer, or the provider of its tokens, does not let this node in.
    PeerDenied "peer_denied" 502 Denied "the peer does not let this node in";
    /// A peer answers, and refuses.
    PeerRefused "peer_refused" 502 Failed "the peer refuses";
    /// A peer does not answer.
    PeerUnreachable "peer_unreachable" 502 Failed "the peer does not answer";
    /// A session service does not give a session.
    SessionServiceFailed "session_service_failed" 502 Failed "the session service gives no session";
    /// An agent behind the gateway did not end well.
    AgentFailed "agent_failed" 502 Failed "the agent failed";
    /// The model of an agent does not answer.
    UpstreamFailed "upstream_failed" 502 Failed "the model does not answer";
    /// No browser was found, it did not start, or it ended.
    BrowserUnavailable "browser_unavailable" 503 Failed "the browser is not available";
    /// The provider that gives out tokens does not answer.
    ProviderUnavailable "provider_unavailable" 503 Failed "the provider does not answer";
    /// The tab's browser is not connected.
    BrowserOffline "browser_offline" 503 Failed "the tab's browser is not connected";
    /// The node makes no sandboxes, or this one did not start.
    SandboxUnavailable "sandbox_unavailable" 503 Failed "no sandbox can be made";
    /// A sandbox can have no display.
    VncUnavailable "vnc_unavailable" 503 Failed "no display can be made";
    /// The node of the cluster that has the session does not answer.
    NodeUnreachable "node_unreachable" 503 Failed "the session's node does not answer";
    /// No node has room for one browser or sandbox more.
    NoRoom "no_room" 503 Failed "no room for one browser or sandbox more";
    /// The database does not answer.
    StorageUnavailable "storage_unavailable" 503 Failed "the database does not answer";
    /// It took longer than its limit.
    TimedOut "timed_out" 504 Failed "it took too long";
    /// The disk is full, or a limit on what is stored is reached.
    StorageFull "storage_full" 507 Failed "no room left to store it";
}

/// An error that says what it is for a client. The first line of its text is the detail of a [`Problem`], the
/// others are what to do.
pub trait Answers: Error {
    /// The word that programs rely on.
    fn code(&self) -> ErrorCode;

    /// What to do, where the text does not say it.
    fn hint(&self) -> Option<&'static str> {
        usual_hint(self.code())
    }

    /// The body of the answer.
    fn problem(&self) -> Problem {
        let text = self.to_string();
        let (detail, hint) = match text.split_once('\n') {
            Some((detail, hint)) => (detail, Some(hint)),
            None => (text.as_str(), None),
        };
        let problem = Problem::new(self.code(), detail);
        match hint.or(self.hint()) {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// Errors that become one of a crate above by way of another one:
/// `by_way_of!(NodeError: RuntimeError { StoreError, LiveError });`.
#[macro_export]
macro_rules! by_way_of {
    ($into:ty: $($way:ty { $($error:ty),+ $(,)? })+) => {$($(
        impl From<$error> for $into {
            fn from(error: $error) -> Self {
                <$way>::from(error).into()
            }
        }
    )+)+};
}

/// What to do about an error with this code, where nothing else is said.
pub fn usual_hint(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::SessionNotFound => Some("baton sessions list shows the sessions there are"),
        ErrorCode::NoSnapshot => Some("baton sessions capture takes one while a session is active"),
        ErrorCode::BrowserUnavailable => Some("baton doctor says what is missing"),
        ErrorCode::Forbidden => Some("baton keys create makes a key with other scopes"),
        ErrorCode::StorageUnavailable => {
            Some("ask again in some seconds; browsers that run go on meanwhile")
        }
        _ => None,
    }
}

/// The request can be read, but makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {field} to be {expected}, found {found}")]
pub struct Invalid {
    /// Which part of the request.
    pub field: &'static str,
    /// What it may be.
    pub expected: &'static str,
    /// What it is.
    pub found: String,
}
