//! The keeper's loop: it feeds frames to the multiplexer, does what that says, and never waits for the
//! browser.
//!
//! Calls to the browser that it does not read at once wait here, in order; meanwhile clients are not listened
//! to, but the node is, and so are the browser, signals and the lease, which counts while the browser starts as
//! well. A browser that reads nothing for a minute is as good as dead.

use super::beats::{Lapse, UNHELD};
use super::browser::Browser;
use super::client::{Connected, GreetedClient, Input};
use super::mux::waiting::WaitingKind;
use super::mux::{Action, ClientId, Mux};
use super::prelude::PreludeCall;
use super::protocol::{KeeperAnswer, KeeperError, Role, Welcome};
use crate::cdp::{FrameReader, FrameWriter, Transport};
use std::collections::{HashMap, VecDeque};
use std::future;
use std::future::Future;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::task::TaskTracker;

/// How long a browser may take to speak.
const START_LIMIT: Duration = Duration::from_secs(25);
/// How long a browser may take to end gently.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);
/// How long the last frames to clients may take when the keeper ends.
const FAREWELL_LIMIT: Duration = Duration::from_secs(2);
/// How long calls of clients wait for a page that is being prepared, and documents for what is handed over to them. It
/// takes milliseconds, and on a machine that has much to do seconds: who goes on too early is not signed in.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many frames wait for the loop, and how many for the browser.
const QUEUE: usize = 256;

/// How the browser is to end, or is ending.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum End {
    /// Gently.
    Close,
    /// By itself: it closed its connection.
    Gone,
    /// At once.
    Kill,
}

/// The loop's own things.
pub(super) struct Server {
    mux: Mux,
    clients: HashMap<ClientId, GreetedClient>,
    next_client: ClientId,
    inputs: mpsc::Receiver<Input>,
    sender: mpsc::Sender<Input>,
    outbox: Outbox,
    welcome: Option<Welcome>,
    tasks: TaskTracker,
    started: Option<Result<String, String>>,
    end: Option<End>,
    /// When the browser has to be gone.
    lapse: Lapse,
    patience: Patience,
}

/// When what waits goes on at the latest.
#[derive(Default)]
struct Patience {
    calls: Option<Instant>,
    documents: Option<Instant>,
}

impl Patience {
    fn with(&mut self, kind: WaitingKind) -> &mut Option<Instant> {
        match kind {
            WaitingKind::Calls => &mut self.calls,
            WaitingKind::Documents => &mut self.documents,
        }
    }

    /// When it is lost next.
    fn end(&self) -> Option<Instant> {
        [self.calls, self.documents].into_iter().flatten().min()
    }
}

impl Server {
    /// A server that speaks to a browser over `transport`.
    pub(super) fn new(mux: Mux, transport: Transport) -> Self {
        let (reader, writer) = transport.split();
        let (sender, inputs) = mpsc::channel(QUEUE);
        let (browser, frames) = mpsc::channel(QUEUE);
        tokio::spawn(read(reader, sender.clone()));
        tokio::spawn(write(writer, frames));
        Self {
            mux,
            clients: HashMap::new(),
            next_client: 0,
            inputs,
            sender,
            outbox: Outbox::new(browser),
            welcome: None,
            tasks: TaskTracker::new(),
            started: None,
            end: None,
            lapse: Lapse::default(),
            patience: Patience::default(),
        }
    }

    /// Lets the browser live until then.
    pub(super) fn hold_until(&mut self, lapse: Lapse) {
        self.lapse = lapse;
    }

    /// What is said to the browser's targets from now on.
    pub(super) fn tell(&mut self, prelude: Vec<PreludeCall>) {
        let actions = self.mux.change_prelude(prelude);
        self.apply(actions);
    }

    /// Where the door sends its clients.
    pub(super) fn sender(&self) -> mpsc::Sender<Input> {
        self.sender.clone()
    }

    /// Brings the browser to speak and returns its version.
    pub(super) async fn start(&mut self, browser: &mut Browser) -> Result<String, KeeperError> {
        let actions = self.mux.start();
        self.apply(actions);
        let deadline = Instant::now() + START_LIMIT;
        loop {
            match self.started.take() {
                Some(Ok(version)) => return Ok(version),
                Some(Err(found)) => return Err(KeeperError::Browser { found }),
                None => {}
            }
            tokio::select! {
                // No other client is to speak yet. What is none of its frames must not switch this branch
                // off.
                Some(input) = self.inputs.recv() => {
                    if let Input::Browser(frame) = input {
                        let actions = self.mux.on_browser_message(&frame);
                        self.apply(actions);
                    }
                }
                () = self.lapse.reached() => {
                    return Err(KeeperError::Browser { found: UNHELD.to_owned() });
                }
                () = at(self.patience.end()) => self.lose_patience(),
                () = self.outbox.pass_on() => {}
                status = browser.ended() => {
                    return Err(KeeperError::Browser { found: browser.obituary(&status).await });
                }
                () = sleep_until(deadline) => {
                    return Err(KeeperError::TimedOut { what: "an answer of the browser", limit: START_LIMIT });
                }
            }
        }
    }

    /// Serves until the browser has ended, or until `stop` asks to end it gently. Clients hear `welcome` first;
    /// without one they hear nothing but the browser.
    pub(super) async fn serve(
        &mut self,
        welcome: Option<Welcome>,
        browser: &mut Browser,
        stop: impl Future<Output = ()>,
    ) {
        let attached = welcome.as_ref().is_some_and(|welcome| welcome.attached);
        self.welcome = welcome;
        let mut stop = std::pin::pin!(stop);
        let mut deadline = None;
        loop {
            let dead = self.outbox.dead_at();
            tokio::select! {
                Some(input) = self.inputs.recv() => {
                    if self.hear(input) {
                        // Its connection is gone: it is ending, or it never will by itself.
                        self.end = self.end.or(Some(End::Gone));
                    }
                }
                status = browser.ended() => {
                    tracing::info!(status, "the browser ended");
                    return;
                }
                () = &mut stop, if self.end.is_none() => self.end = Some(End::Close),
                () = self.lapse.reached() => {
                    tracing::warn!("no node holds the session any more: killing its browser");
                    self.end = Some(End::Kill);
                }
                () = at(self.patience.end()) => self.lose_patience(),
                () = self.outbox.pass_on() => {}
                () = at(dead) => {
                    tracing::error!("the browser has not read its calls for {STALL_LIMIT:?}: killing it");
                    self.end = Some(End::Kill);
                }
                () = at(deadline) => {
                    tracing::warn!("the browser did not end within {CLOSE_LIMIT:?}: killing it");
                    self.end = Some(End::Kill);
                }
            }
            match self.end {
                None => continue,
                Some(_) if attached => return,
                Some(End::Kill) => return browser.kill().await,
                Some(End::Close) if deadline.is_none() => {
                    let actions = self.mux.close_browser();
                    self.apply(actions);
                }
                Some(End::Close | End::Gone) => {}
            }
            deadline = deadline.or_else(|| Some(Instant::now() + CLOSE_LIMIT));
        }
    }

    /// Closes the connections of all clients, after what was already said to them.
    pub(super) async fn farewell(mut self) {
        self.clients.clear();
        self.tasks.close();
        // Who has not read it by now has lost it.
        let _ = tokio::time::timeout(FAREWELL_LIMIT, self.tasks.wait()).await;
    }

    /// Takes one input; true when the browser's connection is gone.
    fn hear(&mut self, input: Input) -> bool {
        let actions = match input {
            Input::Browser(frame) => self.mux.on_browser_message(&frame),
            Input::BrowserGone => return true,
            Input::Frame(client, _) if self.outbox.is_crowded() => {
                tracing::warn!(
                    client,
                    "a client was disconnected: it calls more than the browser reads"
                );
                self.clients.remove(&client);
                self.mux.leave(client)
            }
            Input::Frame(client, frame) => self.mux.on_client_message(client, &frame),
            Input::Left(client) => {
                self.clients.remove(&client);
                self.mux.leave(client)
            }
            Input::Connected(Connected { role, reader, writer, place }) => {
                self.next_client += 1;
                // The node gives more time and ends the browser, whether or not that reads.
                let gate = (role == Role::Client).then(|| self.outbox.reads());
                let client = GreetedClient::new(reader, writer, gate, place, &self.tasks);
                self.clients.insert(self.next_client, client);
                self.mux.join(self.next_client, role)
            }
        };
        self.apply(actions);
        false
    }

    fn lose_patience(&mut self) {
        let now = Instant::now();
        for kind in WaitingKind::ALL {
            if self.patience.with(kind).take_if(|end| *end <= now).is_some() {
                let actions = self.mux.lose_patience(kind);
                self.apply(actions);
            }
        }
    }

    fn apply(&mut self, actions: Vec<Action>) {
        for kind in WaitingKind::ALL {
            let end = self.patience.with(kind);
            *end = self.mux.waits(kind).then(|| end.unwrap_or_else(|| Instant::now() + PATIENCE));
        }
        let mut actions = VecDeque::from(actions);
        while let Some(action) = actions.pop_front() {
            match action {
                Action::ToBrowser(frame) => {
                    if !self.outbox.send(frame) {
                        tracing::error!("the browser reads too little: killing it");
                        self.end = Some(End::Kill);
                    }
                }
                Action::ToClient(client, frame) => {
                    if self.clients.get(&client).is_some_and(|client| !client.send(frame)) {
                        tracing::warn!(client, "a client was disconnected: it reads too slowly");
                        self.clients.remove(&client);
                        actions.extend(self.mux.leave(client));
                    }
                }
                Action::Ready(client) => self.welcome(client),
                Action::Disconnect(client, reason) => {
                    tracing::info!(client, reason, "a client was disconnected");
                    self.clients.remove(&client);
                }
                Action::Started(version) => self.started = Some(Ok(version)),
                Action::Failed(reason) => self.started = Some(Err(reason)),
                Action::Close => self.end = self.end.or(Some(End::Close)),
                Action::Kill => self.end = Some(End::Kill),
                Action::Hold(until) => self.lapse.set(until),
            }
        }
    }

    fn welcome(&mut self, id: ClientId) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let said = self.welcome.clone().map(KeeperAnswer::Welcome);
        if let Some(frame) = said.and_then(|said| serde_json::to_vec(&said).ok()) {
            // The queue is empty, so there is room.
            client.send(frame);
        }
        client.listen(id, self.sender.clone());
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => future::pending().await,
    }
}

async fn read(mut reader: FrameReader, inputs: mpsc::Sender<Input>) {
    loop {
        let input = match reader.next().await {
            Ok(Some(frame)) => Input::Browser(frame),
            Ok(None) => Input::BrowserGone,
            Err(error) => {
                tracing::warn!(%error, "the connection to the browser broke");
                Input::BrowserGone
            }
        };
        let gone = matches!(input, Input::BrowserGone);
        if inputs.send(input).await.is_err() || gone {
            return;
        }
    }
}

async fn write(mut writer: FrameWriter, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        if let Err(error) = writer.send(frame).await {
            tracing::debug!(%error, "a frame did not reach the browser");
            return;
        }
    }
}

/// How long a browser may leave its calls unread.
const STALL_LIMIT: Duration = Duration::from_mins(1);
/// How many calls, and how many bytes of them, may wait. From half of it on only the keeper itself adds to
/// them.
const CALLS: usize = 16_384;
const BYTES: usize = 512 * 1024 * 1024;

/// The calls that wait for the browser.
pub(super) struct Outbox {
    browser: mpsc::Sender<Vec<u8>>,
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// Since when the browser has taken nothing although something waits.
    since: Option<Instant>,
    reads: watch::Sender<bool>,
}

impl Outbox {
    /// An outbox whose calls go to `browser`.
    pub(super) fn new(browser: mpsc::Sender<Vec<u8>>) -> Self {
        let (reads, _) = watch::channel(true);
        Self { browser, waiting: VecDeque::new(), bytes: 0, since: None, reads }
    }

    /// Whether the browser reads what it is sent, for tasks that wait until it does.
    pub(super) fn reads(&self) -> watch::Receiver<bool> {
        self.reads.subscribe()
    }

    /// Whether so much waits that no client may add to it.
    fn is_crowded(&self) -> bool {
        self.waiting.len() >= CALLS / 2 || self.bytes >= BYTES / 2
    }

    /// Sends a call, now or when the browser reads again; false when there is no room for it.
    pub(super) fn send(&mut self, frame: Vec<u8>) -> bool {
        let frame = if self.waiting.is_empty() {
            match self.browser.try_send(frame) {
                // A closed channel means that the browser is gone, which its reader tells as well.
                Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => return true,
                Err(mpsc::error::TrySendError::Full(frame)) => frame,
            }
        } else {
            frame
        };
        if self.waiting.len() >= CALLS || self.bytes + frame.len() > BYTES {
            return false;
        }
        self.bytes += frame.len();
        self.waiting.push_back(frame);
        self.since.get_or_insert_with(Instant::now);
        self.reads.send_if_modified(|reads| std::mem::replace(reads, false));
        true
    }

    /// Passes on what waits as the browser takes it: returns after some of it, and never while nothing
    /// waits. Safe to cancel.
    async fn pass_on(&mut self) {
        if self.waiting.is_empty() {
            return future::pending().await;
        }
        if let Ok(permit) = self.browser.reserve().await {
            let frame = self.waiting.pop_front().unwrap_or_default();
            self.bytes -= frame.len();
            permit.send(frame);
        } else {
            // The browser is gone.
            self.waiting.clear();
            self.bytes = 0;
        }
        let is_empty = self.waiting.is_empty();
        self.since = (!is_empty).then(Instant::now);
        self.reads.send_if_modified(|reads| std::mem::replace(reads, is_empty) != is_empty);
    }

    /// When the browser is as good as dead, unless it reads something before.
    fn dead_at(&self) -> Option<Instant> {
        self.since.map(|since| since + STALL_LIMIT)
    }
}
