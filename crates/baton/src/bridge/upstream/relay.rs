//! One connection of the other server to the browser: bytes both ways, until either side or the
//! session ends, or another session is meant.

use super::head::Head;
use super::session::Session;
use anyhow::{Context as _, bail};
use baton_api::AGENT_HEADER;
use baton_session::SessionId;
use secrecy::ExposeSecret as _;
use std::fmt::Write as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{
    AsyncBufRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, copy_buf,
};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// How long the node may take to begin.
const BEGIN_LIMIT: Duration = Duration::from_secs(30);
/// How long one side may go on when the other has ended.
const LINGER: Duration = Duration::from_secs(5);
/// What is passed on at once, in bytes.
const BUFFER: usize = 64 << 10;
/// How an answer begins that opens a WebSocket.
const OPENED: &[u8] = b"HTTP/1.1 101";
/// The headers that go on to the node; all others stay.
const PASSED: [&str; 7] = [
    "connection",
    "upgrade",
    "user-agent",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
];

/// Connects the other server to the session's browser; says why it could not.
pub(super) async fn run(
    stream: &mut TcpStream,
    head: Head,
    session: &Arc<Session>,
) -> Result<(), String> {
    let mut meant = session.watch();
    let id = session.active().await.map_err(|failed| failed.detail().to_owned())?;
    let browser = *meant.borrow_and_update();
    if !browser.is_of(id) {
        return Err("another session is meant by now; connect again".to_owned());
    }
    let begun = timeout(BEGIN_LIMIT, begin(&head, session, id)).await;
    let begun = begun.unwrap_or_else(|_| Err(anyhow::anyhow!("the node does not answer")));
    let (mut node, first) = begun.map_err(|error| format!("{error:#}"))?;
    // It matters to either side how soon a message is there.
    let _ = stream.set_nodelay(true);
    if stream.write_all(&first).await.is_err() {
        return Ok(());
    }
    if !first.starts_with(OPENED) {
        session.doubt();
        session.nodes().forget().await;
        // What the node says is passed on whole.
        let _ = timeout(LINGER, tokio::io::copy(&mut node, stream)).await;
        return Ok(());
    }
    let connected = session.connected(browser);
    let (from_server, to_server) = stream.split();
    let (from_node, to_node) = node.split();
    let mut from_server = BufReader::with_capacity(BUFFER, from_server);
    let mut to_server = to_server;
    {
        let mut up = pin!(pass(&mut from_server, to_node));
        let mut down = pin!(pass(BufReader::with_capacity(BUFFER, from_node), &mut to_server));
        let cut = async {
            // The session ends with the bridge: then nothing else is meant any more.
            let _ = meant.wait_for(|meant| *meant != browser).await;
        };
        tokio::select! {
            // The server hears what the browser still says.
            () = &mut up => { let _ = timeout(LINGER, down).await; }
            () = &mut down => {}
            () = cut => {}
        }
    }
    // The server shall know before it is called again.
    let _closing = connected.close();
    let _ = to_server.shutdown().await;
    let _ = timeout(LINGER, copy_buf(&mut from_server, &mut tokio::io::sink())).await;
    Ok(())
}

/// Asks the node for the browser, as the data folder's admin; returns how the answer begins. A node
/// that has gone is found or started again.
async fn begin(
    head: &Head,
    session: &Session,
    id: SessionId,
) -> anyhow::Result<(TcpStream, Vec<u8>)> {
    let nodes = session.nodes();
    let mut client = nodes.client().await?;
    let mut node = if let Ok(node) = dial(&client).await {
        node
    } else {
        nodes.forget().await;
        client = nodes.client().await?;
        dial(&client).await?
    };
    let mut request = format!("GET /sessions/{id}/cdp HTTP/1.1\r\n");
    let authority = client.base().authority().to_owned();
    let bearer = format!("Bearer {}", client.key().expose_secret());
    let mut ours = vec![("host", authority.as_str()), ("authorization", bearer.as_str())];
    ours.extend(client.agent().map(|agent| (AGENT_HEADER, agent.as_str())));
    let theirs = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in ours.into_iter().chain(theirs.filter(|(name, _)| PASSED.contains(name))) {
        write!(request, "{name}: {value}\r\n")?;
    }
    request.push_str("\r\n");
    node.write_all(request.as_bytes()).await?;
    node.write_all(&head.rest).await?;
    let mut first = Vec::with_capacity(BUFFER);
    while first.len() < OPENED.len() {
        if node.read_buf(&mut first).await? == 0 {
            bail!("expected the node to open the browser, found that it hung up");
        }
    }
    Ok((node, first))
}

async fn dial(client: &baton_api::Client) -> anyhow::Result<TcpStream> {
    let base = client.base();
    let address = base.socket_addrs(|| None).context("expected the node's address")?;
    let node = TcpStream::connect(address.as_slice()).await?;
    node.set_nodelay(true)?;
    Ok(node)
}

async fn pass(mut from: impl AsyncBufRead + Unpin, mut to: impl AsyncWrite + Unpin) {
    // However it ends, the other side is told.
    let _ = copy_buf(&mut from, &mut to).await;
    let _ = to.shutdown().await;
}
