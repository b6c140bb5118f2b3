//! `baton sessions resume`

use super::{Context, Reference};
use crate::output;
use baton_api::{Exit, ResumeResult};
use baton_session::Receipt;
use clap::Args;

/// Bring a session back from its last good snapshot
#[derive(Debug, Args)]
#[command(after_help = "\
The receipt says item by item what came back. When something did not, the exit code is 6.

A snapshot that was taken by itself when more than half of the cookies or of the storage was gone is
passed over, and the receipt says so; baton sessions rollback goes to it all the same.")]
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
        Ok(answer(context, &resumed?))
    }
}

/// Shows what came back.
pub(super) fn answer(context: &Context, result: &ResumeResult) -> Exit {
    context.output.answer(result, || output::resumed(result));
    let lost = result.session.receipt.as_ref().is_some_and(Receipt::has_losses);
    if lost { Exit::Losses } else { Exit::Done }
}
