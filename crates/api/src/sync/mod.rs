//! Sessions move between nodes: what is asked for and answered.
//!
//! Names are those that were asked for (`nodeId`, `lastModified`, …). Rooms: [`peer`] says how other nodes
//! are registered; [`exchange`] and [`parcel`] what two nodes tell each other, also of who holds a session;
//! [`movement`] what moved, over the net or as files; [`standing`] how all that stands, as it changes, and
//! what someone has to decide. Who a node is, its card says ([`NodeCard`]).

pub mod exchange;
pub mod movement;
pub mod parcel;
pub mod peer;
pub mod standing;

pub use crate::node::{NodeCard, NodeIdentity};
pub use exchange::{
    AskSeen, Exchange, FetchParts, HandedView, Handing, HolderView, IndexedSession,
    PeerLeaseAnswer, PeerLeaseOutcome, SharedView, SyncIndex, TakePeerLease, Taken, Wanted,
};
pub use movement::{
    Difference, DifferenceList, DirectoryView, Movement, MovementOutcome, RefusedFile, SaveSession,
    SavedView, SealedFile, SessionDifference, TakenFile,
};
pub use parcel::{InvalidParcels, Parcel};
pub use peer::{
    ClientCredential, ConfirmPeer, ListPeers, PeerList, PeerStatus, PeerView, RegisterPeer,
    pending_there,
};
pub use standing::{
    AskIndex, ConflictDetails, ConflictList, ConflictView, IndexMark, NextIndex, PeerStanding,
    ResolveConflict, RevisionDifference, RevisionView, SyncStanding,
};
