//! `baton sync conflicts`

use super::Context;
use crate::output::{self, Names};
use baton_api::Exit;
use clap::Args;

/// Show the sessions in which somebody has to choose between revisions
#[derive(Debug, Args)]
#[command(after_help = "\
A session was changed at two nodes, and neither had seen what the other did. Nothing is lost: one
revision counts, and the others are kept beside it until baton sync resolve says which one stays.")]
pub(crate) struct Conflicts {}

impl Conflicts {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let list = client.list_conflicts().await?;
        let names = Names::of(&client.list_peers().await?);
        context.output.answer(&list, || output::conflicts(&list, &names));
        Ok(Exit::Done)
    }
}
