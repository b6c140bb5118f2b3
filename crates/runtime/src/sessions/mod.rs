//! Operations on sessions.
//!
//! Each takes the [`Runtime`](crate::Runtime), the owner who asks, and plain data, and returns plain data. A
//! session of someone else is not found. What changes a session or shows its secrets leaves this folder
//! through `audited` only, and what changes one goes the way that `life` has for all.

mod audited;
mod changes;
pub mod check;
mod files;
mod lifecycle;
mod show;
mod take_over;
mod transfer;
mod way_out;

pub use audited::{
    abandon, attach, capture, close, connect, debug, delete, export, get_file, import,
    keep_context, open, pass, put_file, remove_file, resume, rollback, show_to, state,
};
pub use changes::{Changes, changes};
pub use files::{OpenedFile, list as files};
pub use lifecycle::{active, enter};
pub use show::{diff, history, icon, icon_of, list, list_logins, preview, show};
pub use take_over::{PersonTurn, give_back_left, has_agent, take_over};
pub use transfer::{FILE_LIMIT, contexts};
pub use way_out::{egress_hosts, shut_out};
