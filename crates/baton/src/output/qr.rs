//! A text as a picture that a phone reads off a terminal.

use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};

/// A QR code in blocks; none when the text is too long for one.
pub(super) fn picture(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    // Most terminals are dark, and a camera wants dark modules on light ones.
    let (dark, light) = (Dense1x2::Light, Dense1x2::Dark);
    Some(code.render::<Dense1x2>().dark_color(dark).light_color(light).build())
}
