//! Takes a cocoon from behind the proxy.

use super::error::CocoonsError;
use super::front::Front;
use crate::error::CocoonError;
use baton_api::CocoonId;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::Owner;
use baton_store::StoreError;

/// Takes a cocoon of the owner that is named, or of the caller, from behind the proxy.
pub async fn remove(
    front: &Front,
    caller: &Caller,
    owner: Option<Owner>,
    id: &CocoonId,
) -> Result<(), CocoonsError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::RemoveCocoon, id.as_str());
    note.end(&front.store, delete(front, &owner, id).await).await?;
    front.cocoons.remove(id);
    tracing::info!(cocoon = %id, %owner, "removed a cocoon");
    Ok(())
}

async fn delete(front: &Front, owner: &Owner, id: &CocoonId) -> Result<(), CocoonsError> {
    let is_own = front.cocoons.fetch(id).is_none_or(|found| found.owner == *owner);
    if front.settings.names(id) && is_own {
        return Err(CocoonError::InSettings { id: id.clone() }.into());
    }
    match front.store.delete_cocoon(owner, id.as_str()).await {
        Err(StoreError::CocoonNotFound { .. }) => {
            Err(CocoonError::NotFound { id: id.clone() }.into())
        }
        deleted => Ok(deleted?),
    }
}
