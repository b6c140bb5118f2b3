//! Operations on upstream services: what they are given, how they fail, and the verbs.
//!
//! The one idea: what the settings name is of the settings alone, and the rest is of the database. The proxy
//! looks at neither: it has them all in memory, and a change counts from the next request on.

use crate::access::{EnterTicket, TicketKey};
use crate::error::UpstreamError;
use crate::place::{ProxyPlace, ProxySettings};
use crate::upstream::{
    Access, PageChoices, PageTexts, Upstream, UpstreamChoices, UpstreamService, UpstreamServices,
};
use crate::warn_of_guesses;
use baton_api::debug::EpochMs;
use baton_api::upstream::{
    PutUpstream, UpstreamAccess, UpstreamList, UpstreamPages, UpstreamTicket, UpstreamView,
};
use baton_api::{Answers, ErrorCode, Invalid, UpstreamId};
use baton_debug::token::{Claim, DebugSecret, Nonce};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, RuntimeError};
use baton_session::{Owner, json};
use baton_store::{Store, StoreError, StoredUpstream, clock};
use std::sync::Arc;

/// The surroundings of an operation on upstream services. Cheap to clone.
#[derive(Clone)]
pub struct Front {
    /// The database.
    pub store: Store,
    /// What is behind the proxy.
    pub services: UpstreamServices,
    /// What the settings say of the proxy.
    pub settings: Arc<ProxySettings>,
    /// Where the proxy is reached, when there is one.
    pub place: Option<ProxyPlace>,
    /// With what tickets are signed.
    pub secret: DebugSecret,
}

/// Why an operation on upstream services was not done.
#[derive(Debug, thiserror::Error)]
pub enum ServicesError {
    /// The database or the audit log does not allow it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// An upstream service is not as the request wants it.
    #[error(transparent)]
    UpstreamService(#[from] UpstreamError),
}

impl From<StoreError> for ServicesError {
    fn from(error: StoreError) -> Self {
        RuntimeError::from(error).into()
    }
}

impl Answers for ServicesError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::UpstreamService(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::UpstreamService(error) => error.hint(),
        }
    }
}

/// The upstream services of the settings, and those that were named over the API. One that makes no sense any
/// more, and one whose id the settings took, is left where it is, with a line in the log.
pub async fn load(store: &Store, settings: &ProxySettings) -> Result<UpstreamServices, StoreError> {
    let services: UpstreamServices = settings.services.iter().cloned().collect();
    for stored in store.list_upstreams().await? {
        match stored_upstream(&stored, settings) {
            Ok(service) if !settings.names(&service.id) => drop(services.insert(service)),
            Ok(service) => tracing::warn!(cocoon = %service.id, "the settings took its id"),
            Err(why) => tracing::warn!(cocoon = stored.id, why, "a cocoon cannot be read"),
        }
    }
    Ok(services)
}

fn stored_upstream(
    stored: &StoredUpstream,
    settings: &ProxySettings,
) -> Result<UpstreamService, String> {
    let id = stored.id.parse().map_err(|error| format!("{error}"))?;
    let request: PutUpstream =
        serde_json::from_str(&stored.body).map_err(|error| error.to_string())?;
    read(settings, &id, request, &stored.owner)
}

/// The caller's upstream services, by id: those of the settings, and those of the API.
pub fn list(front: &Front, caller: &Caller) -> UpstreamList {
    let mut services = front.services.list();
    services.retain(|service| service.owner == caller.owner);
    UpstreamList { items: services.iter().map(|service| view(front, service)).collect() }
}

/// How many upstream services were named over the API at most, of all owners together.
const MOST: usize = 10_000;

/// Names an upstream service of the owner that the request names, or of the caller. The proxy is in front of
/// it from the next request on.
pub async fn put(
    front: &Front,
    caller: &Caller,
    id: UpstreamId,
    request: PutUpstream,
) -> Result<UpstreamView, ServicesError> {
    let owner = request.owner.clone().unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::PutUpstream, id.as_str());
    let note = note.with("upstream", request.upstream.as_str());
    let put = note.end(&front.store, store(front, &id, owner, request).await).await?;
    tracing::info!(cocoon = %id, owner = %put.owner, "named a cocoon");
    let shown = view(front, &put);
    warn_of_guesses(&std::iter::once(put.clone()).collect());
    front.services.insert(put);
    Ok(shown)
}

async fn store(
    front: &Front,
    id: &UpstreamId,
    owner: Owner,
    request: PutUpstream,
) -> Result<UpstreamService, ServicesError> {
    if front.settings.names(id) {
        return Err(UpstreamError::InSettings { id: id.clone() }.into());
    }
    if front.services.fetch(id).is_none() && front.services.list().len() >= MOST {
        return Err(UpstreamError::TooMany { most: MOST }.into());
    }
    let request = PutUpstream { owner: Some(owner.clone()), ..request };
    let body = json::text(&request);
    let made = read(&front.settings, id, request, &owner);
    let made = made.map_err(|why| UpstreamError::Invalid { why })?;
    if let Some(place) = &front.place {
        place.outside.allows(made.access)?;
    }
    let stored = StoredUpstream { id: id.to_string(), owner, body, updated_at: clock::now() };
    match front.store.put_upstream(&stored).await {
        Err(StoreError::IdTaken { .. }) => Err(UpstreamError::Taken { id: id.clone() }.into()),
        put => Ok(put.map(|()| made)?),
    }
}

/// Takes an upstream service of the owner that is named, or of the caller, from behind the proxy.
pub async fn remove(
    front: &Front,
    caller: &Caller,
    owner: Option<Owner>,
    id: &UpstreamId,
) -> Result<(), ServicesError> {
    let owner = owner.unwrap_or_else(|| caller.owner.clone());
    let note = Note::new(&caller.actor, &owner, Action::RemoveUpstream, id.as_str());
    note.end(&front.store, delete(front, &owner, id).await).await?;
    front.services.remove(id);
    tracing::info!(cocoon = %id, %owner, "removed a cocoon");
    Ok(())
}

async fn delete(front: &Front, owner: &Owner, id: &UpstreamId) -> Result<(), ServicesError> {
    let is_own = front.services.fetch(id).is_none_or(|found| found.owner == *owner);
    if front.settings.names(id) && is_own {
        return Err(UpstreamError::InSettings { id: id.clone() }.into());
    }
    match front.store.delete_upstream(owner, id.as_str()).await {
        Err(StoreError::UpstreamNotFound { .. }) => {
            Err(UpstreamError::NotFound { id: id.clone() }.into())
        }
        deleted => Ok(deleted?),
    }
}

/// An address that opens an upstream service of the caller in a browser, once, within a minute. The browser
/// is then let in for half a day.
pub fn enter(
    front: &Front,
    caller: &Caller,
    id: &UpstreamId,
) -> Result<UpstreamTicket, UpstreamError> {
    let found = front.services.fetch(id).filter(|found| found.owner == caller.owner);
    let service = found.ok_or_else(|| UpstreamError::NotFound { id: id.clone() })?;
    let place = front.place.as_ref().ok_or(UpstreamError::NoProxy)?;
    let ticket = EnterTicket {
        key: Some(TicketKey { id: caller.key.clone(), owner: caller.owner.clone() }),
        service: service.id.clone(),
        owner: service.owner.clone(),
        nonce: Nonce::new(rand::random()),
    };
    let now = clock::now();
    let since = EpochMs::new(u64::try_from(now.as_millisecond()).unwrap_or_default());
    let signed = ticket.sign(&front.secret, since);
    let signed = signed.map_err(|error| UpstreamError::Invalid { why: error.to_string() })?;
    let mut url = place.home(&service).ok_or(UpstreamError::NoProxy)?;
    url.set_path("/.baton/enter");
    url.set_query(Some(&format!("ticket={signed}")));
    let expires_at = now.checked_add(EnterTicket::LIFETIME).unwrap_or(now);
    tracing::info!(cocoon = %service.id, "gave out a ticket");
    Ok(UpstreamTicket { url, expires_at })
}

/// An upstream service as its owner sees it.
fn view(front: &Front, service: &UpstreamService) -> UpstreamView {
    let pages = &service.browser_debug;
    UpstreamView {
        id: service.id.clone(),
        name: service.name.clone(),
        upstream: service.upstream.url().clone(),
        owner: service.owner.clone(),
        access: match service.access {
            Access::Loopback => UpstreamAccess::Loopback,
            Access::Key => UpstreamAccess::Key,
        },
        in_settings: front.settings.names(&service.id),
        browser_debug: UpstreamPages {
            enabled: Some(pages.enabled),
            content_types: Some(pages.content_types.clone()),
            response_body_max_size: u32::try_from(pages.response_body_max_size).ok(),
            exclude_paths: Some(pages.exclude_paths.clone()),
            without_fetch_metadata: Some(pages.without_fetch_metadata),
        },
        urls: front.place.iter().flat_map(|place| place.urls(service)).collect(),
    }
}

/// What a request says of an upstream service, with what the settings say of all.
fn read(
    settings: &ProxySettings,
    id: &UpstreamId,
    request: PutUpstream,
    owner: &Owner,
) -> Result<UpstreamService, String> {
    let choices = choices(id, request).map_err(|why| format!("the request: {why}"))?;
    Ok(choices.settle(&settings.pages, owner))
}

fn choices(id: &UpstreamId, request: PutUpstream) -> Result<UpstreamChoices, Invalid> {
    let pages = request.browser_debug;
    Ok(UpstreamChoices {
        id: id.clone(),
        name: request.name,
        upstream: request.upstream.parse::<Upstream>()?,
        owner: request.owner,
        access: match request.access {
            UpstreamAccess::Loopback => Access::Loopback,
            UpstreamAccess::Key => Access::Key,
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
