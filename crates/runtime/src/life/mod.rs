//! The life of a session: the one way in.
//!
//! The one idea: every verb goes the same way, and the types hold the order. A [`Wish`] says what is
//! wanted of which session, and by whom; its entry in the audit log ends with it. What can be checked
//! ahead is checked ahead and changes nothing, here or elsewhere ([`Wish::preflight`], which makes it
//! `Ready`). Then the session is `Held`: nobody else changes it, and all that may have changed during
//! the wait is checked again. Only what starts something goes on: the session is `Acquired` from the
//! database and from peers, both of which get it back unless it starts.
//!
//! Rooms: `wish` is the way; `want` says what each verb asks of a session; `start` are those that start
//! one, and `acquire` what they have to have; `end` closes one; `hold` keeps others from it; `driver` says which agent drives one; and
//! `rehydrate` resumes by itself what was lost with a node.

mod acquire;
mod driver;
mod end;
mod hold;
mod rehydrate;
mod start;
mod want;
mod wish;

pub use acquire::Lent;
pub(crate) use acquire::Started;
pub(crate) use acquire::give_back_to_peers;
pub(crate) use driver::drive;
pub(crate) use driver::driver;
pub(crate) use driver::let_go;
pub(crate) use driver::other;
pub(crate) use driver::put;
pub use driver::{expect_driver, is_driver};
pub use end::end;
pub(crate) use end::finish;
pub use rehydrate::rehydrate;
pub(crate) use start::Resume;
pub(crate) use start::RollBack;
pub use start::{Lend, stored};
pub(crate) use want::Abandon;
pub(crate) use want::Capture;
pub(crate) use want::Change;
pub(crate) use want::Close;
pub(crate) use want::Debug;
pub(crate) use want::Delete;
pub use want::Want;
pub(crate) use wish::HOLD_LIMIT;
pub use wish::{Wish, settled};
