//! `baton sessions close`

use super::{Context, Reference};
use baton_api::Exit;
use clap::Args;

/// Take a last snapshot, end the browser and free the name
#[derive(Debug, Args)]
#[command(after_help = "A closed session can be resumed until it is deleted.")]
pub(crate) struct Close {
    #[command(flatten)]
    session: Reference,
}

impl Close {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("taking a last snapshot");
        let closed = client.close_session(&self.session.id).await;
        progress.end();
        let view = closed?;
        let text = || format!("closed {} ({})", view.session.name, view.session.id);
        context.output.answer(&view, text);
        Ok(Exit::Done)
    }
}
