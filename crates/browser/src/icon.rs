//! Icons of sites: whose they are, and that whatever a site gave becomes one PNG of one size.
//!
//! The one idea: what is passed on was drawn here. An icon comes from a site, or from another node, so it
//! is read within bounds and written anew, and nothing else that stood in it goes on.

use baton_session::{Site, State};
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use std::io::Cursor;
use url::Url;

/// Width and height of an icon, in pixels.
pub const ICON_SIDE: u32 = 32;
/// The most bytes that an icon has.
pub const ICON_BYTES: usize = 16 << 10;

/// The largest side of a picture that a site gives.
const LARGEST: u32 = 1024;
/// How much memory reading one may take.
const MEMORY: u64 = 16 << 20;

/// The icon of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteIcon {
    /// Whose it is.
    pub site: Site,
    /// A PNG, 32×32; none when the site has none that can be shown.
    pub png: Option<Vec<u8>>,
}

/// The site that the tab in front shows; none when it shows no page of a site.
pub fn site_in_front(state: &State) -> Option<Site> {
    site_at(&state.active_tab()?.url)
}

/// The site at an address.
pub(crate) fn site_at(address: &str) -> Option<Site> {
    site_of(&Url::parse(address).ok()?)
}

/// The site of a page that can have an icon.
pub(crate) fn site_of(url: &Url) -> Option<Site> {
    let host = url.host_str().filter(|_| matches!(url.scheme(), "http" | "https"))?;
    Some(Site::of_host(host))
}

/// Draws an icon from a PNG or an ICO; none when it is neither, or too large.
pub(crate) fn draw(bytes: &[u8]) -> Option<Vec<u8>> {
    let format = image::guess_format(bytes).ok()?;
    if !matches!(format, ImageFormat::Png | ImageFormat::Ico) {
        return None;
    }
    let picture = read(bytes, format, LARGEST)?;
    write(&picture.resize_exact(ICON_SIDE, ICON_SIDE, FilterType::Triangle))
}

/// Draws anew what another program says is an icon of a site; none when it is not as an icon is.
pub fn redraw(png: &[u8]) -> Option<Vec<u8>> {
    if png.len() > ICON_BYTES {
        return None;
    }
    write(&read(png, ImageFormat::Png, ICON_SIDE)?)
}

fn read(bytes: &[u8], format: ImageFormat, largest: u32) -> Option<DynamicImage> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(largest);
    limits.max_image_height = Some(largest);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    reader.decode().ok()
}

fn write(picture: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    picture.to_rgba8().write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{Rgba, RgbaImage};

    fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        RgbaImage::from_pixel(width, height, Rgba([200, 10, 20, 255]))
            .write_to(&mut Cursor::new(&mut bytes), format)
            .unwrap();
        bytes
    }

    /// The size of a PNG, and its colour in the middle.
    fn measure(png: &[u8]) -> ((u32, u32), [u8; 4]) {
        let seen = image::load_from_memory_with_format(png, ImageFormat::Png).unwrap().to_rgba8();
        (seen.dimensions(), seen.get_pixel(seen.width() / 2, seen.height() / 2).0)
    }

    #[test]
    fn every_icon_has_one_size_and_its_colours() {
        for format in [ImageFormat::Png, ImageFormat::Ico] {
            for side in [1, 16, 32, 180] {
                let icon = draw(&picture(side, side, format)).unwrap();
                assert_eq!(measure(&icon), ((ICON_SIDE, ICON_SIDE), [200, 10, 20, 255]));
                assert!(icon.len() <= ICON_BYTES);
            }
        }
    }

    #[test]
    fn the_noisiest_icon_keeps_within_its_bytes() {
        let mut noise = 1_u32;
        let picture = RgbaImage::from_fn(ICON_SIDE, ICON_SIDE, |_, _| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Rgba(noise.to_le_bytes())
        });
        let mut bytes = Vec::new();
        picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).unwrap();
        let icon = draw(&bytes).unwrap();
        assert!(icon.len() <= ICON_BYTES, "{}", icon.len());
        assert_eq!(redraw(&icon), Some(icon));
    }

    #[test]
    fn what_is_too_large_or_no_icon_gives_none() {
        assert_eq!(draw(&picture(LARGEST + 1, 1, ImageFormat::Png)), None);
        assert_eq!(draw(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), None);
        assert_eq!(draw(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"), None);
        assert_eq!(draw(&picture(16, 16, ImageFormat::Png)[..40]), None, "half a picture");
        assert_eq!(draw(b""), None);
    }

    #[test]
    fn what_somebody_else_drew_is_taken_as_an_icon_only_and_without_what_hangs_on_it() {
        let icon = draw(&picture(16, 16, ImageFormat::Png)).unwrap();
        assert_eq!(redraw(&icon).as_ref(), Some(&icon));
        let with_more = [icon.as_slice(), b"<script>alert(1)</script>"].concat();
        assert_eq!(redraw(&with_more), Some(icon.clone()));
        let too_long = [icon.as_slice(), &[0; ICON_BYTES]].concat();
        assert_eq!(redraw(&too_long), None);
        assert_eq!(redraw(&picture(ICON_SIDE + 1, 1, ImageFormat::Png)), None);
        assert_eq!(redraw(&picture(16, 16, ImageFormat::Ico)), None);
        assert_eq!(redraw(b"<html>"), None);
    }
}
