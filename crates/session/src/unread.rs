//! What could not be read when a state was captured, and stands there as it was last known, or not at
//! all.

use crate::cookie::Cookie;
use crate::json;
use crate::parts::{Part, PartKind};
use crate::receipt::{ItemKind, ReceiptItem, Verified};
use crate::redact::redact_url;
use serde::{Deserialize, Serialize};

/// The most places that are noted of one capture, and the most characters of each text.
const PLACES: usize = 200;
const CHARACTERS: usize = 500;

/// A place that did not answer in time, or answered with an error.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Unread {
    /// A tab's address, a storage key, or what of it; without secrets.
    pub place: String,
    /// Why.
    pub reason: String,
    /// Whether it is not in the snapshot at all, or not as it was. All else stands there as last known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// What is lost, if it is no cookie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ItemKind>,
}

impl Unread {
    /// A place, and why it was not read. What may be secret in an address is left out.
    pub fn new(place: impl AsRef<str>, reason: impl std::fmt::Display) -> Self {
        let place = redact_url(place.as_ref());
        Self { place, reason: reason.to_string(), lost: false, kind: None }
    }

    /// What cannot be kept, and why. What may be secret in an address is left out.
    pub fn lost(kind: ItemKind, place: impl AsRef<str>, reason: impl std::fmt::Display) -> Self {
        Self { lost: true, kind: Some(kind), ..Self::new(place, reason) }
    }

    /// A cookie that cannot be kept, and why.
    pub fn lost_cookie(cookie: &Cookie, reason: impl std::fmt::Display) -> Self {
        Self { place: cookie.place(), reason: reason.to_string(), lost: true, kind: None }
    }

    /// The part of a snapshot that notes these places; none when everything was read.
    pub fn part(places: &[Self]) -> Option<Part> {
        let cut = |text: &str| text.chars().take(CHARACTERS).collect::<String>();
        let mut places: Vec<_> = places
            .iter()
            .map(|unread| Self {
                lost: unread.lost,
                kind: unread.kind,
                ..Self::new(cut(&unread.place), cut(&unread.reason))
            })
            .collect();
        places.sort_unstable();
        places.dedup();
        places.truncate(PLACES);
        let bytes = json::bytes(&places);
        (!places.is_empty()).then(|| Part { kind: PartKind::Unread, name: String::new(), bytes })
    }

    /// The places that a snapshot with these parts notes. One that is damaged notes none.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a Part>) -> Vec<Self> {
        let mut notes = parts.into_iter().filter(|part| part.kind == PartKind::Unread);
        notes.next().and_then(|part| serde_json::from_slice(&part.bytes).ok()).unwrap_or_default()
    }
}

impl ReceiptItem {
    /// What could not be read when the snapshot was taken: it is back as it was last known, or lost.
    pub fn as_last_known(unread: Unread) -> Self {
        let Unread { place, reason, lost, kind } = unread;
        match kind {
            Some(kind) if lost => return Self::not_portable(kind, place, reason),
            None if lost => return Self::rejected(ItemKind::Cookie, place, reason),
            _ => {}
        }
        let reason =
            format!("it did not answer when the snapshot was taken: {reason}; as last known");
        let verified = Verified::None;
        Self { reason: Some(reason), verified, ..Self::restored(ItemKind::Snapshot, place) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_noted_once_and_bounded() {
        assert_eq!(Unread::part(&[]), None);
        let slow = Unread::new("https://app.test/", "no answer within 5s");
        let part = Unread::part(&[slow.clone(), slow.clone()]).unwrap();
        assert_eq!(Unread::of([&part]), [slow]);
        let many: Vec<_> = (0..300).map(|n| Unread::new(n.to_string(), "é".repeat(900))).collect();
        let noted = Unread::of([&Unread::part(&many).unwrap()]);
        assert_eq!((noted.len(), noted[0].reason.chars().count()), (PLACES, CHARACTERS));
        let settings = Unread::lost(ItemKind::Tab, "chrome://settings/", "not kept");
        let noted = Unread::of([&Unread::part(std::slice::from_ref(&settings)).unwrap()]);
        assert_eq!(noted, [settings]);
        let before =
            Part { bytes: br#"[{"place":"a","reason":"b","lost":true}]"#.to_vec(), ..part.clone() };
        assert_eq!(Unread::of([&before])[0].kind, None, "a cookie");
        let damaged = Part { bytes: b"[{".to_vec(), ..part };
        assert_eq!(Unread::of([&damaged]), []);
    }
}
