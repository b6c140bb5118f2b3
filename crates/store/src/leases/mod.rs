//! Leases: which node holds a session, and in which term.
//!
//! The one idea: clocks of different machines are never compared. A node counts up its *beat*; who
//! has seen it stand still for the length of a lease, by a clock of its own, may end what it holds.
//! Terms count up, so whatever an earlier holder still writes can be told from the line of the others.

mod acquire;
mod expire;
mod fetch;
mod nodes;

pub use nodes::{NodeBeat, NodeRecord};

pub(crate) use acquire::release;
pub(crate) use fetch::is_current;

use baton_session::{NodeId, Term};

/// Who holds a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The holder; none when nobody holds it now.
    pub node: Option<NodeId>,
    /// The term that runs, or ran last.
    pub term: Term,
}
