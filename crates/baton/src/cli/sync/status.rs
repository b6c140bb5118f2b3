//! `baton sync status`

use super::Context;
use super::peers::{self, Stand};
use crate::output::{self, Names, Standing, Told};
use baton_api::Exit;
use clap::Args;

/// Show what is where, what is newer, what waits and what conflicts, and move nothing
#[derive(Debug, Args)]
#[command(after_help = "\
A line for each session: which revision is here, how each peer that was asked stands, and what
waits. A peer has the same, something newer or older, or it changed the session too; or the
session is missing there, or deleted. Below the table stand the commands that end a conflict. What
was captured and not saved is not compared: baton save makes a revision of it.

A node that keeps a sync directory says how it stands with that, and which files in it are left
aside, and why. The last line says all together what waits. The exit code is 1 when a peer does
not answer.")]
pub(crate) struct Status {
    /// Only with this peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    peer: Option<String>,
}

impl Status {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let stand = peers::ask(&client, self.peer.as_deref(), context.output).await?;
        let Stand { lists, failed, asking } = stand;
        let here = client.fetch_sync_index().await?;
        let conflicts = client.list_conflicts().await?.items;
        let directory = client.fetch_sync_directory().await?;
        let names = Names::of(&client.list_known_peers().await?);
        let told = Told { lists, failed, asking, here, conflicts, directory, names };
        let standing = Standing::of(told);
        context.output.answer(&standing, || output::standing(&standing));
        Ok(if standing.failed.is_empty() { Exit::Done } else { Exit::Failed })
    }
}
