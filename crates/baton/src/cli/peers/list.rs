//! `baton peers list`

use super::Context;
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Show who this node is, and the peers there are
#[derive(Debug, Args)]
#[command(after_help = "\
At the top stands the fingerprint of the node that is asked: whoever registers it elsewhere compares
it with what is shown there.")]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let peers = context.client().await?.list_peers().await?;
        context.output.answer(&peers, || output::peers(&peers));
        Ok(Exit::Done)
    }
}
