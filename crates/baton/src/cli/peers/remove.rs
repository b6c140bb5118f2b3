//! `baton peers remove`

use super::{Context, Reference};
use baton_api::Exit;
use clap::Args;
use serde_json::json;

/// Forget a peer: nothing moves to it or from it any more
#[derive(Debug, Args)]
#[command(after_help = "\
Sessions that moved already stay where they are, here and there. What the other node may do here
ends with the key that you gave it: baton keys revoke. Limits are forgotten, too: a node that still
has its key, or is registered again, has none.")]
pub(crate) struct Remove {
    #[command(flatten)]
    peer: Reference,
}

impl Remove {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.peer.id;
        context.client().await?.remove_peer(&id).await?;
        context.output.answer(&json!({ "removed": id }), || format!("removed {id}"));
        Ok(Exit::Done)
    }
}
