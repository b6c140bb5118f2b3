//! Where the other server reaches the browser: an address on loopback that stays the same.
//!
//! The one idea: the address belongs to the bridge, not to a browser, so a server can be given it
//! before there is a session, and keeps it over every resume. It opens for whoever knows its random
//! path, speaks WebSocket and is no web page, and leads to the node with the key of the data folder.

use super::session::Session;
use super::{head, relay};
use rand::random;
use std::fmt::Write as _;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

/// How many connections may be open at once.
const CONNECTIONS: usize = 16;
/// How long it may take to come.
const HEAD_LIMIT: Duration = Duration::from_secs(10);
/// How long we wait when the system is short of something.
const PAUSE: Duration = Duration::from_millis(100);

/// The address, as long as it is open.
pub(super) struct Endpoint {
    url: String,
    task: AbortHandle,
}

impl Endpoint {
    /// Opens it.
    pub(super) async fn open(session: Arc<Session>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let path = random::<[u8; 32]>().iter().fold(String::from("/"), |mut path, byte| {
            // Writing to a string does not fail.
            let _ = write!(path, "{byte:02x}");
            path
        });
        let url = format!("ws://127.0.0.1:{port}{path}");
        let task = tokio::spawn(listen(listener, port, path.into(), session)).abort_handle();
        Ok(Self { url, task })
    }

    /// The address, which is a secret.
    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn listen(listener: TcpListener, port: u16, path: Arc<str>, session: Arc<Session>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let place = Arc::clone(&places).try_acquire_owned();
        let (path, session) = (Arc::clone(&path), Arc::clone(&session));
        tokio::spawn(async move {
            let Ok(_place) = place else {
                return refuse(&mut stream, "503 Service Unavailable", "too many connections")
                    .await;
            };
            let head = timeout(HEAD_LIMIT, head::read(&mut stream, port, &path)).await;
            match head.unwrap_or(Err("expected a request within 10 s, found none")) {
                Err(reason) => refuse(&mut stream, "403 Forbidden", reason).await,
                Ok(head) => {
                    if let Err(reason) = relay::run(&mut stream, head, &session).await {
                        refuse(&mut stream, "503 Service Unavailable", &reason).await;
                    }
                }
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
