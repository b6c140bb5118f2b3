//! Where the other server reaches the browser: an address on loopback that stays the same.
//!
//! The one idea: the address belongs to the bridge, not to a browser, so a server can be given it
//! before there is a session, and keeps it over every resume. It opens for whoever knows its random
//! path, speaks WebSocket and is no web page, and leads to the node with the key of the data folder.

use super::secret::Secret;
use super::session::Session;
use super::{head, relay};
use rand::random;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How many connections may be open at once.
const CONNECTIONS: usize = 16;
/// How many may be open that have not said yet who they are: strangers take nobody else's place, and of one
/// too many the first that came loses theirs.
const STRANGERS: usize = 64;
/// How long it may take to come.
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// How long we wait when the system is short of something.
const PAUSE: Duration = Duration::from_millis(100);

/// The address, as long as it is open.
pub(super) struct Endpoint {
    url: String,
    secret: Secret,
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
        Ok(Self { url, secret: Secret::new(&secret), task })
    }

    /// The address, which is a secret.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// What of it nobody else may read.
    pub(super) fn secret(&self) -> Secret {
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
            let read = timeout(HEAD_LIMIT, head::read(&mut stream, port, &path));
            // Cancelled from here it has lost its place; cancelled by itself it has said who it is.
            let Some(head) = stranger.run_until_cancelled(read).await else { return };
            stranger.cancel();
            let head = match head.unwrap_or(Err("expected a request within 10 s, found none")) {
                Ok(head) => head,
                Err(reason) => return refuse(&mut stream, "403 Forbidden", reason).await,
            };
            let connected = match places.try_acquire_owned() {
                Ok(_place) => relay::run(&mut stream, head, &session).await,
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
    // Whoever has left misses it.
    let _ = timeout(HEAD_LIMIT, stream.write_all(answer.as_bytes())).await;
}
