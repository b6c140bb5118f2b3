//! `baton keys list`

use super::Context;
use crate::output;
use baton_api::Exit;
use baton_session::Owner;
use clap::Args;

/// Show the API keys there are, without their secrets
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Whose keys [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
}

impl List {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let keys = context.client().await?.list_keys(self.owner.as_ref()).await?;
        context.output.answer(&keys, || output::keys(&keys));
        Ok(Exit::Done)
    }
}
