//! Many nodes that are one, on a database that they share.
//!
//! The one idea: there is no cluster but rows of the database. A node says there that it is present and where it is
//! asked; any node takes any request, and passes on what needs the browser, profile or files of a session to the
//! node whose session it is. `entering` is the start, `members` knows who is there, and `passed` is what goes along with a
//! request. `placing` says where a new browser or sandbox goes, by the `rooms` that nodes have, and `rates` counts how often callers ask. The way itself is `http::forward`. `bus` is a doorbell:
//! by it the others know at once what they would see at their next look.

mod asking;
mod bus;
mod draining;
mod entering;
mod members;
mod passed;
mod placing;
mod rates;
mod rooms;
mod sent;

pub(crate) use asking::{
    AskedFor, Carried, Errand, Look, NotDone, PROBLEM_MAX, SIGNED_MAX, Unreachable, client_request,
    problem_in,
};
pub(crate) use bus::{
    BusTask, Doorbell, List, ListChange, OwnLists, OwnerMark, start as start_bus,
    try_out as try_out_bus,
};
pub(crate) use draining::DrainProgress;
pub(crate) use entering::{enter, stay};
pub(crate) use members::{Cluster, ClusterError};
pub(crate) use passed::{CountedCaller, Origin, Passed, Passing};
pub(crate) use placing::{Candidate, Wanted};
pub(crate) use rooms::{Kind, OwnRoom};
