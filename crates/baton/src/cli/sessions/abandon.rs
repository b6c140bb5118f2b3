//! `baton sessions abandon`

use super::{Context, Reference};
use baton_api::Exit;
use clap::Args;

/// End the browser without a last snapshot, and remove its profile
#[derive(Debug, Args)]
#[command(after_help = "The snapshots taken before are kept until the session is deleted.")]
pub(crate) struct Abandon {
    #[command(flatten)]
    session: Reference,
}

impl Abandon {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("ending the browser");
        let abandoned = client.abandon_session(&self.session.id).await;
        progress.end();
        let view = abandoned?;
        let text = || format!("abandoned {} ({})", view.session.name, view.session.id);
        context.output.answer(&view, text);
        Ok(Exit::Done)
    }
}
