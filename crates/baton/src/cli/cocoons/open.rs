//! `baton cocoons open`

use super::Context;
use baton_api::Exit;
use baton_api::cocoon::CocoonId;
use clap::Args;

/// Show an address that opens a service in a browser: it counts once, within a minute
#[derive(Debug, Args)]
#[command(after_help = "\
A browser bears no key. The address lets one in to a service that asks for a key, for half a day.")]
pub(crate) struct Open {
    /// Which service
    #[arg(value_name = "ID")]
    id: CocoonId,
}

impl Open {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let ticket = context.client().await?.enter_cocoon(&self.id).await?;
        context.output.answer(&ticket, || ticket.url.to_string());
        Ok(Exit::Done)
    }
}
