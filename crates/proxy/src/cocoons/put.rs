//! Names a cocoon, or says something else of it.

use super::error::CocoonsError;
use super::front::Front;
use super::{read, view};
use crate::cocoon::Cocoon;
use crate::error::CocoonError;
use crate::warn_of_guesses;
use baton_api::CocoonId;
use baton_api::cocoon::{CocoonView, PutCocoon};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_session::{Owner, json};
use baton_store::clock;
use baton_store::{StoreError, StoredCocoon};

/// How many cocoons were named over the API at most, of all owners together.
const MOST: usize = 10_000;

/// Names a cocoon of the owner that the request names, or of the caller. The proxy stands in front of it
/// from the next request on.
pub async fn put(
    front: &Front,
    caller: &Caller,
    id: CocoonId,
    request: PutCocoon,
) -> Result<CocoonView, CocoonsError> {
    let owner = request.owner.clone().unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::PutCocoon, id.as_str());
    let note = note.with("upstream", request.upstream.as_str());
    let put = note.end(&front.store, store(front, &id, owner, request).await).await?;
    tracing::info!(cocoon = %id, owner = %put.owner, "named a cocoon");
    let shown = view(front, &put);
    warn_of_guesses(&std::iter::once(put.clone()).collect());
    front.cocoons.insert(put);
    Ok(shown)
}

async fn store(
    front: &Front,
    id: &CocoonId,
    owner: Owner,
    request: PutCocoon,
) -> Result<Cocoon, CocoonsError> {
    if front.settings.names(id) {
        return Err(CocoonError::InSettings { id: id.clone() }.into());
    }
    if front.cocoons.fetch(id).is_none() && front.cocoons.list().len() >= MOST {
        return Err(CocoonError::TooMany { most: MOST }.into());
    }
    let request = PutCocoon { owner: Some(owner.clone()), ..request };
    let body = json::text(&request);
    let made = read(&front.settings, id, request, &owner);
    let made = made.map_err(|why| CocoonError::Invalid { why })?;
    if let Some(place) = &front.place {
        place.outside.allows(made.access)?;
    }
    let stored = StoredCocoon { id: id.to_string(), owner, body, updated_at: clock::now() };
    match front.store.put_cocoon(&stored).await {
        Err(StoreError::IdTaken { .. }) => Err(CocoonError::Taken { id: id.clone() }.into()),
        put => Ok(put.map(|()| made)?),
    }
}
