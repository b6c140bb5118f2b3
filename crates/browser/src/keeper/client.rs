//! The clients of a keeper: who may come in and as what, and one client's connection, a reader that may
//! be paused and a bounded queue of frames to it.
//!
//! The one idea: the browser never waits for a client. A client that does not read what it asked for, up to
//! the bound, is disconnected.

use super::mux::ClientId;
use super::protocol::{Greeting, KeeperAnswer, KeeperSecret, Nonce, Role, Side, VERSION};
use crate::cdp::{FrameReader, FrameWriter, Transport};
use crate::launch;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many frames, and how many bytes of them, may wait for one client.
const FRAMES: usize = 8192;
const BYTES: usize = 64 * 1024 * 1024;
/// How many frames are written at once, if so many wait.
const BATCH: usize = 64;
/// How long a client that is being disconnected may take to read what was already sent.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// A client that said hello.
pub(super) struct GreetedClient {
    outbox: mpsc::Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    reader: Option<(FrameReader, Option<watch::Receiver<bool>>)>,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl GreetedClient {
    /// Starts to write to the client; its own frames wait until [`Client::listen`], and each of them
    /// while the `gate` says false, if there is one.
    pub(super) fn new(
        reader: FrameReader,
        writer: FrameWriter,
        gate: Option<watch::Receiver<bool>>,
        place: OwnedSemaphorePermit,
        tasks: &TaskTracker,
    ) -> Self {
        let (outbox, frames) = mpsc::channel(FRAMES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let stop = CancellationToken::new();
        tasks.spawn(write(writer, frames, Arc::clone(&waiting), stop.clone()));
        Self { outbox, waiting, reader: Some((reader, gate)), stop, _place: place }
    }

    /// Starts to read the client's frames into `inputs`.
    pub(super) fn listen(&mut self, id: ClientId, inputs: mpsc::Sender<Input>) {
        if let Some((reader, gate)) = self.reader.take() {
            tokio::spawn(read(id, reader, gate, inputs, self.stop.clone()));
        }
    }

    /// Queues a frame; false when the client is too slow. A single large frame always has room.
    pub(super) fn send(&self, frame: Vec<u8>) -> bool {
        let bytes = frame.len();
        let before = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        (before == 0 || before + bytes <= BYTES) && self.outbox.try_send(frame).is_ok()
    }
}

impl Drop for GreetedClient {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn read(
    id: ClientId,
    mut reader: FrameReader,
    mut gate: Option<watch::Receiver<bool>>,
    inputs: mpsc::Sender<Input>,
    stop: CancellationToken,
) {
    let reading = async {
        while let Ok(Some(frame)) = reader.next().await {
            if let Some(gate) = &mut gate {
                // Without a loop behind it nothing receives either.
                let _ = gate.wait_for(|is_open| *is_open).await;
            }
            if inputs.send(Input::Frame(id, frame)).await.is_err() {
                return;
            }
        }
        // Without a receiver, nothing needs to know.
        let _ = inputs.send(Input::Left(id)).await;
    };
    tokio::select! {
        () = reading => {}
        () = stop.cancelled() => {}
    }
}

async fn write(
    mut writer: FrameWriter,
    mut frames: mpsc::Receiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    stop: CancellationToken,
) {
    let sending = async {
        let mut batch = Vec::with_capacity(BATCH);
        while frames.recv_many(&mut batch, BATCH).await > 0 {
            let bytes = batch.iter().map(Vec::len).sum();
            if writer.send_all(batch.drain(..)).await.is_err() {
                break;
            }
            waiting.fetch_sub(bytes, Ordering::Relaxed);
        }
        writer.close().await;
    };
    tokio::select! {
        () = sending => {}
        () = async { stop.cancelled().await; tokio::time::sleep(DRAIN_LIMIT).await } => {}
    }
}

/// How many clients may be connected at once; the node, or its successor, always finds a place.
const CLIENTS: usize = 32;
/// How many may stand at the door without having said who they are.
const AT_THE_DOOR: usize = 32;
/// How long a client may take to say hello and to prove itself.
const HELLO_LIMIT: Duration = Duration::from_secs(10);

/// The places that there are; a client keeps its own until it leaves.
struct ClientPlaces {
    door: Arc<Semaphore>,
    clients: Arc<Semaphore>,
    secret: KeeperSecret,
}

/// Accepts clients as long as anyone takes them.
pub(super) async fn accept(
    listener: UnixListener,
    secret: KeeperSecret,
    inputs: mpsc::Sender<Input>,
) {
    let places = Arc::new(ClientPlaces {
        door: Arc::new(Semaphore::new(AT_THE_DOOR)),
        clients: Arc::new(Semaphore::new(CLIENTS)),
        secret,
    });
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(greet(stream, Arc::clone(&places), inputs.clone()));
            }
            Err(error) => {
                // Out of file descriptors, most likely: they come back as clients leave.
                tracing::warn!(%error, "a client could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn greet(stream: UnixStream, places: Arc<ClientPlaces>, inputs: mpsc::Sender<Input>) {
    let stranger = stranger(&stream);
    let (reader, writer) = stream.into_split();
    let (mut reader, mut writer) = Transport::nul(reader, writer).split();
    let admitted = match stranger {
        Some(found) => Err(found),
        None => admit(&mut reader, &mut writer, &places).await,
    };
    match admitted {
        Ok((role, place)) => {
            let connected = Connected { role, reader, writer, place };
            // Without a receiver, the keeper is about to end.
            let _ = inputs.send(Input::Connected(connected)).await;
        }
        Err(reason) => refuse(&mut writer, reason).await,
    }
}

/// Hears who it is and gives it a place. The node keeps the one at the door: there is one node at a time, so
/// it takes none of the others.
async fn admit(
    reader: &mut FrameReader,
    writer: &mut FrameWriter,
    places: &ClientPlaces,
) -> Result<(Role, OwnedSemaphorePermit), String> {
    let door = Arc::clone(&places.door).try_acquire_owned();
    let door = door.map_err(|_| "expected fewer clients that say nothing, found too many")?;
    let greeted = tokio::time::timeout(HELLO_LIMIT, hello(reader, writer, &places.secret));
    let role = greeted
        .await
        .map_err(|_| format!("expected a hello within {HELLO_LIMIT:?}, found nothing"))??;
    if role == Role::Node {
        return Ok((role, door));
    }
    let place = Arc::clone(&places.clients).try_acquire_owned();
    let full = |_| format!("expected at most {CLIENTS} clients, found one more");
    Ok((role, place.map_err(full)?))
}

/// Why the process at the other end may not come in, if so: only this user and root may, and nothing
/// that runs in a browser of ours.
fn stranger(stream: &UnixStream) -> Option<String> {
    let ours = rustix::process::getuid().as_raw();
    let peer = match stream.peer_cred() {
        Ok(peer) => peer,
        Err(error) => return Some(format!("expected to learn who the process is, found {error}")),
    };
    if peer.uid() != ours && peer.uid() != 0 {
        return Some(format!(
            "expected a process of user {ours}, found one of user {}",
            peer.uid()
        ));
    }
    let browsers = peer.pid().is_some_and(launch::is_of_browser);
    browsers.then(|| "expected a client, found a process of a browser".to_owned())
}

/// Hears what a client comes as, and proves to it, and has it prove, that both know the secret.
async fn hello(
    reader: &mut FrameReader,
    writer: &mut FrameWriter,
    secret: &KeeperSecret,
) -> Result<Role, String> {
    let (role, theirs) = match next(reader, "a hello").await? {
        Greeting::Hello { role, version: VERSION, nonce: Some(nonce) } => (role, nonce),
        Greeting::Hello { version: VERSION, .. } => {
            return Err("expected a hello with a nonce, found one without".to_owned());
        }
        Greeting::Hello { version, .. } => {
            return Err(format!("expected version {VERSION} of the protocol, found {version}"));
        }
        Greeting::Proof(_) => return Err("expected a hello, found a proof".to_owned()),
    };
    let ours = Nonce::random();
    let proof = secret.prove(Side::Keeper, role, theirs, ours);
    let challenge = serde_json::to_vec(&KeeperAnswer::Challenge { nonce: ours, proof });
    let challenge = challenge.map_err(|error| error.to_string())?;
    writer.send(challenge).await.map_err(|error| error.to_string())?;
    match next(reader, "a proof").await? {
        Greeting::Proof(proof) if secret.holds(proof, Side::Client, role, theirs, ours) => Ok(role),
        _ => {
            Err("expected a proof that the client knows the keeper's secret, found none".to_owned())
        }
    }
}

async fn next(reader: &mut FrameReader, expected: &str) -> Result<Greeting, String> {
    let frame = reader.next().await.ok().flatten();
    let frame = frame.ok_or_else(|| format!("expected {expected}, found the end"))?;
    serde_json::from_slice(&frame).map_err(|error| format!("expected {expected}, found {error}"))
}

async fn refuse(writer: &mut FrameWriter, reason: String) {
    tracing::warn!(reason, "a client was refused");
    if let Ok(frame) = serde_json::to_vec(&KeeperAnswer::Refused(reason)) {
        let refusing = async {
            // A client that is gone needs no answer.
            let _ = writer.send(frame).await;
            writer.close().await;
        };
        let _ = tokio::time::timeout(HELLO_LIMIT, refusing).await;
    }
}

/// What the loop hears.
pub(super) enum Input {
    /// The browser sent a frame.
    Browser(Vec<u8>),
    /// The browser closed its connection.
    BrowserGone,
    /// A client said hello.
    Connected(Connected),
    /// A client sent a frame.
    Frame(ClientId, Vec<u8>),
    /// A client closed its connection.
    Left(ClientId),
}

/// A client at the door, greeted and checked.
pub(super) struct Connected {
    pub(super) role: Role,
    pub(super) reader: FrameReader,
    pub(super) writer: FrameWriter,
    pub(super) place: OwnedSemaphorePermit,
}
