//! Captures of this node: what was read becomes the parts of a snapshot, and only what changed is stored.
//!
//! Contexts that clients made in a running browser are read once, when a client asks for it.
//!
//! The one idea: what is as it was in the last snapshot is carried over from it by hash. Pictures are no
//! part of the state: one that a capture did not make stays as it was.

use super::close::Ending;
use super::policy::Began;
use super::runner::Runner;
use super::{BrowserSupervisor, LiveError};
use baton_browser::capture::{Captured, Depth};
use baton_browser::cdp::CdpError;
use baton_browser::icon::{SiteIcon, site_in_front};
use baton_browser::keeper::{HostTally, KeeperError, Role};
use baton_browser::live::{Jar, Live};
use baton_browser::{ContextId, MadeContext, keeper};
use baton_session::login::SignIns;
use baton_session::{
    Cookie, Environment, Part, PartKind, PartRef, SessionId, SnapshotId, SnapshotReason, State,
    Tab, Unread, parts,
};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, Snapshot, StoreError};
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long all of a context may take.
const LIMIT: Duration = Duration::from_mins(1);

impl BrowserSupervisor {
    /// Takes a snapshot now. When this returns it is on disk, and holds all that was written before
    /// the call by pages that answer.
    pub async fn capture(
        &self,
        id: SessionId,
        reason: SnapshotReason,
    ) -> Result<Snapshot, LiveError> {
        let runner = self.runner(id)?;
        let keep = Some(self.recovery().max_session_snapshots);
        let take = Take { reason, depth: Depth::Whole, pictures: true, keep };
        let snapshot = self.capture_with(&runner, take).await?;
        snapshot.ok_or(LiveError::NotActive(id))
    }

    /// Takes a snapshot now that carries nothing over from the last one: what is damaged in the database is
    /// stored anew.
    pub async fn capture_anew(&self, id: SessionId) -> Result<Snapshot, LiveError> {
        let runner = self.runner(id)?;
        let stays = |kind: PartKind| kind.is_picture() || kind == PartKind::SignIns;
        runner.last.lock().await.retain(|part| stays(part.kind));
        self.capture(id, SnapshotReason::Request).await
    }

    /// Takes a snapshot of everything, with pictures, and lets no old one go.
    pub(super) async fn capture_whole(
        &self,
        runner: &Runner,
        reason: SnapshotReason,
    ) -> Result<Snapshot, LiveError> {
        let take = Take { reason, depth: Depth::Whole, pictures: true, keep: None };
        let snapshot = self.capture_with(runner, take).await?;
        snapshot.ok_or(LiveError::NotActive(runner.session.id))
    }

    /// Takes a snapshot of what changed; none when nothing did.
    pub(super) async fn capture_automatically(
        &self,
        runner: &Runner,
        reason: SnapshotReason,
    ) -> Result<Option<Snapshot>, LiveError> {
        let keep = Some(self.recovery().max_session_snapshots);
        let pictures = reason == SnapshotReason::Navigation;
        self.capture_with(runner, Take { reason, depth: Depth::Changed, pictures, keep }).await
    }

    /// Takes a snapshot of what the tabs of a browser that has just come back made of its state, and of
    /// no picture: that is taken once they have come to rest.
    pub(super) async fn capture_first(&self, runner: &Runner) -> Result<(), LiveError> {
        let keep = Some(self.recovery().max_session_snapshots);
        let (reason, depth) = (SnapshotReason::Navigation, Depth::Changed);
        self.capture_with(runner, Take { reason, depth, pictures: false, keep }).await.map(drop)
    }

    /// How many tabs of the running browser are not kept, because they are in contexts of their own.
    pub async fn foreign_tabs(&self, id: SessionId) -> Result<usize, LiveError> {
        self.runner(id)?.live.foreign_tabs().await.map_err(|error| ended(id, error))
    }

    /// What the way out of the running browser was asked for, by host; nothing when it has none.
    pub async fn egress(&self, id: SessionId) -> Result<Vec<HostTally>, LiveError> {
        self.runner(id)?.live.egress().await.map_err(|error| ended(id, error))
    }

    /// The tabs of the running browser.
    pub async fn tabs(&self, id: SessionId) -> Result<Vec<Tab>, LiveError> {
        self.runner(id)?.live.tabs().await.map_err(|error| ended(id, error))
    }

    async fn capture_with(
        &self,
        runner: &Runner,
        take: Take,
    ) -> Result<Option<Snapshot>, LiveError> {
        Ok(self.capture_and_tell(runner, take).await?.0)
    }

    /// Takes a snapshot, and also returns a place that could not be read this time, if there is one: the snapshot has
    /// it as it was last known.
    pub(super) async fn capture_and_tell(
        &self,
        runner: &Runner,
        Take { reason, depth, pictures, keep }: Take,
    ) -> Result<(Option<Snapshot>, Option<Unread>), LiveError> {
        let mut last = runner.last.lock().await;
        let (started, taken_at) = (Instant::now(), Timestamp::now());
        let mut happened = *runner.live.activity().borrow();
        if !pictures && reason == SnapshotReason::Navigation {
            // It is still to be captured with its picture.
            happened.navigations = 0;
        }
        let began = Some(Began::now(happened));
        let captured = runner.live.capture(depth, pictures).await;
        let captured = captured.map_err(|error| ended(runner.session.id, error))?;
        report_unread(runner, &captured);
        let missed = captured.unread.iter().find(|unread| unread.is_passing()).cloned();
        let databases = captured.databases_read;
        tracing::debug!(session = %runner.session.id, reason = reason.as_str(), databases, "read what a browser holds");
        let captured = Arc::new(captured);
        let sign_ins = runner.sign_ins(self.store(), &last, &captured, taken_at).await;
        let cut = draft(&captured, &sign_ins, &last).await?;
        // By itself no snapshot is taken that says what the last one does.
        let by_itself = depth == Depth::Changed || reason == SnapshotReason::Interval;
        if by_itself && cut.changed.is_empty() && cut.carried.len() == last.len() {
            runner.captured.send_replace(began);
            return Ok((None, missed));
        }
        let shrunk = runner.has_shrunk(reason, &captured.state, taken_at);
        let occasion = Occasion { reason, started, taken_at, shrunk, keep };
        let snapshot = match self.store_draft(runner, occasion, cut).await {
            Err(LiveError::Store(error @ StoreError::PartMissing { .. })) => {
                tracing::error!(session = %runner.session.id, %error, "storing all parts anew");
                let cut = draft(&captured, &sign_ins, &[]).await?;
                self.store_draft(runner, occasion, cut).await?
            }
            stored => stored?,
        };
        last.clone_from(&snapshot.parts);
        runner.remember(&snapshot, &captured.state);
        runner.captured.send_replace(began);
        Ok((Some(snapshot), missed))
    }

    /// Takes a snapshot of what a look at the cookies finds, when nothing else is known to have changed:
    /// the cookies alone, with everything else as it is in the last one. Where some are gone, a password was
    /// entered, or there is nothing to go by, everything that changed is captured.
    pub(super) async fn capture_cookies(&self, runner: &Runner) -> Result<(), LiveError> {
        let (reason, keep) =
            (SnapshotReason::Interval, Some(self.recovery().max_session_snapshots));
        let mut last = runner.last.lock().await;
        let (started, taken_at) = (Instant::now(), Timestamp::now());
        let cookies = match runner.live.look_at_cookies().await {
            Jar::Same => return Ok(()),
            Jar::Grown(cookies)
                if !last.is_empty() && runner.is_watched() && runner.live.entered().is_empty() =>
            {
                cookies
            }
            Jar::Grown(_) | Jar::Shrunk => {
                drop(last);
                return self.capture_automatically(runner, reason).await.map(drop);
            }
        };
        let cut = Draft::of_cookies(&cookies, &last);
        let occasion = Occasion { reason, started, taken_at, shrunk: false, keep };
        match self.store_draft(runner, occasion, cut).await {
            Err(LiveError::Store(StoreError::PartMissing { .. })) => {
                drop(last);
                self.capture_automatically(runner, reason).await.map(drop)
            }
            stored => {
                last.clone_from(&stored?.parts);
                runner.remember_cookies(&cookies);
                runner.live.note_cookies(cookies);
                Ok(())
            }
        }
    }

    /// Stores a snapshot.
    async fn store_draft(
        &self,
        runner: &Runner,
        occasion: Occasion,
        draft: Draft,
    ) -> Result<Snapshot, LiveError> {
        let session = &runner.session;
        let Occasion { reason, started, taken_at, shrunk, keep } = occasion;
        let new = NewSnapshot {
            id: SnapshotId::new(taken_at, rand::random()),
            session: session.id,
            owner: session.owner.clone(),
            taken_at,
            reason,
            term: Some(runner.term),
            shrunk,
            sibling: false,
            saved: false,
            parts: draft.changed,
            carried: draft.carried,
            keep,
        };
        let snapshot = self.store().create_snapshot(new).await?;
        if snapshot.sibling {
            self.end(runner, Ending::Kill).await;
            return Err(LiveError::LeaseLost { session: session.id, sibling: snapshot.id });
        }
        metrics::counter!("baton_captures_total", "reason" => reason.as_str()).increment(1);
        metrics::histogram!("baton_capture_seconds").record(started.elapsed().as_secs_f64());
        Ok(snapshot)
    }

    /// Lets the oldest snapshots of a session go. That is not what was asked for, so nothing fails
    /// when it cannot be done; the next capture prunes again.
    pub(super) async fn prune(&self, id: SessionId) {
        let keep = self.recovery().max_session_snapshots;
        if let Err(error) = self.store().prune_snapshots(id, keep).await {
            tracing::warn!(session = %id, %error, "old snapshots were not removed");
        }
    }
}

/// A browser that ended a moment ago, before its runner noticed, is one that does not run.
pub(super) fn ended(id: SessionId, error: CdpError) -> LiveError {
    if error.is_closed() { LiveError::NotActive(id) } else { error.into() }
}

/// What snapshot is to be taken.
pub(super) struct Take {
    pub(super) reason: SnapshotReason,
    pub(super) depth: Depth,
    /// Whether one of the tab in front belongs to it.
    pub(super) pictures: bool,
    /// How many snapshots stay with it; none lets no old one go.
    pub(super) keep: Option<u32>,
}

/// When and why a snapshot was taken, and what becomes of it.
#[derive(Clone, Copy)]
struct Occasion {
    reason: SnapshotReason,
    started: Instant,
    taken_at: Timestamp,
    shrunk: bool,
    /// How many snapshots stay with it; none lets no old one go.
    keep: Option<u32>,
}

fn report_unread(runner: &Runner, captured: &Captured) {
    // What is never kept is no fault to look after.
    for unread in captured.unread.iter().filter(|unread| unread.kind.is_none()) {
        tracing::warn!(
            session = %runner.session.id,
            place = unread.place,
            reason = unread.reason,
            "a place could not be read; what was last known of it stands"
        );
    }
}

impl BrowserSupervisor {
    /// The contexts that clients made in the running browser.
    pub async fn contexts(&self, id: SessionId) -> Result<Vec<MadeContext>, LiveError> {
        self.runner(id)?.live.contexts().await.map_err(|error| ended(id, error))
    }

    /// Reads all that a context holds: its cookies, its tabs, and the storage of the sites that they show.
    /// That of other sites no page of it can read, and it has no profile in which it would stand.
    pub(crate) async fn read_context(
        &self,
        id: SessionId,
        context: ContextId,
    ) -> Result<Captured, LiveError> {
        // What is given to the whole browser holds there too; who may what, and how large its pages are,
        // is the context's own.
        let environment = Environment {
            viewport: None,
            permissions: Vec::new(),
            ..self.runner(id)?.live.environment()
        };
        let known = State { environment, ..State::default() };
        let socket = self.config().data.socket(id);
        let reading = async {
            // A client beside others: it leaves with its connection, and the node's own goes on.
            let link = match keeper::connect(&socket, Role::Client).await {
                Err(KeeperError::NotRunning { .. }) => return Err(LiveError::NotActive(id)),
                link => link?,
            };
            let live = Live::start_in(context, link, known).await;
            let live = live.map_err(|error| ended(id, error))?;
            live.capture(Depth::Whole, false).await.map_err(|error| ended(id, error))
        };
        let slow = LiveError::TooSlow { what: "a context to be read", limit: LIMIT };
        tokio::time::timeout(LIMIT, reading).await.unwrap_or(Err(slow))
    }
}

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
async fn draft(
    captured: &Arc<Captured>,
    sign_ins: &SignIns,
    last: &[PartRef],
) -> Result<Draft, LiveError> {
    let (captured, noted, last) = (Arc::clone(captured), sign_ins.part(), last.to_vec());
    let work = move || {
        let mut all = parts::split(&captured.state);
        let pictures = pictures(&captured);
        let is_kept = |part: &PartRef| is_kept(&captured, &pictures, part);
        let kept: Vec<PartRef> = last.iter().filter(|part| is_kept(part)).cloned().collect();
        all.extend(pictures);
        all.extend(Unread::part(&captured.unread));
        all.extend(noted);
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
        let captured =
            Captured { state, preview: None, icon, unread: Vec::new(), databases_read: 0 };
        let captured = Arc::new(captured);
        let last = [
            part(PartKind::Preview, "", b"preview").reference(),
            part(PartKind::Icon, "shop.test", b"shop").reference(),
        ];
        let Draft { changed, carried } =
            draft(&captured, &SignIns::default(), &last).await.unwrap();
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
