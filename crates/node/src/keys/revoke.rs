//! Revokes a key.

use crate::auth::Caller;
use crate::{Context, NodeError, clock};
use baton_session::Owner;
use baton_store::StoreError;

/// Revokes a key of the owner that is named, or of the caller: from now on it opens nothing.
/// `reference` is its id, or the name of one that is not revoked.
pub async fn revoke(
    context: &Context,
    caller: &Caller,
    owner: Option<Owner>,
    reference: &str,
) -> Result<(), NodeError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    let keys = context.store.list_keys(&owner).await?;
    let key = keys
        .iter()
        .find(|key| key.id == reference)
        .or_else(|| keys.iter().find(|key| key.name == reference && key.revoked_at.is_none()))
        .ok_or_else(|| StoreError::KeyNotFound { id: reference.to_owned() })?;
    context.store.revoke_key(&owner, &key.id, clock::now()).await?;
    tracing::info!(key = %key.id, %owner, "revoked a key");
    Ok(())
}
