//! Peers: other nodes that an owner registered, and how they are asked.

use crate::words::words;

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
