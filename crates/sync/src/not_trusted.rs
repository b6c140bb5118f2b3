//! Why a peer that answers is not talked to: its certificate does not count here.

use baton_net::outbound::HOW_TO_TRUST;

/// What is wrong with the certificate. Nothing was sent, and nothing that the peer holds is taken over.
#[derive(Debug, thiserror::Error)]
pub enum NotTrusted {
    /// Nobody whom this machine trusts signed it, or not for this name, or not for today.
    #[error(
        "peer {name} answers, and this machine does not trust its certificate: {why}\n\
         its sessions stay as they are; {HOW_TO_TRUST}"
    )]
    Certificate {
        /// What people call the peer.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// It is of another machine than the peer, whose key is pinned.
    #[error(
        "another machine answers in the place of peer {name}: its certificate has another key than the one that \
         is pinned\n\
         its sessions stay as they are; if the node there is a new one on purpose, remove the peer and join it again"
    )]
    OtherMachine {
        /// What people call the peer.
        name: String,
    },
}
