//! Revokes a key.

use crate::audit::{Action, Note};
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_session::Owner;
use baton_store::clock;
use baton_store::{ApiKey, StoreError};

/// Revokes a key of the owner that is named, or of the caller: from now on it opens nothing.
/// `reference` is its id, or the name of one that is not revoked.
pub async fn revoke(
    context: &Runtime,
    caller: &Caller,
    owner: Option<Owner>,
    reference: &str,
) -> Result<(), RuntimeError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::RevokeKey, reference);
    match find(context, &owner, reference).await {
        Ok(key) => {
            let note = note.about(&key.id).with("name", key.name);
            let revoked = context.store.revoke_key(&owner, &key.id, clock::now()).await;
            note.end(&context.store, revoked.map_err(RuntimeError::from)).await?;
            tracing::info!(key = %key.id, %owner, "revoked a key");
            Ok(())
        }
        Err(error) => Err(note.failed(&context.store, error).await),
    }
}

async fn find(context: &Runtime, owner: &Owner, reference: &str) -> Result<ApiKey, RuntimeError> {
    let keys = context.store.list_keys(owner).await?;
    let by_id = keys.iter().find(|key| key.id == reference);
    let by_name = || keys.iter().find(|key| key.name == reference && key.revoked_at.is_none());
    let key = by_id.or_else(by_name).cloned();
    Ok(key.ok_or_else(|| StoreError::KeyNotFound { id: reference.to_owned() })?)
}
