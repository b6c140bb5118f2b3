//! Operations on cocoons, one file a verb.
//!
//! The one idea: what the settings name is of the settings alone, and the rest is of the database. The
//! proxy looks at neither: it has them all in memory, and a change counts from the next request on.

mod enter;
mod list;
mod load;
mod put;
mod remove;

pub use enter::enter;
pub use list::list;
pub(crate) use load::load;
pub use put::put;
pub use remove::remove;

use crate::config::{BrowserDebugTexts, CocoonTexts};
use crate::context::Context;
use crate::proxy::{Access, Cocoon};
use baton_api::CocoonId;
use baton_api::cocoon::{CocoonAccess, CocoonPages, CocoonView, PutCocoon};

/// A cocoon as its owner sees it.
fn view(context: &Context, cocoon: &Cocoon) -> CocoonView {
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
        in_settings: context.proxy_settings.names(&cocoon.id),
        browser_debug: CocoonPages {
            enabled: Some(pages.enabled),
            content_types: Some(pages.content_types.clone()),
            response_body_max_size: u32::try_from(pages.response_body_max_size).ok(),
            exclude_paths: Some(pages.exclude_paths.clone()),
            without_fetch_metadata: Some(pages.without_fetch_metadata),
        },
        urls: context.proxy.iter().flat_map(|place| place.urls(cocoon)).collect(),
    }
}

/// A request, as the settings file would say it.
fn texts(id: &CocoonId, request: PutCocoon) -> CocoonTexts {
    let pages = request.browser_debug;
    let access = match request.access {
        CocoonAccess::Loopback => "loopback",
        CocoonAccess::Key => "key",
    };
    CocoonTexts {
        id: id.to_string(),
        name: request.name,
        upstream: request.upstream,
        owner: request.owner.map(|owner| owner.to_string()),
        access: Some(access.to_owned()),
        browser_debug: BrowserDebugTexts {
            enabled: pages.enabled,
            content_types: pages.content_types,
            response_body_max_size: pages.response_body_max_size.map(i64::from),
            exclude_paths: pages.exclude_paths,
            without_fetch_metadata: pages.without_fetch_metadata,
        },
    }
}
