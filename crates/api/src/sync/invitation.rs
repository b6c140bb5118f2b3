//! Invitations: two nodes become peers by one text that a person carries from the one to the other.
//!
//! Who has the text may join once, so nothing here shows it when it is written to a log.

use baton_session::NodeSignature;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::SocketAddr;
use url::Url;
use utoipa::{IntoParams, ToSchema};

/// Invites another node to become a peer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateInvitation {
    /// Listen for peers there from now on, in TLS, also after a restart; `0.0.0.0:7421` is every address of the
    /// machine. Left out, nothing changes: then the node must be reachable already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub listen: Option<SocketAddr>,
    /// Where the other machine asks this one, such as `https://home.example.org:7421`, in the place of the
    /// addresses that this node finds itself; 8 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<Url>,
}

/// An invitation, this once with its text.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreatedInvitation {
    /// What it is called: `inv_` and 16 hexadecimal digits.
    pub id: String,
    /// The text that the other node is given, `BATON-…`. It is a secret, and counts once.
    pub code: String,
    /// Until when it counts.
    pub expires_at: Timestamp,
    /// Where the other machine is to ask this one.
    pub addresses: Vec<Url>,
    /// Whether the text says which key the certificate there has; otherwise it is checked as others are.
    pub pinned: bool,
}

impl fmt::Debug for CreatedInvitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CreatedInvitation({})", self.id)
    }
}

/// How an invitation is taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CancelInvitation {
    /// Close the listener for peers as well that was opened for it, unless another invitation was made since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub listener: bool,
}

/// An open invitation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationView {
    /// What it is called.
    pub id: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it counts.
    pub expires_at: Timestamp,
}

/// The owner's open invitations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InvitationList {
    /// Where this node listens for peers alone; none when it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub listens: Option<SocketAddr>,
    /// The oldest first.
    pub items: Vec<InvitationView>,
}

/// Takes an invitation of another node.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinPeer {
    /// The text, `BATON-…`.
    pub code: String,
    /// What people call the other node here; left out, what it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl fmt::Debug for JoinPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinPeer(as {:?})", self.name)
    }
}

/// A node proves that it has the secret of an invitation. Travels sealed, and signed by that node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedeemInvitation {
    /// Which one.
    pub invitation: String,
    /// 16 random bytes, as 32 hexadecimal digits.
    pub nonce: String,
    /// The proof, over both fingerprints and the nonce.
    pub proof: NodeSignature,
}

/// What a node that joined is given. Travels sealed, and signed by the node that invited.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Joined {
    /// The API key that it shows from now on, which is for it alone.
    pub api_key: String,
    /// What the node that invited calls itself.
    pub name: String,
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Joined({})", self.name)
    }
}
