//! Peers: nodes that are registered here, what is in conflict, and how far each has come, told as it
//! changes.
//!
//! A conflict is between revisions of one session of which none had seen the other.

use super::SessionDifference;
use super::exchange::SyncIndex;
use crate::problem::Problem;
use baton_session::diff::SiteDiff;
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_session::wire::NodeType;
use baton_session::{Fingerprint, NodeId, PartHash, RevisionId, SessionId, SessionName};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;
use utoipa::{IntoParams, ToSchema};

/// How peers are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListPeers {
    /// Do not ask them whether they answer: for whoever asks them next anyway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
}

/// Registers a node, which is asked who it is. It is `pending` until its fingerprint is confirmed.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegisterPeer {
    /// Where it is asked, such as `https://baton.example.org`.
    pub url: Url,
    /// What people call it: 1 to 64 characters, unique among the owner's peers.
    pub name: String,
    /// How this node says there who it acts for.
    pub auth_method: AuthMethod,
    /// The API key that the other node gave out, with the scope `sync`: for the method `apikey`, and
    /// for `tunnel` unless `oidc` is there. Without what its method needs nothing moves until the same
    /// node is registered again, with that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// As what this node asks the provider whose tokens the other node takes: for the method `msal`,
    /// and for `tunnel` unless `apiKey` is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oidc: Option<ClientCredential>,
    /// What gets requests through the dev tunnel that leads to the other node: for the method
    /// `tunnel`. It proves nothing there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel_token: Option<String>,
    /// The fingerprint that a person has seen at the other node: with it the peer is confirmed at
    /// once. Needs the scope `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    /// How much of sessions goes to it and is taken from it, so that nothing moves before that holds;
    /// left out, everything, or what was set before. For a peer that is known it needs the scope
    /// `admin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<PeerLimits>,
}

impl fmt::Debug for RegisterPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, name, auth_method, .. } = self;
        write!(f, "RegisterPeer({name} at {url} by {auth_method})")
    }
}

/// A client of an OIDC provider such as Entra ID (OAuth 2.0, client credentials).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientCredential {
    /// The provider, as it names itself: `https://login.microsoftonline.com/TENANT/v2.0`.
    pub issuer: String,
    /// The client, as the provider knows it.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// What is asked for, such as `api://baton/.default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// For whom the token is to be, where the provider asks for that (RFC 8707).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
}

impl fmt::Debug for ClientCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientCredential({} at {})", self.client_id, self.issuer)
    }
}

/// Confirms a peer that is pending.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmPeer {
    /// What a person has compared with what the other node shows.
    pub fingerprint: Fingerprint,
}

/// Whether a peer answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PeerStatus {
    /// It answered lately, and is who it was.
    Online,
    /// It did not answer.
    Offline,
    /// It was not asked yet, or it has no address: it asks us.
    Unknown,
}

/// A peer, without what opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerView {
    /// Which node.
    pub node_id: NodeId,
    /// How it is deployed.
    pub node_type: NodeType,
    /// Where it is asked; none for a node that only asks us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Url>,
    /// What people call it.
    pub name: String,
    /// When it was heard last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Timestamp>,
    /// When a session moved last, or was found to need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_sync: Option<Timestamp>,
    /// Whether it answers.
    pub status: PeerStatus,
    /// Why it does not, when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How this node says there who it acts for.
    pub auth_method: AuthMethod,
    /// Whether a person has confirmed who it is.
    pub state: PeerState,
    /// What a person compares.
    pub fingerprint: Fingerprint,
    /// Whether this node has what its method needs, such as an API key of it. Without that nothing is
    /// asked of it; one that only asks us needs none.
    pub has_key: bool,
    /// What a person types at the peer, which has said that this node is pending there: nothing moves before
    /// it is confirmed. Left out where the peer has not said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm_there: Option<String>,
    /// How much of sessions goes to it and is taken from it; left out where that is everything.
    #[serde(default, skip_serializing_if = "PeerLimits::is_none")]
    #[schema(required = false)]
    pub limits: PeerLimits,
}

/// What is said of a node that has not confirmed this one, wherever that is said; `name` is what people here
/// call it. Behind it stands what to type there.
pub fn pending_there(name: &str) -> String {
    format!("this node is pending at {name}: nothing moves before somebody confirms it there")
}

/// This node, and its peers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PeerList {
    /// This node.
    #[serde(rename = "self")]
    pub this: crate::node::NodeCard,
    /// The fingerprint that a person at a peer compares.
    pub fingerprint: Fingerprint,
    /// The owner's peers, by name.
    pub items: Vec<PeerView>,
}

/// How sync stands for an owner: an event `sync` of `GET /sync/events`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncStanding {
    /// The sessions in which someone has to choose, by name.
    pub conflicts: Vec<ConflictView>,
    /// The peers, by name.
    pub peers: Vec<PeerStanding>,
}

/// How it stands with one peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PeerStanding {
    /// The peer.
    pub peer: PeerView,
    /// The sessions that differ, by name; none when nobody knows: it was not asked, or did not answer yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<SessionDifference>>,
    /// Why it does not answer; what it said last is left out then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// Which index a node has seen: the SHA-256 of its JSON in hexadecimal digits, made by the node whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IndexMark(pub String);

/// Asks a node for its index as soon as that is another one than the asker has seen. Travels sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskIndex {
    /// The one that the asker has seen; none when it has seen none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<IndexMark>,
}

/// The index that came, or that there was no other one as long as the node waited. Travels sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextIndex {
    /// Which one the node has now.
    pub mark: IndexMark,
    /// The index; none when it is the one that the asker has seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<SyncIndex>,
}

/// The owner's sessions in which someone has to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConflictList {
    /// By name.
    pub items: Vec<ConflictView>,
}

/// A session in which someone has to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConflictView {
    /// Which session.
    pub session_id: SessionId,
    /// What it is called here.
    pub name: SessionName,
    /// What counts now.
    pub current: RevisionView,
    /// What is kept beside it, the latest first.
    pub siblings: Vec<RevisionView>,
}

/// A revision, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevisionView {
    /// Which one.
    pub rev: RevisionId,
    /// The node that wrote it.
    pub node_id: NodeId,
    /// When, by that node's clock.
    pub last_modified: Timestamp,
    /// The checksum of its state.
    pub checksum: PartHash,
    /// Bytes of its parts together.
    pub size: u64,
    /// Whether it deletes the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

/// A session in which someone has to choose, and how what there is to choose from differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConflictDetails {
    /// Its revisions.
    #[serde(flatten)]
    pub conflict: ConflictView,
    /// For each of the siblings, in their order, how it differs from what counts now.
    pub differences: Vec<RevisionDifference>,
}

/// How a sibling differs from the revision that counts, without a value of either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RevisionDifference {
    /// Which sibling.
    pub rev: RevisionId,
    /// By site and kind: what is `added` has only the sibling, what is `removed` only the revision
    /// that counts. Empty when one of the two deletes the session.
    pub sites: Vec<SiteDiff>,
    /// Why the two could not be compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

/// Ends the conflicts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolveConflict {
    /// The revision that counts from now on: its name, or a unique beginning of it.
    pub keep: String,
}
