//! Carry: sessions move between nodes.
//!
//! The one idea: what moves are *revisions*, and what a browser or a snapshot holds here is a working copy
//! that comes from one of them, its *base*. Nothing that arrives ever touches a running browser; what was
//! captured here and not yet saved is saved first, so that it is compared and never overwritten.
//!
//! [`identity`] is who this node is, [`messages`] signs what nodes say to each other, [`sealing`] seals it
//! for one of them, and [`oidc`] reads the tokens of providers; [`webhooks`] tell programs of what came,
//! and [`mod@file`] seals files of one session.
//!
//! Rooms of what moves: `save` is asked to, and what is whole becomes a revision in `publish`; `shelf` holds
//! what is shared of a session and who holds it, and `working` what of it is here, and `partial` when
//! that is a part, or a peer is given one; `receive` takes what another node offers, and `given` is what it is given; `reconcile` merges what can be merged; `parcels` pack parts,
//! and `contents` reads them; `remote` speaks to a peer, signed and sealed, and `pull`, `movement` and
//! `differences` use it; `credential` is what a peer is shown; `index` lists; `conflicts` are shown and
//! resolved; `deletions` are remembered, until every peer has heard; an `icon` is asked for by itself; a
//! `file` holds all that is shared of a session, `post` packs and takes it, the `directory` is where such
//! files lie, and `folder` keeps it and the database in step; `session_files` are for who is no node; a
//! `peer_lease` says who runs a session, `acquire` takes it, and `elsewhere` is what sessions ask of other
//! nodes; `peers` registers nodes; `auto` does all that by
//! itself, and `standing` tells how it stands, as it changes. `context` is what all of these are given, and
//! what they remember.

mod acquire;
mod answers;
mod auto;
mod conflicts;
mod contents;
mod context;
mod credential;
mod damage;
mod deletions;
mod differences;
pub mod directory;
mod elsewhere;
mod error;
pub mod file;
mod folder;
mod given;
mod icon;
pub mod identity;
mod index;
mod letting_in;
pub mod messages;
mod movement;
mod not_joined;
mod not_trusted;
pub mod oidc;
mod parcels;
mod partial;
pub mod peer_lease;
pub mod peers;
pub mod people;
pub mod post;
mod publish;
mod pull;
mod receive;
mod reconcile;
mod remote;
mod save;
pub mod sealing;
mod session_files;
mod shelf;
pub mod standing;
pub mod webhooks;
mod working;

pub use auto::{start as start_auto, start_cloud};
pub use conflicts::{conflict, conflicts, resolve};
pub use context::folder::FolderState;
pub use context::given::Given;
pub use context::{ConflictResolution, Own, Sync, SyncSettings};
pub use credential::TUNNEL;
pub use damage::DamageError;
pub use deletions::{delete, note_told};
pub use differences::{compare, differences, remote_index};
pub use elsewhere::{Elsewhere, Nodes, held_elsewhere};
pub use error::SyncError;
pub use folder::{start as start_folder, view as look_at_directory};
pub use given::{exchange_for, fetch as fetch_parts, given, index_for};
pub use icon::{icon, icon_for};
pub use index::index;
pub use letting_in::{command, preparation, wanted};
pub use movement::{CALL_LIMIT, push};
pub use not_joined::NotJoined;
pub use not_trusted::NotTrusted;
pub use parcels::stage as stage_parts;
pub use partial::is_seen;
pub use pull::pull;
pub use receive::take_from;
pub use remote::{SEALED, Topic};
pub use save::save;
pub use session_files::{download, upload};
