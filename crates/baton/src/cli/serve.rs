//! `baton serve`, `baton stop` and `baton url`: a node in the foreground, its end, and where it answers.

mod flags;
mod surroundings;

pub(super) use surroundings::{
    BrowserWrapper, DatabaseArgs, Keeper, NodeArgs, SandboxInit, inherited, proxy, sandbox_init,
};

use super::{Context, looks};
use crate::output::{self, Output};
use anyhow::{Context as _, bail};
use baton_api::Exit;
use baton_runtime::live::RecoverySettings;
use baton_server::config::DEFAULT_LISTEN;
use baton_server::{Config, inspect};
use baton_store::data::{DataFolder, NodeFile};
use clap::Args;
use jiff::SignedDuration;
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// Run a node: the service that keeps sessions
#[derive(Debug, Args)]
#[command(after_help = "\
Settings come from flags, then BATON_* variables, then the settings file, then defaults. The file is
TOML; every flag above has its place there:
  [server] listen, behind_proxy, published, allowed_hosts  [server.tls] certificate, key
  [node] type, name, publicUrl, internalUrl  [cluster] name, bus_url, bus_credentials,
    bus_ca
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
        if let Some(published) = config.exposure.published {
            // A node that a command starts has nobody who reads what it says.
            if !self.detached {
                config.first_key = Some(told_to_whoever_started_it(published, context.output));
            }
            tell_walls(&config).await;
        }
        tokio::spawn(read_again_when_told(self.node, context.data.clone(), sender)?);
        Box::pin(baton_server::serve(config, listener, shutdown)).await?;
        Ok(Exit::Done)
    }
}

/// Says in the log which walls around browsers and agents this container lets the node build.
async fn tell_walls(config: &Config) {
    let path = inherited().remove("PATH");
    for (holds, wall) in looks::walls(config, path.as_deref()).await {
        if holds {
            tracing::info!("{wall}");
        } else {
            tracing::warn!("{wall}");
        }
    }
}

/// Prints the first key of a node, if it makes one: whoever asks from outside of its container has no file of it.
fn told_to_whoever_started_it(
    published: SocketAddr,
    output: Output,
) -> oneshot::Sender<SecretString> {
    let (sender, first) = oneshot::channel::<SecretString>();
    tokio::spawn(async move {
        let Ok(key) = first.await else { return };
        output.line(&format!(
            "A key for http://{published}, shown this once; baton keys revoke ends it:\n{}",
            key.expose_secret()
        ));
    });
    sender
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

/// Takes the address that the user named, or the usual one. For a node which a command starts no user chose
/// the usual one, so where another program has it, any free port of this machine does.
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

/// How long a node may take to end; it kills itself before that.
const END_LIMIT: Duration = Duration::from_secs(90);
/// How often it is looked whether it has ended.
const STEP: Duration = Duration::from_millis(20);

/// End the node of the data folder; browsers run on, and the next node finds them
#[derive(Debug, Args)]
#[command(after_help = "\
What is under way is finished, sandboxes are written back, and every session is captured; that may
take up to 90 seconds. Sessions stay active: the next command that needs a node starts one, which
carries on with their browsers. baton sessions close ends a browser.")]
pub(super) struct Stop {}

impl Stop {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let data = &context.data;
        if !inspect::is_held(data) {
            let told = || format!("no node runs on {}", data.path().display());
            context.output.answer(&json!({"stopped": null}), told);
            return Ok(Exit::Done);
        }
        let progress = context.output.progress("ending the node");
        // One that is on its way out has given up its address.
        let pid = NodeFile::read(data)?.map(|file| file.pid);
        if let Some(pid) = pid {
            ask_to_end(data, pid)?;
        }
        ended(data).await?;
        drop(progress);
        context.output.answer(&json!({"stopped": pid}), || "ended the node".to_owned());
        Ok(Exit::Done)
    }
}

fn ask_to_end(data: &DataFolder, pid: u32) -> anyhow::Result<()> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let Some(process) = process.filter(|_| is_node(pid)) else {
        bail!(
            "expected the node of {} to be a process of this machine, found none with the id {pid}\n\
             end it where it runs: in another container, or on another machine",
            data.path().display()
        );
    };
    kill_process(process, Signal::TERM)
        .with_context(|| format!("could not ask process {pid} to end"))
}

/// Waits until no node holds the folder.
async fn ended(data: &DataFolder) -> anyhow::Result<()> {
    let until = Instant::now() + END_LIMIT;
    while inspect::is_held(data) {
        if Instant::now() >= until {
            bail!(
                "expected the node of {} to end within {END_LIMIT:?}, found it still there\n\
                 its log says what it waits for",
                data.path().display()
            );
        }
        sleep(STEP).await;
    }
    Ok(())
}

/// Whether a process of this machine is a node: the id may be one of another container's.
fn is_node(pid: u32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).any(|word| word == b"serve")
}

/// Print the address of the node; one is started where none runs
#[derive(Debug, Args)]
#[command(after_help = "\
A node listens at 127.0.0.1:7420, unless its settings say otherwise. One that a command started takes
another port while a program has that one, so ask for the address where it is needed.

Examples:
  export BATON_KEY=\"$(baton keys create --name curl --scope read)\"
  curl -H \"Authorization: Bearer $BATON_KEY\" \"$(baton url)/sessions\"")]
pub(super) struct Address {}

impl Address {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let client = context.client().await?;
        let url = client.base().as_str().trim_end_matches('/');
        context.output.answer(&json!({ "url": url }), || url.to_owned());
        Ok(Exit::Done)
    }
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
