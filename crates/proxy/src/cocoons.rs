//! Operations on cocoons: what they are given, how they fail, and the verbs.
//!
//! The one idea: what the settings name is of the settings alone, and the rest is of the database. The proxy
//! looks at neither: it has them all in memory, and a change counts from the next request on.

use crate::access::{EnterTicket, TicketKey};
use crate::cocoon::{Access, Cocoon, CocoonChoices, Cocoons, PageChoices, PageTexts, Upstream};
use crate::error::CocoonError;
use crate::place::{ProxyPlace, ProxySettings};
use crate::warn_of_guesses;
use baton_api::cocoon::{
    CocoonAccess, CocoonList, CocoonPages, CocoonTicket, CocoonView, PutCocoon,
};
use baton_api::debug::EpochMs;
use baton_api::{Answers, CocoonId, ErrorCode, Invalid};
use baton_debug::token::{Claim, DebugSecret, Nonce};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, RuntimeError};
use baton_session::{Owner, json};
use baton_store::{Store, StoreError, StoredCocoon, clock};
use std::sync::Arc;

/// The surroundings of an operation on cocoons. Cheap to clone.
#[derive(Clone)]
pub struct Front {
    /// The database.
    pub store: Store,
    /// What stands behind the proxy.
    pub cocoons: Cocoons,
    /// What the settings say of the proxy.
    pub settings: Arc<ProxySettings>,
    /// Where the proxy is reached, when there is one.
    pub place: Option<ProxyPlace>,
    /// With what tickets are signed.
    pub secret: DebugSecret,
}

/// Why an operation on cocoons was not done.
#[derive(Debug, thiserror::Error)]
pub enum CocoonsError {
    /// The database or the audit log stands against it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A cocoon is not as the request wants it.
    #[error(transparent)]
    Cocoon(#[from] CocoonError),
}

impl From<StoreError> for CocoonsError {
    fn from(error: StoreError) -> Self {
        RuntimeError::from(error).into()
    }
}

impl Answers for CocoonsError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Cocoon(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Cocoon(error) => error.hint(),
        }
    }
}

/// The cocoons of the settings, and those that were named over the API. One that makes no sense any
/// more, and one whose id the settings took, is left where it is, with a line in the log.
pub async fn load(store: &Store, settings: &ProxySettings) -> Result<Cocoons, StoreError> {
    let cocoons: Cocoons = settings.cocoons.iter().cloned().collect();
    for stored in store.list_cocoons().await? {
        match stored_cocoon(&stored, settings) {
            Ok(cocoon) if !settings.names(&cocoon.id) => drop(cocoons.insert(cocoon)),
            Ok(cocoon) => tracing::warn!(cocoon = %cocoon.id, "the settings took its id"),
            Err(why) => tracing::warn!(cocoon = stored.id, why, "a cocoon cannot be read"),
        }
    }
    Ok(cocoons)
}

fn stored_cocoon(stored: &StoredCocoon, settings: &ProxySettings) -> Result<Cocoon, String> {
    let id = stored.id.parse().map_err(|error| format!("{error}"))?;
    let request: PutCocoon =
        serde_json::from_str(&stored.body).map_err(|error| error.to_string())?;
    read(settings, &id, request, &stored.owner)
}

/// The caller's cocoons, by id: those of the settings, and those of the API.
pub fn list(front: &Front, caller: &Caller) -> CocoonList {
    let mut cocoons = front.cocoons.list();
    cocoons.retain(|cocoon| cocoon.owner == caller.owner);
    CocoonList { items: cocoons.iter().map(|cocoon| view(front, cocoon)).collect() }
}

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

/// An address that opens a cocoon of the caller in a browser, once, within a minute. The browser is then
/// let in for half a day.
pub fn enter(front: &Front, caller: &Caller, id: &CocoonId) -> Result<CocoonTicket, CocoonError> {
    let found = front.cocoons.fetch(id).filter(|found| found.owner == caller.owner);
    let cocoon = found.ok_or_else(|| CocoonError::NotFound { id: id.clone() })?;
    let place = front.place.as_ref().ok_or(CocoonError::NoProxy)?;
    let ticket = EnterTicket {
        key: Some(TicketKey { id: caller.key.clone(), owner: caller.owner.clone() }),
        cocoon: cocoon.id.clone(),
        owner: cocoon.owner.clone(),
        nonce: Nonce::new(rand::random()),
    };
    let now = clock::now();
    let since = EpochMs::new(u64::try_from(now.as_millisecond()).unwrap_or_default());
    let signed = ticket.sign(&front.secret, since);
    let signed = signed.map_err(|error| CocoonError::Invalid { why: error.to_string() })?;
    let mut url = place.home(&cocoon).ok_or(CocoonError::NoProxy)?;
    url.set_path("/.baton/enter");
    url.set_query(Some(&format!("ticket={signed}")));
    let expires_at = now.checked_add(EnterTicket::LIFETIME).unwrap_or(now);
    tracing::info!(cocoon = %cocoon.id, "gave out a ticket");
    Ok(CocoonTicket { url, expires_at })
}

/// A cocoon as its owner sees it.
fn view(front: &Front, cocoon: &Cocoon) -> CocoonView {
    let pages = &cocoon.browser_debug;
    CocoonView {
        id: cocoon.id.clone(),
        name: cocoon.name.clone(),
        upstream: cocoon.upstream.url().clone(),
        owner: cocoon.owner.clone(),
        access: match cocoon.access {
            Access::Loopback => CocoonAccess::Loopback,
            Access::Key => CocoonAccess::Key,
        },
        in_settings: front.settings.names(&cocoon.id),
        browser_debug: CocoonPages {
            enabled: Some(pages.enabled),
            content_types: Some(pages.content_types.clone()),
            response_body_max_size: u32::try_from(pages.response_body_max_size).ok(),
            exclude_paths: Some(pages.exclude_paths.clone()),
            without_fetch_metadata: Some(pages.without_fetch_metadata),
        },
        urls: front.place.iter().flat_map(|place| place.urls(cocoon)).collect(),
    }
}

/// What a request says of a cocoon, with what the settings say of all.
fn read(
    settings: &ProxySettings,
    id: &CocoonId,
    request: PutCocoon,
    owner: &Owner,
) -> Result<Cocoon, String> {
    let choices = choices(id, request).map_err(|why| format!("the request: {why}"))?;
    Ok(choices.settle(&settings.pages, owner))
}

fn choices(id: &CocoonId, request: PutCocoon) -> Result<CocoonChoices, Invalid> {
    let pages = request.browser_debug;
    Ok(CocoonChoices {
        id: id.clone(),
        name: request.name,
        upstream: request.upstream.parse::<Upstream>()?,
        owner: request.owner,
        access: match request.access {
            CocoonAccess::Loopback => Access::Loopback,
            CocoonAccess::Key => Access::Key,
        },
        browser_debug: PageChoices::check(PageTexts {
            enabled: pages.enabled,
            content_types: pages.content_types,
            response_body_max_size: pages.response_body_max_size.map(i64::from),
            exclude_paths: pages.exclude_paths,
            without_fetch_metadata: pages.without_fetch_metadata,
        })?,
    })
}
