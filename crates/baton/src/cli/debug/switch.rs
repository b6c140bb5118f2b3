//! `baton debug on` and `baton debug off`

use super::super::Context;
use crate::output;
use baton_api::{Exit, SwitchDebug};
use clap::Args;

/// Which session, and how.
#[derive(Debug, Args)]
pub(in crate::cli) struct On {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// Keep secrets too, in memory, for those who ask with --reveal: as long as this browser runs
    #[arg(long)]
    reveal: bool,
}

impl On {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        switch(&self.id, SwitchDebug { on: true, reveal: self.reveal }, context).await
    }
}

/// Which session.
#[derive(Debug, Args)]
pub(in crate::cli) struct Off {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
}

impl Off {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        switch(&self.id, SwitchDebug { on: false, reveal: false }, context).await
    }
}

async fn switch(id: &str, switch: SwitchDebug, context: &Context) -> anyhow::Result<Exit> {
    let view = context.client().await?.switch_debug(id, switch).await?;
    context.output.answer(&view, || output::session(&view));
    Ok(Exit::Done)
}
