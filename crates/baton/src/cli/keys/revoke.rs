//! `baton keys revoke`

use super::Context;
use baton_api::Exit;
use baton_session::Owner;
use clap::Args;
use serde_json::json;

/// Revoke an API key: from now on it opens nothing
#[derive(Debug, Args)]
pub(crate) struct Revoke {
    /// The key's id, or the name of one that is not revoked
    #[arg(value_name = "ID")]
    id: String,
    /// Whose key [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
}

impl Revoke {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.id;
        context.client().await?.revoke_key(&id, self.owner.as_ref()).await?;
        context.output.answer(&json!({ "revoked": id }), || format!("revoked {id}"));
        Ok(Exit::Done)
    }
}
