//! Checks a session out to a sandbox, and in again: its state goes there, no other node runs it meanwhile, and
//! what became of it comes back as a snapshot.
//!
//! The one idea: a session that is checked out is active, without a browser of this node. When the node dies, its
//! sandboxes die with it, and the next node finds a session without a browser: recoverable. What was handed in is
//! known until it comes back, its environment as a whole: nothing that is damaged in the database meanwhile is taken
//! from the session for that.

use super::capture::Draft;
use super::close::Ending;
use super::held::LastHeld;
use super::load::{Loaded, Read};
use super::{BrowserSupervisor, LiveError, expect_checked_in};
use crate::latest::Latest;
use crate::table::Hold;
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{CacheKey, CompileError, OF_PAGES, ProfileCache, Times};
use baton_browser::profile::packed::AtHand;
use baton_session::login::SignIns;
use baton_session::write_back::{Before, WrittenBack, lent};
use baton_session::{
    Environment, Holdings, Lifecycle, Owner, Part, PartKind, PartRef, Receipt, SandboxId, Session,
    Site, SnapshotId, SnapshotReason, State, Term, parts,
};
use baton_store::clock::{Anchor, uptime};
use baton_store::{NewSnapshot, SealedParts, Snapshot, StoreError};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long a session that a sandbox gives back is waited for: who looks at it is done soon.
const CHECK_IN_LIMIT: Duration = Duration::from_secs(30);

/// What a session holds, to be handed in.
#[derive(Debug)]
pub struct Handed {
    /// From which snapshot.
    pub snapshot: SnapshotId,
    /// Which one it replaces, if parts of the last good one are damaged; or the same.
    newest: SnapshotId,
    /// When it was taken.
    pub taken_at: Timestamp,
    /// What it holds, but for what is at hand.
    pub state: State,
    /// That, in the form of a profile.
    pub at_hand: AtHand,
    /// Its parts that could be read.
    pub parts: Vec<PartRef>,
    /// What sign-ins changed.
    pub sign_ins: SignIns,
    /// What could not be read.
    pub receipt: Receipt,
}

/// A session that is checked out.
#[derive(Debug)]
pub struct Checkout {
    /// Which one, as it was before.
    pub session: Session,
    term: Term,
    /// What it held then.
    parts: Vec<PartRef>,
    /// The sites of that.
    sites: BTreeSet<Site>,
    /// Its environment then. Without its way out it would go everywhere when it comes back.
    environment: Environment,
    since: Anchor,
}

impl BrowserSupervisor {
    /// What the last good snapshot of a session holds. An active one is captured first.
    pub async fn copy_out(&self, session: &Session) -> Result<Handed, LiveError> {
        if self.runner(session.id).is_ok() {
            self.capture(session.id, SnapshotReason::Request).await?;
        }
        self.hand(session).await
    }

    /// What the last good snapshot of a session holds.
    pub(crate) async fn hand(&self, session: &Session) -> Result<Handed, LiveError> {
        let found = self.last_good(session.id).await?.ok_or(LiveError::NoSnapshot(session.id))?;
        let key = CacheKey::of(&found.snapshot.parts).of_session(session.id);
        let now = Timestamp::now().as_microsecond();
        let at_hand = AtHand {
            local_storage: self.compiled().local_storage(key, Instant(now)),
            pages: self.compiled().pages(key, Instant(now)),
        };
        let wanted = found.snapshot.id;
        let Loaded { snapshot, taken_at, state, sign_ins, receipt, good: parts, .. } =
            self.load_whole(session, found, &kinds_of(&at_hand)).await?;
        // What is at hand is of the one that was wanted.
        let at_hand = if snapshot == wanted { at_hand } else { AtHand::default() };
        Ok(Handed { snapshot, newest: wanted, taken_at, state, at_hand, parts, sign_ins, receipt })
    }

    /// The same, where it may have been loaded before: only a snapshot that came since is loaded anew.
    pub(crate) async fn hand_again(
        &self,
        session: &Session,
        before: Option<Handed>,
    ) -> Result<Handed, LiveError> {
        let now = self.last_good(session.id).await?.map(|found| found.snapshot.id);
        match before {
            Some(handed) if Some(handed.newest) == now => Ok(handed),
            _ => self.hand(session).await,
        }
    }

    /// What a session held when it was checked out, and why what of that cannot be read any more.
    pub async fn read_checked_out(
        &self,
        checkout: &Checkout,
    ) -> Result<(Before, Receipt), LiveError> {
        let is_known = |kind: PartKind| kind.is_picture() || kind.is_of_environment();
        let wanted = checkout.parts.iter().filter(|part| !is_known(part.kind)).cloned();
        let Read { mut state, damaged, receipt, .. } =
            self.read(&checkout.session.owner, wanted.collect()).await?;
        state.environment.clone_from(&checkout.environment);
        Ok((Before { state, sites: checkout.sites.clone(), damaged }, receipt))
    }

    /// Checks out a session that this node holds in `term`: from now on the sandbox `to` alone has it.
    pub(crate) async fn check_out(
        &self,
        hold: &Hold,
        session: &Session,
        term: Term,
        handed: &Handed,
        to: SandboxId,
    ) -> Result<Checkout, LiveError> {
        expect_checked_in(hold)?;
        let (id, node) = (session.id, self.config().node);
        if self.runner(id).is_ok() {
            return Err(LiveError::AlreadyActive(id));
        }
        self.end_keeper(id, Ending::Close).await;
        let (from, now) = (session.lifecycle, Timestamp::now());
        self.store().update_lifecycle(id, node, from, Lifecycle::Active, now).await?;
        hold.set_checked_out_to(Some(to));
        tracing::info!(session = %id, sandbox = %to, "lent a session to a sandbox");
        let since = Anchor::new(Timestamp::now(), uptime());
        let (parts, environment) = (handed.parts.clone(), handed.state.environment.clone());
        // Of what is at hand as a profile the state has nothing.
        let mut sites = lent(&handed.state);
        sites.extend(parts.iter().filter_map(PartRef::site));
        Ok(Checkout { session: session.clone(), term, parts, sites, environment, since })
    }

    /// Stores what became of a session that is checked out and held `before` then. When this returns it is on
    /// disk.
    pub async fn write_back(
        &self,
        checkout: &Checkout,
        before: Holdings,
        back: &WrittenBack,
    ) -> Result<Snapshot, LiveError> {
        let taken_at = Timestamp::now();
        let mut state = back.state.clone();
        // Whatever became of it elsewhere, it has the way out that it had.
        state.environment.egress.clone_from(&checkout.environment.egress);
        let shrunk =
            LastHeld::then(before, checkout.since).has_shrunk_to(&state, taken_at, uptime());
        let cut = |known: Vec<PartRef>, kept: Vec<PartRef>, state: State| {
            self.blocking(move || Ok::<_, LiveError>(draft(&state, &known, kept)))
        };
        let whole = checkout.parts.iter().filter(|part| !back.damaged.contains(part)).cloned();
        let whole: Vec<PartRef> = whole.collect();
        let first = cut(whole.clone(), back.kept.clone(), state.clone()).await?;
        match self.store_check_in(checkout, taken_at, shrunk, first).await {
            // What is not there any more is stored anew, if the state has it; the rest stays.
            Err(StoreError::PartMissing { .. }) => {
                let owner = &checkout.session.owner;
                let whole = self.there(owner, whole).await?;
                let kept = self.there(owner, back.kept.clone()).await?;
                let second = cut(whole, kept, state).await?;
                Ok(self.store_check_in(checkout, taken_at, shrunk, second).await?)
            }
            stored => Ok(stored?),
        }
    }

    /// Those of some parts that the database has, whether they can be read or not.
    async fn there(&self, owner: &Owner, parts: Vec<PartRef>) -> Result<Vec<PartRef>, StoreError> {
        let missing = self.store().missing_parts(owner, &parts).await?;
        Ok(without(parts, &missing))
    }

    async fn store_check_in(
        &self,
        checkout: &Checkout,
        taken_at: Timestamp,
        shrunk: bool,
        draft: Draft,
    ) -> Result<Snapshot, StoreError> {
        let new = NewSnapshot {
            id: SnapshotId::new(taken_at, rand::random()),
            session: checkout.session.id,
            owner: checkout.session.owner.clone(),
            taken_at,
            reason: SnapshotReason::Sandbox,
            term: Some(checkout.term),
            shrunk,
            sibling: false,
            saved: false,
            parts: draft.changed,
            carried: draft.carried,
            keep: Some(self.recovery().max_session_snapshots),
        };
        self.store().create_snapshot(new).await
    }

    /// The sandbox has the session no longer: its lifecycle is what it was, or it can be resumed.
    pub async fn check_in(&self, checkout: &Checkout) -> Result<(), LiveError> {
        let (id, node) = (checkout.session.id, self.config().node);
        let hold = self.table().hold(id, "given back by a sandbox", CHECK_IN_LIMIT).await?;
        let to = match checkout.session.lifecycle {
            Lifecycle::Closed => Lifecycle::Closed,
            _ => Lifecycle::Recoverable,
        };
        let moved =
            self.store().update_lifecycle(id, node, Lifecycle::Active, to, Timestamp::now());
        match moved.await {
            // Another node took it, or another operation moved it: that counts. One that is gone nobody can have.
            Ok(_)
            | Err(
                StoreError::LifecycleConflict { .. }
                | StoreError::HeldElsewhere { .. }
                | StoreError::SessionNotFound { .. },
            ) => {}
            Err(error) => return Err(error.into()),
        }
        hold.set_checked_out_to(None);
        Ok(())
    }
}

/// Of which kind are the parts that need not be loaded.
fn kinds_of(at_hand: &AtHand) -> Vec<PartKind> {
    let local_storage = at_hand.local_storage.iter().map(|_| PartKind::LocalStorage);
    let pages = at_hand.pages.iter().flat_map(|_| OF_PAGES);
    local_storage.chain(pages).collect()
}

/// The parts of a state, with the pictures that were there before, and what sign-ins had changed by then; and those
/// that cannot be read and are kept, unless the state has something in their place.
fn draft(state: &State, known: &[PartRef], kept: Vec<PartRef>) -> Draft {
    let all: Vec<Part> = parts::split(state);
    let has =
        |part: &PartRef| all.iter().any(|one| (one.kind, &one.name) == (part.kind, &part.name));
    let kept: Vec<PartRef> = kept.into_iter().filter(|part| !has(part)).collect();
    // The environment is at hand: what of it is damaged by now is stored anew.
    let carries = |part: &&PartRef| !part.kind.is_of_environment();
    let known: Vec<PartRef> = known.iter().filter(carries).cloned().collect();
    let mut draft = Draft::of(all, &known);
    let stays = |kind: PartKind| kind.is_picture() || kind == PartKind::SignIns;
    draft.carried.extend(known.into_iter().filter(|part| stays(part.kind)));
    draft.carried.extend(kept);
    draft
}

/// Some parts but for those that are missing, which are in the same order.
fn without(parts: Vec<PartRef>, missing: &[PartRef]) -> Vec<PartRef> {
    let mut missing = missing.iter().peekable();
    let is_there = |part: &PartRef| missing.next_if(|one| *one == part).is_none();
    parts.into_iter().filter(is_there).collect()
}

/// Why nothing was made.
#[derive(Debug, thiserror::Error)]
pub enum NotPrepared {
    /// The session cannot be read.
    #[error(transparent)]
    Session(#[from] LiveError),
    /// A part of it cannot be read.
    #[error(transparent)]
    Part(#[from] StoreError),
    /// It does not become a profile.
    #[error(transparent)]
    Profile(#[from] CompileError),
    /// There is no thread for it.
    #[error("no thread for it: {0}")]
    NoThread(#[from] std::io::Error),
    /// The thread ended early.
    #[error("the work was stopped before its end")]
    Stopped,
}

impl BrowserSupervisor {
    /// Lets go of what is kept of an older state of a session. Returns what a sandbox would be handed.
    pub async fn drop_outdated(&self, session: &Session) -> Result<Option<Latest>, LiveError> {
        let found = self.last_good(session.id).await?;
        let key = found.as_ref().map(|found| key_of(session, found));
        self.compiled().forget(session.id, key);
        Ok(found)
    }

    /// Makes what is kept of a session that has no browser, if it is worth it and not there: in a folder
    /// of `scratch`, in which nothing stays. Returns whether there was something to make, and it is kept.
    pub async fn prepare(&self, session: &Session, scratch: PathBuf) -> Result<bool, NotPrepared> {
        let Some(found) = self.drop_outdated(session).await? else { return Ok(false) };
        let (key, now) = (key_of(session, &found), Timestamp::now().as_microsecond());
        let has_pages = self.prepare_pages(session, &found, key, &scratch).await?;
        let kinds = self.compiled().lacks(key, Instant(now));
        if kinds.is_empty() {
            return Ok(has_pages);
        }
        let wanted = found.snapshot.parts.iter().filter(|part| kinds.contains(&part.kind));
        let wanted: Vec<PartRef> = wanted.cloned().collect();
        let sealed = self.store().fetch_sealed_parts(&session.owner, &wanted).await?;
        let written = Instant(found.snapshot.taken_at.as_microsecond());
        let times = Times { now: Instant(now), written };
        let cache = self.compiled().clone();
        let work = move || make(&cache, key, &kinds, &sealed, times, &scratch);
        let (done, made) = oneshot::channel();
        thread::Builder::new().name("prepare".to_owned()).spawn(move || {
            step_back();
            // The caller waits no more when the node ends.
            let _ = done.send(work());
        })?;
        made.await.map_err(|_| NotPrepared::Stopped)?
    }

    /// Makes what only pages make of a session, with a browser that no session has.
    async fn prepare_pages(
        &self,
        session: &Session,
        found: &Latest,
        key: CacheKey,
        scratch: &Path,
    ) -> Result<bool, NotPrepared> {
        if !self.compiled().lacks_pages(key, Instant(Timestamp::now().as_microsecond())) {
            return Ok(false);
        }
        let of_pages = |part: &&PartRef| OF_PAGES.contains(&part.kind);
        let wanted = found.snapshot.parts.iter().filter(of_pages).cloned().collect();
        let mut read = self.read(&session.owner, wanted).await?;
        if !read.damaged.is_empty() {
            // The check-out says which part it is, and makes the rest.
            return Ok(false);
        }
        let made = self.make_pages(read.state.take_pages(), scratch).await?;
        Ok(self.compiled().keep_pages_ahead(key, made))
    }
}

fn key_of(session: &Session, found: &Latest) -> CacheKey {
    CacheKey::of(&found.snapshot.parts).of_session(session.id)
}

/// Makes of a session what a sandbox would be handed, before a client asks for it. No client waits for it, so
/// it is never in the way: it is done on a thread of its own with the lowest priority, and what it leaves
/// gives way to what a client asked for.
fn make(
    cache: &ProfileCache,
    key: CacheKey,
    kinds: &[PartKind],
    sealed: &SealedParts,
    times: Times,
    scratch: &Path,
) -> Result<bool, NotPrepared> {
    let opened: Vec<_> = sealed.open().into_iter().collect::<Result<_, _>>()?;
    let (state, invalid) = parts::join(&opened);
    drop(opened);
    if !invalid.is_empty() {
        // The check-out says which part it is, and makes the rest.
        return Ok(false);
    }
    Ok(cache.make_ahead(key, kinds, &state, scratch, times)?)
}

/// Lets everybody else go first: on Linux this is of a thread, and of those that it starts.
#[cfg(target_os = "linux")]
fn step_back() {
    const LAST: i32 = 19;
    if let Err(error) = rustix::process::setpriority_process(None, LAST) {
        tracing::debug!(%error, "what is prepared has the usual priority");
    }
}

/// Elsewhere there are no sandboxes.
#[cfg(not(target_os = "linux"))]
fn step_back() {}

#[cfg(test)]
mod tests {
    use super::{draft, without};
    use baton_session::{Part, PartKind, PartRef, State};
    use std::slice::from_ref;

    fn part(kind: PartKind, name: &str) -> PartRef {
        Part { kind, name: name.to_owned(), bytes: name.as_bytes().to_vec() }.reference()
    }

    #[test]
    fn what_is_missing_takes_nothing_else_along() {
        let picture = part(PartKind::Preview, "a");
        let sign_ins = part(PartKind::SignIns, "");
        let [lost, kept] = ["a.example", "b.example"].map(|name| part(PartKind::Cookies, name));
        let all = || vec![lost.clone(), kept.clone()];
        assert_eq!(without(all(), &[]), all());
        assert!(without(all(), &all()).is_empty());
        let left = without(all(), from_ref(&lost));
        let draft = draft(&State::default(), &[picture.clone(), sign_ins.clone()], left);
        let carries = |part: &PartRef| draft.carried.contains(part);
        assert!(carries(&picture) && carries(&sign_ins) && carries(&kept) && !carries(&lost));
    }
}
