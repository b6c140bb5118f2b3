//! The preview: a PNG of the tab in front, 320×180.
//!
//! The one idea: the page must not notice. A screenshot with a clip is scaled by the browser, but it
//! resizes the page for a moment, so we take the page as it is and scale the picture ourselves.

use crate::live::Live;
use crate::targets::TargetId;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::State;
use image::imageops::FilterType;
use image::{ImageFormat, ImageReader, Limits};
use serde_json::json;
use std::io::Cursor;
use std::time::Duration;

/// A page that does not paint within this time has no preview.
const LIMIT: Duration = Duration::from_secs(2);
const WIDTH: u32 = 320;
const HEIGHT: u32 = 180;
/// The largest side of a window, in pixels.
const LARGEST: u32 = 16_384;

/// A picture of the tab in front, or none when there is nothing to see or it cannot be had in time.
pub(super) async fn capture(live: &Live, state: &State) -> Option<Vec<u8>> {
    let tab = state.active_tab()?;
    let session = live.shared().sessions_of(&TargetId::new(&tab.id)).into_iter().next()?;
    let session = live.browser().connection().session(session);
    let params = json!({ "format": "png", "optimizeForSpeed": true });
    match session.call_within(LIMIT, "Page.captureScreenshot", params).await {
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
