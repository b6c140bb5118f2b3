//! The door of a keeper: who may come in, and as what.

use super::input::{Connected, Input};
use super::protocol::{Answer, Greeting, Role, VERSION};
use crate::cdp::{FrameReader, FrameWriter, Transport};
use std::io;
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
}

/// Accepts clients as long as anyone takes them.
pub(super) async fn accept(listener: UnixListener, inputs: mpsc::Sender<Input>) {
    let places = Arc::new(Places {
        door: Arc::new(Semaphore::new(AT_THE_DOOR)),
        clients: Arc::new(Semaphore::new(CLIENTS)),
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
        None => admit(&mut reader, &places).await,
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
    places: &Places,
) -> Result<(Role, OwnedSemaphorePermit), String> {
    let door = Arc::clone(&places.door).try_acquire_owned();
    let door = door.map_err(|_| "expected fewer clients that say nothing, found too many")?;
    let role = hello(reader).await?;
    if role == Role::Node {
        return Ok((role, door));
    }
    let place = Arc::clone(&places.clients).try_acquire_owned();
    let full = |_| format!("expected at most {CLIENTS} clients, found one more");
    Ok((role, place.map_err(full)?))
}

/// Why the process at the other end may not come in, if so: only this user and root may.
fn stranger(stream: &UnixStream) -> Option<String> {
    let ours = rustix::process::getuid().as_raw();
    match stream.peer_cred().map(|peer| peer.uid()) {
        Ok(uid) if uid == ours || uid == 0 => None,
        Ok(uid) => Some(format!("expected a process of user {ours}, found one of user {uid}")),
        Err(error) => Some(format!("expected to learn the user of the process, found {error}")),
    }
}

async fn hello(reader: &mut FrameReader) -> Result<Role, String> {
    let frame: io::Result<Option<Vec<u8>>> = tokio::time::timeout(HELLO_LIMIT, reader.next())
        .await
        .map_err(|_| format!("expected a hello within {HELLO_LIMIT:?}, found nothing"))?;
    let frame = frame.ok().flatten().ok_or("expected a hello, found the end")?;
    match serde_json::from_slice(&frame) {
        Ok(Greeting::Hello { role, version: VERSION }) => Ok(role),
        Ok(Greeting::Hello { version, .. }) => {
            Err(format!("expected version {VERSION} of the protocol, found {version}"))
        }
        Err(error) => Err(format!("expected a hello, found {error}")),
    }
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
