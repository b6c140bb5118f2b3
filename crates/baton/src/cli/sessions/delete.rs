//! `baton sessions delete`

use super::{Context, Reference};
use baton_api::Exit;
use clap::Args;
use serde_json::json;

/// Remove a session that is not active, with its snapshots and profile
#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    session: Reference,
}

impl Delete {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.session.id;
        context.client().await?.delete_session(&id).await?;
        context.output.answer(&json!({ "deleted": id }), || format!("deleted {id}"));
        Ok(Exit::Done)
    }
}
