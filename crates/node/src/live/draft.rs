//! What a capture found, as the parts of a snapshot.
//!
//! The one idea: what is as it was in the last snapshot is carried over from it by hash. Pictures are no
//! part of the state: one that a capture did not make stays as it was.

use super::LiveError;
use baton_browser::capture::Captured;
use baton_browser::icon::SiteIcon;
use baton_session::{Part, PartKind, PartRef, Unread, parts};
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
    tokio::task::spawn_blocking(work).await.map_err(|_| LiveError::Stopping)
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
/// for as long as its site is in front, as far as anybody looked.
fn is_kept(captured: &Captured, made: &[Part], before: &PartRef) -> bool {
    if !before.kind.is_picture() || made.iter().any(|part| part.kind == before.kind) {
        return false;
    }
    let is_elsewhere = |icon: &SiteIcon| icon.site.as_str() != before.name;
    before.kind != PartKind::Icon || !captured.icon.as_ref().is_some_and(is_elsewhere)
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_session::{Site, State};

    fn part(kind: PartKind, name: &str, bytes: &[u8]) -> Part {
        Part { kind, name: name.to_owned(), bytes: bytes.to_vec() }
    }

    /// What becomes of the pictures of a snapshot, in a capture with this icon: those that are new, and
    /// those that stay.
    async fn pictures_with(icon: Option<SiteIcon>) -> [Vec<(PartKind, String)>; 2] {
        let (state, preview, unread) = (State::default(), None, Vec::new());
        let captured = Arc::new(Captured { state, preview, icon, unread });
        let last = [
            part(PartKind::Preview, "", b"preview").reference(),
            part(PartKind::Icon, "shop.test", b"shop").reference(),
        ];
        let Draft { changed, carried } = draft(&captured, &last).await.unwrap();
        let changed = changed.into_iter().map(|part| (part.kind, part.name));
        let carried = carried.into_iter().map(|part| (part.kind, part.name));
        [changed.filter(|part| part.0.is_picture()).collect(), carried.collect()]
    }

    fn icon(site: &str, png: Option<&[u8]>) -> SiteIcon {
        SiteIcon { site: Site::of_host(site), png: png.map(<[u8]>::to_vec) }
    }

    #[tokio::test]
    async fn pictures_stay_until_others_are_made_and_an_icon_while_its_site_is_in_front() {
        let preview = (PartKind::Preview, String::new());
        let of = |site: &str| (PartKind::Icon, site.to_owned());
        let both = vec![preview.clone(), of("shop.test")];
        let nothing_new = [icon("shop.test", None), icon("shop.test", Some(b"shop"))].map(Some);
        for icon in nothing_new.into_iter().chain([None]) {
            let [new, mut stay] = pictures_with(icon).await;
            stay.sort();
            assert_eq!((new, stay), (vec![], both.clone()));
        }
        let [new, stay] = pictures_with(Some(icon("shop.test", Some(b"another")))).await;
        assert_eq!((new, stay), (vec![of("shop.test")], vec![preview.clone()]));
        let [new, stay] = pictures_with(Some(icon("bank.test", Some(b"bank")))).await;
        assert_eq!((new, stay), (vec![of("bank.test")], vec![preview.clone()]));
        let [new, stay] = pictures_with(Some(icon("bank.test", None))).await;
        assert_eq!((new, stay), (vec![], vec![preview]));
    }
}
