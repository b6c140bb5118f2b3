//! The icon of the site in front, as the page names it: a PNG, 32×32.
//!
//! The one idea: the browser fetches it as it would for itself, mostly from its own cache, and once for
//! each site; so captures that follow cost nothing. An icon is never worth waiting for.

use super::icon_link::{IconLink, Source, choose};
use super::icon_load::load;
use crate::icon::{SiteIcon, draw};
use crate::live::Live;
use crate::script::{self, Script};
use crate::targets::TargetId;
use baton_session::{Site, State};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(2);
/// The largest icon that is looked at, in bytes.
pub(super) const BYTES_MAX: usize = 64 << 10;
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

/// The icon of the site that the tab in front shows; nothing when it shows none.
pub(super) async fn capture(live: &Live, state: &State) -> Option<SiteIcon> {
    let tab = state.active_tab()?;
    let site = site_of(&Url::parse(&tab.url).ok()?)?;
    let known = live.shared().icons().visit(&site);
    if known.is_some() {
        return known;
    }
    let none = SiteIcon { site: site.clone(), png: None };
    let icon = timeout(LIMIT, find(live, &tab.id, site)).await.unwrap_or(Some(none))?;
    live.shared().icons().learn(icon.clone());
    Some(icon)
}

/// Finds the icon of a site that a tab shows; nothing when the tab shows another one by now.
async fn find(live: &Live, tab: &str, site: Site) -> Option<SiteIcon> {
    let session = live.shared().sessions_of(&TargetId::new(tab)).into_iter().next()?;
    let session = live.browser().connection().session(session);
    // The top frame of a tab bears the tab's id.
    let world = script::world(&session, tab).await.ok()?;
    let bounds = json!({ "most": LINKS_MAX, "longest": ADDRESS_MAX });
    let said = script::run(&session, &world, Script::Icons, &bounds, LIMIT).await;
    let Said { url, links } = said.inspect_err(|error| tracing::debug!(%error, "no icon")).ok()?;
    if site_of(&url).as_ref() != Some(&site) {
        return None;
    }
    let bytes = match choose(&links, &url) {
        Some(Source::Here(bytes)) => Some(bytes),
        Some(Source::At(address)) => load(&session, tab, &address).await,
        None => None,
    };
    let png = match bytes.filter(|bytes| bytes.len() <= BYTES_MAX) {
        Some(bytes) => tokio::task::spawn_blocking(move || draw(&bytes)).await.ok().flatten(),
        None => None,
    };
    Some(SiteIcon { site, png })
}

/// The site of a page that can have an icon.
fn site_of(url: &Url) -> Option<Site> {
    let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
    Some(Site::of_host(host))
}
