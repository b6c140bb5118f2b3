//! A display for a sandbox, which a VNC viewer on this machine shows (RFB 3.8, RFC 6143).
//!
//! The X server runs in the sandbox and listens at a socket there, which nothing outside reaches. The node
//! listens at a port of its loopback and passes each viewer on to that socket, through a tool that runs in
//! the sandbox. The protocol's own password keeps other users of the machine out, and they keep no other
//! viewer out: wrong passwords count for nothing, and a viewer that has shown none has a place for a while
//! only, the first of them the shortest when there are many.

use super::exec::tool;
use crate::error::{AgentsError, SandboxRefusal};
use crate::registry::{Kept, OwnView};
use baton_api::sandbox::Vnc;
use baton_sandbox::{Command, Process, Sandbox, SandboxError};
use des::Des;
use des::cipher::{Array, BlockCipherEncrypt, KeyInit};
use rand::distr::{Alphanumeric, SampleString};
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, copy,
    copy_bidirectional, join, sink,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use zeroize::Zeroizing;

/// Where the X server listens, in the sandbox.
pub(super) const SOCKET: &str = "/tmp/.vnc/socket";
/// Where it reads its password.
const PASSWORD: &str = "/tmp/.vnc/password";
/// Starts the X server, which tells on its output when it is ready. Debian calls it `Xtigervnc`, others
/// `Xvnc`.
const START: &str = "server=$(command -v Xtigervnc || command -v Xvnc) || \
    { echo no Xtigervnc in the sandbox >&2; exit 1; }; mkdir -p -m 1777 /tmp/.X11-unix && \
    exec \"$server\" :0 -displayfd 1 -rfbport -1 -rfbunixpath /tmp/.vnc/socket -rfbunixmode 384 \
    -SecurityTypes VncAuth -UseBlacklist=0 -PasswordFile /tmp/.vnc/password -geometry 1280x800 -depth 24 -nolisten tcp";
/// How long it may take to be ready.
const LIMIT: Duration = Duration::from_secs(15);
/// How long until a viewer is waited for again after one could not be taken.
const PAUSE: Duration = Duration::from_millis(100);
/// How many characters of a password the protocol reads.
pub(super) const LENGTH: usize = 8;
/// How many viewers there are at once at most, and how many that have shown no password yet.
pub(super) const MOST_VIEWERS: usize = 8;
const MOST_STRANGERS: usize = 16;
/// How long one may take to show it: a person types.
const PATIENCE: Duration = Duration::from_mins(2);
/// What a display says, in bytes, before it has heard a password: its version, one way to log in, and
/// something to encrypt. Then it says that it was wrong, and leaves, or what the display is.
const GREETING: usize = 12 + 4 + 16 + 4;
/// How much is passed on at once, in bytes.
const CHUNK: usize = 4 << 10;
/// With what VNC hides passwords in files, which keeps no one out: each byte's bits in the reverse order
/// (`common/rfb/obfuscate.cxx` of TigerVNC).
const HIDING: [u8; LENGTH] = [23, 82, 107, 6, 35, 78, 88, 7];

/// A display that is there.
pub(super) struct Display {
    server: Process,
    listener: TcpListener,
    address: String,
    password: Zeroizing<String>,
}

/// Variables of every command in a sandbox with a display.
pub(super) fn variables(has_display: bool) -> BTreeMap<String, String> {
    let variables = [("DISPLAY", ":0"), ("AGENT_BROWSER_HEADED", "1")];
    let variables = variables.into_iter().filter(|_| has_display);
    variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

impl Display {
    /// Starts the X server, and waits until it is ready.
    pub(super) async fn start(sandbox: &dyn Sandbox) -> Result<Self, AgentsError> {
        let password = Zeroizing::new(Alphanumeric.sample_string(&mut rand::rng(), LENGTH));
        let write = sandbox.tool("write", PASSWORD);
        let written = tool(sandbox, &write, &hidden(&password), 0).await?;
        written.map_err(|why| SandboxRefusal::NoDisplay { why })?;
        let mut server =
            sandbox.start(&Command::shell(START)).await.map_err(SandboxRefusal::from)?;
        let ready = tokio::time::timeout(LIMIT, is_ready(&mut server)).await;
        ready
            .map_err(|_| SandboxError::TimedOut { what: "a display", limit: LIMIT })
            .map_err(SandboxRefusal::from)??;
        let no_port = |error: std::io::Error| SandboxRefusal::NoDisplay { why: error.to_string() };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(no_port)?;
        let address = listener.local_addr().map_err(no_port)?.to_string();
        Ok(Self { server, listener, address, password })
    }

    /// What a caller that sees the sandbox hears of it.
    pub(super) fn view(&self) -> Vnc {
        Vnc { address: self.address.clone(), password: None }
    }

    /// Passes viewers on for as long as the sandbox is there. Returns what its maker hears.
    pub(super) fn serve(self, kept: Arc<Kept>) -> Vnc {
        let told = Vnc { password: Some(self.password.to_string()), ..self.view() };
        let Self { mut server, listener, password, .. } = self;
        let viewers = Arc::new(Semaphore::new(MOST_VIEWERS));
        // A sandbox has one display, and it is made once.
        let _ = kept.display.set(OwnView { password, viewers: Arc::clone(&viewers) });
        tokio::spawn(async move {
            let strangers = Strangers::default();
            let served = async {
                loop {
                    let Ok((viewer, _)) = listener.accept().await else {
                        // Too many files are open, as a rule, which passes.
                        tokio::time::sleep(PAUSE).await;
                        continue;
                    };
                    let (kept, viewers) = (Arc::clone(&kept), Arc::clone(&viewers));
                    let stranger = strangers.admit();
                    tokio::spawn(async move {
                        tokio::select! {
                            () = pass_on(&kept, viewer, stranger, &viewers) => {}
                            () = kept.ended.cancelled() => {}
                        }
                    });
                }
            };
            tokio::select! {
                () = kept.ended.cancelled() => {}
                () = served => {}
                () = drained(&mut server) => {
                    tracing::debug!(sandbox = %kept.view.id, "the display of a sandbox has ended");
                }
            }
        });
        told
    }
}

/// Waits for the number of the display on its output.
async fn is_ready(server: &mut Process) -> Result<(), SandboxRefusal> {
    let mut line = String::new();
    let mut output = BufReader::new(&mut server.output).take(64);
    if output.read_line(&mut line).await.is_ok_and(|read| read > 0) {
        return Ok(());
    }
    let mut complaint = String::new();
    // What it says is shown as far as it can be read.
    let _ = (&mut server.errors).take(4096).read_to_string(&mut complaint).await;
    let last = complaint.lines().rfind(|line| !line.trim().is_empty());
    Err(SandboxRefusal::NoDisplay { why: last.unwrap_or("it ended").trim().to_owned() })
}

/// Reads what the server says, which would stop it one day, until it ends.
async fn drained(server: &mut Process) {
    let empty = || Box::new(tokio::io::empty());
    let mut output = std::mem::replace(&mut server.output, empty());
    let mut errors = std::mem::replace(&mut server.errors, empty());
    let (mut nowhere, mut nothing) = (sink(), sink());
    let (_, _, _) = tokio::join!(
        copy(&mut output, &mut nowhere),
        copy(&mut errors, &mut nothing),
        server.ended()
    );
}

/// Those who have shown no password yet, the first one first.
#[derive(Debug, Clone, Default)]
struct Strangers(Arc<Mutex<VecDeque<CancellationToken>>>);

/// One of them, for as long as it is one.
#[derive(Debug)]
struct Stranger {
    all: Strangers,
    leaves: CancellationToken,
}

impl Strangers {
    /// One more, in the place of the first one when there are too many.
    fn admit(&self) -> Stranger {
        let leaves = CancellationToken::new();
        let mut all = self.all();
        all.retain(|one| !one.is_cancelled());
        if all.len() >= MOST_STRANGERS
            && let Some(first) = all.pop_front()
        {
            first.cancel();
        }
        all.push_back(leaves.clone());
        drop(all);
        Stranger { all: self.clone(), leaves }
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.leaves.cancel();
        self.all.all().retain(|one| !one.is_cancelled());
    }
}

/// Passes one viewer on, until either side leaves, or it has shown no password for too long.
async fn pass_on(kept: &Kept, mut viewer: TcpStream, stranger: Stranger, viewers: &Semaphore) {
    let connect = kept.sandbox.tool("connect", SOCKET);
    let mut process = match kept.sandbox.start(&connect).await {
        Ok(process) => process,
        Err(error) => {
            tracing::warn!(sandbox = %kept.view.id, %error, "a viewer does not reach a display");
            return;
        }
    };
    let Some(input) = process.input.take() else { return };
    let output = std::mem::replace(&mut process.output, Box::new(tokio::io::empty()));
    let mut display = join(output, input);
    let greeted = tokio::select! {
        greeted = timeout(PATIENCE, greet(&mut viewer, &mut display)) => greeted,
        () = stranger.leaves.cancelled() => return,
    };
    let Ok(Ok(())) = greeted else { return };
    drop(stranger);
    let Ok(_place) = viewers.try_acquire() else { return };
    // Whichever side breaks, the other one is closed.
    let _ = copy_bidirectional(&mut viewer, &mut display).await;
}

/// Passes on what is said until a display has heard the right password, or has said that it was wrong.
async fn greet(
    viewer: &mut TcpStream,
    display: &mut (impl AsyncRead + AsyncWrite + Unpin),
) -> io::Result<()> {
    let (mut asked, mut said) = ([0; CHUNK], [0; CHUNK]);
    let mut greeted = 0;
    while greeted <= GREETING {
        tokio::select! {
            read = viewer.read(&mut asked) => match read? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => display.write_all(&asked[..read]).await?,
            },
            read = display.read(&mut said) => match read? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => {
                    viewer.write_all(&said[..read]).await?;
                    greeted += read;
                }
            },
        }
        display.flush().await?;
    }
    Ok(())
}

/// A password as a file holds it.
fn hidden(password: &str) -> [u8; LENGTH] {
    let mut block = [0; LENGTH];
    for (place, byte) in block.iter_mut().zip(password.bytes()) {
        *place = byte;
    }
    let mut block = Array::from(block);
    Des::new(&Array::from(HIDING.map(u8::reverse_bits))).encrypt_block(&mut block);
    block.into()
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn a_password_is_hidden_as_others_do() {
        // What `vncpasswd -f` of TigerVNC 1.12 writes.
        assert_eq!(hidden("abcdefgh"), [0xdb, 0x8a, 0xb0, 0x25, 0x65, 0xe3, 0xb4, 0xc2]);
    }
}
