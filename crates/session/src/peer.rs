//! Peers: other nodes that an owner registered, and how they are asked.

use crate::view::View;
use crate::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// Whether a peer is trusted.
    PeerState, else UnknownPeerState ("state of a peer"):
    /// It was registered by something that no person confirmed: its fingerprint is still to be compared.
    Pending "pending",
    /// A person has compared its fingerprint.
    Confirmed "confirmed",
}

words! {
    /// What a node shows a peer to be let in. It says who may talk, never who wrote something.
    AuthMethod, else UnknownAuthMethod ("way to authenticate"):
    /// A token of Microsoft Entra ID, or of another OIDC provider.
    Msal "msal",
    /// An API key of the peer.
    ApiKey "apikey",
    /// The token of a dev tunnel, and with it an API key of the peer or a token of a provider: what gets
    /// through a tunnel proves nothing behind it.
    Tunnel "tunnel",
}

/// How much of sessions goes to a peer and is taken from it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct PeerLimits {
    /// What goes to it.
    pub give: View,
    /// What is taken from it.
    pub take: View,
}

impl PeerLimits {
    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        self.give.is_whole() && self.take.is_whole()
    }
}
