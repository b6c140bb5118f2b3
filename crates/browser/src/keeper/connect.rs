//! The other side of a keeper's socket: how the node, or a door of the node, comes in.

use super::KeeperError;
use super::boot_clock::BootInstant;
use super::protocol::{Answer, Greeting, Role, VERSION, Welcome};
use super::socket::{check_length, nobody_listens};
use crate::cdp::{Connection, Events, FrameReader, FrameWriter, Transport};
use std::path::Path;
use std::time::Duration;
use tokio::net::UnixStream;

/// How long a connection may take.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long a keeper may take to end after it was told to: the browser's 10 s, and a little.
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

/// Connects to the keeper at `socket` within 5 s.
pub async fn connect(socket: &Path, role: Role) -> Result<KeeperLink, KeeperError> {
    let (transport, welcome) = knock(socket, role).await?;
    let (connection, events) = Connection::start(transport);
    Ok(KeeperLink { connection, events, welcome })
}

/// Connects without speaking CDP, for a door that only passes frames on.
pub async fn knock(socket: &Path, role: Role) -> Result<(Transport, Welcome), KeeperError> {
    check_length(socket)?;
    tokio::time::timeout(CONNECT_LIMIT, greet(socket, role)).await.unwrap_or(Err(
        KeeperError::TimedOut { what: "a welcome of the keeper", limit: CONNECT_LIMIT },
    ))
}

/// Connects to whoever listens at `socket`, without a word.
pub(super) async fn dial(socket: &Path) -> Result<UnixStream, KeeperError> {
    UnixStream::connect(socket).await.map_err(|error| {
        if nobody_listens(&error) {
            KeeperError::NotRunning { socket: socket.to_owned() }
        } else {
            KeeperError::file("connect to", socket)(error)
        }
    })
}

async fn greet(socket: &Path, role: Role) -> Result<(Transport, Welcome), KeeperError> {
    let stream = dial(socket).await?;
    let (reader, writer) = stream.into_split();
    let (mut reader, mut writer) = Transport::nul(reader, writer).split();
    say_hello(&mut writer, role).await.map_err(KeeperError::file("write to", socket))?;
    let welcome = answer(&mut reader, socket).await?;
    Ok((Transport::join(reader, writer), welcome))
}

async fn say_hello(writer: &mut FrameWriter, role: Role) -> std::io::Result<()> {
    let hello = serde_json::to_vec(&Greeting::Hello { role, version: VERSION })?;
    writer.send(hello).await
}

async fn answer(reader: &mut FrameReader, socket: &Path) -> Result<Welcome, KeeperError> {
    let frame = reader.next().await.map_err(KeeperError::file("read from", socket))?;
    // A keeper that ends closes the door on whoever waits there.
    let frame = frame.ok_or_else(|| KeeperError::NotRunning { socket: socket.to_owned() })?;
    match serde_json::from_slice(&frame) {
        Ok(Answer::Welcome(welcome)) => Ok(welcome),
        Ok(Answer::Refused(reason)) => Err(KeeperError::Refused { reason }),
        Err(error) => Err(KeeperError::NotUnderstood {
            expected: "a welcome of the keeper",
            found: error.to_string(),
        }),
    }
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
    tokio::time::timeout(END_LIMIT, connection.closed())
        .await
        .map_err(|_| KeeperError::TimedOut { what: "the end of the keeper", limit: END_LIMIT })
}
