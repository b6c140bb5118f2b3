//! What a capture found, as the parts of a snapshot.
//!
//! The one idea: what is as it was in the last snapshot is carried over from it by hash. Pictures are no
//! part of the state: one that a capture did not make stays as it was.

use super::error::LiveError;
use baton_browser::capture::Captured;
use baton_browser::icon::{SiteIcon, site_in_front};
use baton_session::{Cookie, Part, PartKind, PartRef, Unread, parts};
use baton_store::blocking::blocking;
use std::collections::HashMap;
use std::sync::Arc;

/// A snapshot's parts: those with new bytes, and those that the last snapshot has already.
pub(super) struct Draft {
    pub(super) changed: Vec<Part>,
    pub(super) carried: Vec<PartRef>,
}

impl Draft {
    /// Of all parts, those that are as they were in `last` are carried over.
    pub(super) fn of(all: Vec<Part>, last: &[PartRef]) -> Self {
        let known: HashMap<_, _> =
            last.iter().map(|part| ((part.kind, part.name.as_str()), part)).collect();
        let mut draft = Self { changed: Vec::new(), carried: Vec::new() };
        for part in all {
            match known.get(&(part.kind, part.name.as_str())) {
                Some(known) if **known == part.reference() => draft.carried.push((*known).clone()),
                _ => draft.changed.push(part),
            }
        }
        draft
    }

    /// Of cookies alone: everything else is carried over.
    pub(super) fn of_cookies(cookies: &[Cookie], last: &[PartRef]) -> Self {
        let mut draft = Self::of(parts::split_cookies(cookies).collect(), last);
        let others = last.iter().filter(|part| part.kind != PartKind::Cookies);
        draft.carried.extend(others.cloned());
        draft
    }
}

/// Cuts what was captured into parts, off the async threads: hashing takes the processor.
pub(super) async fn draft(captured: &Arc<Captured>, last: &[PartRef]) -> Result<Draft, LiveError> {
    let (captured, last) = (Arc::clone(captured), last.to_vec());
    let work = move || {
        let mut all = parts::split(&captured.state);
        let pictures = pictures(&captured);
        let is_kept = |part: &PartRef| is_kept(&captured, &pictures, part);
        let kept: Vec<PartRef> = last.iter().filter(|part| is_kept(part)).cloned().collect();
        all.extend(pictures);
        all.extend(Unread::part(&captured.unread));
        let mut draft = Draft::of(all, &last);
        draft.carried.extend(kept);
        draft
    };
    Ok(blocking(work).await?)
}

/// The pictures that a capture made.
fn pictures(captured: &Captured) -> Vec<Part> {
    let preview = captured.preview.clone();
    let preview = preview.map(|bytes| Part { kind: PartKind::Preview, name: String::new(), bytes });
    let icon = captured.icon.as_ref().and_then(|SiteIcon { site, png }| {
        Some(Part { kind: PartKind::Icon, name: site.to_string(), bytes: png.clone()? })
    });
    preview.into_iter().chain(icon).collect()
}

/// Whether a picture that was there before stays, because a capture made none in its place. An icon stays
/// for as long as its site is in front, whether or not anybody looked for it.
fn is_kept(captured: &Captured, made: &[Part], before: &PartRef) -> bool {
    if !before.kind.is_picture() || made.iter().any(|part| part.kind == before.kind) {
        return false;
    }
    let front = || site_in_front(&captured.state);
    before.kind != PartKind::Icon || front().is_some_and(|site| site.as_str() == before.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::{Site, State, Tab};
    use serde_json::json;

    fn part(kind: PartKind, name: &str, bytes: &[u8]) -> Part {
        Part { kind, name: name.to_owned(), bytes: bytes.to_vec() }
    }

    /// What becomes of the pictures of a snapshot, in a capture that found this icon while this address was
    /// in front: those that are new, and those that stay.
    async fn pictures_with(front: &str, icon: Option<SiteIcon>) -> [Vec<(PartKind, String)>; 2] {
        let tab = Tab { url: front.to_owned(), active: true, ..Tab::default() };
        let state = State { tabs: vec![tab], ..State::default() };
        let captured = Arc::new(Captured { state, preview: None, icon, unread: Vec::new() });
        let last = [
            part(PartKind::Preview, "", b"preview").reference(),
            part(PartKind::Icon, "shop.test", b"shop").reference(),
        ];
        let Draft { changed, carried } = draft(&captured, &last).await.unwrap();
        let pictures = |parts: Vec<(PartKind, String)>| {
            let mut pictures: Vec<_> =
                parts.into_iter().filter(|part| part.0.is_picture()).collect();
            pictures.sort();
            pictures
        };
        [
            pictures(changed.into_iter().map(|part| (part.kind, part.name)).collect()),
            pictures(carried.into_iter().map(|part| (part.kind, part.name)).collect()),
        ]
    }

    #[test]
    fn a_snapshot_of_cookies_alone_differs_in_those() {
        let cookie = |domain: &str, value: &str| -> Cookie {
            let cookie = json!({ "name": "sid", "value": value, "domain": domain, "path": "/" });
            serde_json::from_value(cookie).unwrap()
        };
        let tab = Tab { url: "https://shop.test/".to_owned(), ..Tab::default() };
        let before = vec![cookie("bank.test", "1"), cookie("shop.test", "1")];
        let state = State { cookies: before, tabs: vec![tab], ..State::default() };
        let mut last: Vec<_> = parts::split(&state).iter().map(Part::reference).collect();
        last.push(part(PartKind::Preview, "", b"preview").reference());

        let after =
            vec![cookie("bank.test", "1"), cookie("new.test", "1"), cookie("shop.test", "2")];
        let Draft { changed, carried } = Draft::of_cookies(&after, &last);
        let names: Vec<_> = changed.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["new.test", "shop.test"]);

        let mut whole: Vec<_> = changed.iter().map(Part::reference).chain(carried).collect();
        whole.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        let state = State { cookies: after, ..state };
        let mut expected: Vec<_> = parts::split(&state).iter().map(Part::reference).collect();
        expected.push(part(PartKind::Preview, "", b"preview").reference());
        expected.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
        assert_eq!(whole, expected);
    }

    fn icon(site: &str, png: Option<&[u8]>) -> SiteIcon {
        SiteIcon { site: Site::of_host(site), png: png.map(<[u8]>::to_vec) }
    }

    fn preview() -> (PartKind, String) {
        (PartKind::Preview, String::new())
    }

    fn of(site: &str) -> (PartKind, String) {
        (PartKind::Icon, site.to_owned())
    }

    #[tokio::test]
    async fn pictures_stay_until_others_are_made() {
        let front = "https://shop.test/cart";
        let nothing_new = [icon("shop.test", None), icon("shop.test", Some(b"shop"))].map(Some);
        for icon in nothing_new.into_iter().chain([None]) {
            let [new, stay] = pictures_with(front, icon).await;
            assert_eq!((new, stay), (vec![], vec![preview(), of("shop.test")]));
        }
        let [new, stay] = pictures_with(front, Some(icon("shop.test", Some(b"another")))).await;
        assert_eq!((new, stay), (vec![of("shop.test")], vec![preview()]));
    }

    #[tokio::test]
    async fn an_icon_stays_while_its_site_is_in_front_and_no_longer() {
        let bank = "https://bank.test/";
        let [new, stay] = pictures_with(bank, Some(icon("bank.test", Some(b"bank")))).await;
        assert_eq!((new, stay), (vec![of("bank.test")], vec![preview()]));
        let [new, stay] = pictures_with(bank, Some(icon("bank.test", None))).await;
        assert_eq!((new, stay), (vec![], vec![preview()]));
        // No icon was looked for, or there is no site that has one.
        for front in [bank, "about:blank", "chrome://version/", "data:text/html,shop.test", ""] {
            let [new, stay] = pictures_with(front, None).await;
            assert_eq!((new, stay), (vec![], vec![preview()]), "{front}");
        }
    }
}
