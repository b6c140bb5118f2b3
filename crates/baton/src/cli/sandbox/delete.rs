//! `baton sandbox delete`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use clap::Args;

/// End a sandbox, and write back the session that it has
#[derive(Debug, Args)]
#[command(after_help = "\
What runs in it is asked to end first, so that its browser writes down what it holds.")]
pub(crate) struct Delete {
    #[command(flatten)]
    sandbox: Reference,
}

impl Delete {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("ending the sandbox");
        let ended = client.delete_sandbox(&self.sandbox.id).await;
        progress.end();
        let ended = ended?;
        context.output.answer(&ended, || output::ended_sandbox(&ended));
        let written = ended.browser_session.as_ref();
        let is_lost = written.is_some_and(|written| written.snapshot.is_none());
        Ok(if is_lost { Exit::Losses } else { Exit::Done })
    }
}
