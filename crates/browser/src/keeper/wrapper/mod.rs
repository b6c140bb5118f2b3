//! A browser in a wrapper: what programs start, and speak to, as if it were the browser itself, and which has said
//! to each target what must hold there before they do.
//!
//! The one idea: where programs start their browser themselves, as agents in a sandbox do, nobody stands between the
//! two. So what they start is this: it starts the browser, whose pipe it holds, as a keeper does, and offers them
//! what they asked for on the command line: a debugging port, or a pipe. All else of the command line goes to the
//! browser as it is. Nothing is refused to them, since the browser is theirs.
//!
//! What only tabs have comes with it: the first page that reaches an origin is handed the sessionStorage that the
//! session has of it, and so is the first frame of a partition. The tabs themselves are opened for a person alone: a
//! program takes the first page that it finds for its own, and which one that is among several no browser promises.
//!
//! A pipe is that of standard input and output: the [script](packed) that programs start puts the descriptors 3
//! and 4 there, which no safe code could take from where they are.

mod asked;
mod clients;
mod door;
mod packed;

use super::browser::Browser;
use super::environment::prelude;
use super::hand_over::HandOver;
use super::mux::{Mux, Setup};
use super::protocol::KeeperError;
use super::server::Server;
use crate::cdp::Transport;
use crate::launch::{made_whole, switches};
use asked::{Asked, PIPE};
use baton_session::{Environment, Tab};
use clients::Clients;
use command_fds::{CommandFdExt, FdMapping};
use door::Door;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::future::pending;
use std::io::{stdin, stdout};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as Pair;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy, split};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;
use tokio::process::{Child, Command};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::task::AbortOnDropHandle;

/// How long pages that were asked for on the command line may take to be opened.
const PAGES_LIMIT: Duration = Duration::from_secs(30);

/// Which browser it is, and what sites see of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrapperSpec {
    /// The program.
    pub program: PathBuf,
    /// What switches can say of it stands before what whoever starts it says; its targets are told the rest.
    pub environment: Environment,
    /// What was open: where, which one in front, and the sessionStorage of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tabs: Vec<Tab>,
    /// The origins at which a service worker answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<String>,
    /// The file that says what of that was handed over; none when nothing is to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<PathBuf>,
}

impl WrapperSpec {
    /// The longest specification that is read, in bytes.
    pub const LIMIT: u64 = 64 << 20;
}

/// How whoever started it is told something: a line, in one piece, between those of the browser.
pub type Say = fn(&str);

/// Runs a browser with a command line until it ends; how it ended, as shells say it. Blocks; builds a runtime of
/// its own.
///
/// # Errors
///
/// When the browser does not start or does not speak, or when what was asked for cannot be offered.
pub fn wrap(
    spec: &WrapperSpec,
    arguments: impl IntoIterator<Item = OsString>,
    say: Say,
) -> Result<u8, KeeperError> {
    let not_made = KeeperError::file("make a runtime for", &spec.program);
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(not_made)?;
    let asked = Asked::of(arguments);
    runtime.block_on(Box::pin(hold(spec, asked, say)))
}

async fn hold(spec: &WrapperSpec, mut asked: Asked, say: Say) -> Result<u8, KeeperError> {
    let mut hand_over = match &spec.notes {
        Some(notes) => HandOver::of(&spec.tabs, notes).with_workers(&spec.workers),
        None => HandOver::default(),
    };
    let mut front = None;
    if asked.is_for_a_person() && !spec.tabs.is_empty() && hand_over.open_tabs() {
        asked.begin_blank();
        asked.pages = spec.tabs.iter().map(|tab| tab.url.clone()).collect();
        front = spec.tabs.iter().position(|tab| tab.active);
    }
    let Asked { port, has_pipe, profile, origins, pages, arguments, .. } = asked;
    let door = match port {
        Some(port) => Some(Door::open(port, origins, profile.as_deref()).await?),
        None => None,
    };
    let (child, transport) = start(spec, &arguments, has_pipe)?;
    let mut browser = Browser::of_child(child);
    let setup = Setup {
        browser_pid: browser.pid,
        anchor: false,
        headed: false,
        files: None,
        is_theirs: true,
        prelude: prelude(&spec.environment),
        ledger: None,
        asked: None,
    };
    let mut server = Server::new(Mux::new(setup).handing_over(hand_over), transport);
    let version = match server.start(&mut browser).await {
        Ok(version) => version,
        Err(error) => {
            if let Some(status) = browser.status() {
                // Its own words went to whoever started it.
                return Ok(code(status));
            }
            browser.kill().await;
            return Err(error);
        }
    };
    match made_whole(spec.environment.clone(), &version) {
        Ok(whole) => server.tell(prelude(&whole)),
        // What the user agent alone says holds.
        Err(error) => say(&format!("sites see more than one browser: {error}")),
    }
    let clients = Clients::new(server.sender());
    let _opening = AbortOnDropHandle::new(tokio::spawn(open(clients.clone(), pages, front, say)));
    let _serving = match door {
        Some(door) => {
            door.tell(say)?;
            Some(AbortOnDropHandle::new(tokio::spawn(door.serve(clients.clone(), version))))
        }
        None => None,
    };
    let stop = async {
        tokio::select! {
            () = piped(&clients, has_pipe) => {}
            () = asked_to_end() => {}
        }
    };
    server.serve(None, &mut browser, stop).await;
    let ended = browser.status().map_or(0, code);
    server.farewell().await;
    Ok(ended)
}

/// Starts the browser with our end of its pipe.
fn start(
    spec: &WrapperSpec,
    arguments: &[OsString],
    has_pipe: bool,
) -> Result<(Child, Transport), KeeperError> {
    let program = &spec.program;
    let made = || -> std::io::Result<(Child, UnixStream)> {
        let (ours, theirs) = Pair::pair()?;
        ours.set_nonblocking(true)?;
        let mut command = Command::new(program);
        command
            .args(switches(&spec.environment))
            .arg(PIPE)
            .args(arguments)
            .process_group(0)
            .kill_on_drop(true);
        if has_pipe {
            // What is ours of the two is the program's pipe.
            command.stdin(Stdio::null()).stdout(Stdio::null());
        }
        let mappings = vec![
            FdMapping { parent_fd: theirs.try_clone()?.into(), child_fd: 3 },
            FdMapping { parent_fd: theirs.into(), child_fd: 4 },
        ];
        command.fd_mappings(mappings).map_err(std::io::Error::other)?;
        Ok((command.spawn()?, UnixStream::from_std(ours)?))
    };
    let (child, ours) = made().map_err(KeeperError::file("start", program))?;
    let (reader, writer) = ours.into_split();
    Ok((child, Transport::nul(reader, writer)))
}

/// Opens what the command line named, or the tabs.
async fn open(clients: Clients, pages: Vec<String>, front: Option<usize>, say: Say) {
    if pages.is_empty() {
        return;
    }
    match tokio::time::timeout(PAGES_LIMIT, clients.open(&pages, front)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => say(&format!("a page was not opened: {error}")),
        Err(_) => say(&format!("expected a page within {PAGES_LIMIT:?}, found none")),
    }
}

/// Passes on what the program says over its pipe, if it has one, until it ends that; a browser of a pipe ends
/// with it.
async fn piped(clients: &Clients, has_pipe: bool) {
    if !has_pipe {
        return pending().await;
    }
    let passed = async {
        let (mut reader, mut writer) = split(
            clients
                .enter_stream()
                .await
                .map_err(|error| std::io::Error::other(error.to_string()))?,
        );
        let (mut words, mut answers) = standard()?;
        tokio::select! {
            read = copy(&mut words, &mut writer) => read.map(drop),
            // Its last answers are read by whoever asked for them.
            written = copy(&mut reader, &mut answers) => {
                answers.flush().await?;
                written.map(drop)
            }
        }
    };
    if let Err(error) = passed.await {
        tracing::debug!(%error, "the pipe of the program broke");
    }
}

type Reader = Pin<Box<dyn AsyncRead + Send>>;
type Writer = Pin<Box<dyn AsyncWrite + Send>>;

/// Standard input and output, read and written without a thread: what programs call a pipe is a pair of sockets
/// as often as one of pipes.
fn standard() -> std::io::Result<(Reader, Writer)> {
    let (words, answers) = (stdin(), stdout());
    let reader: Reader = match socket(words.as_fd())? {
        Some(socket) => Box::pin(socket),
        None => Box::pin(pipe::Receiver::from_owned_fd(words.as_fd().try_clone_to_owned()?)?),
    };
    let writer: Writer = match socket(answers.as_fd())? {
        Some(socket) => Box::pin(socket),
        None => Box::pin(pipe::Sender::from_owned_fd(answers.as_fd().try_clone_to_owned()?)?),
    };
    Ok((reader, writer))
}

/// The socket that a descriptor is; none if it is something else.
fn socket(descriptor: std::os::fd::BorrowedFd<'_>) -> std::io::Result<Option<UnixStream>> {
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(descriptor)?.st_mode);
    if kind != rustix::fs::FileType::Socket {
        return Ok(None);
    }
    let socket = Pair::from(descriptor.try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket).map(Some)
}

/// Waits for what ends programs: the browser then closes as if by hand.
async fn asked_to_end() {
    let kinds = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = kinds.map(signal) else {
        return pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// How a shell says how a program ended.
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}
