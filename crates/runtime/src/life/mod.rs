//! The life of a session: the one way in.
//!
//! The one idea: every verb goes the same way, and the types hold the order. A [`Wish`] says what is wanted
//! of which session, and by whom; its entry in the audit log ends with it. What can be checked ahead is
//! checked ahead and changes nothing, here or elsewhere ([`Wish::preflight`], which makes it `Ready`). Then
//! the session is `Held`: no other operation changes it, and all that may have changed during the wait is
//! checked again. Only what starts something goes on: the session is `Acquired` from the database and from
//! peers, both of which get it back unless it starts.
//!
//! Rooms: `wish` is the way, and holds a session; `want` says what each verb asks of one, and what those
//! that start it bring back; `acquire` is what they have to have, and gives it back in the end; `driver`
//! says which agent drives one; and `rehydrate` resumes by itself what was lost with a node.

mod acquire;
mod driver;
mod rehydrate;
mod want;
mod wish;

pub use acquire::{CheckedOut, end};
pub(crate) use acquire::{Started, finish, release_peer_lease};
pub(crate) use driver::{drive, driver, let_go, other, pass_on};
pub use driver::{expect_driver, is_driver};
pub use rehydrate::rehydrate;
pub(crate) use want::{Abandon, Capture, Change, Close, Debug, Delete, Resume, RollBack};
pub use want::{CheckOut, Want, stored};
pub(crate) use wish::HOLD_LIMIT;
pub use wish::{Wish, settled};
