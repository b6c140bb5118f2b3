//! `baton sandbox list`

use super::Context;
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Show your sandboxes at this node
#[derive(Debug, Args)]
pub(crate) struct List {}

impl List {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let list = context.client().await?.list_sandboxes().await?;
        context.output.answer(&list, || output::sandboxes(&list));
        Ok(Exit::Done)
    }
}
