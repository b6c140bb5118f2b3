//! Operations on cocoons, one file a verb.
//!
//! The one idea: what the settings name is of the settings alone, and the rest is of the database. The
//! proxy looks at neither: it has them all in memory, and a change counts from the next request on. `front` is
//! what every operation is given, and `error` how one fails.

mod enter;
mod error;
mod front;
mod list;
mod load;
mod put;
mod remove;

pub use enter::enter;
pub use error::CocoonsError;
pub use front::Front;
pub use list::list;
pub use load::load;
pub use put::put;
pub use remove::remove;

use crate::choices::{CocoonChoices, PageChoices, PageTexts};
use crate::cocoon::{Access, Cocoon, Upstream};
use crate::settings::ProxySettings;
use baton_api::cocoon::{CocoonAccess, CocoonPages, CocoonView, PutCocoon};
use baton_api::{CocoonId, Invalid};
use baton_session::Owner;

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
