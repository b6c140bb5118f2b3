//! `baton sync resolve`

use super::Context;
use crate::output;
use baton_api::Exit;
use baton_api::sync::ResolveConflict;
use clap::Args;

/// Say which revision of a session counts from now on
#[derive(Debug, Args)]
#[command(after_help = "\
The others end here, and at each peer once it hears of it. A browser that runs is left as it is:
close the session before you choose, and resume it to have what you kept.

Example:
  baton sync conflicts
  baton sync resolve shop --keep 3-a1b2c3")]
pub(crate) struct Resolve {
    /// An id, a unique prefix of one, or a name
    #[arg(value_name = "ID")]
    id: String,
    /// The revision that stays, or a unique beginning of it
    #[arg(long, value_name = "REV")]
    keep: String,
}

impl Resolve {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let request = ResolveConflict { keep: self.keep };
        let resolved = client.resolve_conflict(&self.id, &request).await?;
        context.output.answer(&resolved, || output::resolved(&resolved));
        Ok(Exit::Done)
    }
}
