//! Capture: reads what a running browser holds, and costs what changed.
//!
//! The one idea: every page answers for itself within a limit. A page that hangs, or leaves in the
//! middle, costs its own parts only: they come from the mirror, and the capture says so.
//!
//! The preview is a PNG of the tab in front, 320×180. The page must not notice. A screenshot with a
//! clip is scaled by the browser, but it resizes the page for a moment, so we take the page as it is
//! and scale the picture ourselves.

mod frame;
mod icon;
mod page;
mod stored;
mod visit;
mod work;

use crate::cdp::CdpError;
use crate::cookies::Fetched;
use crate::icon::SiteIcon;
use crate::live::Live;
use crate::targets::{Shows, Tabs, TargetId, TargetInfo, shows};
use crate::{cookies, targets};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::receipt::ItemKind;
use baton_session::{State, Unread};
use image::imageops::FilterType;
use image::{ImageFormat, ImageReader, Limits};
use page::{PageRead, Pages};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Cursor;
use std::time::Duration;
use work::Work;

/// How long one page may take.
const PAGE_LIMIT: Duration = Duration::from_secs(5);
/// How many pages are read at once: reading is bound by the processor.
const PAGES_AT_ONCE: usize = 4;

/// How much a capture reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What events reported as changed.
    Changed,
    /// Everything that a page shows now: what was written before the call is in the result.
    Whole,
}

/// What a capture found.
#[derive(Debug)]
pub struct Captured {
    /// Everything that the browser holds, as far as it could be read.
    pub state: State,
    /// A PNG of the tab in front, 320×180, when pictures were asked for and there is something to see.
    pub preview: Option<Vec<u8>>,
    /// The icon of the site in front, when pictures were asked for and it shows one.
    pub icon: Option<SiteIcon>,
    /// Places that could not be read now, whose parts are those of the mirror; and what is not kept.
    pub unread: Vec<Unread>,
}

impl Live {
    /// Captures what the browser holds now, with `pictures` of the tab in front when they are wanted. Fails
    /// only when the browser itself does not answer.
    pub async fn capture(&self, depth: Depth, pictures: bool) -> Result<Captured, CdpError> {
        let browser = self.browser();
        let Tabs { kept: tabs, internal, .. } = targets::list(&browser, self.context()).await?;
        let living: BTreeSet<&str> = tabs.iter().map(|tab| tab.target_id.as_str()).collect();
        self.shared().mirror().retain_tabs(&living);
        let systems = self.shared().systems().await;
        let work = Work::from_mirror(self.shared(), systems, depth == Depth::Whole);
        let reads = Pages { live: self, work: &work }.read(&tabs).await;
        let unread_by_workers = frame::read(self, &work).await;
        let cookies = cookies::fetch(&browser, self.context()).await;
        self.read_permissions().await;
        let (mut state, mut unread) = self.merge(reads);
        unread.extend(unread_by_workers);
        unread.extend(left_of_tabs(&tabs, &internal));
        match cookies {
            Ok(Fetched { cookies, lost }) => {
                unread.extend(lost);
                self.shared().mirror().set_cookies(cookies.clone());
                state.cookies = cookies;
            }
            Err(error) if error.is_closed() => return Err(error),
            Err(error) => unread.push(Unread::new("cookies", error)),
        }
        state.normalize();
        let (preview, icon) = if pictures {
            tokio::join!(preview(self, &state), Box::pin(icon::capture(self, &state)))
        } else {
            (None, None)
        };
        Ok(Captured { state, preview, icon, unread })
    }

    /// Puts together what is known now, and what of it could not be read.
    fn merge(&self, reads: Vec<PageRead>) -> (State, Vec<Unread>) {
        let mut mirror = self.shared().mirror();
        let front = reads.iter().find(|read| read.is_front()).map(|read| read.target.clone());
        for read in &reads {
            read.merge(&mut mirror, front.as_ref());
        }
        let mut state = mirror.snapshot();
        drop(mirror);
        let unread = reads.into_iter().flat_map(|read| read.apply(&mut state)).collect();
        (state, unread)
    }
}

/// What is said of a tab whose page another one opened.
const OPENER: &str =
    "its tie to the tab that opened it is not kept: window.opener is null after a resume";

/// The tabs that do not come back, or not as they are.
fn left_of_tabs(tabs: &[TargetInfo], internal: &[TargetInfo]) -> Vec<Unread> {
    let lost = |tab: &TargetInfo, reason| Unread::lost(ItemKind::Tab, &tab.url, reason);
    let own = internal.iter().filter(|tab| shows(&tab.url) == Shows::OfTheBrowser);
    let own = own.map(|tab| lost(tab, Shows::BROWSER));
    let sources = tabs.iter().filter(|tab| matches!(shows(&tab.url), Shows::Source(_)));
    let sources = sources.map(|tab| lost(tab, Shows::SOURCE));
    let is_open = |id: &TargetId| tabs.iter().any(|tab| tab.target_id == *id);
    let opened = tabs.iter().filter(|tab| tab.opener().is_some_and(is_open));
    own.chain(sources).chain(opened.map(|tab| lost(tab, OPENER))).collect()
}

/// A page that does not paint within this time has no preview.
const PREVIEW_LIMIT: Duration = Duration::from_secs(2);
const WIDTH: u32 = 320;
const HEIGHT: u32 = 180;
/// The largest side of a window, in pixels.
const LARGEST: u32 = 16_384;

/// A picture of the tab in front, or none when there is nothing to see or it cannot be had in time.
async fn preview(live: &Live, state: &State) -> Option<Vec<u8>> {
    let tab = state.active_tab()?;
    let session = live.shared().sessions_of(&TargetId::new(&tab.id)).into_iter().next()?;
    let session = live.browser().connection().session(session);
    let params = json!({ "format": "png", "optimizeForSpeed": true });
    match session.call_within(PREVIEW_LIMIT, "Page.captureScreenshot", params).await {
        Ok(answer) => {
            let png = STANDARD.decode(answer["data"].as_str()?).ok()?;
            tokio::task::spawn_blocking(move || scale(&png)).await.ok()?
        }
        Err(error) => {
            tracing::debug!(%error, "no preview");
            None
        }
    }
}

/// The upper part of a picture, as wide as it is, at 320×180.
fn scale(png: &[u8]) -> Option<Vec<u8>> {
    let mut reader = ImageReader::with_format(Cursor::new(png), ImageFormat::Png);
    let mut limits = Limits::default();
    limits.max_image_width = Some(LARGEST);
    limits.max_image_height = Some(LARGEST);
    reader.limits(limits);
    let picture = reader.decode().ok()?;
    let height = (picture.width() * HEIGHT / WIDTH).clamp(1, picture.height());
    let upper = picture.crop_imm(0, 0, picture.width(), height);
    let small = upper.resize_exact(WIDTH, HEIGHT, FilterType::Triangle);
    let mut bytes = Vec::new();
    small.into_rgb8().write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::RgbImage;

    fn picture(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        RgbImage::new(width, height)
            .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
            .unwrap();
        bytes
    }

    #[test]
    fn a_preview_has_one_size_whatever_the_window() {
        for (width, height) in [(1280, 720), (1280, 2000), (300, 40), (1, 1)] {
            let small = image::load_from_memory(&scale(&picture(width, height)).unwrap()).unwrap();
            assert_eq!((small.width(), small.height()), (WIDTH, HEIGHT));
        }
    }

    #[test]
    fn what_is_no_picture_gives_no_preview() {
        assert_eq!(scale(b"not a picture"), None);
    }
}
