//! `baton cocoons remove`

use super::Context;
use baton_api::Exit;
use baton_api::cocoon::CocoonId;
use baton_session::Owner;
use clap::Args;
use serde_json::json;

/// Take a service from behind the proxy
#[derive(Debug, Args)]
pub(crate) struct Remove {
    /// Which service
    #[arg(value_name = "ID")]
    id: CocoonId,
    /// Whose it is [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
}

impl Remove {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        context.client().await?.delete_cocoon(&self.id, self.owner.as_ref()).await?;
        let id = self.id;
        context.output.answer(&json!({ "removed": id }), || format!("removed {id}"));
        Ok(Exit::Done)
    }
}
