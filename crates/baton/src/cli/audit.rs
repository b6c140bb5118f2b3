//! `baton audit`

use super::Context;
use crate::output;
use baton_api::{AuditList, Exit, ListAudit};
use baton_session::Owner;
use clap::Args;

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
