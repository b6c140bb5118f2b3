//! `baton sync status`

use super::Context;
use super::peers::{self, Stand};
use crate::output::{self, Standing};
use baton_api::Exit;
use baton_api::sync::Difference;
use clap::Args;

/// Show what differs between this node and its peers, and move nothing
#[derive(Debug, Args)]
#[command(after_help = "\
A line for each session and peer that differs. A node that keeps a sync directory says how it stands
with that, and which files in it are left aside, and why. The exit code is 1 when a peer does not answer.")]
pub(crate) struct Status {
    /// Only with this peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    peer: Option<String>,
}

impl Status {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let stand = peers::ask(&client, self.peer.as_deref(), context.output).await?;
        let Stand { mut lists, failed } = stand;
        for list in &mut lists {
            list.items.retain(|item| item.difference != Difference::Same);
        }
        let directory = client.fetch_sync_directory().await?;
        let standing = Standing { peers: lists, failed, directory };
        context.output.answer(&standing, || output::standing(&standing));
        Ok(if standing.failed.is_empty() { Exit::Done } else { Exit::Failed })
    }
}
