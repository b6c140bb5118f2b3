//! `baton node`: the nodes that are one with this one.

use super::Context;
use crate::output;
use baton_api::Exit;
use clap::{Args, Subcommand};

/// Show the nodes that are one: a cluster on a database that they share
#[derive(Debug, Subcommand)]
pub(super) enum Node {
    List(List),
    Show(Show),
}

impl Node {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
        }
    }
}

/// Show the nodes of the cluster that this node is of
#[derive(Debug, Args)]
#[command(after_help = "\
A node that was not there for the length of its lease is gone: what it held can be resumed on another one.
The settings that make nodes one are cluster.name, storage.database_url and node.internalUrl.

Example:
  baton node list --json")]
pub(super) struct List {}

impl List {
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
pub(super) struct Show {
    /// A node: its name, its id, or a unique prefix of that
    #[arg(value_name = "NODE")]
    id: String,
}

impl Show {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let node = context.client().await?.fetch_node(&self.id).await?;
        context.output.answer(&node, || output::node(&node));
        Ok(Exit::Done)
    }
}
