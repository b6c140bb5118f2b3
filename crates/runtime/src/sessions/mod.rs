//! Operations on sessions, one file a verb.
//!
//! Each takes the [`Runtime`](crate::Runtime), the owner who asks, and plain data, and returns
//! plain data. A session of someone else is not found. What changes a session or shows its secrets
//! leaves this folder through `audited` only, and what changes one goes the way that `life` has for all.

mod abandon;
mod attach;
mod audited;
mod capture;
mod cdp;
pub mod check;
mod close;
mod contexts;
mod create;
mod debug;
mod deep;
mod delete;
mod diff;
mod export;
mod files;
mod history;
mod icon;
mod import;
mod list;
mod open;
mod pass;
mod preview;
mod resume;
mod rollback;
mod show;
mod state;
mod view;

pub use audited::{
    abandon, attach, capture, close, connect, debug, delete, export, get_file, import,
    keep_context, open, pass, put_file, remove_file, resume, rollback, show_to, state,
};
pub use cdp::{active, enter};
pub use contexts::contexts;
pub use diff::diff;
pub use export::FILE_LIMIT;
pub use files::{Opened, list as files};
pub use history::history;
pub use icon::icon;
pub use icon::icon_of;
pub use list::list;
pub use preview::preview;
pub use show::show;
