//! `baton debug on` and `baton debug off`

use super::super::Context;
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Which session.
#[derive(Debug, Args)]
pub(in crate::cli) struct Switch {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
}

impl Switch {
    pub(super) async fn run(self, on: bool, context: &Context) -> anyhow::Result<Exit> {
        let view = context.client().await?.switch_debug(&self.id, on).await?;
        context.output.answer(&view, || output::session(&view));
        Ok(Exit::Done)
    }
}
