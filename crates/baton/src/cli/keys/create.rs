//! `baton keys create`

use super::Context;
use baton_api::{CreateKey, Exit, Scope};
use baton_session::{Fingerprint, Owner};
use clap::Args;

/// Make an API key; its secret is shown this once
#[derive(Debug, Args)]
#[command(after_help = "\
Scopes: read, drive, reveal, sync, sandbox, debug, browser, admin. None names another, but some reach
what another one is about: drive, sandbox and sync use or carry the logins of the owner, reveal shows
them, and admin is everything, for it makes keys with every scope.

A key for another node: with the fingerprint that baton peers list shows there at the top, that node and
no other is let in by it, at once. Without, the node that shows the key first is pending here until
baton peers confirm.

Examples:
  baton keys create --name ci --scope read --scope drive
  baton keys create --name laptop --scope sync --for-node \"a1b2 c3d4 …\"")]
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
    /// The fingerprint of the node for which alone it is made: confirms that node beforehand
    #[arg(long, value_name = "FINGERPRINT")]
    for_node: Option<Fingerprint>,
}

impl Create {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let (name, owner, for_node) = (self.name, self.owner, self.for_node);
        let scopes = self.scopes.into_iter().collect();
        let request = CreateKey { name, owner, scopes, for_node };
        let created = context.client().await?.create_key(&request).await?;
        context.output.answer(&created, || created.secret.clone());
        context.output.note("keep it safe: it is not shown again");
        Ok(Exit::Done)
    }
}
