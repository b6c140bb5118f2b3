//! What it costs that any node of a cluster takes any request: three nodes that are one, of which one has the session.
//!
//! The one idea: each question is asked at the node that has the answer and at one that has not, in turn. What is
//! between the two is the cluster.

mod cdp;
mod events;
mod nodes;
mod rows;
mod wrong;

use crate::report::Section;
use anyhow::Result;
use nodes::Nodes;
use std::path::Path;

/// Asks a node that has a session, and one that has not, in turn.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    let nodes = Nodes::start(baton).await?;
    let mut sections = vec![
        wrong::measure(&nodes).await?,
        cdp::measure(&nodes).await?,
        events::measure(&nodes).await?,
    ];
    nodes.clear().await?;
    sections.extend(rows::measure(baton).await?);
    Ok(sections)
}

/// The two nodes that are asked, by whether it is the one that has the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    /// The node that has the session.
    Own,
    /// Another one.
    Other,
}

impl Side {
    /// Who comes first in a pair.
    fn order(pair: usize) -> [Self; 2] {
        if pair.is_multiple_of(2) { [Self::Own, Self::Other] } else { [Self::Other, Self::Own] }
    }
}

/// What was found at both sides, the other one first: it stands against the own one.
#[derive(Debug, Default)]
struct Pairs(Vec<(f64, f64)>);

impl Pairs {
    fn others(&self) -> Vec<f64> {
        self.0.iter().map(|(other, _)| *other).collect()
    }

    fn owns(&self) -> Vec<f64> {
        self.0.iter().map(|(_, own)| *own).collect()
    }
}
