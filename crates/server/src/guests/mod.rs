//! An agent asks a person, who comes as a guest: from the question to what their work changed.
//!
//! Rooms: `ask` makes an ask and sees to its end, `link` lets a guest in, `outcome` says what came of it.

mod ask;
mod link;
mod outcome;

pub(crate) use ask::{ask, find, wait, withdraw};
pub(crate) use link::{decline, end, look, put_file, redeem};
