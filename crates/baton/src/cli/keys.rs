//! `baton keys` and `baton audit`: who may use a node, and who did what.

use super::Context;
use crate::output;
use baton_api::{AuditList, Exit, ListAudit, Scope};
use baton_session::{Fingerprint, Owner};
use clap::{Args, Subcommand};
use serde_json::json;

/// Make, list and revoke API keys
#[derive(Debug, Subcommand)]
pub(super) enum Keys {
    Create(CreateKey),
    List(ListKeys),
    Revoke(Revoke),
}

impl Keys {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Create(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Revoke(command) => command.run(context).await,
        }
    }
}

/// Make an API key; its secret is shown this once
#[derive(Debug, Args)]
#[command(after_help = "\
Scopes: read, drive, reveal, watch, sync, sandbox, debug, browser, admin. None names another, but some
reach what another one is about: drive, sandbox and sync use or carry the logins of the owner, reveal
shows them, watch shows what is on the screen, and admin is everything, for it makes keys with every scope.

A key for another node: with the fingerprint that baton peers list shows there at the top, that node and
no other is let in by it, at once. Without, the node that shows the key first is pending here until
baton peers confirm.

Examples:
  baton keys create --name ci --scope read --scope drive
  baton keys create --name laptop --scope sync --for-node \"a1b2 c3d4 …\"")]
pub(super) struct CreateKey {
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

impl CreateKey {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let (name, owner, for_node) = (self.name, self.owner, self.for_node);
        let scopes = self.scopes.into_iter().collect();
        let request = baton_api::CreateKey { name, owner, scopes, for_node };
        let created = context.client().await?.create_key(&request).await?;
        context.output.answer(&created, || created.secret.clone());
        context.output.note("keep it safe: it is not shown again");
        Ok(Exit::Done)
    }
}

/// Show the API keys there are, without their secrets
#[derive(Debug, Args)]
pub(super) struct ListKeys {
    /// Whose keys [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
}

impl ListKeys {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let keys = context.client().await?.list_keys(self.owner.as_ref()).await?;
        context.output.answer(&keys, || output::keys(&keys));
        Ok(Exit::Done)
    }
}

/// Revoke an API key: from now on it opens nothing
#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The key's id, or the name of one that is not revoked
    #[arg(value_name = "ID")]
    id: String,
    /// Whose key [default: your own]
    #[arg(long)]
    owner: Option<Owner>,
}

impl Revoke {
    async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let id = self.id;
        context.client().await?.revoke_key(&id, self.owner.as_ref()).await?;
        context.output.answer(&json!({ "revoked": id }), || format!("revoked {id}"));
        Ok(Exit::Done)
    }
}

/// The largest page that a node answers.
const PAGE: u32 = 200;

/// Show what was done, by whom, and how it ended, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
An admin's key, such as the local one, sees the entries of every owner, others those of their own.
The log is only appended to. With --json every entry is whole.

Example:
  baton audit --limit 1000 --owner ada")]
pub(super) struct Audit {
    /// How many entries at most
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Only entries about what this owner has
    #[arg(long)]
    owner: Option<Owner>,
}

impl Audit {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let mut query = ListAudit { owner: self.owner, ..ListAudit::default() };
        let mut all = AuditList { items: Vec::new(), next: None };
        let mut left = self.limit;
        while left > 0 {
            query.limit = Some(left.min(PAGE));
            let page = client.list_audit(&query).await?;
            left -= left.min(PAGE);
            all.items.extend(page.items);
            all.next = page.next;
            query.after = page.next;
            if all.next.is_none() {
                break;
            }
        }
        context.output.answer(&all, || output::audit(&all, context.output));
        Ok(Exit::Done)
    }
}
