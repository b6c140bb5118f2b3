//! `baton sessions show`

use super::{Context, Reference};
use crate::output;
use baton_api::Exit;
use clap::Args;

/// Show one session: where it stands, its tabs, its last snapshot, its last receipt
#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    session: Reference,
    /// Show addresses of tabs whole, with what may be secret in them; needs the scope reveal
    #[arg(long)]
    reveal: bool,
}

impl Show {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let view = if self.reveal {
            client.reveal_session(&self.session.id).await?
        } else {
            client.fetch_session(&self.session.id).await?
        };
        context.output.answer(&view, || output::session(&view));
        if !context.output.is_json()
            && let Some(receipt) = &view.receipt
        {
            context.output.line(&format!("\nlast resume\n{}", output::receipt(receipt)));
        }
        Ok(Exit::Done)
    }
}
