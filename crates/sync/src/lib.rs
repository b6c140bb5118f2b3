//! Carry: sessions move between nodes.
//!
//! The one idea: what moves are *revisions*, and what a browser or a snapshot holds here is a working copy
//! that comes from one of them, its *base*. Nothing that arrives ever touches a running browser; what was
//! captured here and not yet saved is saved first, so that it is compared and never overwritten.
//!
//! [`identity`] is who this node is, [`messages`] signs what nodes say to each other, [`sealing`] seals it
//! for one of them, and [`oidc`] reads the tokens of providers; [`webhooks`] tell programs of what came,
//! and [`bundle`] seals a file of one session.
//!
//! Rooms of what moves: `save` is asked to, and what is `whole` becomes a revision in `publish`; `shelf`
//! holds what is shared of a session, and `working` what of it stands here, and `partial` when that is a
//! part; `receive` takes what another node offers and `offer` gives, or what is `seen` of it by somebody
//! who is given a part; `reconcile` merges what can be merged; `parcels` pack parts, and those that just
//! came are `at_hand`; `remote` speaks to a peer, signed and sealed, and `pull`, `push` and `differences`
//! use it; `credential` is what a peer is shown; `stranger` asks who somebody is; `index` lists;
//! `conflicts` are shown and resolved, and their revisions `compared`; `delete` is remembered, until
//! `forget` finds that every peer has heard; an `icon` is asked for by itself; a `file` holds all that is
//! shared of a session, the `directory` is where such files lie, and `folder` keeps it and the database in
//! step; `lease` says who runs a session, and `shown` how it stands among nodes; `peers` registers nodes,
//! `given` notes which sessions they are given, and `cloud` the one that the settings name; `auto` does all
//! that by itself, and `standing` tells how it stands, as it changes.

mod answers;
mod at_hand;
mod auto;
pub mod bundle;
mod cloud;
mod compared;
mod conflicts;
mod contents;
mod context;
mod credential;
mod damage;
mod delete;
mod differences;
pub mod directory;
mod download;
mod elsewhere;
mod error;
pub mod file;
mod folder;
mod forget;
mod given;
mod icon;
pub mod identity;
mod inbound;
mod index;
mod index_cache;
mod index_for;
pub mod lease;
mod letting_in;
pub mod messages;
mod movement;
mod movements;
mod offer;
pub mod oidc;
mod origin;
mod origins;
mod pace;
mod parcels;
mod partial;
pub mod peers;
mod publish;
mod pull;
mod push;
mod receive;
mod reconcile;
mod remains;
mod remote;
mod save;
pub mod sealing;
mod seen;
mod settings;
mod shelf;
mod shown;
pub mod standing;
mod stranger;
mod upload;
pub mod webhooks;
mod whole;
mod working;

pub use auto::start as start_auto;
pub use cloud::start as start_cloud;
pub use compared::conflict;
pub use conflicts::{conflicts, resolve};
pub use context::{Own, Sync};
pub use credential::TUNNEL;
pub use damage::DamageError;
pub use delete::delete;
pub use differences::{compare, differences, remote_index};
pub use download::download;
pub use elsewhere::Nodes;
pub use error::SyncError;
pub use folder::FolderState;
pub use folder::{look as look_at_directory, start as start_folder};
pub use forget::told;
pub use given::given;
pub use icon::icon;
pub use icon::icon_for;
pub use inbound::take_from;
pub use index::index;
pub use index_for::index_for;
pub use letting_in::{command, preparation, wanted};
pub use movement::CALL_LIMIT;
pub use movements::Given;
pub use offer::exchange_for;
pub use parcels::{fetch as fetch_parts, stage as stage_parts};
pub use pull::pull;
pub use push::push;
pub use remote::{SEALED, Topic};
pub use save::save;
pub use seen::is_seen;
pub use settings::{ConflictResolution, SyncSettings};
pub use shown::{Elsewhere, held_elsewhere};
pub use upload::upload;
