//! `baton serve`

mod flags;
mod surroundings;

pub(super) use surroundings::{DatabaseArgs, NodeArgs, inherited, proxy};

use super::Context;
use crate::output;
use anyhow::Context as _;
use baton_api::Exit;
use baton_runtime::live::RecoverySettings;
use baton_server::config::DEFAULT_LISTEN;
use baton_store::data::DataFolder;
use clap::Args;
use jiff::SignedDuration;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Run a node: the service that keeps sessions
#[derive(Debug, Args)]
#[command(after_help = "\
Settings come from flags, then BATON_* variables, then the settings file, then defaults. The file is
TOML; every flag above has its place there:
  [server] listen, behind_proxy, allowed_hosts  [server.tls] certificate, key
  [node] type, name, publicUrl, internalUrl
  [sync] autoSync, syncInterval, conflictResolution, session_bytes, deletion_age, staged_bytes,
    bytes_per_second
  [outbound] allow
  [storage] database_url, part_bytes, snapshot_parts  [browser] program
  [recovery] session_snapshot_interval, max_session_age, auto_rehydrate, max_session_snapshots,
    capture_on_input, lease
  [proxy] listen, host, first_byte_timeout  [proxy.browser_debug] and [[cocoons]], in the file only
  [sandboxes] most, ttl, longest_ttl, network, allow, memory, processes, processors, disk,
  [[sandboxes.flavors]] name, mounts, path, env, in the file only
  [metrics] listen  [limits] body_bytes, connections, requests_per_minute,
    refused_keys_per_minute

Other machines reach the node at an address that is not loopback, which takes a certificate, or a
proxy that has one.

On SIGHUP the settings are read again; those under [recovery], but for lease, count at once.
On SIGTERM or Ctrl-C the node captures every session and ends. Its browsers keep running: the next
node on the same folder finds them. BATON_LOG sets what is logged, such as debug.")]
pub(super) struct Serve {
    #[command(flatten)]
    node: NodeArgs,
    /// End after so long without an active session and without a request, such as 10m
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    idle_exit: Option<Duration>,
    /// Log in JSON, one object a line
    #[arg(long, env = "BATON_LOG_JSON", hide_env_values = true)]
    log_json: bool,
    /// Leave the terminal of whoever started this
    #[arg(long, hide = true)]
    detached: bool,
}

/// Another program listens where this node shall.
#[derive(Debug, thiserror::Error)]
#[error("expected to listen at {0}, found another program there\nchoose another with --listen")]
pub(super) struct PortTaken(SocketAddr);

impl Serve {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        output::log_to_stderr("info", self.log_json);
        allow_many_connections();
        if self.detached {
            // It fails for a process that leads a group already: then it has left.
            let _ = rustix::process::setsid();
        }
        let mut config = self.node.config(&context.data)?;
        config.idle_exit = self.idle_exit;
        let listener = open_door(config.listen, self.detached).await?;
        let shutdown = CancellationToken::new();
        tokio::spawn(cancel_when_told(shutdown.clone())?);
        let (sender, changes) = watch::channel(config.recovery.clone());
        config.changes = Some(changes);
        tokio::spawn(read_again_when_told(self.node, context.data.clone(), sender)?);
        Box::pin(baton_server::serve(config, listener, shutdown)).await?;
        Ok(Exit::Done)
    }
}

/// Lets this process hold as many sockets as there are places, where the system starts programs with fewer. More
/// than that would only cost those who look at every number that a file may have.
pub(super) fn allow_many_connections() {
    const ENOUGH: u64 = 16_384;
    let mut limits = getrlimit(Resource::Nofile);
    let most = limits.maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
    if limits.current.is_some_and(|now| now < most) {
        limits.current = Some(most);
        if let Err(error) = setrlimit(Resource::Nofile, limits) {
            tracing::debug!(%error, "the number of open files stays as it is");
        }
    }
}

/// Takes the address that somebody named, or the usual one. Nobody named that for a node which a command
/// starts, so where another program has it, any free port of this machine does.
async fn open_door(named: Option<SocketAddr>, is_detached: bool) -> anyhow::Result<TcpListener> {
    const ANY: SocketAddr = SocketAddr::new(DEFAULT_LISTEN.ip(), 0);
    match (named, listen(named.unwrap_or(DEFAULT_LISTEN)).await) {
        (None, Err(error)) if is_detached && error.is::<PortTaken>() => listen(ANY).await,
        (_, bound) => bound,
    }
}

pub(super) async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    match TcpListener::bind(address).await {
        Err(error) if error.kind() == ErrorKind::AddrInUse => Err(PortTaken(address).into()),
        bound => bound.with_context(|| format!("expected to be able to listen at {address}")),
    }
}

/// Waits for SIGTERM or Ctrl-C. The handlers stand when this returns, the wait comes after.
pub(super) fn cancel_when_told(
    shutdown: CancellationToken,
) -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        shutdown.cancel();
    })
}

/// Reads the settings again at each SIGHUP; those under `[recovery]` count at once.
fn read_again_when_told(
    node: NodeArgs,
    data: DataFolder,
    recovery: watch::Sender<RecoverySettings>,
) -> std::io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut told = signal(SignalKind::hangup())?;
    Ok(async move {
        while told.recv().await.is_some() {
            match node.config(&data) {
                Ok(config) => {
                    tracing::info!(settings = ?config.recovery, "read the settings again");
                    recovery.send_replace(config.recovery);
                }
                Err(error) => {
                    tracing::error!("the settings stay as they were: {error:#}");
                }
            }
        }
    })
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 10m or 30s".to_owned();
    let read: SignedDuration = text.parse().map_err(|_| expected())?;
    Duration::try_from(read).ok().filter(|time| !time.is_zero()).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        assert_eq!(duration("10m").unwrap(), Duration::from_mins(10));
        assert_eq!(duration("1500ms").unwrap(), Duration::from_millis(1500));
        for wrong in ["", "10", "-5s", "0s", "soon"] {
            assert!(duration(wrong).is_err(), "{wrong:?} is no duration");
        }
    }
}
