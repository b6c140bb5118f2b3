//! Where the other server reaches the browser: an address on loopback that stays the same.
//!
//! The one idea: the address belongs to the bridge, not to a browser, so a server can be given it before
//! there is a session, and keeps it over every resume. It opens for a client that knows its random path,
//! speaks WebSocket and is no web page, and leads to the node with the key of the data folder. Then bytes go
//! both ways, until either side or the session ends, or another session is meant.

use super::process::AddressSecret;
use super::session::Session;
use anyhow::{Context as _, bail};
use baton_api::AGENT_HEADER;
use baton_session::SessionId;
use rand::random;
use secrecy::ExposeSecret as _;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::hint::black_box;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{
    AsyncBufRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, copy_buf,
};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How many connections may be open at once.
const CONNECTIONS: usize = 16;
/// How many may be open that have not said yet who they are: strangers take no place of others, and of one
/// too many the first that came loses its own.
const STRANGERS: usize = 64;
/// How long it may take to come.
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// How long we wait when the system is short of something.
const PAUSE: Duration = Duration::from_millis(100);

/// The address, as long as it is open.
pub(super) struct Endpoint {
    url: String,
    secret: AddressSecret,
    task: AbortHandle,
}

impl Endpoint {
    /// Opens it.
    pub(super) async fn open(session: Arc<Session>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let secret = random::<[u8; 32]>().iter().fold(String::new(), |mut secret, byte| {
            // Writing to a string does not fail.
            let _ = write!(secret, "{byte:02x}");
            secret
        });
        let path = format!("/{secret}");
        let url = format!("ws://127.0.0.1:{port}{path}");
        let task = tokio::spawn(listen(listener, port, path.into(), session)).abort_handle();
        Ok(Self { url, secret: AddressSecret::new(&secret), task })
    }

    /// The address, which is a secret.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What of it no other may read.
    pub(super) fn secret(&self) -> AddressSecret {
        self.secret.clone()
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(listener: TcpListener, port: u16, path: Arc<str>, session: Arc<Session>) {
    let mut strangers = VecDeque::<CancellationToken>::new();
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        strangers.retain(|stranger| !stranger.is_cancelled());
        if strangers.len() >= STRANGERS
            && let Some(first) = strangers.pop_front()
        {
            first.cancel();
        }
        let stranger = CancellationToken::new();
        strangers.push_back(stranger.clone());
        let (path, session) = (Arc::clone(&path), Arc::clone(&session));
        let places = Arc::clone(&places);
        tokio::spawn(async move {
            let read = timeout(HEAD_LIMIT, read_head(&mut stream, port, &path));
            // Cancelled from here it has lost its place; cancelled by itself it has said who it is.
            let Some(head) = stranger.run_until_cancelled(read).await else { return };
            stranger.cancel();
            let head = match head.unwrap_or(Err("expected a request within 10 s, found none")) {
                Ok(head) => head,
                Err(reason) => return refuse(&mut stream, "403 Forbidden", reason).await,
            };
            let connected = match places.try_acquire_owned() {
                Ok(_place) => relay(&mut stream, head, &session).await,
                Err(_) => Err("too many connections".to_owned()),
            };
            if let Err(reason) = connected {
                refuse(&mut stream, "503 Service Unavailable", &reason).await;
            }
        });
    }
}

async fn refuse(stream: &mut TcpStream, status: &str, reason: &str) {
    let length = reason.len();
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{reason}"
    );
    // A client that has left misses it.
    let _ = timeout(HEAD_LIMIT, stream.write_all(answer.as_bytes())).await;
}

/// The longest head of a request, in bytes.
const HEAD_BYTES: usize = 16 << 10;
/// How many headers it may have.
const HEADERS: usize = 64;

/// What of a request's head goes on to the node.
pub(super) struct Head {
    /// Names and values.
    pub(super) headers: Vec<(String, String)>,
    /// What the client has sent behind the head.
    pub(super) rest: Vec<u8>,
}

/// Reads the head of a request that may come in.
async fn read_head(stream: &mut TcpStream, port: u16, path: &str) -> Result<Head, &'static str> {
    let mut bytes = Vec::new();
    loop {
        if let Some(head) = understood(&bytes, port, path)? {
            return Ok(head);
        }
        if bytes.len() >= HEAD_BYTES {
            return Err("expected a head of at most 16 KiB, found a longer one");
        }
        let read = stream.read_buf(&mut bytes).await;
        if read.map_or(true, |count| count == 0) {
            return Err("expected a request, found half of one");
        }
    }
}

/// The head, when it is whole; none while it is not.
fn understood(bytes: &[u8], port: u16, path: &str) -> Result<Option<Head>, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err("expected a request of HTTP/1.1, found something else"),
    };
    if !is_same(request.path.unwrap_or_default().as_bytes(), path.as_bytes()) {
        return Err("expected the whole address that this server was given, found another path");
    }
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), text(header.value)))
        .collect();
    let of = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if of("origin").is_some() {
        return Err("expected a program, found a web page: the header Origin names one");
    }
    if !of("host").is_some_and(|host| hosts.contains(host)) {
        return Err("expected the header Host to name this address, found another one");
    }
    let upgrades = of("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"));
    if request.method != Some("GET") || !upgrades {
        return Err("expected the handshake of a WebSocket, found another request");
    }
    Ok(Some(Head { headers, rest: bytes[length..].to_vec() }))
}

/// Compares in a time that does not tell how much is right.
fn is_same(found: &[u8], expected: &[u8]) -> bool {
    let differ = found
        .iter()
        .zip(expected)
        .fold(0, |differ, (one, other)| black_box(differ | (one ^ other)));
    found.len() == expected.len() && differ == 0
}

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
async fn relay(stream: &mut TcpStream, head: Head, session: &Arc<Session>) -> Result<(), String> {
    let mut meant = session.watch();
    let id = session.active().await.map_err(|failed| failed.detail().to_owned())?;
    let browser = *meant.borrow_and_update();
    if !browser.is_of(id) {
        return Err("another session is meant by now; connect again".to_owned());
    }
    let begun = timeout(BEGIN_LIMIT, open_browser(&head, session, id)).await;
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
async fn open_browser(
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
    // However it ends, the other side hears of it.
    let _ = copy_buf(&mut from, &mut to).await;
    let _ = to.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "GET /secret HTTP/1.1\r\nHost: 127.0.0.1:9\r\nUpgrade: websocket\r\n\
                        Connection: Upgrade\r\nSec-WebSocket-Key: a\r\n\r\nrest";

    fn reason(request: &str) -> &'static str {
        match understood(request.as_bytes(), 9, "/secret") {
            Err(reason) => reason,
            Ok(None) => "more",
            Ok(Some(_)) => "good",
        }
    }

    #[test]
    fn a_handshake_with_the_secret_comes_in_and_nothing_else_does() {
        let head = understood(GOOD.as_bytes(), 9, "/secret").unwrap().unwrap();
        assert_eq!(head.rest, b"rest");
        assert_eq!(reason(&GOOD[..40]), "more");
        let wrong = [
            GOOD.replace("/secret", "/secres"),
            GOOD.replace("/secret", "/"),
            GOOD.replace("/secret", "/secret?"),
            GOOD.replace("Host: 127.0.0.1:9", "Host: evil.example:9"),
            GOOD.replace("Host: 127.0.0.1:9", "Host: 127.0.0.1:9\r\nOrigin: https://evil.example"),
            GOOD.replace("Upgrade: websocket", "Accept: */*"),
            GOOD.replace("GET ", "POST "),
            "\x16\x03\x01".to_owned(),
        ];
        let told = wrong.map(|request| reason(&request)).join("\n");
        insta::assert_snapshot!(told, @"
        expected the whole address that this server was given, found another path
        expected the whole address that this server was given, found another path
        expected the whole address that this server was given, found another path
        expected the header Host to name this address, found another one
        expected a program, found a web page: the header Origin names one
        expected the handshake of a WebSocket, found another request
        expected the handshake of a WebSocket, found another request
        expected a request of HTTP/1.1, found something else
        ");
    }
}
