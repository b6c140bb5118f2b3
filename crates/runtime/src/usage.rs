//! What an owner has, and how much of it the settings allow.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::request::Caller;
use baton_api::{Scope, UsageView, Used};
use baton_session::Owner;

/// What the caller's owner has, or another one.
pub async fn show(
    context: &Runtime,
    caller: &Caller,
    owner: Option<Owner>,
) -> Result<UsageView, RuntimeError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    if owner != caller.owner {
        caller.require(Scope::Admin)?;
    }
    let (quota, usage) = (context.store.quota(&owner), context.store.usage(&owner).await?);
    let of = |used, most| Used { used, most };
    Ok(UsageView {
        sessions: of(usage.sessions, quota.sessions),
        browsers: of(usage.browsers, quota.browsers),
        sandboxes: of(usage.sandboxes, quota.sandboxes),
        stored_bytes: of(usage.stored_bytes, quota.stored_bytes),
        owner,
    })
}
