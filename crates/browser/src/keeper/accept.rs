//! The door of a keeper: who may come in, and as what.

use super::input::{Connected, Input};
use super::protocol::{Answer, Greeting, Nonce, Role, VERSION};
use super::secret::{Secret, Side};
use crate::cdp::{FrameReader, FrameWriter, Transport};
use crate::launch;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// How many clients may be connected at once; the node, or its successor, always finds a place.
const CLIENTS: usize = 32;
/// How many may stand at the door without having said who they are.
const AT_THE_DOOR: usize = 32;
/// How long a client may take to say hello.
const HELLO_LIMIT: Duration = Duration::from_secs(5);

/// The places that there are; whoever has one keeps it until it leaves.
struct Places {
    door: Arc<Semaphore>,
    clients: Arc<Semaphore>,
    secret: Secret,
}

/// Accepts clients as long as anyone takes them.
pub(super) async fn accept(listener: UnixListener, secret: Secret, inputs: mpsc::Sender<Input>) {
    let places = Arc::new(Places {
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

async fn greet(stream: UnixStream, places: Arc<Places>, inputs: mpsc::Sender<Input>) {
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
            // When nobody receives any more, the keeper is about to end.
            let _ = inputs.send(Input::Connected(connected)).await;
        }
        Err(reason) => refuse(&mut writer, reason).await,
    }
}

/// Hears who it is and gives it a place. The node keeps the one at the door: there is one node at a
/// time, so it takes nobody's.
async fn admit(
    reader: &mut FrameReader,
    writer: &mut FrameWriter,
    places: &Places,
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
    secret: &Secret,
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
    let challenge = serde_json::to_vec(&Answer::Challenge { nonce: ours, proof });
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
    if let Ok(frame) = serde_json::to_vec(&Answer::Refused(reason)) {
        let refusing = async {
            // A client that is gone needs no answer.
            let _ = writer.send(frame).await;
            writer.close().await;
        };
        let _ = tokio::time::timeout(HELLO_LIMIT, refusing).await;
    }
}
