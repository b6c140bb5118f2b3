//! Operations on sessions, one file a verb.
//!
//! Each takes the [`Context`](crate::Context), the owner who asks, and plain data, and returns
//! plain data. A session of someone else is not found.

mod abandon;
mod attach;
mod capture;
mod check;
mod close;
mod create;
mod delete;
mod diff;
mod history;
mod list;
mod open;
mod preview;
mod resume;
mod rollback;
mod show;
mod state;
mod view;

pub use abandon::abandon;
pub use attach::attach;
pub use capture::capture;
pub use close::close;
pub use delete::delete;
pub use diff::diff;
pub use history::history;
pub use list::list;
pub use open::open;
pub use preview::preview;
pub use resume::resume;
pub use rollback::rollback;
pub use show::show;
pub use state::state;
