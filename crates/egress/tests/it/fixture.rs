//! A way out for a test, sites behind it, and a client that uses it.

use baton_egress::{Egress, Fence, Guests, HostTally, Others, Route, Upstream};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Whoever comes.
#[derive(Debug)]
pub struct Anybody;

impl Guests for Anybody {
    fn may_come(&self, _: SocketAddr, _: SocketAddr) -> bool {
        true
    }
}

/// Nobody at all.
#[derive(Debug)]
pub struct Nobody;

impl Guests for Nobody {
    fn may_come(&self, _: SocketAddr, _: SocketAddr) -> bool {
        false
    }
}

/// What a look finds in the end.
pub async fn eventually<T>(mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), looking).await.expect("it is so in the end")
}

/// A way out that serves as long as the test runs.
pub struct Way {
    pub egress: Egress,
    pub address: SocketAddr,
}

pub fn fence(hosts: &[&str], others: Others) -> Fence {
    let hosts = hosts.iter().map(|rule| rule.parse().unwrap()).collect();
    Fence { hosts, others, lent: None }
}

impl Way {
    pub async fn within(fence: Fence) -> Self {
        Self::new(fence, None, Arc::new(Anybody)).await
    }

    pub async fn new(fence: Fence, upstream: Option<Upstream>, guests: Arc<dyn Guests>) -> Self {
        let route = upstream.map(Box::new).map_or(Route::Direct, Route::Through);
        Self::serving(Egress::new(vec![fence], route), guests).await
    }

    pub async fn serving(egress: Egress, guests: Arc<dyn Guests>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = egress.clone();
        tokio::spawn(async move { serving.serve(listener, guests).await });
        Self { egress, address }
    }

    /// What is noted of a host.
    pub fn tally(&self, host: &str) -> Option<HostTally> {
        let tallies = self.egress.ledger().tallies();
        tallies.into_iter().find(|tally| tally.host.as_deref() == Some(host))
    }

    /// Says a request, and gives the status and the body of the answer; the connection ends with it.
    pub async fn say(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, answer.split_once("\r\n\r\n").map_or("", |(_, body)| body).to_owned())
    }

    /// Asks for a page without TLS.
    pub async fn get(&self, url: &str) -> (u16, String) {
        self.say(&format!("GET {url} HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n"))
            .await
    }

    /// Asks for a connection, says something over it, and gives what comes back.
    pub async fn tunnel(&self, target: &str, word: &str) -> Result<String, u16> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let mut stream = BufReader::new(stream);
        let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        stream.get_mut().write_all(request.as_bytes()).await.unwrap();
        let mut status = None;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return Err(status.unwrap_or(0));
            }
            status = status.or_else(|| line.split(' ').nth(1)?.parse().ok());
            if line == "\r\n" {
                break;
            }
        }
        match status {
            Some(200) => {}
            other => return Err(other.unwrap_or(0)),
        }
        stream.get_mut().write_all(word.as_bytes()).await.unwrap();
        stream.get_mut().shutdown().await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        Ok(answer)
    }
}

/// A site that answers each request with what it got, and each other word with that word.
pub struct Echo {
    pub address: SocketAddr,
}

impl Echo {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(echo(stream));
            }
        });
        Self { address }
    }
}

/// Answers one connection.
async fn echo(mut stream: TcpStream) {
    let mut heard = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let length = stream.read(&mut chunk).await.unwrap_or(0);
        heard.extend_from_slice(&chunk[..length]);
        let is_request = heard.starts_with(b"GET ") && heard.ends_with(b"\r\n\r\n");
        if length == 0 || is_request {
            break;
        }
    }
    let status = if heard.starts_with(b"GET ") {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", heard.len())
    } else {
        String::new()
    };
    let _ = stream.write_all(status.as_bytes()).await;
    let _ = stream.write_all(&heard).await;
}
