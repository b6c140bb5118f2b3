//! Carry: sessions move between nodes.
//!
//! The one idea: what moves are *revisions*, and what a browser or a snapshot holds here is a working
//! copy that comes from one of them, its *base*. Nothing that arrives ever touches a running browser;
//! what was captured here and not yet saved is saved first, so that it is compared and never
//! overwritten.
//!
//! Rooms: `save` is asked to, and what is `whole` becomes a revision in `publish`; `shelf` holds what is shared of a session, and
//! `working` what of it stands here, and `partial`
//! when that is a part; `receive` takes what another node offers and `offer` gives, or what is `seen` of
//! it by somebody who is given a part;
//! `reconcile` merges what can be merged; `parcels` pack parts, and
//! those that just came are `at_hand`; `remote` speaks to a peer, signed and
//! sealed, and `pull`, `push` and `differences` use it; `credential` is what
//! a peer is shown; `stranger` asks who somebody is; `index`
//! lists; `conflicts` are shown and resolved, and their revisions `compared`; `delete` is remembered, until `forget` finds that every
//! peer has heard; an `icon` is asked for by itself; a `file` holds all that is shared of a session, the `directory` is where such files
//! lie, and `folder` keeps it and the database in step; `lease` says who runs a session, and `shown` how it stands among nodes; `peers`
//! registers nodes, `given` notes which sessions they are given, and `cloud` the one that the settings name; `auto` does all that by itself, and `standing` tells how it stands, as it changes.

mod answers;
mod at_hand;
mod auto;
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
mod inbound;
mod index;
mod index_cache;
mod index_for;
pub(crate) mod lease;
mod letting_in;
mod movement;
mod movements;
mod offer;
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
mod seen;
mod settings;
mod shelf;
mod shown;
pub(crate) mod standing;
mod stranger;
mod upload;
mod whole;
mod working;

pub use auto::start as start_auto;
pub use cloud::start as start_cloud;
pub use compared::conflict;
pub use conflicts::{conflicts, resolve};
pub use context::{Own, Sync};
pub(crate) use credential::TUNNEL;
pub use damage::DamageError;
pub use delete::delete;
pub use differences::{compare, differences, remote_index};
pub use download::download;
pub use elsewhere::Nodes;
pub use error::SyncError;
pub(crate) use folder::FolderState;
pub use folder::{look as look_at_directory, start as start_folder};
pub(crate) use forget::told;
pub(crate) use given::given;
pub use icon::icon;
pub(crate) use icon::icon_for;
pub(crate) use inbound::take_from;
pub use index::index;
pub(crate) use index_for::index_for;
pub(crate) use letting_in::{command, preparation, wanted};
pub(crate) use movement::CALL_LIMIT;
pub(crate) use movements::Given;
pub(crate) use offer::exchange_for;
pub(crate) use parcels::{fetch as fetch_parts, stage as stage_parts};
pub use pull::pull;
pub use push::push;
pub(crate) use remote::{SEALED, Topic};
pub use save::save;
pub(crate) use seen::is_seen;
pub use settings::{ConflictResolution, SyncSettings};
pub(crate) use shown::{Elsewhere, held_elsewhere};
pub use upload::upload;
