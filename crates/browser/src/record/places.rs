//! To which tab a target belongs: tabs, the frames and workers below them, and workers of a whole site.

use crate::cdp::CdpSessionId;
use crate::targets::{TargetId, TargetInfo};
use std::collections::HashMap;
use url::Url;

/// What a session listens to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RecordedPlace {
    /// A tab itself.
    Tab(TargetId),
    /// A frame of another site in it.
    Frame {
        /// In which tab.
        tab: TargetId,
    },
    /// A worker of it.
    Worker {
        /// In which tab.
        tab: TargetId,
        /// Its script.
        script: String,
    },
    /// A worker of a whole site, which belongs to whichever tab shows that site.
    OfSite {
        /// Its script.
        script: String,
    },
}

/// All that is listened to.
#[derive(Debug, Default)]
pub(super) struct RecordedPlaces {
    by_session: HashMap<CdpSessionId, RecordedPlace>,
    /// What each tab shows, the one that came last at the end.
    shown: Vec<(TargetId, String)>,
}

impl RecordedPlaces {
    /// Notes a target that was attached below `parent`; none when it belongs to no tab.
    pub(super) fn attached(
        &mut self,
        session: &CdpSessionId,
        parent: Option<&CdpSessionId>,
        target: &TargetInfo,
    ) -> Option<RecordedPlace> {
        let script = target.url.clone();
        let place = match target.kind.as_str() {
            "page" => {
                self.shows(&target.target_id, &target.url);
                RecordedPlace::Tab(target.target_id.clone())
            }
            "service_worker" | "shared_worker" => RecordedPlace::OfSite { script },
            "iframe" => RecordedPlace::Frame { tab: self.tab_of(parent?)? },
            "worker" => match self.by_session.get(parent?)? {
                RecordedPlace::OfSite { .. } => RecordedPlace::OfSite { script },
                place => RecordedPlace::Worker { tab: self.tab_at(place)?, script },
            },
            _ => return None,
        };
        self.by_session.insert(session.clone(), place.clone());
        Some(place)
    }

    /// A tab shows an address.
    pub(super) fn shows(&mut self, tab: &TargetId, url: &str) {
        match self.shown.iter_mut().find(|(id, _)| id == tab) {
            Some((_, shown)) => url.clone_into(shown),
            None => self.shown.push((tab.clone(), url.to_owned())),
        }
    }

    /// Forgets a session; the tab is returned when it was one.
    pub(super) fn detached(&mut self, session: &CdpSessionId) -> Option<TargetId> {
        match self.by_session.remove(session)? {
            RecordedPlace::Tab(tab) => {
                self.shown.retain(|(id, _)| *id != tab);
                Some(tab)
            }
            _ => None,
        }
    }

    /// Whether it is listened to this tab.
    pub(super) fn is_known(&self, tab: &TargetId) -> bool {
        self.shown.iter().any(|(id, _)| id == tab)
    }

    /// Every tab.
    pub(super) fn tabs(&self) -> impl Iterator<Item = &TargetId> {
        self.shown.iter().map(|(tab, _)| tab)
    }

    /// What a session listens to, and the tab to which that belongs now.
    pub(super) fn find(&self, session: &CdpSessionId) -> Option<(TargetId, &RecordedPlace)> {
        let place = self.by_session.get(session)?;
        Some((self.tab_at(place)?, place))
    }

    fn tab_of(&self, session: &CdpSessionId) -> Option<TargetId> {
        self.tab_at(self.by_session.get(session)?)
    }

    fn tab_at(&self, place: &RecordedPlace) -> Option<TargetId> {
        match place {
            RecordedPlace::Tab(tab)
            | RecordedPlace::Frame { tab }
            | RecordedPlace::Worker { tab, .. } => Some(tab.clone()),
            RecordedPlace::OfSite { script } => {
                let site = origin(script)?;
                let mut newest = self.shown.iter().rev();
                let shows = newest.find(|(_, url)| origin(url).as_ref() == Some(&site));
                shows.map(|(tab, _)| tab.clone())
            }
        }
    }
}

impl RecordedPlace {
    /// The script, when it is a worker.
    pub(super) fn worker(&self) -> Option<String> {
        match self {
            Self::Worker { script, .. } | Self::OfSite { script } => Some(script.clone()),
            Self::Tab(_) | Self::Frame { .. } => None,
        }
    }

    /// The address of a frame, when what happened in the frame `id` of a document at `document` did not
    /// happen in the page itself.
    pub(super) fn frame(&self, id: Option<&str>, document: &str) -> Option<String> {
        let is_the_page = match self {
            Self::Tab(tab) => id.is_none_or(|id| id == tab.as_str()),
            Self::Frame { .. } => false,
            Self::Worker { .. } | Self::OfSite { .. } => true,
        };
        (!is_the_page && !document.is_empty()).then(|| document.to_owned())
    }
}

fn origin(url: &str) -> Option<url::Origin> {
    Url::parse(url).ok().map(|url| url.origin()).filter(url::Origin::is_tuple)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn target(kind: &str, id: &str, url: &str) -> TargetInfo {
        serde_json::from_value(json!({"targetId": id, "type": kind, "url": url})).unwrap()
    }

    fn session(id: &str) -> CdpSessionId {
        id.to_owned().into()
    }

    #[test]
    fn whatever_runs_below_a_tab_belongs_to_it_and_a_sites_worker_to_the_tab_that_shows_it() {
        let mut places = RecordedPlaces::default();
        let (page, frame) = (session("page"), session("frame"));
        places.attached(&page, None, &target("page", "T", "https://shop.test/cart"));
        places.attached(&frame, Some(&page), &target("iframe", "F", "https://pay.test/"));
        let worker = session("worker");
        places.attached(&worker, Some(&frame), &target("worker", "W", "https://pay.test/w.js"));
        let of_site = session("of site");
        places.attached(&of_site, None, &target("service_worker", "S", "https://shop.test/sw.js"));
        for one in [&page, &frame, &worker, &of_site] {
            assert_eq!(places.find(one).unwrap().0, TargetId::new("T"));
        }
        assert_eq!(places.find(&worker).unwrap().1.worker().unwrap(), "https://pay.test/w.js");
        // A tab that goes elsewhere leaves the site's worker behind.
        places.shows(&TargetId::new("T"), "https://other.test/");
        assert!(places.find(&of_site).is_none());
        assert_eq!(places.detached(&page), Some(TargetId::new("T")));
        assert_eq!(places.detached(&worker), None);
        assert!(places.attached(&worker, Some(&page), &target("worker", "W", "")).is_none());
    }

    #[test]
    fn a_frame_is_named_by_its_document_and_the_page_is_not() {
        let tab = RecordedPlace::Tab(TargetId::new("T"));
        assert_eq!(tab.frame(Some("T"), "https://shop.test/"), None);
        assert_eq!(tab.frame(Some("F"), "https://shop.test/f").unwrap(), "https://shop.test/f");
        let frame = RecordedPlace::Frame { tab: TargetId::new("T") };
        assert_eq!(frame.frame(Some("F"), "https://pay.test/").unwrap(), "https://pay.test/");
    }
}
