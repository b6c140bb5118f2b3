//! The socket of a keeper, 0600 in a folder that only its user may enter, and how the node, or a door of
//! the node, comes in there; and how it ends a keeper that does not answer.
//!
//! The system knows who listens at a socket, whether or not that process runs. So even a keeper that
//! hangs can be named, and a process that took over its number cannot be meant.

use super::protocol::{
    BootInstant, Greeting, KeeperAnswer, KeeperError, KeeperSecret, Nonce, Proof, Role, Side,
    VERSION, WITHOUT_SECRET, Welcome,
};
use crate::cdp::{CdpError, Connection, Events, FrameReader, FrameWriter, Transport};
use baton_session::egress::Egress;
use rustix::process::{Pid, Signal, getpid, kill_process};
use std::fs::{DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};
use tokio::io::AsyncReadExt;
use tokio::net::{UnixListener, UnixStream};

/// How long a keeper may take for its own part, and its browser for its own.
#[derive(Debug, Clone, Copy)]
struct ConnectLimits {
    /// Each of the keeper's own answers, for which it waits for nobody.
    keeper: Duration,
    /// Until a client has a session of its own at the browser.
    browser: Duration,
}

/// A browser has as long as until it speaks at all: one that shows many pages on a busy machine has as much
/// to do.
const PATIENCE: ConnectLimits =
    ConnectLimits { keeper: Duration::from_secs(10), browser: Duration::from_secs(25) };
/// How long a keeper may take to end after it was asked to: the browser's 10 s, and a little.
const END_LIMIT: Duration = Duration::from_secs(20);

/// A connection to a keeper, over which CDP flows.
#[derive(Debug)]
pub struct KeeperLink {
    /// The browser, as this client sees it.
    pub connection: Connection,
    /// What the browser tells unasked.
    pub events: Events,
    /// Whose browser it is.
    pub welcome: Welcome,
}

impl KeeperLink {
    /// What the session asked of its way out; none when it asked for nothing, and of an older keeper.
    pub async fn asked_of_way_out(&self) -> Result<Option<Egress>, CdpError> {
        let mut told = self.connection.browser().call("Baton.egress", ()).await?;
        Ok(serde_json::from_value(told["asked"].take()).unwrap_or_default())
    }
}

/// Connects to the keeper at `socket`: within 10 s for each of its own two answers, and 25 s for that of its
/// browser.
pub async fn connect(socket: &Path, role: Role) -> Result<KeeperLink, KeeperError> {
    let (transport, welcome) = knock(socket, role).await?;
    let (connection, events) = Connection::start(transport);
    Ok(KeeperLink { connection, events, welcome })
}

/// Connects without speaking CDP, for a door that only passes frames on.
pub async fn knock(socket: &Path, role: Role) -> Result<(Transport, Welcome), KeeperError> {
    check_length(socket)?;
    greet(socket, role, PATIENCE).await
}

/// Waits for something that is due within `limit`.
async fn within<T>(
    limit: Duration,
    what: &'static str,
    due: impl Future<Output = Result<T, KeeperError>>,
) -> Result<T, KeeperError> {
    tokio::time::timeout(limit, due).await.unwrap_or(Err(KeeperError::TimedOut { what, limit }))
}

/// Connects to the keeper that listens at `socket`, without a word.
async fn dial(socket: &Path) -> Result<UnixStream, KeeperError> {
    UnixStream::connect(socket).await.map_err(|error| {
        if nobody_listens(&error) {
            KeeperError::NotRunning { socket: socket.to_owned() }
        } else {
            KeeperError::file("connect to", socket)(error)
        }
    })
}

async fn greet(
    socket: &Path,
    role: Role,
    patience: ConnectLimits,
) -> Result<(Transport, Welcome), KeeperError> {
    let stream = within(patience.keeper, "a connection to the keeper", dial(socket)).await?;
    let (reader, writer) = stream.into_split();
    let (mut reader, mut writer) = Transport::nul(reader, writer).split();
    // After a keeper was found to listen: until then, an older keeper's may lie there.
    let last_word = if let Some(secret) = KeeperSecret::read(socket)? {
        let nonce = Nonce::random();
        let hello = Greeting::Hello { role, version: VERSION, nonce: Some(nonce) };
        let proof = async {
            say(&mut writer, socket, &hello).await?;
            challenged(&mut reader, socket, &secret, role, nonce).await
        };
        Greeting::Proof(within(patience.keeper, "an answer of the keeper", proof).await?)
    } else {
        Greeting::Hello { role, version: WITHOUT_SECRET, nonce: None }
    };
    let welcome = async {
        say(&mut writer, socket, &last_word).await?;
        answer(&mut reader, socket).await
    };
    let welcome = within(patience.browser, "a session of the browser", welcome).await?;
    match welcome {
        KeeperAnswer::Welcome(welcome) => Ok((Transport::join(reader, writer), welcome)),
        KeeperAnswer::Challenge { .. } => {
            Err(not_understood("a welcome of the keeper", "a challenge"))
        }
        KeeperAnswer::Refused(reason) => Err(KeeperError::Refused { reason }),
    }
}

/// Checks that the keeper knows the secret, and answers with the proof that this side does.
async fn challenged(
    reader: &mut FrameReader,
    socket: &Path,
    secret: &KeeperSecret,
    role: Role,
    ours: Nonce,
) -> Result<Proof, KeeperError> {
    match answer(reader, socket).await? {
        KeeperAnswer::Challenge { nonce, proof } => {
            if !secret.holds(proof, Side::Keeper, role, ours, nonce) {
                let found = "one that does not know it";
                return Err(not_understood(
                    "the keeper whose secret lies beside its socket",
                    found,
                ));
            }
            Ok(secret.prove(Side::Client, role, ours, nonce))
        }
        KeeperAnswer::Refused(reason) => Err(KeeperError::Refused { reason }),
        KeeperAnswer::Welcome(_) => Err(not_understood("a challenge of the keeper", "a welcome")),
    }
}

async fn say(writer: &mut FrameWriter, socket: &Path, word: &Greeting) -> Result<(), KeeperError> {
    let failed = KeeperError::file("write to", socket);
    let frame = match serde_json::to_vec(word) {
        Ok(frame) => frame,
        Err(error) => return Err(failed(error.into())),
    };
    writer.send(frame).await.map_err(failed)
}

async fn answer(reader: &mut FrameReader, socket: &Path) -> Result<KeeperAnswer, KeeperError> {
    let frame = reader.next().await.map_err(KeeperError::file("read from", socket))?;
    // A keeper that ends closes the door on the clients that wait there.
    let frame = frame.ok_or_else(|| KeeperError::NotRunning { socket: socket.to_owned() })?;
    serde_json::from_slice(&frame)
        .map_err(|error| not_understood("an answer of the keeper", error.to_string()))
}

fn not_understood(expected: &'static str, found: impl Into<String>) -> KeeperError {
    KeeperError::NotUnderstood { expected, found: found.into() }
}

/// Lets the browser live until then, unless this is said again. Only as [`Role::Node`].
pub async fn hold(connection: &Connection, until: BootInstant) -> Result<(), KeeperError> {
    let params = serde_json::json!({ "until": until });
    Ok(connection.browser().call("Baton.hold", params).await.map(drop)?)
}

/// Ends the browser gently (an attached one is left running) and waits until it and its keeper are
/// gone. Only as [`Role::Node`].
pub async fn close(connection: &Connection) -> Result<(), KeeperError> {
    end(connection, "Baton.close").await
}

/// Kills the browser and waits until it and its keeper are gone. Only as [`Role::Node`].
pub async fn kill(connection: &Connection) -> Result<(), KeeperError> {
    end(connection, "Baton.kill").await
}

async fn end(connection: &Connection, command: &'static str) -> Result<(), KeeperError> {
    match connection.browser().call(command, ()).await {
        Ok(_) => {}
        // It ended before it could answer: that is what was asked for.
        Err(error) if error.is_closed() => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    let closed = async {
        connection.closed().await;
        Ok(())
    };
    within(END_LIMIT, "the end of the keeper", closed).await
}

/// How long a killed process may take to be gone.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// Kills the keeper that listens at `socket`, whether it answers or not (SIGKILL), and waits until it is
/// gone; false when none listens. Its browser, whose pipe closes, ends by itself.
pub async fn force(socket: &Path) -> Result<bool, KeeperError> {
    let mut stream = match within(PATIENCE.keeper, "a connection to the keeper", dial(socket)).await
    {
        Err(KeeperError::NotRunning { .. }) => return Ok(false),
        dialled => dialled?,
    };
    let listener = stream.peer_cred().map_err(KeeperError::file("ask for the owner of", socket))?;
    let keeper = listener.pid().and_then(Pid::from_raw).filter(|pid| *pid != getpid());
    let keeper = keeper.ok_or(KeeperError::NotUnderstood {
        expected: "a process of its own that listens",
        found: format!("{:?}", listener.pid()),
    })?;
    tracing::warn!(pid = keeper.as_raw_pid(), "killing a keeper");
    // One that is gone by now is what we want.
    let _ = kill_process(keeper, Signal::KILL);
    let mut byte = [0];
    let gone = async {
        while matches!(stream.read(&mut byte).await, Ok(1..)) {}
        Ok(true)
    };
    within(KILL_LIMIT, "the end of a killed keeper", gone).await
}

/// What `sockaddr_un` holds on Linux, without the final NUL.
const PATH_LIMIT: usize = 107;

/// A listening socket; its file is removed when this is dropped, unless another one is there by then: of a
/// keeper that came when the file had been removed.
pub(super) struct ListeningSocket {
    path: PathBuf,
    is: Identity,
    secret: KeeperSecret,
}

/// Which file it is: device and number.
type Identity = (u64, u64);

impl ListeningSocket {
    /// Listens at `path`. A file that a dead keeper left behind is replaced, a living one refused.
    pub(super) fn bind(path: &Path) -> Result<(Self, UnixListener), KeeperError> {
        check_length(path)?;
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(KeeperError::file("create", folder))?;
        }
        remove_stale(path)?;
        // Before anybody can knock.
        let secret = KeeperSecret::create(path)?;
        let listener = UnixListener::bind(path).map_err(KeeperError::file("bind", path))?;
        fs::set_permissions(path, Permissions::from_mode(0o600))
            .map_err(KeeperError::file("protect", path))?;
        let is = identity(path).map_err(KeeperError::file("look at", path))?;
        Ok((Self { path: path.to_owned(), is, secret }, listener))
    }

    /// By what its clients know it.
    pub(super) fn secret(&self) -> KeeperSecret {
        self.secret.clone()
    }
}

impl Drop for ListeningSocket {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found != self.is) {
            return;
        }
        self.secret.remove(&self.path);
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "a socket was not removed");
        }
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Refuses a path that the system cannot hold, with a clear error instead of `EINVAL`.
pub(super) fn check_length(path: &Path) -> Result<(), KeeperError> {
    let found = path.as_os_str().as_bytes().len();
    if found <= PATH_LIMIT {
        return Ok(());
    }
    Err(KeeperError::PathTooLong { socket: path.to_owned(), limit: PATH_LIMIT, found })
}

/// Whether a failed connection means that no keeper listens.
pub(super) fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn remove_stale(path: &Path) -> Result<(), KeeperError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(KeeperError::file("look at", path)(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(KeeperError::NotUnderstood {
                expected: "a socket or nothing at the keeper's path",
                found: format!("another file: {}", path.display()),
            });
        }
        Ok(_) => {}
    }
    match Probe::connect(path) {
        Ok(_) => Err(KeeperError::AlreadyRunning { socket: path.to_owned() }),
        Err(error) if nobody_listens(&error) => {
            fs::remove_file(path).map_err(KeeperError::file("replace", path))
        }
        Err(error) => Err(KeeperError::file("probe", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        ConnectLimits, Greeting, KeeperAnswer, KeeperError, KeeperSecret, ListeningSocket, Nonce,
        Role, Side, Transport, Welcome, greet,
    };
    use baton_session::SessionId;
    use std::fs;
    use std::time::Duration;
    use tokio::net::UnixListener;
    use tokio::time::sleep;

    /// How far a keeper comes with a client before it falls silent.
    #[derive(PartialEq, PartialOrd)]
    enum Comes {
        Nowhere,
        ToItsChallenge,
        ToAWelcomeAfter(Duration),
    }

    /// Answers one client, and keeps its connection.
    async fn serve(listener: UnixListener, secret: KeeperSecret, comes: Comes) {
        let (stream, _) = listener.accept().await.unwrap();
        let (reader, writer) = stream.into_split();
        let (mut reader, mut writer) = Transport::nul(reader, writer).split();
        let hello = reader.next().await.unwrap().unwrap();
        let Greeting::Hello { role, nonce: Some(theirs), .. } =
            serde_json::from_slice(&hello).unwrap()
        else {
            panic!("expected a hello with a nonce");
        };
        if comes >= Comes::ToItsChallenge {
            let nonce = Nonce::random();
            let proof = secret.prove(Side::Keeper, role, theirs, nonce);
            let challenge = KeeperAnswer::Challenge { nonce, proof };
            writer.send(serde_json::to_vec(&challenge).unwrap()).await.unwrap();
            reader.next().await.unwrap().unwrap();
        }
        if let Comes::ToAWelcomeAfter(time) = comes {
            sleep(time).await;
            let welcome = KeeperAnswer::Welcome(Welcome {
                session: SessionId::new(jiff::Timestamp::UNIX_EPOCH, [7; 10]),
                pid: 1,
                browser_pid: Some(2),
                browser_version: "Chrome/1".to_owned(),
                attached: false,
                confinement: None,
                fenced: false,
            });
            writer.send(serde_json::to_vec(&welcome).unwrap()).await.unwrap();
        }
        std::future::pending::<()>().await;
    }

    /// What becomes of a client of a keeper that comes so far.
    async fn knock_at(comes: Comes, patience: ConnectLimits) -> Result<Welcome, KeeperError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.sock");
        let (socket, listener) = ListeningSocket::bind(&path).unwrap();
        let serving = tokio::spawn(serve(listener, socket.secret(), comes));
        let knocked = greet(&path, Role::Node, patience).await;
        serving.abort();
        knocked.map(|(_, welcome)| welcome)
    }

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_browser_that_has_much_to_do_is_waited_for() {
        let keeper = Duration::from_secs(3);
        let patience = ConnectLimits { keeper, browser: LONG };
        let comes = Comes::ToAWelcomeAfter(keeper + Duration::from_millis(100));
        let welcome = knock_at(comes, patience).await.unwrap();
        assert_eq!(welcome.browser_version, "Chrome/1");
    }

    #[tokio::test]
    async fn who_falls_silent_is_named() {
        let patience = ConnectLimits { keeper: SHORT, browser: LONG };
        let silent = knock_at(Comes::Nowhere, patience).await.unwrap_err().to_string();
        assert_eq!(silent, "expected an answer of the keeper within 20ms, found nothing");
        let patience = ConnectLimits { keeper: LONG, browser: SHORT };
        let silent = knock_at(Comes::ToItsChallenge, patience).await.unwrap_err().to_string();
        assert_eq!(silent, "expected a session of the browser within 20ms, found nothing");
    }

    #[tokio::test]
    async fn the_socket_of_another_keeper_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.sock");
        let (first, _listener) = ListeningSocket::bind(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let (second, _other) = ListeningSocket::bind(&path).unwrap();
        drop(first);
        assert!(path.exists(), "the socket of the second one is gone");
        drop(second);
        assert!(!path.exists());
    }
}
