//! Recording: a recorder tells what the network and the console of every tab do, as it happens.
//!
//! The one idea: a recorder is a client of the keeper for itself, and what it switches on ends with it.
//! `Network` and `Runtime` cost a page a part of its speed, so they are on only while a client looks. New
//! tabs, frames and workers stand still until they are listened to, so nothing of them is missed. Rooms:
//! `places` knows to which tab a target belongs; `network`, `socket` and `console`
//! read what the browser says; `bodies` fetches what was answered; `pump` brings them together.
//!
//! A recorder dates what it tells by the browser's clocks. Instants
//! are milliseconds since 1970 by the browser's clock. Requests are timed by one that only
//! goes on, and all else by the time of day.

mod console;
mod network;
mod places;
mod pump;

use crate::cdp::{CdpError, CdpSession};
use crate::keeper::KeeperLink;
use crate::targets::{Contexts, TargetId};
use pump::RecordPump;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many records wait for their reader. The browser's own events wait behind them; what does not fit there
/// is counted, and the recorder says that it is missing.
const WAITING: usize = 1024;
/// What is listened to of all that a browser runs. Workers of one page are found below it.
const OF_A_BROWSER: [&str; 3] = ["page", "service_worker", "shared_worker"];
/// And below a page, frame or worker.
const BELOW: [&str; 3] = ["page", "iframe", "worker"];

/// What a recorder keeps within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLimits {
    /// The longest body that a recorder tells, in bytes; of a longer one it tells the beginning.
    pub body_bytes: usize,
    /// The longest line of a console, in bytes; a longer one is cut.
    pub line_bytes: usize,
}

impl Default for RecordLimits {
    fn default() -> Self {
        Self { body_bytes: 102_400, line_bytes: 16_384 }
    }
}

/// Records until it is dropped.
#[derive(Debug)]
pub struct Recorder {
    records: mpsc::Receiver<Record>,
    _ends_the_pump: DropGuard,
}

impl Recorder {
    /// Records every tab of the browser behind `link`, which came in as
    /// [`Role::Client`](crate::keeper::Role::Client), from now on.
    pub async fn start(link: KeeperLink, limits: RecordLimits) -> Result<Self, CdpError> {
        let KeeperLink { connection, events, .. } = link;
        let (browser, end) = (connection.browser(), CancellationToken::new());
        let contexts = Contexts::fetch(&browser, None).await?;
        let (records, received) = mpsc::channel(WAITING);
        let pump = RecordPump::new(connection, contexts, records, limits, end.clone());
        tokio::spawn(end.clone().run_until_cancelled_owned(pump.run(events)));
        browser.call("Target.setDiscoverTargets", json!({ "discover": true })).await?;
        auto_attach(&browser, &OF_A_BROWSER).await?;
        Ok(Self { records: received, _ends_the_pump: end.drop_guard() })
    }

    /// The next record; none once the browser has ended.
    pub async fn next(&mut self) -> Option<Record> {
        self.records.recv().await
    }
}

/// Asks to be attached to every target of these kinds, now and later; those to come wait for us.
async fn auto_attach(session: &CdpSession, kinds: &[&str]) -> Result<(), CdpError> {
    session.call("Target.setAutoAttach", attaching(kinds)).await.map(drop)
}

fn attaching(kinds: &[&str]) -> serde_json::Value {
    let mut filter: Vec<_> = kinds.iter().map(|kind| json!({ "type": kind })).collect();
    filter.push(json!({ "exclude": true }));
    json!({
        "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter,
    })
}

/// Something happened in a tab.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Which tab.
    pub tab: TargetId,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// The tab is recorded from here on.
    Begun {
        /// Whether it was there before, so that something of it may be missing.
        late: bool,
    },
    /// From here on the recorder tells whatever the tab does; until then it may have told a part.
    Ready,
    /// It shows another page, or the page has another title.
    Shown {
        /// Its address.
        url: String,
        /// Its title.
        title: String,
    },
    /// It was closed.
    Gone,
    /// A request was sent.
    Sent(Box<Sent>),
    /// Its answer began.
    Answered(Box<Answered>),
    /// Its answer is complete.
    Finished(Finished),
    /// It failed.
    Failed(Failed),
    /// A message went over its WebSocket.
    Message(SocketMessage),
    /// A line was written to the console.
    Line(Box<ConsoleLine>),
    /// Events are missing here, because they came faster than they were read.
    Missed {
        /// How many, of all tabs together.
        events: u64,
    },
}

/// A request was sent; once more with the same id when it was redirected.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sent {
    /// The browser's id.
    pub id: String,
    /// When.
    pub at: u64,
    /// Such as `GET`.
    pub method: String,
    /// Where to.
    pub url: String,
    /// What was sent along.
    pub headers: BTreeMap<String, String>,
    /// What was sent, when it is text.
    pub body: Option<String>,
    /// Whether `body` was cut, or the browser withheld it.
    pub body_truncated: bool,
    /// What it is for, in CDP's words (`Network.ResourceType`).
    pub kind: String,
    /// The address of the frame that it belongs to; none for the page itself.
    pub frame: Option<String>,
    /// The script of the worker that it belongs to.
    pub worker: Option<String>,
    /// The answer that led here.
    pub redirect: Option<Redirect>,
}

/// An answer that led elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redirect {
    /// Its status.
    pub status: u16,
    /// Such as `Found`.
    pub status_text: String,
    /// What came along.
    pub headers: BTreeMap<String, String>,
}

/// An answer began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answered {
    /// The browser's id of the request.
    pub id: String,
    /// When.
    pub at: u64,
    /// Where it came from.
    pub url: String,
    /// Its status.
    pub status: u16,
    /// Such as `OK`.
    pub status_text: String,
    /// What came along.
    pub headers: BTreeMap<String, String>,
    /// Such as `text/html`.
    pub mime_type: String,
    /// What it is for, in CDP's words.
    pub kind: String,
    /// Whether it came from a cache of the browser.
    pub from_cache: bool,
    /// Whether the site's service worker answered.
    pub from_service_worker: bool,
}

/// An answer is complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// The browser's id of the request.
    pub id: String,
    /// When.
    pub at: u64,
    /// How many bytes came over the network.
    pub bytes: u64,
    /// What the body is, as the answer said; empty when it said nothing, or the body is no text.
    pub mime_type: String,
    /// The body, when it is text and the browser has it.
    pub body: Option<String>,
    /// Whether `body` was cut.
    pub body_truncated: bool,
}

/// A request failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failed {
    /// The browser's id of the request.
    pub id: String,
    /// When.
    pub at: u64,
    /// Why, in the browser's words, such as `net::ERR_CONNECTION_REFUSED`.
    pub error: String,
    /// Whether the page gave it up.
    pub canceled: bool,
    /// Why the browser did not let it through, in CDP's words.
    pub blocked: Option<String>,
}

/// A message went over a WebSocket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SocketMessage {
    /// The browser's id of the request that opened it.
    pub id: String,
    /// When.
    pub at: u64,
    /// Whether the page sent it.
    pub sent: bool,
    /// What it says, when it is text.
    pub text: Option<String>,
    /// How many bytes it has.
    pub bytes: u64,
    /// Whether `text` was cut.
    pub truncated: bool,
}

/// How loud a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// `console.log`.
    Log,
    /// `console.debug`.
    Debug,
    /// `console.info`.
    Info,
    /// `console.warn`, and warnings of the browser.
    Warn,
    /// `console.error`, exceptions and rejections, and errors of the browser.
    Error,
}

/// A line of the console.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsoleLine {
    /// When it was written.
    pub at: u64,
    /// How loud it is.
    pub level: Level,
    /// What it says.
    pub message: String,
    /// What was given to the console, as far as it is plain data.
    pub args: Vec<Value>,
    /// The script that wrote it.
    pub source: Option<String>,
    /// Where in the script, from 1 on.
    pub line: Option<u32>,
    /// Where in the line, from 1 on.
    pub column: Option<u32>,
    /// How it came there.
    pub stack_trace: Option<String>,
    /// The address of the frame that it belongs to; none for the page itself.
    pub frame: Option<String>,
    /// The script of the worker that it belongs to.
    pub worker: Option<String>,
    /// Whether it was cut.
    pub truncated: bool,
}

/// What has to be added to the clock that only goes on, in seconds.
#[derive(Debug, Default)]
struct Clock(Mutex<Option<f64>>);

impl Clock {
    /// A request was sent at both instants, in seconds.
    fn set(&self, monotonic: f64, wall: f64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(wall - monotonic);
    }

    /// Milliseconds since 1970 of an instant of the clock that only goes on, in seconds. Before the first
    /// request it is not known what that clock says: then it is now.
    fn at(&self, monotonic: f64) -> u64 {
        let ahead = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
        millis(ahead.map_or_else(|| now().as_secs_f64(), |ahead| monotonic + ahead) * 1e3)
    }
}

/// Whole milliseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is cut to 0 and up, and `as` saturates"
)]
fn millis(millis: f64) -> u64 {
    millis.max(0.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_of_either_clock_is_the_same_instant() {
        let clock = Clock::default();
        assert!(clock.at(1_000.5) > 1_700_000_000_000, "it is now");
        clock.set(1_000.5, 1_700_000_000.25);
        assert_eq!(clock.at(1_000.5), 1_700_000_000_250);
        assert_eq!(clock.at(1_001.0), 1_700_000_000_750);
        assert_eq!(millis(-1.0), 0);
    }
}
