//! A receipt: what a restore did, item by item, and what a capture could not read. Nothing is dropped
//! silently.

use crate::cookie::Cookie;
use crate::json;
use crate::parts::{Part, PartKind};
use crate::storage::Site;
use crate::text_form::words;
use baton_redaction::ShownAddress;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Items of a receipt that read the same but for their names: a line of its table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Group {
    /// What they are.
    pub kind: ItemKind,
    /// The site of cookies; the place of anything else.
    #[serde(rename = "where")]
    pub place: String,
    /// What became of them.
    pub outcome: Outcome,
    /// Why, when they did not come back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which side they came from.
    pub source: Source,
    /// How we know.
    pub verified: Verified,
    /// How many items.
    pub count: usize,
}

/// What a restore did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Receipt {
    /// How many items came back.
    pub restored: usize,
    /// How many the browser refused.
    pub rejected: usize,
    /// How many no tool can carry here.
    pub not_portable: usize,
    /// How many wait for the page that needs them.
    pub pending: usize,
    /// One line per item.
    pub items: Vec<ReceiptItem>,
}

/// One item of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReceiptItem {
    /// What it is.
    pub kind: ItemKind,
    /// Where it lives: a cookie's [place](crate::Cookie::place), a storage key, a database, an address.
    /// Never a value.
    #[serde(rename = "where")]
    pub place: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, when there is more to say than that it came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Which side it came from.
    pub source: Source,
    /// How we know.
    pub verified: Verified,
}

words! {
    /// What an item is.
    ItemKind, else UnknownItemKind ("kind of item"):
    /// One cookie.
    Cookie "cookie",
    /// The localStorage of one storage key.
    LocalStorage "local_storage",
    /// The sessionStorage of one tab and storage key.
    SessionStorage "session_storage",
    /// One IndexedDB database.
    IndexedDb "indexed_db",
    /// One cache of Cache Storage.
    Cache "cache",
    /// The origin private file system of one storage key.
    Files "files",
    /// One service worker registration.
    ServiceWorker "service_worker",
    /// One tab.
    Tab "tab",
    /// Where back and forward lead from one tab, and how far its pages are scrolled.
    History "history",
    /// One setting of the environment.
    Environment "environment",
    /// What one site may do or may not.
    Permission "permission",
    /// A registrable site of which the profile was taken as a whole, in the snapshot's place.
    Site "site",
    /// A stored part that could not be read.
    Part "part",
    /// A whole snapshot: the one that was taken in the place of a newer one.
    Snapshot "snapshot",
}

impl ItemKind {
    /// Whether no profile has it: a tab and what is the tab's, and what a browser is started with.
    pub fn is_never_in_a_profile(self) -> bool {
        matches!(self, Self::Tab | Self::SessionStorage | Self::History | Self::Environment)
    }
}

/// What became of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Outcome {
    /// It is back.
    Restored,
    /// The browser refused it.
    Rejected,
    /// No tool can carry it here.
    NotPortable,
    /// It waits for the page that needs it.
    Pending,
}

/// Which side an item came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Source {
    /// The snapshot.
    Snapshot,
    /// The profile on disk, which was equal or newer.
    Disk,
}

/// How we know that an item is back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum Verified {
    /// Read back from the browser.
    Page,
    /// Read back from the profile.
    Disk,
    /// Not read back.
    None,
}

impl Receipt {
    /// Adds an item and counts it.
    pub fn push(&mut self, item: ReceiptItem) {
        let count = match item.outcome {
            Outcome::Restored => &mut self.restored,
            Outcome::Rejected => &mut self.rejected,
            Outcome::NotPortable => &mut self.not_portable,
            Outcome::Pending => &mut self.pending,
        };
        *count += 1;
        self.items.push(item);
    }

    /// Adds all items of `other`.
    pub fn extend(&mut self, other: Receipt) {
        other.items.into_iter().for_each(|item| self.push(item));
    }

    /// Puts the items in the order of their kinds, and those of a kind in the order of their places.
    pub fn sort(&mut self) {
        self.items.sort_by(|a, b| (a.kind, &a.place).cmp(&(b.kind, &b.place)));
    }

    /// Leaves the lines of what did not come back; what did stays counted.
    pub fn forget_restored(&mut self) {
        self.items.retain(|item| item.outcome != Outcome::Restored);
    }

    /// Whether something did not come back.
    pub fn has_losses(&self) -> bool {
        self.rejected + self.not_portable > 0
    }

    /// Whether something did not come back that a profile could have had. A profile has no tabs, and nothing
    /// of what its browser is started with: to say so each time would hide what is lost.
    pub fn has_losses_of_a_profile(&self) -> bool {
        self.items.iter().any(|item| match item.outcome {
            Outcome::Rejected => true,
            Outcome::NotPortable => !item.kind.is_never_in_a_profile(),
            Outcome::Restored | Outcome::Pending => false,
        })
    }

    /// The items in groups, sorted by kind and place: three thousand cookies are a line for each
    /// site, and a reason of its own is a line of its own.
    pub fn groups(&self) -> Vec<Group> {
        let mut counts: BTreeMap<Group, usize> = BTreeMap::new();
        for item in &self.items {
            *counts.entry(item.group()).or_default() += 1;
        }
        counts.into_iter().map(|(group, count)| Group { count, ..group }).collect()
    }

    /// The items that did not come back.
    pub fn losses(&self) -> impl Iterator<Item = &ReceiptItem> {
        self.items
            .iter()
            .filter(|item| matches!(item.outcome, Outcome::Rejected | Outcome::NotPortable))
    }
}

impl FromIterator<ReceiptItem> for Receipt {
    fn from_iter<I: IntoIterator<Item = ReceiptItem>>(items: I) -> Self {
        let mut receipt = Self::default();
        items.into_iter().for_each(|item| receipt.push(item));
        receipt
    }
}

impl ReceiptItem {
    /// The group it belongs to, not counted yet.
    fn group(&self) -> Group {
        let place = match self.kind {
            ItemKind::Cookie => {
                let domain = self.place.split('/').next().unwrap_or_default();
                Site::of_host(domain).to_string()
            }
            _ => self.place.clone(),
        };
        let Self { kind, outcome, source, verified, .. } = *self;
        Group { kind, place, outcome, reason: self.reason.clone(), source, verified, count: 0 }
    }

    /// An item of the snapshot that came back and was read back from the browser.
    pub fn restored(kind: ItemKind, place: impl Into<String>) -> Self {
        Self {
            kind,
            place: place.into(),
            outcome: Outcome::Restored,
            reason: None,
            source: Source::Snapshot,
            verified: Verified::Page,
        }
    }

    /// An item of the snapshot that the browser refused.
    pub fn rejected(kind: ItemKind, place: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self {
            outcome: Outcome::Rejected,
            reason: Some(reason.to_string()),
            verified: Verified::None,
            ..Self::restored(kind, place)
        }
    }

    /// An item of the snapshot that no tool can carry here.
    pub fn not_portable(
        kind: ItemKind,
        place: impl Into<String>,
        reason: impl fmt::Display,
    ) -> Self {
        Self { outcome: Outcome::NotPortable, ..Self::rejected(kind, place, reason) }
    }

    /// An item of the snapshot that no tool can carry here whole: the rest of it came back, and was read back from the
    /// browser.
    pub fn back_in_part(
        kind: ItemKind,
        place: impl Into<String>,
        reason: impl fmt::Display,
    ) -> Self {
        Self { verified: Verified::Page, ..Self::not_portable(kind, place, reason) }
    }

    /// Whether it is [one of those](Self::back_in_part).
    pub fn is_back_in_part(&self) -> bool {
        self.outcome == Outcome::NotPortable && self.verified == Verified::Page
    }

    /// An item that waits for the page that needs it.
    pub fn pending(kind: ItemKind, place: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self { outcome: Outcome::Pending, ..Self::rejected(kind, place, reason) }
    }
}

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
    /// Whether another look would find the same. Whoever looked knows; it is not kept.
    #[serde(skip)]
    pub lasting: bool,
}

impl Unread {
    /// A place, and why it was not read. What may be secret in an address is left out.
    pub fn new(place: impl AsRef<str>, reason: impl std::fmt::Display) -> Self {
        let place = ShownAddress::of(place.as_ref()).into();
        Self { place, reason: reason.to_string(), lost: false, kind: None, lasting: false }
    }

    /// What cannot be kept, and why. What may be secret in an address is left out.
    pub fn lost(kind: ItemKind, place: impl AsRef<str>, reason: impl std::fmt::Display) -> Self {
        Self { lost: true, kind: Some(kind), ..Self::new(place, reason) }
    }

    /// A cookie that cannot be kept, and why.
    pub fn lost_cookie(cookie: &Cookie, reason: impl std::fmt::Display) -> Self {
        let (place, reason) = (cookie.place(), reason.to_string());
        Self { place, reason, lost: true, kind: None, lasting: false }
    }

    /// Whether it was not read this time, and may be the next: what was written there last is not known.
    pub fn is_passing(&self) -> bool {
        !self.lost && !self.lasting
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
        let Unread { place, reason, lost, kind, .. } = unread;
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
    fn what_may_be_read_the_next_time_is_told_from_what_never_is() {
        let slow = Unread::new("https://app.test/", "no answer within 5s");
        let large = Unread { lasting: true, ..slow.clone() };
        let tab = Unread::lost(ItemKind::Tab, "chrome://settings/", "not kept");
        let cookie = Unread { kind: None, ..tab.clone() };
        assert!(slow.is_passing());
        assert!(![&large, &tab, &cookie].iter().any(|unread| unread.is_passing()));
        // No snapshot says so.
        assert_eq!(Unread::part(&[large]), Unread::part(&[slow]));
    }

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
