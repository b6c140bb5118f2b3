//! `baton sessions resume`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Bring a session back from its last snapshot
#[derive(Debug, Args)]
#[command(after_help = "\
The receipt says item by item what came back. When something did not, the exit code is 6.")]
pub(crate) struct Resume {
    #[command(flatten)]
    session: Reference,
}

impl Resume {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("bringing the session back");
        let resumed = client.resume_session(&self.session.id).await;
        progress.end();
        let result = resumed?;
        context.output.answer(&result, || output::resumed(&result));
        let lost = result.session.receipt.is_some_and(|receipt| receipt.has_losses());
        Ok(if lost { Exit::Losses } else { Exit::Done })
    }
}
