//! One schedule on its way: lets things happen, and remembers what was acknowledged.

use super::ground::Cluster;
use super::machines::{Held, Machines, NODES};
use super::schedule::{Ask, Event, SESSIONS};
use crate::ask::{Ended, Marks, agent};
use crate::oracle::{Finding, Kind};
use anyhow::Result;
use baton_api::{Client, ClientError, ErrorCode, OpenSession, PassSession};
use baton_session::{SessionId, SessionName};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How long an answer may take, whatever is cut off or stands still.
const ANSWER_LIMIT: Duration = Duration::from_mins(1);
/// How long nodes stand still while a caller waits for another one.
const STANDSTILL: Duration = Duration::from_secs(8);

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was opened, and nobody removed it.
    Lives,
    /// Somebody asked for its removal, and was not told that it was done, nor that it was not.
    Unknown,
}

/// A session of a schedule, as its callers know it.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) name: SessionName,
    pub(crate) id: Option<SessionId>,
    pub(crate) fate: Fate,
    /// What was captured in it.
    pub(crate) promised: Marks,
    /// Those of its name that were removed.
    pub(crate) removed: Vec<SessionId>,
}

/// A schedule on its way.
pub(crate) struct ClusterWalk<'a, M> {
    pub(crate) cluster: &'a mut Cluster<M>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) told: Vec<String>,
    is_frozen: [bool; NODES],
    is_bus_away: bool,
    marks: u32,
    begun: Instant,
}

/// Something that is asked.
struct NodeCall {
    client: Client,
    at: usize,
    session: usize,
    ask: Ask,
    /// The browser of the session, and what it holds.
    before: Option<Held>,
}

impl<'a, M: Machines> ClusterWalk<'a, M> {
    /// Opens the sessions of a schedule.
    pub(crate) async fn open(cluster: &'a mut Cluster<M>, seed: u64) -> Result<Self> {
        let mut slots = Vec::new();
        for number in 0..SESSIONS {
            let name: SessionName = format!("s{number}-{seed}").parse()?;
            let client = cluster.client(number % NODES)?;
            let opened = client.open_session(&OpenSession::new(name.clone(), [])).await?;
            let id = Some(opened.session.id);
            let (promised, removed) = (Marks::new(), Vec::new());
            slots.push(Slot { name, id, fate: Fate::Lives, promised, removed });
        }
        let is_frozen = [false; NODES];
        let (told, begun) = (Vec::new(), Instant::now());
        Ok(Self { cluster, slots, told, is_frozen, is_bus_away: false, marks: 0, begun })
    }

    /// Lets something happen, and looks whether it may be so.
    pub(crate) async fn step(&mut self, event: Event) -> Result<Option<Finding>> {
        let found = match event {
            Event::One { at, session, ask } => self.one(at, session, ask).await?,
            Event::Both { session, one, other, later } => {
                self.both(session, one, other, later).await?
            }
            fault => {
                self.fault(fault).await?;
                None
            }
        };
        Ok(self.two_browsers().or(found))
    }

    /// What was seen when browsers started.
    pub(crate) fn two_browsers(&self) -> Option<Finding> {
        let found = self.cluster.machines.findings();
        found.first().map(|what| Finding::new(Kind::TwoBrowsers, what.clone()))
    }

    fn answers(&self, at: usize) -> bool {
        self.cluster.machines.is_up(at) && !self.is_frozen[at]
    }

    /// Whether this can be asked at all: of a node that listens, about a session that is there, or is not.
    fn is_asked(&self, at: usize, session: usize, ask: Ask) -> bool {
        self.answers(at) && self.slots[session].id.is_none() == (ask == Ask::Open)
    }

    async fn asking(&self, at: usize, session: usize, ask: Ask) -> Result<NodeCall> {
        let id = self.slots[session].id;
        // By whoever drives it: that others are refused is no matter of a cluster.
        let driver = match id {
            Some(id) => self.cluster.store.fetch_driver(id).await?,
            None => None,
        };
        let client = self.cluster.client(at)?.as_agent(driver.and_then(|driver| driver.agent));
        let before = match id {
            Some(id) => self.cluster.machines.browser(id).await,
            None => None,
        };
        Ok(NodeCall { client, at, session, ask, before })
    }

    async fn call(&self, asking: &NodeCall) -> Ended {
        let slot = &self.slots[asking.session];
        match timeout(ANSWER_LIMIT, call(&asking.client, slot, asking.ask)).await {
            Ok(Ok(made)) => Ended::Done { handed: None, made },
            Ok(Err(ClientError::Problem(problem))) => {
                Ended::Refused(problem.code, problem.detail.clone())
            }
            Ok(Err(ClientError::TimedOut { .. })) | Err(_) => Ended::Hangs,
            Ok(Err(error)) => Ended::Unknown(error.to_string()),
        }
    }

    async fn one(&mut self, at: usize, session: usize, ask: Ask) -> Result<Option<Finding>> {
        if !self.is_asked(at, session, ask) {
            return Ok(None);
        }
        let asking = self.asking(at, session, ask).await?;
        let ended = self.call_patiently(&asking).await;
        Ok(self.note(&asking, ended))
    }

    /// Asks, and lets what stands still go on when the answer takes long.
    async fn call_patiently(&mut self, asking: &NodeCall) -> Ended {
        let ended = {
            let called = self.call(asking);
            tokio::pin!(called);
            if let Ok(ended) = timeout(STANDSTILL, &mut called).await {
                return ended;
            }
            self.cluster.machines.thaw();
            called.await
        };
        self.is_frozen = [false; NODES];
        self.say("what stood still goes on, since an answer takes long");
        ended
    }

    async fn both(
        &mut self,
        session: usize,
        one: (usize, Ask),
        other: (usize, Ask),
        later: Duration,
    ) -> Result<Option<Finding>> {
        if !self.is_asked(one.0, session, one.1) || !self.is_asked(other.0, session, other.1) {
            return Ok(None);
        }
        let one = self.asking(one.0, session, one.1).await?;
        let other = self.asking(other.0, session, other.1).await?;
        let second = async {
            sleep(later).await;
            self.call(&other).await
        };
        let (first, second) = tokio::join!(self.call(&one), second);
        let are_done = [&first, &second].iter().all(|ended| matches!(ended, Ended::Done { .. }));
        if are_done && one.ask == Ask::Open && other.ask == Ask::Open {
            let what = format!("two sessions are called {}", self.slots[session].name);
            return Ok(Some(Finding::new(Kind::TwoSessions, what)));
        }
        // What is removed is removed, whatever was promised beside it, and nobody has to know of it any more.
        let mut noted = [(one, first), (other, second)];
        noted.sort_by_key(|(asking, _)| asking.ask == Ask::Delete);
        let fate = self.slots[session].fate;
        let may_be_gone =
            noted.iter().any(|(asking, ended)| asking.ask == Ask::Delete && !is_refused(ended));
        if may_be_gone {
            self.slots[session].fate = Fate::Unknown;
        }
        let mut found = None;
        for (asking, ended) in noted {
            found = found.or(self.note(&asking, ended));
        }
        if !may_be_gone {
            self.slots[session].fate = fate;
        }
        Ok(found)
    }

    /// Takes note of what an answer promised, or of what it must not say.
    fn note(&mut self, asking: &NodeCall, ended: Ended) -> Option<Finding> {
        self.tell(asking, &ended);
        let at = asking.at;
        let slot = &mut self.slots[asking.session];
        match ended {
            Ended::Hangs => {
                let what = format!("{:?} at node {at} is not answered", asking.ask);
                return Some(Finding::new(Kind::Hangs, what));
            }
            Ended::Refused(ErrorCode::Unauthenticated, _) => {
                let what = format!("node {at} says that a good key is none");
                return Some(Finding::new(Kind::Lost, what));
            }
            Ended::Refused(ErrorCode::SessionNotFound, _) => {
                let is_there = slot.id.is_some() && slot.fate == Fate::Lives;
                if is_there {
                    let what = format!("node {at} says that {} is unknown", slot.name);
                    return Some(Finding::new(Kind::Lost, what));
                }
            }
            Ended::Done { made, .. } => match asking.ask {
                Ask::Open => {
                    slot.id = made.and_then(|made| made.parse().ok());
                    (slot.fate, slot.promised) = (Fate::Lives, Marks::new());
                }
                Ask::Capture | Ask::Close => {
                    // Another browser that came in between has what was captured before, and no more.
                    let newest = slot.id.and_then(|id| self.cluster.machines.newest(id));
                    if let Some(held) = &asking.before
                        && newest == Some(held.number)
                    {
                        slot.promised.extend(held.marks.iter().cloned());
                    }
                }
                Ask::Delete => {
                    slot.removed.extend(slot.id.take());
                    slot.promised.clear();
                }
                Ask::Resume | Ask::Pass(_) => {}
            },
            ended if asking.ask == Ask::Delete && !is_refused(&ended) => slot.fate = Fate::Unknown,
            _ => {}
        }
        None
    }

    fn tell(&mut self, asking: &NodeCall, ended: &Ended) {
        let ended = match ended {
            Ended::Done { .. } => "done".to_owned(),
            Ended::Refused(code, why) => format!("{}: {why}", code.as_str()),
            Ended::Unknown(why) => format!("no answer: {why}"),
            Ended::Hangs => "hangs".to_owned(),
        };
        let ended = ended.lines().next().unwrap_or_default().to_owned();
        let NodeCall { at, session, ask, .. } = asking;
        self.say(&format!("node {at} {ask:?} of {session}: {ended}"));
    }

    fn say(&mut self, what: &str) {
        let at = self.begun.elapsed().as_secs_f64();
        self.told.push(format!("{at:6.2} s  {what}"));
    }

    /// Something breaks, or is mended.
    async fn fault(&mut self, event: Event) -> Result<()> {
        let cluster = &mut *self.cluster;
        match event {
            Event::Mark(session) => {
                let Some(id) = self.slots[session].id else { return Ok(()) };
                self.marks += 1;
                let (name, host) =
                    (format!("mark{}", self.marks), format!("site{}.test", self.marks % 3));
                if !cluster.machines.mark(id, &name, &host).await {
                    return Ok(());
                }
            }
            Event::KillBrowser(session) => {
                let Some(id) = self.slots[session].id else { return Ok(()) };
                cluster.machines.kill_browser(id).await;
            }
            Event::KillNode(at) if cluster.machines.is_up(at) => {
                self.is_frozen[at] = false;
                cluster.machines.kill_node(at).await?;
            }
            Event::StopNode(at) if cluster.machines.is_up(at) => {
                self.is_frozen[at] = false;
                cluster.machines.stop_node(at).await?;
            }
            Event::StartNode(at, rehydrates) if !cluster.machines.is_up(at) => {
                cluster.start_node(at, rehydrates).await?;
            }
            Event::FreezeNode(at) if cluster.machines.is_up(at) => {
                cluster.machines.freeze_node(at);
                self.is_frozen[at] = true;
            }
            Event::Thaw => {
                cluster.machines.thaw();
                self.is_frozen = [false; NODES];
            }
            Event::Cut(at, line, how) => cluster.cut(at, line, how),
            Event::Join(at) => cluster.join(at).await,
            Event::RestartDatabase => cluster.restart_database()?,
            Event::KillBus => {
                cluster.kill_bus().await?;
                self.is_bus_away = true;
            }
            Event::StartBus => {
                cluster.start_bus().await?;
                self.is_bus_away = false;
            }
            Event::Wait => sleep(M::LEASE + Duration::from_millis(1500)).await,
            _ => return Ok(()),
        }
        self.say(&format!("{event:?}"));
        Ok(())
    }

    /// Mends everything that was broken.
    pub(crate) async fn mend(&mut self) -> Result<()> {
        let is_bus_away = std::mem::take(&mut self.is_bus_away);
        self.cluster.mend(is_bus_away).await?;
        self.is_frozen = [false; NODES];
        self.say("everything is mended");
        Ok(())
    }
}

/// Whether a node has said that it did nothing.
fn is_refused(ended: &Ended) -> bool {
    matches!(ended, Ended::Refused(ErrorCode::WrongState | ErrorCode::OtherAgent, _))
}

async fn call(client: &Client, slot: &Slot, ask: Ask) -> Result<Option<String>, ClientError> {
    let reference = slot.id.map(|id| id.to_string()).unwrap_or_default();
    match ask {
        Ask::Open => {
            let opened = client.open_session(&OpenSession::new(slot.name.clone(), [])).await?;
            return Ok(Some(opened.session.id.to_string()));
        }
        Ask::Capture => drop(client.capture_session(&reference).await?),
        Ask::Resume => drop(client.resume_session(&reference).await?),
        Ask::Close => drop(client.close_session(&reference).await?),
        Ask::Pass(to) => {
            let request = PassSession { to: agent(to), reason: Some("a walk".to_owned()) };
            drop(client.pass_session(&reference, &request).await?);
        }
        Ask::Delete => client.delete_session(&reference).await?,
    }
    Ok(None)
}
