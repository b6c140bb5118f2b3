//! A viewer's visit, from its first picture to the last.
//!
//! The one idea: one loop that never waits for the viewer, nor for the browser. It hears at once that the
//! viewer's key was revoked, its page signed out or the node ends; and whatever ends it, what the viewer held
//! is let go. What the viewer says is handled in `said`.

mod said;

use super::acts::{self, Done, Missing};
use super::line::{Line, ViewerStream};
use super::queue::ActQueue;
use super::sight::Sight;
use super::words::{self, Farewell};
use crate::context::Context;
use crate::metrics;
use crate::page::LivePage;
use baton_api::live::{LiveDriver, LiveMessage, LivePace, MAX_LIVE_MESSAGE_BYTES, ViewerMessage};
use baton_browser::screen::pace::Pace;
use baton_browser::screen::{Hand, Screen, ScreenFrame, ScreenState, Viewing, Wish};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_runtime::sessions::PersonTurn;
use baton_session::Session;
use futures_util::future::{BoxFuture, pending};
use futures_util::{FutureExt, StreamExt};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// How often it is looked whether the key was revoked, and whether a browser is there that was not.
const LOOK_PAUSE: Duration = Duration::from_millis(500);
/// How often it is looked who drives, where no event of this node says so.
const TURN_PAUSE: Duration = Duration::from_secs(5);
/// How often it is told how many pictures went.
const PACE_PAUSE: Duration = Duration::from_secs(1);
/// How long a viewer may say nothing: it answers every two seconds that it is there.
const SILENCE: Duration = Duration::from_secs(10);
/// How long what is left behind is waited for: a turn that is being taken is given back.
const TIDY_LIMIT: Duration = Duration::from_secs(75);

/// Who watches what.
pub(crate) struct Watcher {
    /// In whose name.
    pub(crate) caller: Caller,
    /// What.
    pub(crate) session: Session,
    /// The page that shows it; none for a program with a key.
    pub(crate) page: Option<LivePage>,
    /// How much of it.
    pub(crate) sight: Sight,
}

/// Serves a viewer that was promised a WebSocket, until it leaves or may not stay.
pub(crate) async fn serve(context: Context, watcher: Watcher, upgrade: OnUpgrade) {
    // A node into whose sessions a person looks is in use.
    let _in_use = context.activity.start_request();
    let stream = match upgrade.await {
        Ok(stream) => TokioIo::new(stream),
        Err(error) => return tracing::debug!(%error, "a viewer left before it had its WebSocket"),
    };
    let _counted = metrics::live_viewer();
    let most = Some(MAX_LIVE_MESSAGE_BYTES);
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
    let socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let (line, heard) = Line::open(socket);
    let note = Note::new(
        &watcher.caller.actor,
        &watcher.caller.owner,
        Action::EndWatch,
        watcher.session.id.to_string(),
    );
    let begun = Instant::now();
    let mut visit = Visit::new(context.clone(), watcher, line);
    let farewell = visit.run(heard).await;
    let note = note.with("name", visit.session.name.to_string());
    let note = match visit.sight.guest() {
        Some(guest) => note.with("guest", guest.name.to_string()),
        None => note,
    };
    let note = note.with("seconds", begun.elapsed().as_secs());
    let note = note.with("pictures", visit.pace.sent_count());
    let note = note.with("dropped", visit.pace.dropped_count()).with("why", farewell.reason());
    visit.leave(farewell).await;
    if let Err(error) = note.done(&context.store).await {
        tracing::error!(%error, "the end of a visit is not in the audit log");
    }
}

/// The browser that is watched.
struct Looking {
    viewing: Arc<Viewing>,
    state: watch::Receiver<ScreenState>,
    frames: watch::Receiver<Option<Arc<ScreenFrame>>>,
}

struct Visit {
    context: Context,
    caller: Caller,
    session: Session,
    sight: Sight,
    /// Whether a guest's tab was brought to the front.
    is_fronted: bool,
    end: BoxFuture<'static, Farewell>,
    line: Line,
    looking: Option<Looking>,
    is_looked_for: bool,
    /// The largest picture that the viewer wants; none while it does not look.
    size: Option<(u32, u32)>,
    pace: Pace,
    told_pace: (u64, u64),
    turn: Option<PersonTurn>,
    is_taking: bool,
    hand: Option<Hand>,
    driver: Option<LiveDriver>,
    owed: Owed,
    acts: ActQueue,
    passed: watch::Receiver<()>,
    revoked: watch::Receiver<u64>,
    looks: Interval,
    last_turn: Instant,
    last_pace: Instant,
    heard_at: Instant,
    /// The messages of this second.
    messages: (Instant, u32),
    misunderstood: u32,
    refused_at: Option<Instant>,
}

/// What the viewer has to be told once there is room.
struct Owed {
    tabs: bool,
    driver: bool,
    /// Whether it was told last that there is no browser.
    told_gone: bool,
}

/// What happened.
enum Step {
    Said(Option<Result<Message, Error>>),
    Acted(Done),
    Tabs,
    Picture,
    Passed,
    Look,
    End(Farewell),
}

impl Visit {
    fn new(context: Context, watcher: Watcher, line: Line) -> Self {
        let Watcher { caller, session, page, sight } = watcher;
        let guest = sight.guest();
        let ask = guest.map(|guest| (Arc::clone(guest.ask()), guest.visit.replaced()));
        let end: BoxFuture<'static, Farewell> = match (page, ask) {
            (Some(page), _) => Box::pin(page.end().map(|()| Farewell::SignedOut)),
            (None, Some((ask, replaced))) => Box::pin(async move {
                tokio::select! {
                    biased;
                    () = ask.end() => Farewell::AskEnded,
                    () = replaced => Farewell::Replaced,
                }
            }),
            (None, None) => Box::pin(pending()),
        };
        let mut looks = interval(LOOK_PAUSE);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = Instant::now();
        Self {
            passed: context.supervisor.table().passes(),
            revoked: context.revoked.subscribe(),
            context,
            caller,
            session,
            sight,
            is_fronted: false,
            end,
            line,
            looking: None,
            is_looked_for: false,
            size: None,
            pace: Pace::default(),
            told_pace: (0, 0),
            turn: None,
            is_taking: false,
            hand: None,
            driver: None,
            owed: Owed { tabs: false, driver: true, told_gone: false },
            acts: ActQueue::new(),
            looks,
            last_turn: now,
            last_pace: now,
            heard_at: now,
            messages: (now, 0),
            misunderstood: 0,
            refused_at: None,
        }
    }

    async fn run(&mut self, mut heard: ViewerStream) -> Farewell {
        self.look_for_browser();
        self.take_as_guest();
        self.find_driver().await;
        loop {
            let handled = match self.next(&mut heard).await {
                Step::Said(message) => self.said(message),
                Step::Acted(done) => self.acted(done).await,
                Step::Tabs => {
                    self.tabs_changed();
                    Ok(())
                }
                Step::Picture => {
                    self.picture_came();
                    Ok(())
                }
                Step::Passed => {
                    self.find_driver().await;
                    Ok(())
                }
                Step::Look => self.look().await,
                Step::End(farewell) => Err(farewell),
            };
            if let Err(farewell) = handled {
                return farewell;
            }
            self.pay();
        }
    }

    async fn next(&mut self, heard: &mut ViewerStream) -> Step {
        let is_ready =
            self.size.is_some() && self.line.takes_pictures() && self.pace.is_ready(Instant::now());
        tokio::select! {
            biased;
            () = self.context.ending.cancelled() => Step::End(Farewell::NodeEnds),
            farewell = &mut self.end => Step::End(farewell),
            () = self.line.broken() => Step::End(Farewell::Left),
            _ = self.looks.tick() => Step::Look,
            Ok(()) = self.revoked.changed() => Step::Look,
            Ok(()) = self.passed.changed() => Step::Passed,
            message = heard.next() => Step::Said(message),
            Some(done) = self.acts.next() => Step::Acted(done),
            step = changed(&mut self.looking, is_ready) => step,
        }
    }

    /// What is left behind is let go, and the viewer told why, if it still hears.
    async fn leave(self, farewell: Farewell) {
        // A guest's sight is held until all is given back.
        let Self { context, line, hand, turn, mut acts, looking, sight, .. } = self;
        drop(hand);
        if let (Some(looking), true) = (&looking, turn.is_some()) {
            looking.viewing.drive(false);
        }
        drop(looking);
        let tidied = async {
            acts.let_go().await;
            if let Some(turn) = turn {
                given_back(turn.give_back(&context).await);
            }
            while let Some(done) = acts.next().await {
                match done {
                    Done::Taken(Ok(turn)) => given_back(turn.give_back(&context).await),
                    Done::Given(given, _) => given_back(given),
                    _ => {}
                }
            }
        };
        let (tidied, ()) = tokio::join!(timeout(TIDY_LIMIT, tidied), line.close(farewell.frame()));
        if tidied.is_err() {
            tracing::warn!("a session that a person took over was not given back in time");
        }
        drop(sight);
    }
}

fn given_back(given: Result<(), baton_runtime::RuntimeError>) {
    if let Err(error) = given {
        tracing::warn!(%error, "a session that a person took over was not given back");
    }
}

/// Waits for something new on the screen, and for pictures only if they are wanted.
async fn changed(looking: &mut Option<Looking>, wants_pictures: bool) -> Step {
    let Some(Looking { state, frames, .. }) = looking else { return pending().await };
    tokio::select! {
        biased;
        Ok(()) = state.changed() => Step::Tabs,
        Ok(()) = frames.changed(), if wants_pictures => Step::Picture,
        else => pending().await,
    }
}

/// What the browser and the node say.
impl Visit {
    async fn acted(&mut self, done: Done) -> Result<(), Farewell> {
        match done {
            Done::Taken(taken) => {
                self.is_taking = false;
                match taken {
                    Ok(turn) => {
                        self.turn = Some(*turn);
                        self.take_hand();
                    }
                    Err(error) => self.refuse("take_over", error.to_string()),
                }
                self.find_driver().await;
            }
            Done::Given(given, refused) => {
                for refusal in refused {
                    self.tell(&LiveMessage::Refused(refusal));
                }
                if let Err(error) = given {
                    self.refuse("give_back", error.to_string());
                }
                self.find_driver().await;
            }
            Done::Found(found) => {
                self.is_looked_for = false;
                match found {
                    Ok(Some(screen)) => self.look_at(&screen)?,
                    Ok(None) => self.owed.tabs |= !self.owed.told_gone,
                    Err(Missing) => return Err(Farewell::Deleted),
                }
            }
            Done::Tab(Some(refusal)) => {
                self.tell(&LiveMessage::Refused(refusal));
            }
            Done::Tab(None) => {}
        }
        Ok(())
    }

    fn look_for_browser(&mut self) {
        if !self.is_looked_for {
            self.is_looked_for = true;
            self.acts.want(acts::find(&self.context, &self.session));
        }
    }

    fn look_at(&mut self, screen: &Arc<Screen>) -> Result<(), Farewell> {
        let viewing = Arc::new(screen.join().ok_or(Farewell::TooMany)?);
        let (state, frames) = (viewing.state(), viewing.frames());
        self.looking = Some(Looking { viewing, state, frames });
        self.pace.restart();
        self.owed.tabs = true;
        self.bring_guest_to_front();
        self.wish();
        self.take_hand();
        Ok(())
    }

    /// Gives a person who drives a hand in the browser that there is.
    fn take_hand(&mut self) {
        let (Some(looking), Some(_)) = (&self.looking, &self.turn) else { return };
        self.hand = Some(looking.viewing.hand());
        looking.viewing.drive(true);
    }

    /// Says which pictures are wanted now.
    fn wish(&self) {
        let Some(looking) = &self.looking else { return };
        let quality = self.pace.quality();
        let wish = self.size.map(|(width, height)| Wish { width, height, quality });
        looking.viewing.wish(wish);
    }

    fn tabs_changed(&mut self) {
        let Some(looking) = &mut self.looking else { return };
        let state = looking.state.borrow_and_update();
        let (has_ended, unasked) = (state.has_ended, self.sight.unasked(&state));
        drop(state);
        self.owed.tabs = true;
        if has_ended {
            self.lose_browser();
        } else if self.turn.is_some() {
            for (tab, question) in unasked {
                if let Some(tab) = looking.viewing.tab(tab) {
                    tab.settle(question);
                }
            }
        }
        self.bring_guest_to_front();
    }

    /// A guest drives as long as they see something.
    pub(super) fn take_as_guest(&mut self) {
        let Some(guest) = self.sight.guest() else { return };
        if self.turn.is_none() && !self.is_taking {
            self.is_taking = true;
            let act = acts::take_as_guest(&self.context, &self.caller, &self.session, guest);
            self.acts.want(act);
        }
    }

    /// Only the tab in front is drawn: a guest's comes there, once.
    fn bring_guest_to_front(&mut self) {
        let Some(looking) = &self.looking else { return };
        let state = looking.state.borrow().clone();
        let Some(tab) = self.sight.behind(&state).filter(|_| !self.is_fronted) else { return };
        self.is_fronted = true;
        let (context, caller, session) = (&self.context, &self.caller, &self.session);
        let front = ViewerMessage::Front { tab };
        let act = acts::with_tab(context, caller, session, &looking.viewing, &self.sight, front);
        if let Some(act) = act {
            self.acts.on_tab(act);
        }
    }

    fn lose_browser(&mut self) {
        (self.looking, self.hand) = (None, None);
        self.owed.tabs = true;
    }

    fn picture_came(&mut self) {
        let Some(looking) = &mut self.looking else { return };
        let Some(frame) = looking.frames.borrow_and_update().clone() else { return };
        if !self.sight.shows(&frame, &looking.state.borrow()) {
            return;
        }
        if self.line.offer(Message::binary(words::picture(&frame))) {
            let before = self.pace.dropped_count();
            self.pace.sent(frame.sequence, Instant::now());
            metrics::live_pictures(1, self.pace.dropped_count() - before);
        }
    }

    /// Finds out who drives; a turn that was passed on is over.
    async fn find_driver(&mut self) {
        self.last_turn = Instant::now();
        if let Some(turn) = &self.turn
            && !turn.holds(&self.context).await
        {
            (self.turn, self.hand) = (None, None);
            self.acts.lose_turn();
            if let Some(looking) = &self.looking {
                looking.viewing.drive(false);
            }
        }
        // A database that does not answer changes nothing.
        let Ok(driver) = self.context.store.fetch_driver(self.session.id).await else { return };
        let driver =
            LiveDriver { agent: driver.and_then(|driver| driver.agent), own: self.turn.is_some() };
        if self.driver.as_ref() != Some(&driver) {
            self.driver = Some(driver);
            self.owed.driver = true;
        }
    }

    async fn look(&mut self) -> Result<(), Farewell> {
        // A database that does not answer changes nothing.
        if self.context.is_shut_out(&self.caller).await.unwrap_or(false) {
            return Err(Farewell::Revoked);
        }
        if self.heard_at.elapsed() > SILENCE {
            return Err(Farewell::Silent);
        }
        if self.looking.as_ref().is_some_and(|looking| looking.viewing.has_ended()) {
            self.lose_browser();
        }
        if self.looking.is_none() {
            self.look_for_browser();
        }
        if self.last_turn.elapsed() >= TURN_PAUSE {
            self.find_driver().await;
        }
        let counts = (self.pace.sent_count(), self.pace.dropped_count());
        if self.last_pace.elapsed() >= PACE_PAUSE && counts != self.told_pace {
            let (sent, dropped) = counts;
            let quality = self.pace.quality();
            if self.tell(&LiveMessage::Pace(LivePace { sent, dropped, quality })) {
                (self.told_pace, self.last_pace) = (counts, Instant::now());
            }
        }
        Ok(())
    }

    /// Tells the viewer what it is owed, as far as there is room: the newest of it.
    fn pay(&mut self) {
        if self.owed.tabs {
            let message = match &self.looking {
                Some(looking) => LiveMessage::Tabs(self.sight.tabs(&looking.state.borrow())),
                None => LiveMessage::Gone {},
            };
            self.owed.tabs = !self.tell(&message);
            self.owed.told_gone = !self.owed.tabs && self.looking.is_none();
        }
        if let (true, Some(driver)) = (self.owed.driver, &self.driver) {
            self.owed.driver = !self.tell(&LiveMessage::Driver(driver.clone()));
        }
    }
}
