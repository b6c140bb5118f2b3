//! A relay between the node and a keeper: it notes what the node asks, and lets something happen
//! right before a question goes on; or it has the node lose events.

use baton_browser::cdp::{Connection, FrameReader, FrameWriter, Transport};
use baton_browser::keeper::{self, KeeperLink, Role};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::path::Path;

/// More events of no meaning than the node holds, in one piece (`CAPACITY` in `src/cdp/events.rs`).
const FLOOD: usize = 20_000;
const NOTHING: &str = r#"{"method":"Relay.nothing","params":{}}"#;
/// How much lies between the two at most, in bytes: the flood comes at once.
const ROOM: usize = 2 * 1024 * 1024;

/// Connects as the node. Before a call goes on, `before` is told of it, and waited for.
pub(crate) async fn connect(
    socket: &Path,
    before: impl FnMut(Value) -> BoxFuture<'static, ()> + Send + 'static,
) -> KeeperLink {
    join(socket, before, |_| false).await
}

/// Connects as the node, which loses the events of which `loses` says so: others come in their place, so many that
/// no queue holds them.
pub(crate) async fn connect_losing(
    socket: &Path,
    loses: impl FnMut(&Value) -> bool + Send + 'static,
) -> KeeperLink {
    join(socket, |_| async {}.boxed(), loses).await
}

async fn join(
    socket: &Path,
    before: impl FnMut(Value) -> BoxFuture<'static, ()> + Send + 'static,
    loses: impl FnMut(&Value) -> bool + Send + 'static,
) -> KeeperLink {
    let (transport, welcome) = keeper::knock(socket, Role::Node).await.unwrap();
    let (from_keeper, to_keeper) = transport.split();
    let (ours, theirs) = tokio::io::duplex(ROOM);
    let (reader, writer) = tokio::io::split(theirs);
    let (from_node, to_node) = Transport::nul(reader, writer).split();
    tokio::spawn(pass(from_keeper, to_node, loses));
    tokio::spawn(ask(from_node, to_keeper, before));
    let (reader, writer) = tokio::io::split(ours);
    let (connection, events) = Connection::start(Transport::nul(reader, writer));
    KeeperLink { connection, events, welcome }
}

async fn pass(
    mut from: FrameReader,
    mut to: FrameWriter,
    mut loses: impl FnMut(&Value) -> bool + Send + 'static,
) {
    while let Ok(Some(mut frame)) = from.next().await {
        if serde_json::from_slice(&frame).is_ok_and(|told| loses(&told)) {
            frame = vec![NOTHING; FLOOD].join("\0").into_bytes();
        }
        if to.send(frame).await.is_err() {
            return;
        }
    }
}

async fn ask(
    mut from: FrameReader,
    mut to: FrameWriter,
    mut before: impl FnMut(Value) -> BoxFuture<'static, ()>,
) {
    while let Ok(Some(frame)) = from.next().await {
        before(serde_json::from_slice(&frame).unwrap()).await;
        if to.send(frame).await.is_err() {
            return;
        }
    }
}
