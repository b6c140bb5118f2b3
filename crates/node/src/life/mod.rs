//! The life of a session: the one way in.
//!
//! The one idea: every verb goes the same way, and the types hold the order. A [`Wish`] says what is
//! wanted of which session, and by whom; its entry in the audit log ends with it. What can be checked
//! ahead is checked ahead and changes nothing, here or elsewhere ([`Wish::preflight`], which makes it
//! [`Ready`]). Then the session is [`Held`]: nobody else changes it, and all that may have changed during
//! the wait is checked again. Only what starts something goes on: the session is [`Acquired`] from the
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

pub(crate) use acquire::{Lent, Started, give_back_to_peers};
pub(crate) use driver::{drive, driver, expect_driver, is_driver, let_go, other, put};
pub(crate) use end::{end, finish};
pub(crate) use rehydrate::rehydrate;
pub(crate) use start::{Lend, Resume, RollBack, stored};
pub(crate) use want::{Abandon, Capture, Change, Close, Debug, Delete, Want};
pub(crate) use wish::{HOLD_LIMIT, Wish, settled};
