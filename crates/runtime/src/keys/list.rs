//! Lists keys.

use super::view;
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::KeyList;
use baton_session::Owner;

/// All keys of the owner that is named, or of the caller, without their secrets.
pub async fn list(
    context: &Runtime,
    caller: &Caller,
    owner: Option<Owner>,
) -> Result<KeyList, RuntimeError> {
    let keys = context.store.list_keys(owner.as_ref().unwrap_or(&caller.owner)).await?;
    Ok(KeyList { items: keys.into_iter().map(view).collect() })
}
