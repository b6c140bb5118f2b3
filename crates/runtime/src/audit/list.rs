//! Reads the audit log, page by page.

use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::page;
use baton_api::{AuditList, AuditView, ListAudit, Scope};
use baton_store::AuditEntry;
use serde_json::Value;

/// One page of entries, newest first: the caller's own, or with the scope `admin` those of every
/// owner. Of an owner whom the caller may not see there are none.
pub async fn list(
    context: &Runtime,
    caller: &Caller,
    query: ListAudit,
) -> Result<AuditList, RuntimeError> {
    let limit = page::limit(query.limit)?;
    let owner = match query.owner {
        named if caller.scopes.contains(&Scope::Admin) => named,
        Some(foreign) if foreign != caller.owner => {
            return Ok(AuditList { items: Vec::new(), next: None });
        }
        _ => Some(caller.owner.clone()),
    };
    // One more than asked for tells whether there is another page.
    let found = context.store.list_audit(owner.as_ref(), query.after, limit + 1).await?;
    let (found, next) = page::cut(found, limit, |entry| entry.id);
    Ok(AuditList { items: found.into_iter().map(view).collect(), next })
}

fn view(entry: AuditEntry) -> AuditView {
    AuditView {
        id: entry.id,
        at: entry.at,
        owner: entry.owner,
        actor: entry.actor,
        action: entry.action,
        subject: entry.subject,
        outcome: entry.outcome,
        // Only JSON is ever appended; what is not is shown as the text that it is.
        detail: serde_json::from_str(&entry.detail).unwrap_or(Value::String(entry.detail)),
    }
}
