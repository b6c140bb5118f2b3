//! The icon of the site in front, as the page names it: a PNG, 32×32.
//!
//! The one idea: the browser fetches it as it would for itself, mostly from its own cache, and once for
//! each site; so captures that follow cost nothing. An icon is never worth waiting for.
//!
//! Only what the browser itself would ask for is asked for. So a page that names icons of other kinds
//! only has none, and the address that every site may have is for pages that name nothing.
//!
//! The browser collects all of what it fetches before it answers, and a call without a waiting task does not
//! end that; the end of the session does in which it was asked. So each fetch has a session of its own, which
//! ends with the wait for it.

use super::picture;
use crate::cdp::CdpSession;
use crate::icon::{SiteIcon, draw, site_at, site_in_front, site_of};
use crate::live::Live;
use crate::script::{Script, ScriptError};
use crate::targets::TargetId;
use crate::{script, targets};
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine, alphabet};
use baton_session::{Site, State};
use serde::Deserialize;
use serde_json::json;
use std::pin::pin;
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(2);
/// The longest address of one: that which holds the largest icon itself.
const ADDRESS_MAX: usize = BYTES_MAX / 3 * 4 + 100;
/// How many icons of a page are looked at.
const LINKS_MAX: usize = 16;

/// What `icons.js` returns.
#[derive(Debug, Deserialize)]
struct IconLinks {
    url: Url,
    links: Vec<IconLink>,
}

/// What a look at a page has found.
enum IconSearch {
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
    let found = timeout(LIMIT, find(live, &tab.id, &site)).await.unwrap_or(IconSearch::Nothing);
    let (png, is_of_site) = match found {
        IconSearch::Icon(png) => (Some(png), true),
        IconSearch::Nothing => (None, shows(live, &tab.id, &site)),
        IconSearch::Elsewhere => (None, false),
    };
    let icon = SiteIcon { site, png };
    if is_of_site {
        live.shared().icons().learn(icon.clone());
    }
    Some(icon)
}

/// Finds the icon of a site that a tab shows.
async fn find(live: &Live, tab: &str, site: &Site) -> IconSearch {
    let Some(session) = live.shared().sessions_of(&TargetId::new(tab)).into_iter().next() else {
        return IconSearch::Elsewhere;
    };
    let session = live.browser().connection().session(session);
    let mut moves = live.moves();
    moves.mark_unchanged();
    let IconLinks { url, links } = match ask(&session, tab).await {
        Ok(said) => said,
        // Another document came while this one was asked.
        Err(error) if error.is_refusal() && moves.has_changed().unwrap_or(true) => {
            return IconSearch::Elsewhere;
        }
        Err(error) => {
            tracing::debug!(%error, "no icon");
            return IconSearch::Nothing;
        }
    };
    if site_of(&url).as_ref() != Some(site) {
        return IconSearch::Elsewhere;
    }
    let bytes = match choose(&links, &url) {
        Some(Source::Here(bytes)) => Some(bytes),
        Some(Source::At(address)) => load(&session, tab, &address).await,
        None => None,
    };
    let Some(bytes) = bytes.filter(|bytes| bytes.len() <= BYTES_MAX) else {
        return IconSearch::Nothing;
    };
    let png = picture::draw(move || draw(&bytes)).await;
    png.map_or(IconSearch::Nothing, IconSearch::Icon)
}

/// Asks the page of a tab which icons it names.
async fn ask(session: &CdpSession, tab: &str) -> Result<IconLinks, ScriptError> {
    // The top frame of a tab bears the tab's id.
    let world = script::world(session, tab).await?;
    let bounds = json!({ "most": LINKS_MAX, "longest": ADDRESS_MAX });
    script::run(session, &world, Script::Icons, &bounds, LIMIT).await
}

/// Whether a tab still shows a site, as far as events said.
fn shows(live: &Live, tab: &str, site: &Site) -> bool {
    let mirror = live.shared().mirror();
    let tab = mirror.tabs().iter().find(|known| known.id == tab);
    tab.and_then(|tab| site_at(&tab.url)).as_ref() == Some(site)
}

/// Where a site has its icon whose pages name none.
const WELL_KNOWN: &str = "/favicon.ico";
/// The side that is wanted, in pixels.
const WANTED: u32 = crate::icon::ICON_SIDE;
/// How far from what is wanted an icon is that does not say its size.
const UNKNOWN: u32 = 200;

/// Base64 as addresses have it, with or without its end.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// An icon, as a page names it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct IconLink {
    /// Its whole address.
    href: String,
    /// What it is said to be.
    #[serde(default, rename = "type")]
    kind: String,
    /// Its sizes, such as `16x16 32x32`.
    #[serde(default)]
    sizes: String,
}

/// Where an icon is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// In its address.
    Here(Vec<u8>),
    /// At an address.
    At(Url),
}

/// The best of the icons that the page at `page` names; of a page that names none, the one that every
/// site may have.
pub(super) fn choose(links: &[IconLink], page: &Url) -> Option<Source> {
    if links.is_empty() {
        return page.join(WELL_KNOWN).ok().map(Source::At);
    }
    let fitting = links.iter().filter_map(|link| Some((link.distance(), link.source()?)));
    fitting.min_by_key(|(distance, _)| *distance).map(|(_, source)| source)
}

impl IconLink {
    /// Where it is, if it can be one that we draw.
    fn source(&self) -> Option<Source> {
        let address = Url::parse(&self.href).ok()?;
        match address.scheme() {
            "http" | "https" => {
                let ending = address.path().rsplit_once('.').map(|(_, ending)| ending);
                let ending = ending.unwrap_or_default().to_ascii_lowercase();
                let kind = self.kind.trim().to_ascii_lowercase();
                let fits =
                    if kind.is_empty() { is_drawn_by_ending(&ending) } else { is_drawn(&kind) };
                fits.then_some(Source::At(address))
            }
            "data" => within(&self.href).map(Source::Here),
            _ => None,
        }
    }

    /// How far its size is from what is wanted: what is larger is made smaller, and what is smaller looks
    /// worse.
    fn distance(&self) -> u32 {
        let side = |size: &str| {
            let (width, height) = size.split_once(['x', 'X'])?;
            Some(width.parse::<u32>().ok()?.min(height.parse().ok()?))
        };
        let from_wanted = |side: u32| match side.checked_sub(WANTED) {
            Some(more) => more,
            None => (WANTED - side) * 20,
        };
        let sides = self.sizes.split_whitespace().filter_map(side);
        sides.map(from_wanted).min().unwrap_or(UNKNOWN)
    }
}

fn is_drawn(kind: &str) -> bool {
    matches!(kind, "image/png" | "image/x-icon" | "image/vnd.microsoft.icon" | "image/ico")
}

/// Whether an address without a kind may be one: many have no ending that says anything.
fn is_drawn_by_ending(ending: &str) -> bool {
    !matches!(ending, "svg" | "svgz" | "gif" | "jpg" | "jpeg" | "webp" | "avif" | "bmp")
}

/// What a `data:` address holds.
fn within(address: &str) -> Option<Vec<u8>> {
    let (head, data) = address.get(5..)?.split_once(',')?;
    let (kind, rest) = head.split_once(';')?;
    let is_base64 = rest.split(';').next_back()?.trim().eq_ignore_ascii_case("base64");
    if !is_base64 || !is_drawn(&kind.trim().to_ascii_lowercase()) {
        return None;
    }
    BASE64.decode(data.replace("%2B", "+").replace("%2F", "/").replace("%3D", "=")).ok()
}

/// The largest icon that is looked at, in bytes.
const BYTES_MAX: usize = 64 << 10;
/// How long the browser may fetch. It keeps all that comes in this time, and ends when that is more than
/// about 1 GiB; only a site nearby can send so much.
const FETCH_LIMIT: Duration = Duration::from_secs(1);

/// What the browser gets at an address, for the page of a tab; none when that is no answer or too much.
/// The browser fetches no more of it once this is dropped.
pub(super) async fn load(page: &CdpSession, tab: &str, address: &Url) -> Option<Vec<u8>> {
    let end = CancellationToken::new();
    let _ends_the_fetch = end.clone().drop_guard();
    // In a task of its own, which puts all in order also when its caller has left.
    let fetching = fetch(page.clone(), TargetId::new(tab), address.clone(), end);
    tokio::spawn(fetching).await.ok()??.read().await
}

/// Asks for what is at an address, until `end`.
async fn fetch(
    page: CdpSession,
    tab: TargetId,
    address: Url,
    end: CancellationToken,
) -> Option<Stream> {
    let aside = targets::attach(&page, &tab).await;
    let aside = aside.inspect_err(|error| tracing::debug!(%error, "no icon")).ok()?;
    let options = json!({ "disableCache": false, "includeCredentials": false });
    let params = json!({ "frameId": tab, "url": address, "options": options });
    let mut loading = pin!(aside.call("Network.loadNetworkResource", params));
    let answer = end.run_until_cancelled(timeout(FETCH_LIMIT, &mut loading)).await;
    page.post("Target.detachFromTarget", json!({ "sessionId": aside.id() }));
    let answer = match answer {
        Some(Ok(answer)) => answer,
        // The call ends with its session. What was answered just before that is to be closed.
        Some(Err(_)) | None => loading.await,
    };
    let answer = answer.inspect_err(|error| tracing::debug!(%error, "no icon")).ok()?;
    let resource = &answer["resource"];
    let handle = resource["stream"].as_str()?.to_owned();
    let stream = Stream { page, handle };
    (resource["httpStatusCode"] == 200).then_some(stream)
}

/// Bytes that the browser holds for the page until this is dropped.
struct Stream {
    page: CdpSession,
    handle: String,
}

impl Stream {
    /// All of it; none when it is too much.
    async fn read(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let params = json!({ "handle": self.handle, "size": BYTES_MAX });
        while bytes.len() <= BYTES_MAX {
            let answer = self.page.call("IO.read", &params).await.ok()?;
            let data = answer["data"].as_str().unwrap_or_default();
            if answer["base64Encoded"] == true {
                bytes.extend(STANDARD.decode(data).ok()?);
            } else {
                bytes.extend_from_slice(data.as_bytes());
            }
            if answer["eof"] == true {
                return Some(bytes);
            }
        }
        None
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.page.post("IO.close", json!({ "handle": self.handle }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://shop.test/cart?id=1";

    fn link(href: &str, kind: &str, sizes: &str) -> IconLink {
        IconLink { href: href.into(), kind: kind.into(), sizes: sizes.into() }
    }

    fn chosen(links: &[IconLink]) -> Option<String> {
        match choose(links, &Url::parse(PAGE).unwrap())? {
            Source::At(address) => Some(address.to_string()),
            Source::Here(bytes) => Some(String::from_utf8(bytes).unwrap()),
        }
    }

    #[test]
    fn the_size_that_is_wanted_comes_first_and_then_what_is_larger() {
        let [small, fit, large, vague] =
            [("s", "16x16"), ("f", "64x64 32x32"), ("l", "192x192"), ("v", "any")]
                .map(|(name, sizes)| (format!("https://cdn.test/{name}.png"), sizes));
        let links = |of: &[&(String, &str)]| {
            of.iter().map(|(href, sizes)| link(href, "image/png", sizes)).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&links(&[&small, &vague, &fit, &large])).as_ref(), Some(&fit.0));
        assert_eq!(chosen(&links(&[&small, &vague, &large])).as_ref(), Some(&large.0));
        assert_eq!(chosen(&links(&[&small, &vague])).as_ref(), Some(&vague.0));
    }

    #[test]
    fn a_page_that_names_none_has_the_one_of_every_site_and_one_that_names_others_has_none() {
        assert_eq!(chosen(&[]).as_deref(), Some("https://shop.test/favicon.ico"));
        let others = [
            link("https://shop.test/icon", "image/svg+xml", "any"),
            link("https://shop.test/icon.svg", "", ""),
            link("data:image/svg+xml;base64,PHN2Zy8+", "", ""),
            link("data:image/png,plain", "", ""),
            link("blob:https://shop.test/1", "image/png", ""),
            link("file:///etc/passwd", "image/png", ""),
            link("chrome://favicon/", "image/png", ""),
        ];
        assert_eq!(chosen(&others), None);
    }

    #[test]
    fn an_icon_in_its_address_needs_no_request() {
        for end in ["aWNvbg==", "aWNvbg", "aWNvbg%3D%3D"] {
            let links = [link(&format!("data:image/png;base64,{end}"), "", "")];
            assert_eq!(chosen(&links).as_deref(), Some("icon"), "{end}");
        }
    }
}
