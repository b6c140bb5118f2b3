//! `baton sandbox show`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Show a sandbox: what it may use, where it is logged in and for how long
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    sandbox: Reference,
}

impl Show {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let view = context.client().await?.fetch_sandbox(&self.sandbox.id).await?;
        context.output.answer(&view, || output::sandbox(&view));
        Ok(Exit::Done)
    }
}
