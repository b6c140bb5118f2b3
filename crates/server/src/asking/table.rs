//! The asks of a node: which there are, by which link and which browser each is opened, and how each ends.
//!
//! The one idea: an ask ends once. Whoever ends it claims that first, so that a guest who says that it is done and
//! a clock that says that it is late cannot both be right. Only hashes of links and of what guests show are kept.

use super::sites::Sites;
use crate::page::{PageHalves, PageHash, hash, marked, random};
use baton_api::{AskOutcome, AskState, AskView, GuestView, OPEN_ASK};
use baton_browser::TargetId;
use baton_browser::screen::VIEWERS;
use baton_runtime::Caller;
use baton_session::{AgentName, Owner, Session, SessionId};
use baton_store::clock::Deadline;
use baton_store::{PinnedSnapshot, clock};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How many may be open at once.
const MOST: usize = 256;
/// How many of those that are over are kept, for who asks what came of them.
const MOST_OVER: usize = 256;
/// How long those are kept.
const KEPT: SignedDuration = SignedDuration::from_hours(1);

/// Why there is no new ask, or a link opens none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskRefusal {
    /// The session has one.
    #[error(
        "expected a session in which nobody is asked, found one with an open ask, {id}\n\
         wait for it (`baton sessions ask SESSION --wait`), or take it back (`--withdraw`)"
    )]
    Another {
        /// Which.
        id: String,
    },
    /// There are too many.
    #[error("expected at most {MOST} open asks of a node, found as many")]
    TooMany,
    /// There is none of this name.
    #[error("expected an ask of this session, found {found}")]
    Unknown {
        /// What there is none of.
        found: String,
    },
    /// A link opens nothing, or not here.
    #[error("expected a link that counts, found {found}\nask who sent it for another one")]
    BadLink {
        /// What it is instead.
        found: &'static str,
    },
    /// A guest's page opens nothing any more.
    #[error("expected an ask that this browser has opened, found {found}")]
    NoGuest {
        /// What it shows instead.
        found: &'static str,
    },
    /// No tab shows a site.
    #[error(
        "expected a site for the person to see, found none: the tab in front shows no site\nname one, or open the page first"
    )]
    NoSite,
    /// What belongs to the page has no name of its own.
    #[error(
        "expected a host name under which the page lives, found an address\nopen the link itself"
    )]
    NoName,
    /// Nobody could open what is asked: the page has no name of its own where it is asked.
    #[error(
        "expected a node whose page has a host name, under which a person could open the link, found one that is \
         reached by an address\nset node.publicUrl, or ask the node by its name or on its own machine"
    )]
    NoPlace,
    /// There are as many viewers as there may be.
    #[error(
        "expected at most {VIEWERS} viewers of a session, found as many\none of them has to stop watching first"
    )]
    TooManyViewers,
}

/// What a new ask is about.
pub(crate) struct NewAsk {
    /// In which session.
    pub(crate) session: Session,
    /// Who asks.
    pub(crate) caller: Caller,
    /// For what.
    pub(crate) text: String,
    /// What the guest sees.
    pub(crate) sites: Sites,
    /// Whether they may give files.
    pub(crate) files: bool,
    /// For how long.
    pub(crate) limit: SignedDuration,
    /// The tab that was in front.
    pub(crate) tab: Option<TargetId>,
}

/// Who opened an ask, and what for them is the one tab.
#[derive(Debug, Clone)]
pub(crate) struct OpenedBy {
    /// Their name.
    pub(crate) name: AgentName,
    /// The one tab.
    pub(crate) tab: TargetId,
    /// What the session held when they began, which stays until the ask has ended.
    pub(crate) before: Option<Arc<PinnedSnapshot>>,
}

/// An ask.
pub(crate) struct Ask {
    /// Names it.
    pub(crate) id: String,
    /// In which session, as it was then.
    pub(crate) session: Session,
    /// Who asks.
    pub(crate) caller: Caller,
    /// What the guest sees.
    pub(crate) sites: Sites,
    /// Whether they may give files.
    pub(crate) files: bool,
    /// The tab that was in front.
    pub(crate) tab: Option<TargetId>,
    text: String,
    created_at: Timestamp,
    link: PageHash,
    expires_at: Timestamp,
    /// The same by the clocks that go on while the machine sleeps.
    deadline: Deadline,
    standing: watch::Sender<Standing>,
    /// Held while it is being opened: one opens it, and one that fails has not.
    opening: tokio::sync::Mutex<()>,
    is_ending: AtomicBool,
    /// Ends the guest's pictures.
    ended: CancellationToken,
    visits: watch::Sender<Visits>,
    /// The files that the guest has given.
    given: Mutex<BTreeSet<String>>,
}

#[derive(Clone)]
struct Standing {
    state: AskState,
    opened: Option<(PageHalves, OpenedBy)>,
    outcome: Option<AskOutcome>,
    /// When it was over.
    over_at: Option<Timestamp>,
}

/// The pictures of a guest.
#[derive(Debug, Clone, Copy, Default)]
struct Visits {
    /// How many are shown, or hold something still.
    count: usize,
    /// The number of the one that came last: the others end.
    newest: u64,
}

/// The asks of a node. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Asks(Arc<Mutex<HashMap<String, Arc<Ask>>>>);

impl Asks {
    /// A new ask, and the secret of its link.
    pub(crate) fn create(&self, new: NewAsk) -> Result<(Arc<Ask>, SecretString), AskRefusal> {
        let now = clock::now();
        let asks = &mut lock(&self.0);
        forget(asks, now);
        let open = || asks.values().filter(|ask| !ask.state().is_over());
        if let Some(other) = open().find(|ask| ask.session.id == new.session.id) {
            return Err(AskRefusal::Another { id: other.id.clone() });
        }
        if open().count() >= MOST {
            return Err(AskRefusal::TooMany);
        }
        let NewAsk { session, caller, text, sites, files, limit, tab } = new;
        let secret = marked(&random(), session.node.mark());
        let id = format!("ask_{:016x}", rand::random::<u64>());
        let standing =
            Standing { state: AskState::Waiting, opened: None, outcome: None, over_at: None };
        let ask = Arc::new(Ask {
            id: id.clone(),
            session,
            caller,
            sites,
            files,
            tab,
            text,
            created_at: now,
            link: hash(secret.expose_secret()),
            expires_at: now + limit,
            deadline: Deadline::after(Duration::try_from(limit).unwrap_or_default()),
            standing: watch::Sender::new(standing),
            opening: tokio::sync::Mutex::default(),
            is_ending: AtomicBool::new(false),
            ended: CancellationToken::new(),
            visits: watch::Sender::default(),
            given: Mutex::default(),
        });
        asks.insert(id, Arc::clone(&ask));
        Ok((ask, secret))
    }

    /// An ask of a session by its id, or by the word for the one that is open.
    pub(crate) fn find(&self, session: SessionId, id: &str) -> Result<Arc<Ask>, AskRefusal> {
        let asks = lock(&self.0);
        let found = match id {
            OPEN_ASK => {
                asks.values().find(|ask| ask.session.id == session && !ask.state().is_over())
            }
            id => asks.get(id).filter(|ask| ask.session.id == session),
        };
        let found = found.cloned();
        drop(asks);
        found.ok_or_else(|| AskRefusal::Unknown {
            found: match id {
                OPEN_ASK => "none that is open".to_owned(),
                id => format!("none of the id {:?}", id.chars().take(40).collect::<String>()),
            },
        })
    }

    /// The ask that a link leads to, also one that it does not open any more.
    pub(crate) fn by_link(&self, secret: &str) -> Result<Arc<Ask>, AskRefusal> {
        let link = hash(secret);
        let found = lock(&self.0).values().find(|ask| ask.link == link).cloned();
        found.ok_or(AskRefusal::BadLink { found: "an unknown one" })
    }

    /// The ask that the browser has opened which shows this.
    pub(crate) fn by_guest(&self, shown: &PageHalves) -> Result<Arc<Ask>, AskRefusal> {
        let is_its = |ask: &&Arc<Ask>| {
            let standing = ask.standing.borrow();
            standing.opened.as_ref().is_some_and(|(halves, _)| halves == shown)
        };
        let found = lock(&self.0).values().find(is_its).cloned();
        found.ok_or(AskRefusal::NoGuest { found: "one that opened none, or one that is forgotten" })
    }
}

/// Forgets what was over long ago, and the first of too many.
fn forget(asks: &mut HashMap<String, Arc<Ask>>, now: Timestamp) {
    let over_at = |ask: &Ask| ask.standing.borrow().over_at;
    asks.retain(|_, ask| over_at(ask).is_none_or(|over| over + KEPT > now));
    while asks.values().filter(|ask| over_at(ask).is_some()).count() > MOST_OVER {
        let first = asks.values().filter_map(|ask| Some((over_at(ask)?, ask.id.clone()))).min();
        let Some((_, id)) = first else { return };
        asks.remove(&id);
    }
}

impl Ask {
    /// Where it stands.
    pub(crate) fn state(&self) -> AskState {
        self.standing.borrow().state
    }

    /// When it was asked.
    pub(crate) fn created_at(&self) -> Timestamp {
        self.created_at
    }

    /// When its time has passed.
    pub(crate) fn expires_at(&self) -> Timestamp {
        self.expires_at
    }

    /// Whether it has.
    pub(crate) fn is_late(&self) -> bool {
        self.deadline.is_over()
    }

    /// Waits until it has.
    pub(crate) async fn late(&self) {
        self.deadline.wait().await;
    }

    /// Who opened it.
    pub(crate) fn opened_by(&self) -> Option<OpenedBy> {
        self.standing.borrow().opened.as_ref().map(|(_, opened)| opened.clone())
    }

    /// As who asks sees it.
    pub(crate) fn view(&self) -> AskView {
        let standing = self.standing.borrow();
        AskView {
            id: self.id.clone(),
            session: self.session.id,
            name: self.session.name.clone(),
            agent: self.caller.agent.clone(),
            text: self.text.clone(),
            sites: self.sites.names(),
            files: self.files,
            state: standing.state,
            person: standing.opened.as_ref().map(|(_, opened)| opened.name.clone()),
            expires_at: self.expires_at,
            outcome: standing.outcome.clone(),
        }
    }

    /// Who asks. What an agent is called it says itself, so whose it is goes with it.
    fn asked_by(&self) -> String {
        let Caller { agent, owner, .. } = &self.caller;
        match agent {
            Some(agent) if *owner == Owner::local() => agent.to_string(),
            Some(agent) => format!("{agent} ({owner})"),
            None => owner.to_string(),
        }
    }

    /// As a guest sees it.
    pub(crate) fn guest_view(&self) -> GuestView {
        GuestView {
            from: self.asked_by(),
            text: self.text.clone(),
            session: self.session.name.clone(),
            sites: self.sites.names(),
            files: self.files,
            state: self.state(),
            expires_at: self.expires_at,
        }
    }

    /// Waits until its state is another one than `known`, for as long as `limit`.
    pub(crate) async fn wait(&self, known: AskState, limit: Duration) {
        let mut standing = self.standing.subscribe();
        // The one who waits looks at what is so then.
        let _ = timeout(limit, standing.wait_for(|now| now.state != known)).await;
    }

    /// Waits until it has ended, or is about to.
    pub(crate) async fn end(&self) {
        self.ended.cancelled().await;
    }

    /// Whether a link may open it still.
    pub(crate) fn expect_waiting(&self) -> Result<(), AskRefusal> {
        let found = match self.state() {
            AskState::Waiting if self.is_ending.load(Ordering::Relaxed) => "one that has ended",
            AskState::Waiting if self.is_late() => "one whose time has passed",
            AskState::Waiting => return Ok(()),
            AskState::Opened | AskState::Done | AskState::Declined => "one that was used already",
            AskState::TimedOut => "one whose time has passed",
            AskState::Withdrawn => "one that was taken back",
            AskState::Lost => "one whose browser is gone",
        };
        Err(AskRefusal::BadLink { found })
    }

    /// Lets one at a time open it.
    pub(crate) async fn opening(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.opening.lock().await
    }

    /// It is opened, in the browser that shows these halves from now on. Only who holds the guard of
    /// [`opening`](Self::opening) says so.
    pub(crate) fn open(&self, halves: PageHalves, by: OpenedBy) -> Result<(), AskRefusal> {
        self.expect_waiting()?;
        // Its end may be claimed meanwhile; who has claimed it has the last word.
        let is_open = self.standing.send_if_modified(|standing| {
            let is_open = standing.state == AskState::Waiting && !self.is_ending();
            if is_open {
                standing.state = AskState::Opened;
                standing.opened = Some((halves, by));
            }
            is_open
        });
        if is_open { Ok(()) } else { Err(AskRefusal::BadLink { found: "one that has ended" }) }
    }

    /// Claims its end, once: who gets true has to say how it ended. The guest's pictures end at once.
    pub(crate) fn claim_end(&self) -> bool {
        let is_first = !self.is_ending.swap(true, Ordering::AcqRel);
        self.ended.cancel();
        is_first
    }

    /// It has ended so. Only who has claimed its end says so.
    pub(crate) fn finish(&self, state: AskState, outcome: Option<AskOutcome>) {
        self.standing.send_modify(|standing| {
            (standing.state, standing.outcome) = (state, outcome);
            standing.over_at = Some(clock::now());
            // Who asks is told what changed since then, which nobody needs any more.
            if let Some((_, opened)) = &mut standing.opened {
                opened.before = None;
            }
        });
    }

    /// Whether its end was claimed, or its time has passed: who sees to that may still be asleep.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire) || self.is_late()
    }

    /// Whether a guest's picture is shown.
    pub(crate) fn is_shown(&self) -> bool {
        self.visits.borrow().count > 0
    }

    /// A guest's picture is shown for as long as this lives. It takes the place of the one before.
    pub(crate) fn visit(self: &Arc<Self>) -> AskVisit {
        let mut number = 0;
        self.visits.send_modify(|visits| {
            visits.count += 1;
            visits.newest += 1;
            number = visits.newest;
        });
        AskVisit { ask: Arc::clone(self), number }
    }

    /// Waits until no picture is shown and nothing is held any more, for as long as `limit`.
    pub(crate) async fn left(&self, limit: Duration) {
        let mut visits = self.visits.subscribe();
        // What was not given back in time is seen by who goes on.
        let _ = timeout(limit, visits.wait_for(|visits| visits.count == 0)).await;
    }

    /// The guest has given a file of this name.
    pub(crate) fn give(&self, file: &str) {
        lock(&self.given).insert(file.to_owned());
    }

    /// Whether the guest has given all of these.
    pub(crate) fn has_given(&self, files: &[String]) -> bool {
        let given = lock(&self.given);
        files.iter().all(|file| given.contains(file))
    }
}

/// A guest's picture.
pub(crate) struct AskVisit {
    ask: Arc<Ask>,
    number: u64,
}

impl AskVisit {
    /// Waits until a newer one takes its place.
    pub(crate) fn replaced(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mut visits, number) = (self.ask.visits.subscribe(), self.number);
        async move {
            // The ask is there as long as who waits.
            if visits.wait_for(|visits| visits.newest != number).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until the ones before it have left, and given back what they held; false where a newer one takes its
    /// place first.
    pub(crate) fn alone(&self) -> impl Future<Output = bool> + Send + use<> {
        let (mut visits, number) = (self.ask.visits.subscribe(), self.number);
        async move {
            let settled = |visits: &Visits| visits.count <= 1 || visits.newest != number;
            visits.wait_for(settled).await.is_ok_and(|visits| visits.newest == number)
        }
    }
}

impl Drop for AskVisit {
    fn drop(&mut self) {
        self.ask.visits.send_modify(|visits| visits.count = visits.count.saturating_sub(1));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
