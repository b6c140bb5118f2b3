//! The icon of the site in front, as the page names it: a PNG, 32×32.
//!
//! The one idea: the browser fetches it as it would for itself, mostly from its own cache, and once for
//! each site; so captures that follow cost nothing. An icon is never worth waiting for.

use super::icon_link::{IconLink, Source, choose};
use super::icon_load::{BYTES_MAX, load};
use crate::cdp::CdpSession;
use crate::icon::{SiteIcon, draw, site_at, site_in_front, site_of};
use crate::live::Live;
use crate::script::{self, Script, ScriptError};
use crate::targets::TargetId;
use baton_session::{Site, State};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(2);
/// The longest address of one: that which holds the largest icon itself.
const ADDRESS_MAX: usize = BYTES_MAX / 3 * 4 + 100;
/// How many icons of a page are looked at.
const LINKS_MAX: usize = 16;

/// What `icons.js` returns.
#[derive(Debug, Deserialize)]
struct Said {
    url: Url,
    links: Vec<IconLink>,
}

/// What a look at a page has found.
enum Found {
    /// An icon.
    Icon(Vec<u8>),
    /// None, or a page that cannot be asked.
    Nothing,
    /// Another page than the one that was meant.
    Elsewhere,
}

/// The icon of the site that the tab in front shows; nothing when it shows none.
pub(super) async fn capture(live: &Live, state: &State) -> Option<SiteIcon> {
    let (tab, site) = (state.active_tab()?, site_in_front(state)?);
    let known = live.shared().icons().visit(&site);
    if known.is_some() {
        return known;
    }
    let found = timeout(LIMIT, find(live, &tab.id, &site)).await.unwrap_or(Found::Nothing);
    let (png, is_of_site) = match found {
        Found::Icon(png) => (Some(png), true),
        Found::Nothing => (None, shows(live, &tab.id, &site)),
        Found::Elsewhere => (None, false),
    };
    let icon = SiteIcon { site, png };
    if is_of_site {
        live.shared().icons().learn(icon.clone());
    }
    Some(icon)
}

/// Finds the icon of a site that a tab shows.
async fn find(live: &Live, tab: &str, site: &Site) -> Found {
    let Some(session) = live.shared().sessions_of(&TargetId::new(tab)).into_iter().next() else {
        return Found::Elsewhere;
    };
    let session = live.browser().connection().session(session);
    let mut moves = live.moves();
    moves.mark_unchanged();
    let Said { url, links } = match ask(&session, tab).await {
        Ok(said) => said,
        // Another document came while this one was asked.
        Err(error) if error.is_refusal() && moves.has_changed().unwrap_or(true) => {
            return Found::Elsewhere;
        }
        Err(error) => {
            tracing::debug!(%error, "no icon");
            return Found::Nothing;
        }
    };
    if site_of(&url).as_ref() != Some(site) {
        return Found::Elsewhere;
    }
    let bytes = match choose(&links, &url) {
        Some(Source::Here(bytes)) => Some(bytes),
        Some(Source::At(address)) => load(&session, tab, &address).await,
        None => None,
    };
    let Some(bytes) = bytes.filter(|bytes| bytes.len() <= BYTES_MAX) else {
        return Found::Nothing;
    };
    let png = tokio::task::spawn_blocking(move || draw(&bytes)).await.ok().flatten();
    png.map_or(Found::Nothing, Found::Icon)
}

/// Asks the page of a tab which icons it names.
async fn ask(session: &CdpSession, tab: &str) -> Result<Said, ScriptError> {
    // The top frame of a tab bears the tab's id.
    let world = script::world(session, tab).await?;
    let bounds = json!({ "most": LINKS_MAX, "longest": ADDRESS_MAX });
    script::run(session, &world, Script::Icons, &bounds, LIMIT).await
}

/// Whether a tab still shows a site, as far as that was told.
fn shows(live: &Live, tab: &str, site: &Site) -> bool {
    let mirror = live.shared().mirror();
    let tab = mirror.tabs().iter().find(|known| known.id == tab);
    tab.and_then(|tab| site_at(&tab.url)).as_ref() == Some(site)
}
