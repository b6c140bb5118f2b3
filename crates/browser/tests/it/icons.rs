//! Icons of sites: found as pages name them, drawn anew, asked for once, and never waited for.

use crate::fixture::{eventually, shows};
use crate::site::{Page, Site, SiteBuilder};
use crate::story::{Running, profile};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_browser::capture::{Captured, Depth};
use baton_browser::icon::SiteIcon;
use image::{ImageFormat, Rgba, RgbaImage};
use serde_json::json;
use std::io::Cursor;
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;

pub(crate) const RED: [u8; 4] = [200, 10, 20, 255];
const BLUE: [u8; 4] = [10, 20, 200, 255];
/// How long a capture may take that waits for an icon in vain. Such an icon never comes, so that one which
/// waits for it never ends.
const HELD_UP: Duration = Duration::from_mins(1);

fn picture(side: u32, colour: [u8; 4], format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = RgbaImage::from_pixel(side, side, Rgba(colour));
    picture.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

/// A PNG of more than 64 KiB.
pub(crate) fn noise() -> Vec<u8> {
    let mut noise = 1_u32;
    let picture = RgbaImage::from_fn(200, 200, |_, _| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Rgba(noise.to_le_bytes())
    });
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
    assert!(bytes.len() > 64 << 10, "{}", bytes.len());
    bytes
}

/// A browser with one tab at a site.
pub(crate) struct Scene {
    pub(crate) site: Site,
    pub(crate) running: Running,
    _folder: TempDir,
}

impl Scene {
    async fn at(site: SiteBuilder) -> Self {
        let site = site.start().await;
        let (folder, profile) = profile();
        let running = Running::start(&profile).await;
        running.open(&site.url("a", "/")).await;
        Self { site, running, _folder: folder }
    }

    pub(crate) async fn capture(&self) -> Captured {
        self.running.live.capture(Depth::Whole, true).await.unwrap()
    }

    /// Takes the tab elsewhere.
    pub(crate) async fn go(&self, url: &str) {
        let page = self.running.page(&self.site.url("a", "/")).await;
        page.call("Page.navigate", json!({ "url": url })).await.unwrap();
        shows(&page, "location.href + document.readyState", format!("{url}complete")).await;
    }

    /// Captures that follow find the same, and ask the site for nothing. What the browser asks for by
    /// itself may come a moment late.
    pub(crate) async fn rests(&self, colour: Option<[u8; 4]>) {
        eventually("captures ask for nothing", async || {
            let asked = || [self.site.take_requests(), self.site.take_favicons()].concat();
            asked();
            for _ in 0..3 {
                assert_eq!(self.colour().await, colour);
            }
            asked().is_empty()
        })
        .await;
    }

    /// The colour of the icon in a capture; none when the site has none.
    pub(crate) async fn colour(&self) -> Option<[u8; 4]> {
        let SiteIcon { site, png } = self.capture().await.icon.unwrap();
        assert_eq!(site.as_str(), "a.localhost");
        let icon = image::load_from_memory_with_format(&png?, ImageFormat::Png).unwrap().to_rgba8();
        assert_eq!(icon.dimensions(), (32, 32));
        Some(icon.get_pixel(16, 16).0)
    }
}

/// A browser that shows a page which names these icons, at a site with these pictures.
pub(crate) async fn showing(links: &str, pictures: &[(&str, Page)]) -> Scene {
    let site = Site::builder().page("/", Page::html(links));
    let add = |site: SiteBuilder, (path, page): &(&str, Page)| site.page(path, page.clone());
    Scene::at(pictures.iter().fold(site, add)).await
}

pub(crate) fn png(colour: [u8; 4]) -> Page {
    Page::picture("image/png", picture(32, colour, ImageFormat::Png))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_of_the_icons_that_a_page_names_is_found_and_asked_for_once() {
    let links = "<link rel='shortcut icon' sizes='180x180' href='/large.png'>
                 <link rel=icon type=image/png sizes='16x16 32x32' href='/icon.png'>
                 <link rel=icon type=image/svg+xml href='/icon.svg'>
                 <link rel=apple-touch-icon sizes='32x32' href='/touch.png'>";
    let scene = showing(links, &[("/large.png", png(BLUE)), ("/icon.png", png(RED))]).await;
    assert_eq!(scene.colour().await, Some(RED));
    scene.rests(Some(RED)).await;
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_browser_has_already_is_not_asked_for_again() {
    let icon = png(RED).header("Cache-Control", "max-age=600");
    let scene = showing("<link rel=icon href='/icon.png'>", &[("/icon.png", icon)]).await;
    let is_icon = |path: &String| path == "a /icon.png";
    let mut asked = Vec::new();
    eventually("the browser has asked for the icon", async || {
        asked.extend(scene.site.take_requests());
        asked.iter().any(is_icon)
    })
    .await;
    assert_eq!(scene.colour().await, Some(RED));
    asked.extend(scene.site.take_requests());
    assert_eq!(asked.iter().filter(|path| is_icon(path)).count(), 1, "{asked:?}");
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_names_none_has_the_one_that_every_site_may_have() {
    let icon = Page::picture("image/x-icon", picture(16, BLUE, ImageFormat::Ico));
    let scene = showing("nothing named", &[("/favicon.ico", icon)]).await;
    assert_eq!(scene.colour().await, Some(BLUE));
    scene.rests(Some(BLUE)).await;
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_icon_in_its_own_address_costs_no_request() {
    let data = STANDARD.encode(picture(16, RED, ImageFormat::Png));
    let link = format!("<link rel=icon href='data:image/png;base64,{data}'>");
    let scene = showing(&link, &[]).await;
    assert_eq!(scene.colour().await, Some(RED));
    assert_eq!(scene.site.take_requests(), ["a /"]);
    assert_eq!(scene.site.take_favicons(), [""; 0]);
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_icon_of_another_host_is_taken_as_well() {
    let link = "<link rel=icon type=image/png href='http://b.localhost:{port}/icon.png'>";
    let scene = showing(link, &[("/icon.png", png(RED))]).await;
    assert_eq!(scene.colour().await, Some(RED));
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_large_or_of_another_kind_is_none_and_not_asked_for_again() {
    let large = Page::picture("image/png", noise());
    let drawn = Page::picture("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>".into());
    let lies = Page::picture("image/png", b"<html>".into());
    let gone = png(RED).status("404 Not Found");
    let named = |path: &str| format!("<link rel=icon href='{path}'>");
    for (path, picture) in
        [("/icon.png", large), ("/icon.svg", drawn), ("/icon", lies), ("/gone.png", gone)]
    {
        let scene = showing(&named(path), &[(path, picture)]).await;
        assert_eq!(scene.colour().await, None, "{path}");
        scene.rests(None).await;
        scene.running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_icon_that_never_comes_holds_nothing_up() {
    for slow in [Page::default().silent(), Page::picture("image/png", noise()).endless()] {
        let scene = showing("<link rel=icon href='/icon.png'>", &[("/icon.png", slow)]).await;
        assert_eq!(timeout(HELD_UP, scene.colour()).await.expect("it is not held up"), None);
        scene.rests(None).await;
        scene.running.crash().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_icon_is_that_of_the_site_in_front() {
    let scene = showing("<link rel=icon href='/icon.png'>", &[("/icon.png", png(RED))]).await;
    assert_eq!(scene.colour().await, Some(RED));
    let elsewhere = scene.site.url("b", "/");
    scene.go(&elsewhere).await;
    let icon = scene.capture().await.icon.unwrap();
    assert_eq!(icon.site.as_str(), "b.localhost");
    assert!(icon.png.is_some());
    scene.running.crash().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tab_without_a_site_has_no_icon_and_no_picture_is_made_unless_it_is_wanted() {
    let scene = showing("<link rel=icon href='/icon.png'>", &[("/icon.png", png(RED))]).await;
    let without = scene.running.live.capture(Depth::Whole, false).await.unwrap();
    assert_eq!((without.icon, without.preview), (None, None));
    scene.go("about:blank").await;
    assert_eq!(scene.capture().await.icon, None);
    scene.running.crash().await;
}
