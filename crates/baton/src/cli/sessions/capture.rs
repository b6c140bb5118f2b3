//! `baton sessions capture`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Take a snapshot of an active session now
#[derive(Debug, Args)]
pub(crate) struct Capture {
    #[command(flatten)]
    session: Reference,
}

impl Capture {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("reading the browser");
        let captured = client.capture_session(&self.session.id).await;
        progress.end();
        let snapshot = captured?;
        context.output.answer(&snapshot, || {
            let size = output::size(snapshot.bytes);
            let line =
                format!("captured {}: {} parts, {size}, on disk", self.session.id, snapshot.parts);
            output::with_unread(line, &snapshot)
        });
        Ok(Exit::Done)
    }
}
