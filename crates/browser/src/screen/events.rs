//! What the browser says of its tabs, as far as it is read, and its texts for people.
//!
//! Texts of pages are cut and freed of control characters here, so that nobody behind this has to.

use super::address::TabAddress;
use super::asking::Whose;
use super::texts::tidy;
use super::{Chooser, PageDialog};
use crate::cdp::CdpSessionId;
use crate::targets::TargetInfo;
use serde::Deserialize;
use serde_json::value::RawValue;

/// How long the texts of pages are, in characters.
pub(super) const TITLE: usize = 200;
const MESSAGE: usize = 2000;

/// Reads what is needed of an event; none when it has another form.
pub(super) fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

/// A side in CSS pixels; 0 for what is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, and what is no number becomes 0"
)]
pub(super) fn side(length: f64) -> u16 {
    length.round() as u16
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed {
    pub(super) target_info: TargetInfo,
}

#[derive(Deserialize)]
pub(super) struct Visibility {
    pub(super) visible: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Cast<'a> {
    #[serde(borrow)]
    pub(super) data: std::borrow::Cow<'a, str>,
    pub(super) metadata: CastMetadata,
    /// The number of the picture, which is no session.
    pub(super) session_id: i64,
}

#[derive(Deserialize)]
pub(super) struct Navigated {
    pub(super) frame: NavigatedFrame,
}

/// `Page.Frame`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigatedFrame {
    pub(super) id: String,
    pub(super) url: String,
    pub(super) parent_id: Option<String>,
}

impl NavigatedFrame {
    /// Where the top document of the tab is now; none where another frame went somewhere.
    pub(super) fn into_top(self) -> Option<TabAddress> {
        self.parent_id.is_none().then(|| TabAddress::of(&self.url))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameDetached {
    pub(super) frame_id: String,
}

/// `Page.ScreencastFrameMetadata`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CastMetadata {
    pub(super) page_scale_factor: f32,
    pub(super) device_width: f64,
    pub(super) device_height: f64,
    /// When it was taken, in seconds since 1970.
    pub(super) timestamp: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Opening {
    #[serde(default)]
    pub(super) message: String,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) default_prompt: String,
}

impl Opening {
    pub(super) fn into_dialog(self, number: u64) -> PageDialog {
        // Lines are a part of what it says.
        let lines = self.message.lines().map(|line| tidy(line, MESSAGE));
        let message = lines.collect::<Vec<_>>().join("\n").chars().take(MESSAGE).collect();
        let suggests = tidy(&self.default_prompt, MESSAGE);
        PageDialog { number, kind: tidy(&self.kind, 20), message, suggests }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChooserOpened {
    #[serde(default)]
    pub(super) mode: String,
    #[serde(default)]
    pub(super) frame_id: String,
    pub(super) backend_node_id: Option<i64>,
}

impl ChooserOpened {
    /// None for one that no element asked for: its answer would reach nothing.
    pub(super) fn into_chooser(
        self,
        number: u64,
        session: CdpSessionId,
        whose: Whose,
    ) -> Option<Chooser> {
        let (takes_many, frame) = (self.mode == "selectMultiple", self.frame_id);
        let (element, (origin, within)) = (self.backend_node_id?, whose);
        Some(Chooser { number, origin, within, takes_many, element, frame, session })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_pages_are_harmless_and_short() {
        assert_eq!(tidy("<b>\u{0}\u{1b}[31m\u{202e}x\n", 20), "<b>[31mx");
        assert_eq!(tidy(&"x".repeat(1000), TITLE).len(), TITLE);
        let opening = Opening {
            message: "Sure?\r\nReally\u{7}?".to_owned(),
            kind: "confirm".to_owned(),
            default_prompt: String::new(),
        };
        assert_eq!(opening.into_dialog(1).message, "Sure?\nReally?");
    }

    #[test]
    fn a_side_is_a_number_of_pixels() {
        assert_eq!((side(1279.6), side(-5.0), side(f64::NAN)), (1280, 0, 0));
        assert_eq!(side(1e9), u16::MAX);
    }
}
