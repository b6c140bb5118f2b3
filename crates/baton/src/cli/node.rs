//! `baton node`: the nodes that are one with this one.

use super::Context;
use crate::output;
use baton_api::{DrainNode, Exit};
use clap::{Args, Subcommand};
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

/// Show the nodes that are one: a cluster on a database that they share
#[derive(Debug, Subcommand)]
pub(super) enum NodeCommand {
    List(ListNodes),
    Show(ShowNode),
    Drain(Drain),
    Forget(ForgetNode),
}

impl NodeCommand {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Drain(command) => command.run(context).await,
            Self::Forget(command) => command.run(context).await,
        }
    }
}

/// Show the nodes of the cluster that this node is of
#[derive(Debug, Args)]
#[command(after_help = "\
A node that was not there for the length of its lease is gone: what it held can be resumed on another one.
One that does not come back is listed until baton node forget.
The settings that make nodes one are cluster.name, storage.database_url and node.internalUrl.

Example:
  baton node list --json")]
pub(super) struct ListNodes {}

impl ListNodes {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let nodes = context.client().await?.list_nodes().await?;
        context.output.answer(&nodes, || output::nodes(&nodes));
        if nodes.cluster.is_none() {
            context.output.note("this node is one by itself: cluster.name makes it one of several");
        }
        Ok(Exit::Done)
    }
}

/// Show one node of the cluster in full
#[derive(Debug, Args)]
pub(super) struct ShowNode {
    /// A node: its name, its id, or a unique prefix of that
    #[arg(value_name = "NODE")]
    id: String,
}

impl ShowNode {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let node = context.client().await?.fetch_node(&self.id).await?;
        context.output.answer(&node, || output::node(&node));
        Ok(Exit::Done)
    }
}

/// How often a node is asked how far its drain is.
const DRAIN_PAUSE: Duration = Duration::from_millis(500);

/// Bring what a node runs to the other nodes, so that it can be ended or updated
#[derive(Debug, Args)]
#[command(after_help = "\
Each session is captured, its browser ends, and it comes back at another node: with its tabs and its
logins, under the same name and address. Tools that drive it are closed with \"moved\" (code 1012) and
find it again where they connected before. Files that were put or downloaded stay with the old node.
Sandboxes stay until they end. The node takes nothing new until --undo, or until it starts anew.

Examples:
  baton node drain berlin
  baton node drain berlin --undo")]
pub(super) struct Drain {
    /// A node: its name, its id, or a unique prefix of that
    #[arg(value_name = "NODE")]
    id: String,
    /// Begin although the other nodes have no room for all of it; what finds none stays
    #[arg(long, conflicts_with = "undo")]
    partly: bool,
    /// Let the node take sessions again; what is on its way arrives
    #[arg(long)]
    undo: bool,
    /// Do not wait until all has moved
    #[arg(long, conflicts_with = "undo")]
    no_wait: bool,
}

impl Drain {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        if self.undo {
            let node = client.end_drain(&self.id).await?;
            context.output.answer(&node, || output::node(&node));
            return Ok(Exit::Done);
        }
        let progress = context.output.progress("moving sessions to other nodes");
        let mut node = client.drain_node(&self.id, DrainNode { partly: self.partly }).await?;
        while !self.no_wait && node.drain.as_ref().is_some_and(|drain| !drain.is_done) {
            sleep(DRAIN_PAUSE).await;
            node = client.fetch_node(&node.node_id.to_string()).await?;
        }
        progress.end();
        context.output.answer(&node, || output::drained(&node));
        let stayed = node.drain.as_ref().is_some_and(|drain| !drain.stayed.is_empty());
        Ok(if stayed { Exit::Losses } else { Exit::Done })
    }
}

/// Forget a node that is gone for good, such as one whose machine was destroyed
#[derive(Debug, Args)]
#[command(after_help = "\
It is listed no more, its sandboxes count no more, and the key of its data folder opens nothing. Its
sessions stay, and are resumed on other nodes; their files were on its disk. Refused while the node
may be there: until it was silent for the length of its lease.

Example:
  baton node forget berlin")]
pub(super) struct ForgetNode {
    /// A node: its name, its id, or a unique prefix of that
    #[arg(value_name = "NODE")]
    id: String,
}

impl ForgetNode {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.id;
        context.client().await?.forget_node(&id).await?;
        context.output.answer(&json!({ "forgotten": id }), || format!("forgot {id}"));
        Ok(Exit::Done)
    }
}
