//! The keeper: the small process that holds one session's browser and outlives the node.
//!
//! The one idea: whatever must survive a crash or an upgrade of the node hangs on this process and
//! on nothing else: the browser's pipe, its anchor page, the prelude. It listens on a Unix socket,
//! multiplexes its clients (`mux` has the rules), and records nothing.

mod beats;
mod browser;
mod client;
mod connect;
mod egress;
mod environment;
#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod hand_over;
mod mux;
mod prelude;
mod protocol;
mod proxies;
mod relay;
mod server;
mod spawn;
mod turn;
mod wrapper;

pub use baton_egress::{Fence, HostRule, HostTally, NotProxyUrl, Others, ProxyUrl};
pub use beats::Beats;
pub use connect::{KeeperLink, close, connect, force, hold, kill, knock};
pub use environment::prelude;
pub use hand_over::{HandedOver, NOTES_LIMIT};
pub use prelude::{PreludeCall, TargetKind};
pub use protocol::{
    BootInstant, BrowserSpec, EgressSpec, KeeperError, KeeperSpec, ProxySpec, Ready, Report, Role,
    Welcome,
};
pub use proxies::{BadEgress, KnownCredentials, KnownProxies, MachineProxies, ProxyLogin};
pub use relay::{NoMore, accept_key, relay};
pub use spawn::{KeeperCommand, Keepers, StartedKeeper, spawn};
pub use turn::Turn;
pub use wrapper::{Say, WrapperSpec, wrap};

use crate::launch::expect_supported;
use baton_egress::Ledger;
use beats::{Lapse, UNHELD};
use browser::Browser;
use connect::ListeningSocket;
use egress::WayOut;
use mux::{BrowserFolders, Mux, Setup};
use server::Server;
use std::future;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Leaves the terminal and the process group of the parent of this process, so that neither a closed terminal
/// nor Ctrl-C reaches the keeper. Called once, before [`run`], by a process that is a keeper and nothing
/// else.
pub fn detach() -> Result<Signals, KeeperError> {
    rustix::process::setsid().map(|_| Signals::Ours).map_err(|error| KeeperError::NotStarted {
        reason: format!("expected to lead a session of processes, found {error}"),
    })
}

/// Whose affair the signals of this process are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signals {
    /// The keeper's: SIGTERM ends it, SIGHUP and SIGINT are swallowed. What [`detach`] gives.
    Ours,
    /// Of the program that the keeper runs within.
    Theirs,
}

/// Holds one session's browser until it ends. Writes one line, a [`Report`], to `ready` when clients
/// can connect, or when that failed. `beats` is where the node goes on to speak after `spec`: until it has
/// connected, it says there how long it holds the session, see [`Beats`]. Blocks; builds a runtime of its own.
pub fn run(
    spec: &KeeperSpec,
    beats: impl BufRead + Send + 'static,
    mut ready: impl Write,
    signals: Signals,
) -> Result<(), KeeperError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(KeeperError::file("make a runtime for", &spec.socket))?;
    let outcome = runtime.block_on(keep(spec, beats, &mut ready, signals));
    if let Err(error) = &outcome {
        // Our parent may be gone: the error is returned as well.
        let _ = report(&mut ready, &Report::Error(error.to_string()));
    }
    outcome
}

async fn keep(
    spec: &KeeperSpec,
    beats: impl BufRead + Send + 'static,
    ready: &mut impl Write,
    signals: Signals,
) -> Result<(), KeeperError> {
    let lapse = Lapse::new(spec.hold_until);
    lapse.follow(beats);
    let (socket, listener) = ListeningSocket::bind(&spec.socket)?;
    let way_out = way_out(spec).await?;
    let port = way_out.as_ref().map(WayOut::port).transpose()?;
    if lapse.is_over() {
        return Err(KeeperError::Browser { found: UNHELD.to_owned() });
    }
    let (mut browser, transport) = Browser::open(spec, port).await?;
    let ledger = way_out.as_ref().map(WayOut::ledger);
    let _serving = way_out.zip(browser.pid).map(|(way_out, pid)| way_out.serve(pid));
    let mut server = Server::new(Mux::new(setup(spec, &browser, ledger)), transport);
    server.hold_until(lapse);
    let started = server.start(&mut browser).await;
    let version = match started.and_then(|version| supported(spec, version)) {
        Ok(version) => version,
        Err(error) => {
            browser.kill().await;
            return Err(error);
        }
    };
    let welcome = welcome(spec, &browser, version);
    let line = Ready {
        pid: welcome.pid,
        browser_pid: welcome.browser_pid,
        browser_version: welcome.browser_version.clone(),
        confinement: browser.rules,
    };
    if report(ready, &Report::Ready(line)).is_err() {
        tracing::warn!("nobody waits for the keeper: it serves all the same");
    }
    let door = tokio::spawn(client::accept(listener, socket.secret(), server.sender()));
    server.serve(Some(welcome), &mut browser, terminated(signals)).await;
    door.abort();
    drop(socket);
    server.farewell().await;
    Ok(())
}

/// What a browser says of itself, when it is not too old. One that others started is theirs to choose.
fn supported(spec: &KeeperSpec, version: String) -> Result<String, KeeperError> {
    if let BrowserSpec::Launch(options) = &spec.browser {
        expect_supported(&options.program, &version)?;
    }
    Ok(version)
}

/// The way out of a browser that is started here, if it is to have one.
async fn way_out(spec: &KeeperSpec) -> Result<Option<WayOut>, KeeperError> {
    match (&spec.egress, &spec.browser) {
        (Some(egress), BrowserSpec::Launch(options)) => {
            WayOut::open(egress, &options.environment.certificates).await.map(Some)
        }
        _ => Ok(None),
    }
}

fn setup(spec: &KeeperSpec, browser: &Browser, ledger: Option<Ledger>) -> Setup {
    let (anchor, headed, files) = match &spec.browser {
        BrowserSpec::Launch(options) => {
            let files = browser.rules.holds().then(|| BrowserFolders::of(spec.session, options));
            (true, options.headed, files)
        }
        BrowserSpec::Attach { .. } => (false, false, None),
    };
    let asked = spec.egress.as_ref().and_then(|egress| egress.asked.clone());
    let prelude = spec.prelude.clone();
    let (browser_pid, is_theirs) = (browser.pid, false);
    Setup { browser_pid, anchor, headed, files, is_theirs, prelude, ledger, asked }
}

fn welcome(spec: &KeeperSpec, browser: &Browser, browser_version: String) -> Welcome {
    Welcome {
        session: spec.session,
        pid: std::process::id(),
        browser_pid: browser.pid,
        browser_version,
        attached: matches!(spec.browser, BrowserSpec::Attach { .. }),
        confinement: Some(browser.rules),
        fenced: spec.egress.is_some() && matches!(spec.browser, BrowserSpec::Launch(_)),
    }
}

fn report(ready: &mut impl Write, report: &Report) -> Result<(), KeeperError> {
    let path = PathBuf::from("standard output");
    let line = serde_json::to_string(report)
        .map_err(|error| KeeperError::file("write", path.clone())(error.into()))?;
    writeln!(ready, "{line}").and_then(|()| ready.flush()).map_err(KeeperError::file("write", path))
}

/// Waits for SIGTERM, if the process's signals are ours.
async fn terminated(signals: Signals) {
    if signals == Signals::Theirs {
        return future::pending().await;
    }
    let handlers = (
        signal(SignalKind::terminate()),
        signal(SignalKind::hangup()),
        signal(SignalKind::interrupt()),
    );
    match handlers {
        (Ok(terminate), Ok(hangup), Ok(interrupt)) => {
            terminated_by(terminate, hangup, interrupt).await;
        }
        _ => future::pending().await,
    }
}

async fn terminated_by(mut terminate: Signal, mut hangup: Signal, mut interrupt: Signal) {
    loop {
        tokio::select! {
            _ = terminate.recv() => return,
            _ = hangup.recv() => {}
            _ = interrupt.recv() => {}
        }
    }
}
