//! `baton keys create`

use super::Context;
use baton_api::{CreateKey, Exit, Scope};
use baton_session::Owner;
use clap::Args;

/// Make an API key; its secret is shown this once
#[derive(Debug, Args)]
#[command(after_help = "\
Scopes: read, drive, reveal, sync, sandbox, debug, browser, admin. None includes another.

Example:
  baton keys create --name ci --scope read --scope drive")]
pub(crate) struct Create {
    /// What people call it
    #[arg(long)]
    name: String,
    /// Whose sessions it sees [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
    /// What it allows; may be given more than once
    #[arg(long = "scope", value_name = "SCOPE", default_values = ["read", "drive"])]
    scopes: Vec<Scope>,
}

impl Create {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let (name, owner) = (self.name, self.owner);
        let request = CreateKey { name, owner, scopes: self.scopes.into_iter().collect() };
        let created = context.client().await?.create_key(&request).await?;
        context.output.answer(&created, || created.secret.clone());
        context.output.note("keep it safe: it is not shown again");
        Ok(Exit::Done)
    }
}
