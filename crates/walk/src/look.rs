//! How a session stands at each node: what is seen of it before a verb, and after.

use crate::held::Marks;
use baton_session::{AgentName, Lifecycle, NodeId};

/// How things stand before a verb.
pub(crate) struct Before {
    pub(crate) marks: [Option<Marks>; 2],
    pub(crate) looks: [Option<Look>; 2],
    /// Whether both nodes run, and nothing stands still.
    pub(crate) is_calm: bool,
    /// Whether nothing changes by itself.
    pub(crate) is_settled: bool,
}

/// How a session stands at a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) browser: Option<u64>,
    pub(crate) state: Option<Lifecycle>,
    pub(crate) agent: Option<AgentName>,
    /// Whether this node holds it, as far as peers go.
    pub(crate) is_held: bool,
    pub(crate) has_conflicts: bool,
    pub(crate) home: Option<NodeId>,
}
