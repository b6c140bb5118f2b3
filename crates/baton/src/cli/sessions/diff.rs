//! `baton sessions diff`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Show what changed from one snapshot of a session to another
#[derive(Debug, Args)]
#[command(after_help = "\
Cookies, entries of storage, databases, tabs and settings are named; no value is shown.

Example:
  baton sessions diff shopping 0197c0de-51 0197c0de-9a")]
pub(crate) struct Diff {
    #[command(flatten)]
    session: Reference,
    /// The snapshot before: an id, or a unique prefix of one
    a: String,
    /// The snapshot after
    b: String,
}

impl Diff {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let view = client.diff_snapshots(&self.session.id, &self.a, &self.b).await?;
        for unreadable in &view.unreadable {
            context.output.note(&format!("left out: {}", output::plain(unreadable)));
        }
        context.output.answer(&view, || output::diff(&view.diff));
        Ok(Exit::Done)
    }
}
