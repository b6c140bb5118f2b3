//! Sessions move between nodes: what is asked for and answered.
//!
//! Names are those that were asked for (`nodeId`, `lastModified`, …). Rooms: [`card`] says who a
//! node is; [`peer`] how others are registered; [`index`] what there is; [`exchange`] and [`parcel`]
//! what two nodes tell each other, sealed; [`movement`] what moved; [`conflict`] what someone has to
//! decide; [`save`] makes a revision; [`directory`] how it stands with the files of a folder, and [`mod@file`] is one; [`lease`] says who holds a session; [`standing`] how all that stands, as it changes.

pub mod card;
pub mod conflict;
pub mod directory;
pub mod exchange;
pub mod file;
pub mod index;
pub mod lease;
pub mod movement;
pub mod parcel;
pub mod peer;
pub mod save;
pub mod standing;

pub use card::{NodeCard, NodeIdentity};
pub use conflict::{
    ConflictDetails, ConflictList, ConflictView, ResolveConflict, RevisionDifference, RevisionView,
};
pub use directory::{DirectoryView, RefusedFile};
pub use exchange::{AskSeen, Exchange, FetchParts, Taken, Wanted};
pub use file::{SealedFile, TakenFile};
pub use index::{IndexedSession, SyncIndex};
pub use lease::{
    HandedView, Handing, HolderView, LeaseAnswer, LeaseOutcome, SharedView, TakeLease,
};
pub use movement::{Difference, DifferenceList, Movement, MovementOutcome, SessionDifference};
pub use parcel::{InvalidParcels, Parcel};
pub use peer::{
    ClientCredential, ConfirmPeer, ListPeers, PeerList, PeerStatus, PeerView, RegisterPeer,
    pending_there,
};
pub use save::{SaveSession, SavedView};
pub use standing::{AskIndex, IndexMark, NextIndex, PeerStanding, SyncStanding};
