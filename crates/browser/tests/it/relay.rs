//! A relay between the node and a keeper: it notes what the node asks, and lets something happen
//! right before a question goes on.

use baton_browser::cdp::{Connection, FrameReader, FrameWriter, Transport};
use baton_browser::keeper::{self, KeeperLink, Role};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::path::Path;

/// Connects as the node. Before a call goes on, `before` is told of it, and waited for.
pub(crate) async fn connect(
    socket: &Path,
    before: impl FnMut(Value) -> BoxFuture<'static, ()> + Send + 'static,
) -> KeeperLink {
    let (transport, welcome) = keeper::knock(socket, Role::Node).await.unwrap();
    let (from_keeper, to_keeper) = transport.split();
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let (from_node, to_node) = Transport::nul(reader, writer).split();
    tokio::spawn(pass(from_keeper, to_node));
    tokio::spawn(ask(from_node, to_keeper, before));
    let (reader, writer) = tokio::io::split(ours);
    let (connection, events) = Connection::start(Transport::nul(reader, writer));
    KeeperLink { connection, events, welcome }
}

async fn pass(mut from: FrameReader, mut to: FrameWriter) {
    while let Ok(Some(frame)) = from.next().await {
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
