//! Recording: what the network and the console of every tab do, told as it happens.
//!
//! The one idea: a recorder is a client of the keeper for itself, and what it switches on ends with it.
//! `Network` and `Runtime` cost a page a part of its speed, so they are on only while a client looks. New
//! tabs, frames and workers stand still until they are listened to, so nothing of them is missed. Rooms:
//! `told` is what is told; `places` knows to which tab a target belongs; `network`, `socket` and `console`
//! read what the browser says; `bodies` fetches what was answered; `pump` brings them together.

mod console;
mod network;
mod places;
mod pump;
mod told;

pub use told::{
    Answered, ConsoleLine, Failed, Finished, Level, Record, Redirect, Sent, SocketMessage, What,
};

use crate::cdp::{CdpError, CdpSession};
use crate::keeper::KeeperLink;
use crate::targets::Contexts;
use pump::RecordPump;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

/// How many records wait for their reader. The browser's own events wait behind them; what does not fit there
/// is counted, and told as missing.
const WAITING: usize = 1024;
/// What is listened to of all that a browser runs. Workers of one page are found below it.
const OF_A_BROWSER: [&str; 3] = ["page", "service_worker", "shared_worker"];
/// And below a page, frame or worker.
const BELOW: [&str; 3] = ["page", "iframe", "worker"];

/// What a recorder keeps within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordLimits {
    /// The longest body that is told, in bytes; of a longer one the beginning is.
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
