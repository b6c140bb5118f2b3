//! One walk: what happens, what was acknowledged, and what must hold after each step.

use crate::ask;
use crate::ask::{Asked, Before, Ended, Look, Marks, Subject, VerbCall, agent};
use crate::oracle::{Finding, Kind};
use crate::stage::Stage;
use crate::step::{Call, Step, Verb, Who};
use anyhow::Result;
use baton_api::OpenSession;
use baton_session::{Lifecycle, SessionId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};

/// How long a node that stands still does so while a verb waits for it.
const STANDSTILL: Duration = Duration::from_millis(600);
/// How long a node may take to notice that a browser has ended.
const NOTICE_LIMIT: Duration = Duration::from_secs(10);
/// How long a node may take to bring back what ran there.
const SETTLING: Duration = Duration::from_secs(3);

/// A walk on its way.
pub(crate) struct Walk<'a, S> {
    pub(crate) stage: &'a mut S,
    pub(crate) subject: Subject,
    /// What was captured, saved or closed, and not given up since by who went back.
    pub(crate) promised: Marks,
    /// How often each verb was acknowledged, by its name in the audit log.
    pub(crate) acknowledged: BTreeMap<&'static str, usize>,
    /// Whose browsers run beside, at each node.
    pub(crate) bystanders: [Option<(SessionId, u64)>; 2],
    pub(crate) marks: u32,
    pub(crate) lost_program: [bool; 2],
    pub(crate) is_frozen: bool,
    /// Until when a node that started may bring back what ran there, and so change things by itself.
    pub(crate) unsettled: Option<Instant>,
    /// Whether a node took the session over from the other one, which did not answer.
    pub(crate) is_apart: bool,
    pub(crate) told: Vec<String>,
}

impl<'a, S: Stage> Walk<'a, S> {
    /// Opens the session of a walk at node 0.
    pub(crate) async fn open(
        stage: &'a mut S,
        name: &str,
        bystanders: [Option<(SessionId, u64)>; 2],
    ) -> Result<Self> {
        let name: baton_session::SessionName = name.parse()?;
        let opened = stage.client(0)?.open_session(&OpenSession::new(name.clone(), [])).await?;
        let id = opened.session.id;
        let subject = Subject { id, name, rival: None, sandbox: None };
        let acknowledged = BTreeMap::from([("session.open", 1)]);
        Ok(Self {
            stage,
            subject,
            promised: Marks::new(),
            acknowledged,
            bystanders,
            marks: 0,
            lost_program: [false; 2],
            is_frozen: false,
            unsettled: None,
            is_apart: false,
            told: Vec::new(),
        })
    }

    /// Lets something happen, and looks whether all holds.
    pub(crate) async fn step(&mut self, step: Step) -> Result<Option<Finding>> {
        let found = match step {
            Step::One(call) => self.one(call).await?,
            Step::Both(one, other, later) => self.both(one, other, later).await?,
            Step::During(call, killed, later) => self.during(call, killed, later).await?,
            fault => {
                self.fault(fault).await?;
                None
            }
        };
        if let Some(told) = self.stage.findings().first() {
            return Ok(Some(Finding::new(Kind::TwoBrowsers, told.clone())));
        }
        if found.is_some() {
            return Ok(found);
        }
        if self.is_calm() && !self.is_apart && self.places().await.len() > 1 {
            let what = "both nodes have a browser, and each could ask the other".to_owned();
            return Ok(Some(Finding::new(Kind::TwoBrowsers, what)));
        }
        self.bystanders_live().await
    }

    fn asking(&self, call: Call, looks: &[Option<Look>; 2]) -> Result<VerbCall> {
        let driver = looks[call.at].as_ref().and_then(|look| look.agent.clone());
        let agent = match call.by {
            Who::Driver => driver,
            Who::Agent(number) => agent(number),
        };
        let client = self.stage.client(call.at)?;
        Ok(VerbCall { client, at: call.at, verb: call.verb, agent, snapshot: None })
    }

    /// Names the snapshot that a rollback goes to, and what it holds.
    async fn aim(&self, asking: &mut VerbCall) -> Result<Option<Marks>> {
        let Verb::Rollback { to: Some(to) } = asking.verb else { return Ok(None) };
        let history = ask::history(&*self.stage, asking.at, self.subject.id).await?;
        let count = history.len().max(1);
        let Some(to) = history.into_iter().nth(usize::from(to) % count) else { return Ok(None) };
        asking.snapshot = Some(to.id.to_string());
        ask::of(self.stage.store(asking.at), to).await.map(Some)
    }

    /// Asks, and lets what stands still go on when the answer takes long.
    async fn ask(&mut self, asking: &VerbCall) -> Asked {
        let asked = asking.ask(&self.subject);
        tokio::pin!(asked);
        if let Ok(asked) = timeout(STANDSTILL, &mut asked).await {
            return asked;
        }
        if self.is_frozen {
            self.stage.thaw();
            self.is_frozen = false;
        }
        asked.await
    }

    async fn one(&mut self, call: Call) -> Result<Option<Finding>> {
        if !self.stage.is_up(call.at) {
            return Ok(None);
        }
        let before = self.before().await?;
        let mut asking = self.asking(call, &before.looks)?;
        let aim = self.aim(&mut asking).await?;
        let asked = self.ask(&asking).await;
        self.tell(&asking, &asked);
        let found = self.note_promise(&before, &asking, &asked, aim).await?;
        if found.is_some() {
            return Ok(found);
        }
        self.judge(&before, &asking, &asked).await
    }

    fn tell(&mut self, asking: &VerbCall, asked: &Asked) {
        let by = asking.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        let ended = match &asked.ended {
            Ended::Done { handed: None, .. } => "done".to_owned(),
            Ended::Done { handed: Some(handed), .. } => format!("done, {:?}", handed.how),
            Ended::Refused(code, why) => format!("{}: {why}", code.as_str()),
            Ended::Unknown(why) => format!("no answer: {why}"),
            Ended::Hangs => "hangs".to_owned(),
        };
        let ended = ended.lines().next().unwrap_or_default().to_owned();
        self.told
            .push(format!("node {} {:?} {by}: {ended} ({:?})", asking.at, asking.verb, asked.took));
    }

    /// Takes note of what a verb promised.
    async fn note_promise(
        &mut self,
        before: &Before,
        asking: &VerbCall,
        asked: &Asked,
        aim: Option<Marks>,
    ) -> Result<Option<Finding>> {
        let (at, id) = (asking.at, self.subject.id);
        if matches!(asked.ended, Ended::Hangs) {
            return Ok(Some(Finding::new(Kind::Hangs, format!("{:?} at node {at}", asking.verb))));
        }
        self.is_apart |= asked.ended.was_taken();
        let is_done = asked.ended.is_done();
        let held = before.marks[at].clone().unwrap_or_default();
        match asking.verb {
            Verb::Capture if is_done => self.promised.extend(held),
            // A save takes what was captured last of a session that is closed by the time it is held: a node
            // that hears of another holder closes its browser at any moment.
            Verb::Save { .. } if is_done && self.is_active(at).await? => self.promised.extend(held),
            // The browser of a keeper that stands still is closed without being read.
            Verb::Close if is_done && before.is_calm => self.promised.extend(held),
            Verb::Resume | Verb::Rollback { .. } if asked.ended.was_handed() && before.is_calm => {
                self.promised.extend(before.marks[1 - at].clone().unwrap_or_default());
            }
            Verb::TakeName => {
                if let Ended::Done { made: Some(made), .. } = &asked.ended {
                    self.subject.rival = Some(made.parse()?);
                }
            }
            Verb::HandIn { .. } => {
                if let Ended::Done { made: Some(made), .. } = &asked.ended {
                    self.subject.sandbox = Some(made.clone());
                    // A browser that runs is saved and closed for it.
                    if before.is_calm {
                        self.promised.extend(held);
                    }
                }
            }
            Verb::End if is_done => self.subject.sandbox = None,
            Verb::FreeName if is_done => self.subject.rival = None,
            _ => {}
        }
        if let Some(name) = name(asking.verb).filter(|_| is_done) {
            *self.acknowledged.entry(name).or_default() += 1;
        }
        // A rollback gives up what came later, also when it is not known whether it was done.
        if let Some(aim) = aim.filter(|_| !matches!(asked.ended, Ended::Refused(..))) {
            self.promised.retain(|mark| aim.contains(mark));
            return Ok(None);
        }
        if !(is_done && asking.verb == Verb::Resume) {
            return Ok(None);
        }
        if let Some(sandbox) = self.subject.sandbox.clone().filter(|_| before.is_calm)
            && self.is_there(&sandbox).await?
        {
            let what = format!("resumed at node {at} while a sandbox has it");
            return Ok(Some(Finding::new(Kind::TwoBrowsers, what)));
        }
        let Some(after) = self.stage.marks(at, id).await else { return Ok(None) };
        let missing: Vec<&String> = self.promised.difference(&after).collect();
        let is_excused = !before.is_calm
            || self.is_apart
            || self.observe(at).await?.is_none_or(|look| look.has_conflicts);
        if missing.is_empty() || is_excused {
            return Ok(None);
        }
        let what = format!("resumed at node {at} without {missing:?}");
        Ok(Some(Finding::new(Kind::Lost, what)))
    }

    /// Two verbs at once.
    async fn both(&mut self, one: Call, other: Call, later: u8) -> Result<Option<Finding>> {
        if !self.stage.is_up(one.at) || !self.stage.is_up(other.at) {
            return Ok(None);
        }
        let before = self.before().await?;
        let mut askings = [self.asking(one, &before.looks)?, self.asking(other, &before.looks)?];
        let mut aims = [self.aim(&mut askings[0]).await?, self.aim(&mut askings[1]).await?];
        let (first, second, subject) = (&askings[0], &askings[1], self.subject.clone());
        let asked = async {
            let second = async {
                sleep(Duration::from_millis(later.into())).await;
                second.ask(&subject).await
            };
            tokio::join!(first.ask(&subject), second)
        };
        tokio::pin!(asked);
        let asked = if let Ok(asked) = timeout(STANDSTILL, &mut asked).await {
            asked
        } else {
            self.thaw();
            asked.await
        };
        let asked = [asked.0, asked.1];
        // Going back comes last: whatever was promised beside it may be given up.
        let order = if aims[0].is_some() { [1, 0] } else { [0, 1] };
        let mut found = None;
        let calm = Before { is_calm: false, ..before };
        for at in order {
            self.tell(&askings[at], &asked[at]);
            let aim = aims[at].take();
            found = found.or(self.note_promise(&calm, &askings[at], &asked[at], aim).await?);
        }
        if found.is_none() {
            found = self.drives_late(&askings, &asked).await;
        }
        Ok(found)
    }

    /// A verb, and a node that is killed meanwhile.
    async fn during(&mut self, call: Call, killed: usize, later: u8) -> Result<Option<Finding>> {
        if !self.stage.is_up(call.at) || !self.stage.is_up(killed) {
            return Ok(None);
        }
        let mut before = self.before().await?;
        let mut asking = self.asking(call, &before.looks)?;
        let aim = self.aim(&mut asking).await?;
        let kill = self.stage.killer(killed);
        let (subject, stage, is_frozen) = (&self.subject, &self.stage, self.is_frozen);
        let (asked, ()) = tokio::join!(asking.ask(subject), async {
            sleep(Duration::from_millis(later.into())).await;
            kill();
            if is_frozen {
                sleep(STANDSTILL).await;
                stage.thaw();
            }
        });
        self.thaw();
        self.stage.kill_node(killed).await?;
        self.bystanders[killed] = None;
        self.told.push(format!("node {killed} was killed meanwhile"));
        self.tell(&asking, &asked);
        before.is_calm = false;
        self.note_promise(&before, &asking, &asked, aim).await
    }

    pub(crate) fn thaw(&mut self) {
        self.stage.thaw();
        self.is_frozen = false;
    }

    /// Something breaks, or is mended.
    async fn fault(&mut self, step: Step) -> Result<()> {
        let id = self.subject.id;
        match step {
            Step::Mark { at } => {
                if !self.is_active(at).await? {
                    return Ok(());
                }
                self.marks += 1;
                let (name, host) =
                    (format!("mark{}", self.marks), format!("site{}.test", self.marks % 3));
                if !self.stage.mark(at, id, &name, &host).await {
                    return Ok(());
                }
            }
            Step::KillBrowser { at } => {
                self.stage.kill_browser(at, id).await;
                self.noticed(at).await?;
            }
            Step::FreezeKeeper { at } => {
                let frozen = self.stage.freeze_keeper(at, id).await;
                self.is_frozen |= frozen;
            }
            Step::FreezeNode { at } if self.stage.is_up(at) => {
                self.stage.freeze_node(at);
                self.is_frozen = true;
                self.bystanders[at] = None;
            }
            Step::Thaw => self.thaw(),
            Step::KillNode { at } if self.stage.is_up(at) => {
                self.bystanders[at] = None;
                self.stage.kill_node(at).await?;
            }
            Step::Stop { at } if self.stage.is_up(at) => {
                self.thaw();
                self.bystanders[at] = None;
                self.stage.stop_node(at).await?;
            }
            Step::Start { at, rehydrates } if !self.stage.is_up(at) => {
                self.stage.start_node(at, rehydrates).await?;
                self.unsettled = Some(Instant::now() + SETTLING);
            }
            Step::LoseProgram { at } if !self.lost_program[at] => {
                self.lost_program[at] = true;
                self.stage.has_program(at, false)?;
            }
            Step::FindProgram { at } if self.lost_program[at] => {
                self.lost_program[at] = false;
                self.stage.has_program(at, true)?;
            }
            Step::Wait if self.is_frozen || !self.is_calm() => {
                sleep(self.stage.lease() + Duration::from_millis(1500)).await;
            }
            _ => return Ok(()),
        }
        self.told.push(format!("{step:?}"));
        Ok(())
    }

    /// Waits until the browser at a node is the session's, if there is one: until then no caller drives it.
    async fn is_active(&self, at: usize) -> Result<bool> {
        let (id, end) = (self.subject.id, Instant::now() + NOTICE_LIMIT);
        while self.stage.browser(at, id).await.is_some() && Instant::now() < end {
            let session = self.stage.store(at).fetch_any_session(id).await?;
            if session.is_some_and(|session| session.lifecycle == Lifecycle::Active) {
                return Ok(true);
            }
            if self.is_frozen || !self.stage.is_up(at) {
                return Ok(false);
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(false)
    }

    /// Waits until a node has noticed that its browser is gone, so that this is no change of later.
    async fn noticed(&self, at: usize) -> Result<()> {
        let end = Instant::now() + NOTICE_LIMIT;
        while let Some(look) = self.observe(at).await?
            && look.state == Some(Lifecycle::Active)
            && look.browser.is_none()
            && Instant::now() < end
        {
            // In the other one's hands, or lent: nothing is to be noticed here.
            if self.stage.browser(1 - at, self.subject.id).await.is_some() {
                return Ok(());
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

/// What a verb is called in the audit log.
fn name(verb: Verb) -> Option<&'static str> {
    match verb {
        Verb::Capture => Some("session.capture"),
        Verb::Save { .. } => Some("session.save"),
        Verb::Resume => Some("session.resume"),
        Verb::Rollback { .. } => Some("session.rollback"),
        Verb::Close => Some("session.close"),
        Verb::Pass { .. } => Some("session.pass"),
        _ => None,
    }
}
