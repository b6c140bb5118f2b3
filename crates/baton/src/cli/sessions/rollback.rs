//! `baton sessions rollback`

use super::{Context, Reference, resume};
use baton_api::Exit;
use clap::Args;

/// Take a session back to any of its snapshots
#[derive(Debug, Args)]
#[command(after_help = "\
An active session is captured first, so that the way back is open too; then its browser ends, and
another one starts with what the snapshot holds. The receipt says item by item what came back. When
something did not, the exit code is 6.

What the snapshot does not name and no tab of it shows, such as the storage of a site that was
visited later, stays in the browser's profile.

Example:
  baton sessions history shopping
  baton sessions rollback shopping --to 0197c0de-51")]
pub(crate) struct Rollback {
    #[command(flatten)]
    session: Reference,
    /// A snapshot of the session: an id, or a unique prefix of one
    #[arg(long, value_name = "SNAPSHOT")]
    to: String,
}

impl Rollback {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let progress = context.output.progress("taking the session back");
        let resumed = client.roll_back_session(&self.session.id, &self.to).await;
        progress.end();
        Ok(resume::answer(context, &resumed?))
    }
}
