//! Takes a cocoon from behind the proxy.

use crate::audit::{Action, Note};
use crate::context::Context;
use crate::error::NodeError;
use crate::proxy::CocoonError;
use crate::runtime::Caller;
use baton_api::CocoonId;
use baton_session::Owner;
use baton_store::StoreError;

/// Takes a cocoon of the owner that is named, or of the caller, from behind the proxy.
pub async fn remove(
    context: &Context,
    caller: &Caller,
    owner: Option<Owner>,
    id: &CocoonId,
) -> Result<(), NodeError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::RemoveCocoon, id.as_str());
    note.end(&context.store, delete(context, &owner, id).await).await?;
    context.cocoons.remove(id);
    tracing::info!(cocoon = %id, %owner, "removed a cocoon");
    Ok(())
}

async fn delete(context: &Context, owner: &Owner, id: &CocoonId) -> Result<(), NodeError> {
    let is_own = context.cocoons.fetch(id).is_none_or(|found| found.owner == *owner);
    if context.proxy_settings.names(id) && is_own {
        return Err(CocoonError::InSettings { id: id.clone() }.into());
    }
    match context.store.delete_cocoon(owner, id.as_str()).await {
        Err(StoreError::CocoonNotFound { .. }) => {
            Err(CocoonError::NotFound { id: id.clone() }.into())
        }
        deleted => Ok(deleted?),
    }
}
