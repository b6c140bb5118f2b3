//! The other server's process: started with what it may see, read, and ended with all that it started.
//!
//! It leads a process group of its own, so that a launcher such as `npx` takes no other's place: what is to
//! end is the group. Of our environment it sees what a browser may see, and what Node and npm need; its files
//! for a moment lie among those of the session; and what it writes to standard error is passed on to ours,
//! line by line, without the secret.

use crate::bridge::message::LINE_BYTES;
use baton_session::SessionId;
use baton_session::printable::Printable;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// How many messages wait for a server that reads slowly.
const WAITING: usize = 64;
/// What is read of its output at once, in bytes.
const BUFFER: usize = 64 << 10;
/// How often we look whether it has ended.
const STEP: Duration = Duration::from_millis(10);

/// The running process.
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    writer: JoinHandle<()>,
}

/// What the process says, without the secret.
pub(super) struct ProcessOutput {
    lines: BufReader<ChildStdout>,
    secret: AddressSecret,
}

/// How much patience an end has.
#[derive(Debug, Clone, Copy)]
pub(in crate::bridge) enum Patience {
    /// It may end by itself when its input closes, then when it is asked to.
    Long,
    /// It is asked at once.
    Short,
}

impl Process {
    /// Starts it, in an environment of these variables only.
    pub(super) fn start(
        name: &str,
        command: &[String],
        environment: &BTreeMap<String, String>,
        secret: AddressSecret,
    ) -> io::Result<(Self, mpsc::Sender<String>, ProcessOutput)> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let missing = || io::Error::other("expected pipes to the process");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let errors = child.stderr.take().ok_or_else(missing)?;
        tokio::spawn(pass_on(name.to_owned(), errors, secret.clone()));
        let (lines, waiting) = mpsc::channel(WAITING);
        let writer = tokio::spawn(write(input, waiting));
        let output = ProcessOutput { lines: BufReader::with_capacity(BUFFER, output), secret };
        Ok((Self { child, group, writer }, lines, output))
    }

    /// Ends it: its input closes, it is asked, it is killed. Returns when no process of its group is left.
    pub(super) async fn end(mut self, patience: Patience) {
        self.writer.abort();
        let (closed, asked) = match patience {
            Patience::Long => (Duration::from_secs(2), Duration::from_secs(2)),
            Patience::Short => (Duration::ZERO, Duration::from_millis(1200)),
        };
        if self.is_gone_within(closed).await {
            return;
        }
        self.signal(Signal::TERM);
        if self.is_gone_within(asked).await {
            return;
        }
        self.signal(Signal::KILL);
        self.is_gone_within(Duration::from_secs(1)).await;
    }

    async fn is_gone_within(&mut self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        loop {
            // The leader of the group is ours to wait for; the others have another parent.
            let led = matches!(self.child.try_wait(), Ok(None));
            let left = self.group.is_some_and(|group| test_kill_process_group(group).is_ok());
            if !led && !left {
                self.group = None;
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            sleep(STEP).await;
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may have ended just now.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    /// A process that is not ended in order is killed.
    fn drop(&mut self) {
        self.writer.abort();
        self.signal(Signal::KILL);
    }
}

impl ProcessOutput {
    /// The next line; none at the end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let limit = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
        if (&mut self.lines).take(limit).read_until(b'\n', &mut line).await? == 0 {
            return Ok(None);
        }
        if line.len() == LINE_BYTES && line.last() != Some(&b'\n') {
            let text =
                format!("expected messages of at most {LINE_BYTES} bytes, found a longer one");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(Some(self.secret.hide(line)))
    }
}

async fn write(mut input: ChildStdin, mut waiting: mpsc::Receiver<String>) {
    while let Some(mut line) = waiting.recv().await {
        line.push('\n');
        let written = input.write_all(line.as_bytes()).await;
        if written.is_err() || input.flush().await.is_err() {
            return;
        }
    }
}

/// The longest line, in bytes; a longer one comes in pieces.
const PIECE_BYTES: usize = 2048;
/// How many lines wait for the reader.
const WAITING_LINES: usize = 256;

/// Passes on what a server writes, until it ends.
async fn pass_on(name: String, errors: impl AsyncRead + Unpin, secret: AddressSecret) {
    let mut pieces = Pieces { errors: BufReader::new(errors), secret, held: Vec::new() };
    while let Some(piece) = pieces.next().await {
        say(format!("{name}: {}", String::from_utf8_lossy(piece.trim_ascii_end())));
    }
}

/// What a server writes, line by line, or in pieces of long lines.
struct Pieces<R> {
    errors: BufReader<R>,
    secret: AddressSecret,
    /// The end of the piece before, in which the secret may begin.
    held: Vec<u8>,
}

impl<R: AsyncRead + Unpin> Pieces<R> {
    /// The next one; none at the end.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let mut line = std::mem::take(&mut self.held);
        let room = u64::try_from(PIECE_BYTES.saturating_sub(line.len())).unwrap_or(u64::MAX);
        // What was read before an error is passed on.
        let _ = (&mut self.errors).take(room).read_until(b'\n', &mut line).await;
        if line.is_empty() {
            return None;
        }
        let goes_on = line.len() == PIECE_BYTES && line.last() != Some(&b'\n');
        let mut line = self.secret.hide(line);
        if goes_on {
            self.held = line.split_off(line.len().saturating_sub(self.secret.len() - 1));
        }
        Some(line)
    }
}

/// Writes a line to standard error, now or soon. A thread of its own writes, because there may be no reader:
/// then lines are left out, and neither server waits.
pub(super) fn say(line: String) {
    static WRITER: OnceLock<SyncSender<String>> = OnceLock::new();
    let writer = WRITER.get_or_init(|| {
        let (lines, waiting) = sync_channel::<String>(WAITING_LINES);
        std::thread::spawn(move || {
            for line in waiting {
                // A reader that is gone misses it.
                let _ = writeln!(std::io::stderr(), "{}", Printable::for_terminal(&line));
            }
        });
        lines
    });
    // There is no reader: it is left out.
    let _ = writer.try_send(line);
}

/// Variables that pass; all others stay here.
const PASSED: [&str; 11] = [
    "USER",
    "LOGNAME",
    "SHELL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ALL_PROXY",
    "NODE_EXTRA_CA_CERTS",
];
const PASSED_PREFIXES: [&str; 4] = ["LC_", "SSL_CERT_", "npm_config_", "NPM_CONFIG_"];

/// Those of `all` that pass.
pub(super) fn passed(all: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let passes = |name: &str| {
        baton_browser::launch::passes(name)
            || PASSED.contains(&name)
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    all.into_iter().filter(|(name, _)| passes(name)).collect()
}

/// Among a session's files; hidden, because they are the server's business alone.
const OF_A_SESSION: &str = ".tools";

/// The folder of one server; gone when this is dropped.
///
/// A browser sees the files of its session and no others, and a server names the files that it has the
/// browser upload, and the folder for what is downloaded. It is started before there is a session, and
/// may change to another one, so its `TMPDIR` is a link that leads to the right place at each moment.
pub(super) struct Scratch {
    files: PathBuf,
    own: PathBuf,
    /// Where the link leads.
    leads_to: Mutex<Option<SessionId>>,
}

impl Scratch {
    /// Makes it among the files of all sessions, in `files`.
    pub(super) fn make(files: &Path) -> io::Result<Self> {
        let own = files.join(format!(".with-{}", std::process::id()));
        let scratch = Self { files: files.to_owned(), own, leads_to: Mutex::default() };
        create(&scratch.own.join("none"))?;
        scratch.lead(&scratch.own.join("none"))?;
        Ok(scratch)
    }

    /// The link: what is written there is written among the files of the session.
    pub(super) fn path(&self) -> PathBuf {
        self.own.join("tmp")
    }

    /// Leads to the files of the session that is meant from now on.
    pub(super) fn lead_to(&self, id: SessionId) {
        let mut leads_to = self.leads_to.lock().unwrap_or_else(PoisonError::into_inner);
        if *leads_to == Some(id) {
            return;
        }
        let place = self.files.join(id.to_string()).join(OF_A_SESSION);
        match create(&place).and_then(|()| self.lead(&place)) {
            Ok(()) => *leads_to = Some(id),
            Err(error) => {
                tracing::warn!(%error, "the server's files are not among those of the session");
            }
        }
    }

    fn lead(&self, place: &Path) -> io::Result<()> {
        let next = self.own.join("next");
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        symlink(place, &next)?;
        fs::rename(&next, self.path())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.own) {
            tracing::debug!(%error, "a folder of the other server stays");
        }
    }
}

fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// What takes the place of the secret.
const HIDDEN: &str = "[redacted]";

/// The random part of the browser's address, which no other may read: in what a server passes on, such as the
/// error of a connection, something else takes its place. Cheap to clone.
#[derive(Clone)]
pub(super) struct AddressSecret(Arc<str>);

impl AddressSecret {
    pub(super) fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// How long it is, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// A text without it.
    pub(super) fn hide(&self, text: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8(text)
            .unwrap_or_else(|other| String::from_utf8_lossy(other.as_bytes()).into_owned());
        let hidden = text.contains(&*self.0).then(|| text.replace(&*self.0, HIDDEN));
        hidden.unwrap_or(text).into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_secret_is_passed_on_nowhere_not_even_in_two_pieces() {
        let secret = "5ec4e7".repeat(11);
        for before in PIECE_BYTES - 200..PIECE_BYTES + 10 {
            let text = format!("{}{secret}\n{secret}", "x".repeat(before));
            let (errors, held) = (BufReader::new(text.as_bytes()), Vec::new());
            let mut pieces = Pieces { errors, secret: AddressSecret::new(&secret), held };
            let mut passed = Vec::new();
            while let Some(piece) = pieces.next().await {
                passed.extend(piece);
            }
            let expected = format!("{}[redacted]\n[redacted]", "x".repeat(before));
            assert_eq!(String::from_utf8(passed).unwrap(), expected);
        }
    }

    #[test]
    fn secrets_stay_here() {
        let all =
            ["PATH", "HOME", "BATON_MASTER_KEY", "AWS_SECRET_ACCESS_KEY", "LC_ALL", "NODE_OPTIONS"];
        let all = all.map(|name| (name.to_owned(), String::new()));
        let names: Vec<_> = passed(all.into()).into_keys().collect();
        assert_eq!(names, ["HOME", "LC_ALL", "PATH"]);
    }
}
