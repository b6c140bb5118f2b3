//! `baton cocoons list`

use super::Context;
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Show the services behind the node's proxy, and where their pages are
#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let cocoons = context.client().await?.list_cocoons().await?;
        context.output.answer(&cocoons, || output::cocoons(&cocoons));
        Ok(Exit::Done)
    }
}
