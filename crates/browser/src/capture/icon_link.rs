//! Which of the icons that a page names is taken, and where it is.
//!
//! The one idea: only what the browser itself would ask for is asked for. So a page that names icons of
//! other kinds only has none, and the address that every site may have is for pages that name nothing.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use url::Url;

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
