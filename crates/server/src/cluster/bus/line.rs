//! The connection to the bus: what this node did goes out, what the others say comes in, for as long as the node runs.
//!
//! The one idea: nobody waits for it. Whoever writes to the database or revokes a key has told the channels of this
//! process, which are bounded and drop; the line reads them when it can, and counts what it could not send, so that the
//! others notice. It is connected once it hears itself.

use super::doorbell::Doorbell;
use super::heard::Ear;
use super::lists::OwnLists;
use super::message::{BusNamespace, MOST_SESSIONS, Message, What};
use super::settings::{BusError, Happened, connect, shown};
use crate::cluster::members::Cluster;
use crate::config::BusSettings;
use async_nats::{Client, Subscriber};
use baton_session::SessionId;
use baton_sync::Sync;
use futures_util::StreamExt;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How long changes that come together are waited for.
const TOGETHER: Duration = Duration::from_millis(20);
/// How long what this node says may take to come back.
const ECHO_LIMIT: Duration = Duration::from_secs(5);
/// How long a message may take to be given to the connection.
const SEND_LIMIT: Duration = Duration::from_secs(2);
/// The first and the longest pause before another try.
const PAUSES: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(10));
/// How long the last word may take.
const LEAVE_LIMIT: Duration = Duration::from_secs(1);

/// The line of a node that runs. Dropped, it ends at once.
pub(crate) struct BusTask {
    running: AbortOnDropHandle<()>,
    leaving: CancellationToken,
}

impl BusTask {
    /// Says that this node leaves, and ends.
    pub(crate) async fn leave(self) {
        self.leaving.cancel();
        if timeout(LEAVE_LIMIT, self.running).await.is_err() {
            tracing::debug!("the bus was not told in time that this node ends");
        }
    }
}

/// Starts the line of this node.
pub(crate) fn start(
    settings: BusSettings,
    cluster: Cluster,
    sync: Sync,
    lists: OwnLists,
    doorbell: Doorbell,
) -> BusTask {
    let leaving = CancellationToken::new();
    let place = BusNamespace::new(cluster.cluster(), sync.store.key_id());
    doorbell.open();
    let ear = Ear::new(cluster.clone(), place.clone(), doorbell.clone(), sync.revoked.clone());
    let line = BusLine {
        changes: sync.store.listen(),
        revoked: Counted::new(sync.revoked.subscribe()),
        pages: Counted::new(cluster.watch_pages()),
        lists,
        number: 0,
        leaving: leaving.clone(),
        settings,
        cluster,
        sync,
        doorbell,
        place,
        ear,
    };
    BusTask { running: AbortOnDropHandle::new(tokio::spawn(Box::pin(line.run()))), leaving }
}

/// Whether a server of the bus lets this node in, for a doctor; which ones they are.
pub(crate) async fn try_out(settings: &BusSettings) -> Result<String, BusError> {
    connect(settings).await?;
    Ok(shown(settings))
}

/// What this node did, as often as its count says, and how much of that the others were told of.
struct Counted {
    count: watch::Receiver<u64>,
    told: u64,
}

impl Counted {
    fn new(count: watch::Receiver<u64>) -> Self {
        let told = *count.borrow();
        Self { count, told }
    }

    /// Waits until there is something to be told; none once there will be nothing more. What was heard of others does
    /// not go out again: it leaves the count as it is.
    async fn next(&mut self) -> Option<()> {
        loop {
            self.count.changed().await.ok()?;
            if self.skip() > 0 {
                return Some(());
            }
        }
    }

    /// How much there was to be told.
    fn skip(&mut self) -> u64 {
        let count = *self.count.borrow_and_update();
        count.saturating_sub(std::mem::replace(&mut self.told, count))
    }
}

struct BusLine {
    settings: BusSettings,
    cluster: Cluster,
    sync: Sync,
    doorbell: Doorbell,
    place: BusNamespace,
    ear: Ear,
    changes: broadcast::Receiver<SessionId>,
    revoked: Counted,
    pages: Counted,
    lists: OwnLists,
    /// The number of the last message.
    number: u64,
    leaving: CancellationToken,
}

impl BusLine {
    /// Connects, again and again, until the node leaves.
    async fn run(mut self) {
        let leaving = self.leaving.clone();
        let mut pause = PAUSES.0;
        while !leaving.is_cancelled() {
            let Some(connected) = leaving.run_until_cancelled(connect(&self.settings)).await else {
                return;
            };
            let ended = match connected {
                Ok((client, happened)) => self.stay(&client, happened).await,
                Err(error) => Err(error),
            };
            let Err(error) = ended else { return };
            if self.doorbell.bus().is_some_and(|bus| bus.is_connected) {
                pause = PAUSES.0;
            }
            self.doorbell.lost(&error.to_string());
            // Not all nodes come back at once.
            let waits = pause.mul_f64(rand::random_range(0.5..1.0));
            let _ = leaving.run_until_cancelled(sleep(waits)).await;
            pause = (pause * 2).min(PAUSES.1);
        }
    }

    /// Speaks and hears on a connection until it ends; well only where the node leaves.
    async fn stay(
        &mut self,
        client: &Client,
        mut happened: mpsc::Receiver<Happened>,
    ) -> Result<(), BusError> {
        let mut heard = self.subscribe(client).await?;
        self.skip_unsent();
        self.say(client, What::Here).await?;
        let (here, late) = (self.number, Instant::now() + ECHO_LIMIT);
        let mut is_proven = false;
        let leaving = self.leaving.clone();
        loop {
            tokio::select! {
                biased;
                () = leaving.cancelled() => {
                    self.say(client, What::Left).await?;
                    // It is the last word: the others see it in the database as well.
                    let _ = client.flush().await;
                    return Ok(());
                }
                what = happened.recv() => match what {
                    Some(Happened::Lagged) => {
                        self.doorbell.gap();
                        self.ear.wake_all();
                    }
                    Some(Happened::Refused(found)) => return Err(self.silent(found)),
                    Some(Happened::Ended) | None => return Err(self.ended()),
                },
                () = sleep_until(late), if !is_proven => {
                    return Err(self.silent(format!("nothing within {} s", ECHO_LIMIT.as_secs())));
                }
                changed = self.changes.recv() => {
                    sleep(TOGETHER).await;
                    let what = self.changed(changed);
                    self.say(client, what).await?;
                }
                changed = self.lists.next() => {
                    sleep(TOGETHER).await;
                    let what = self.lists.gather(changed).map_or(What::ManyLists, What::Lists);
                    self.say(client, what).await?;
                }
                Some(()) = self.revoked.next() => self.say(client, What::Revoked).await?,
                Some(()) = self.pages.next() => self.say(client, What::Pages).await?,
                message = heard.next() => {
                    let Some(message) = message else { return Err(self.ended()) };
                    let own = self.ear.hear(&message.payload).await;
                    if own == Some(here) && !is_proven {
                        is_proven = true;
                        self.doorbell.connected();
                        // What the others said meanwhile was not heard.
                        self.ear.wake_all();
                    }
                }
            }
        }
    }

    async fn subscribe(&self, client: &Client) -> Result<Subscriber, BusError> {
        let subscribed = timeout(SEND_LIMIT, client.subscribe(self.place.subject())).await;
        match subscribed {
            Ok(Ok(heard)) => Ok(heard),
            Ok(Err(error)) => Err(self.silent(error.to_string())),
            Err(_) => Err(self.ended()),
        }
    }

    /// What could not be said while there was no connection is counted, and not said: the others look at everything.
    fn skip_unsent(&mut self) {
        let mut unsent = 0;
        loop {
            match self.changes.try_recv() {
                Ok(_) => unsent += 1,
                Err(TryRecvError::Lagged(missed)) => unsent += missed,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        unsent += self.revoked.skip() + self.pages.skip() + u64::from(self.lists.skip());
        self.number = self.number.saturating_add(unsent);
    }

    /// What is said of changes of which this is the first.
    fn changed(&mut self, first: Result<SessionId, RecvError>) -> What {
        let mut is_whole = first.is_ok();
        let mut sessions: BTreeSet<SessionId> = first.into_iter().collect();
        loop {
            match self.changes.try_recv() {
                Ok(session) => _ = sessions.insert(session),
                Err(TryRecvError::Lagged(_)) => is_whole = false,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        if is_whole && sessions.len() <= MOST_SESSIONS {
            What::Sessions(sessions.into_iter().collect())
        } else {
            What::ManySessions
        }
    }

    /// Sends the next message. One that fails keeps its number, which the others miss.
    async fn say(&mut self, client: &Client, what: What) -> Result<(), BusError> {
        self.number = self.number.saturating_add(1);
        let member = self.cluster.member();
        let message = Message::new(&self.place, member.node, &member.start, self.number, what);
        let identity = self.sync.own.identity.now();
        let bytes = message.write(&identity, &self.place, self.cluster.now());
        let bytes = bytes.map_err(|error| self.silent(error.to_string()))?;
        match timeout(SEND_LIMIT, client.publish(self.place.subject(), bytes.into())).await {
            Ok(Ok(())) => {
                self.doorbell.sent();
                Ok(())
            }
            Ok(Err(error)) => Err(self.silent(error.to_string())),
            Err(_) => Err(self.ended()),
        }
    }

    fn ended(&self) -> BusError {
        BusError::Ended { servers: shown(&self.settings) }
    }

    fn silent(&self, found: String) -> BusError {
        let (servers, subject) = (shown(&self.settings), self.place.subject());
        BusError::Silent { servers, subject, found }
    }
}
