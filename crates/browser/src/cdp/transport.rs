//! How a browser is reached, and how frames travel: NUL-delimited over a pipe or Unix socket, or as
//! WebSocket messages.
//!
//! A frame is one JSON message, without its delimiter, of at most [`FRAME_LIMIT`] bytes.
//!
//! A user types an address: `ws://…` is taken as it is, `http://…` resolved. A `DevTools` endpoint
//! names its WebSocket under `/json/version`. Only the path of that answer is used: host and port stay
//! those of the address, which its giver has checked.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, tungstenite};
use url::Url;

/// The largest frame that is read, in bytes.
pub const FRAME_LIMIT: usize = 256 * 1024 * 1024;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// A way to a browser, not yet spoken over.
pub struct Transport {
    reader: FrameReader,
    writer: FrameWriter,
}

impl Transport {
    /// NUL-delimited frames, as on Chromium's pipe and the keeper's socket.
    pub fn nul(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let reader = Reading::Nul(BufReader::with_capacity(64 * 1024, Box::new(reader)));
        let writer = Writing::Nul(Box::new(writer));
        Self { reader: FrameReader(reader), writer: FrameWriter(writer) }
    }

    /// One WebSocket message a frame, as on a debugging port.
    pub fn websocket(socket: Socket) -> Self {
        let (writer, reader) = socket.split();
        Self {
            reader: FrameReader(Reading::WebSocket(reader)),
            writer: FrameWriter(Writing::WebSocket(writer)),
        }
    }

    /// A way whose two directions were split.
    pub fn join(reader: FrameReader, writer: FrameWriter) -> Self {
        Self { reader, writer }
    }

    /// The two directions, for a caller that sorts frames itself.
    pub fn split(self) -> (FrameReader, FrameWriter) {
        (self.reader, self.writer)
    }
}

/// Frames from the other side.
pub struct FrameReader(Reading);

enum Reading {
    Nul(BufReader<Box<dyn AsyncRead + Send + Unpin>>),
    WebSocket(SplitStream<Socket>),
}

impl FrameReader {
    /// The next frame; none when the other side has ended the connection. Not safe to cancel and
    /// call again.
    pub async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        match &mut self.0 {
            Reading::Nul(reader) => next_until_nul(reader, FRAME_LIMIT).await,
            Reading::WebSocket(stream) => next_message(stream).await,
        }
    }
}

async fn next_until_nul(
    reader: &mut (impl AsyncBufReadExt + Unpin),
    limit: usize,
) -> io::Result<Option<Vec<u8>>> {
    let mut frame = Vec::new();
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            // A frame without its end is no frame: the other side died while it wrote.
            return Ok(None);
        }
        let end = memchr::memchr(0, buffer);
        let part = &buffer[..end.unwrap_or(buffer.len())];
        if frame.len() + part.len() > limit {
            let message = format!("expected a frame of at most {limit} bytes, found a longer one");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        frame.extend_from_slice(part);
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(frame));
        }
    }
}

async fn next_message(stream: &mut SplitStream<Socket>) -> io::Result<Option<Vec<u8>>> {
    while let Some(message) = stream.next().await {
        match message.map_err(broken)? {
            Message::Text(text) => return Ok(Some(text.as_bytes().to_vec())),
            Message::Binary(bytes) => return Ok(Some(bytes.to_vec())),
            Message::Close(_) => return Ok(None),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        }
    }
    Ok(None)
}

/// Frames to the other side.
pub struct FrameWriter(Writing);

enum Writing {
    Nul(Box<dyn AsyncWrite + Send + Unpin>),
    WebSocket(SplitSink<Socket, Message>),
}

/// How many bytes of frames are written at once.
const BATCH_BYTES: usize = 64 * 1024;

impl FrameWriter {
    /// Sends frames, several in one write where they are small. See [`send`](Self::send).
    pub(crate) async fn send_all(
        &mut self,
        frames: impl Iterator<Item = Vec<u8>>,
    ) -> io::Result<()> {
        let Writing::Nul(writer) = &mut self.0 else {
            for frame in frames {
                self.send(frame).await?;
            }
            return Ok(());
        };
        let mut batch = Vec::new();
        for frame in frames {
            batch.extend_from_slice(&frame);
            batch.push(0);
            if batch.len() >= BATCH_BYTES {
                writer.write_all(&batch).await?;
                batch.clear();
            }
        }
        writer.write_all(&batch).await?;
        writer.flush().await
    }

    /// Sends one frame, which must not hold a NUL byte (JSON never does).
    pub async fn send(&mut self, mut frame: Vec<u8>) -> io::Result<()> {
        match &mut self.0 {
            Writing::Nul(writer) => {
                frame.push(0);
                writer.write_all(&frame).await?;
                writer.flush().await
            }
            Writing::WebSocket(sink) => {
                let text = String::from_utf8(frame)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                sink.send(Message::text(text)).await.map_err(broken)
            }
        }
    }

    /// Ends this direction; errors do not matter any more.
    pub async fn close(&mut self) {
        let closed = match &mut self.0 {
            Writing::Nul(writer) => writer.shutdown().await,
            Writing::WebSocket(sink) => sink.close().await.map_err(broken),
        };
        if let Err(error) = closed {
            tracing::trace!(%error, "the connection was already closed");
        }
    }
}

fn broken(error: tungstenite::Error) -> io::Error {
    match error {
        tungstenite::Error::Io(error) => error,
        other => io::Error::other(other),
    }
}

/// How long each of the two steps may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The largest answer of `/json/version` that is read, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024;

/// Why an address leads to no browser.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// The text is no address that Baton can attach to.
    #[error("expected a CDP address such as http://127.0.0.1:9222 or ws://…, found {found:?}")]
    Invalid {
        /// The text.
        found: String,
    },
    /// Nothing that speaks CDP answers there.
    #[error("unreachable: expected a DevTools endpoint at {address}, found {found}")]
    Unreachable {
        /// The address that was tried.
        address: String,
        /// What was there instead.
        found: String,
    },
}

/// Connects to the `DevTools` endpoint at `address`.
pub async fn connect(address: &str) -> Result<Transport, AddressError> {
    let invalid = || AddressError::Invalid { found: address.to_owned() };
    let url = Url::parse(address).map_err(|_| invalid())?;
    let url = match url.scheme() {
        "ws" => url,
        "http" => resolve(&url).await?,
        _ => return Err(invalid()),
    };
    open(&url).await
}

/// Asks `/json/version` for the path of the browser's WebSocket.
async fn resolve(base: &Url) -> Result<Url, AddressError> {
    let mut version = base.clone();
    version.set_path("/json/version");
    let found = |found: String| unreachable_at(&version, found);
    let body = fetch(&version).await.map_err(found)?;
    let answer: serde_json::Value = serde_json::from_slice(&body).map_err(|error| {
        unreachable_at(&version, format!("an answer that is no JSON ({error})"))
    })?;
    let path = answer["webSocketDebuggerUrl"].as_str().and_then(|text| Url::parse(text).ok());
    let path = path
        .ok_or_else(|| unreachable_at(&version, "no webSocketDebuggerUrl in the answer".into()))?;
    let mut url = version.clone();
    url.set_path(path.path());
    url.set_scheme("ws").map_err(|()| AddressError::Invalid { found: base.to_string() })?;
    Ok(url)
}

async fn fetch(url: &Url) -> Result<Vec<u8>, String> {
    let client = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .timeout(LIMIT);
    // Without TLS nobody's certificate is looked at, and nothing is read for that.
    let client = if url.scheme() == "http" { client.tls_certs_only(Vec::new()) } else { client };
    let client = client.build().map_err(|error| chain(&error))?;
    let mut response = client.get(url.clone()).send().await.map_err(|error| chain(&error))?;
    if !response.status().is_success() {
        return Err(format!("status {}", response.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| chain(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_LIMIT {
            return Err(format!("an answer of more than {ANSWER_LIMIT} bytes"));
        }
    }
    Ok(body)
}

async fn open(url: &Url) -> Result<Transport, AddressError> {
    let config = WebSocketConfig::default()
        .max_message_size(Some(FRAME_LIMIT))
        .max_frame_size(Some(FRAME_LIMIT));
    let connecting = tokio_tungstenite::connect_async_with_config(url.as_str(), Some(config), true);
    match tokio::time::timeout(LIMIT, connecting).await {
        Ok(Ok((socket, _))) => Ok(Transport::websocket(socket)),
        Ok(Err(error)) => Err(unreachable_at(url, chain(&error))),
        Err(_) => Err(unreachable_at(url, format!("no answer within {LIMIT:?}"))),
    }
}

fn unreachable_at(url: &Url, found: String) -> AddressError {
    AddressError::Unreachable { address: url.to_string(), found }
}

/// The innermost cause, which names what happened; the outer ones only say that it did.
fn chain(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_end_at_nul_and_half_a_frame_is_none() {
        let mut reader = BufReader::with_capacity(4, &b"{\"id\":1}\0{}\0{\"ha"[..]);
        let mut next = async || next_until_nul(&mut reader, 100).await.unwrap();
        assert_eq!(next().await.unwrap(), b"{\"id\":1}");
        assert_eq!(next().await.unwrap(), b"{}");
        assert!(next().await.is_none());
    }

    #[tokio::test]
    async fn a_frame_beyond_the_limit_is_refused() {
        let mut reader = &b"123456\0"[..];
        let error = next_until_nul(&mut reader, 5).await.unwrap_err();
        assert_eq!(error.to_string(), "expected a frame of at most 5 bytes, found a longer one");
    }
}
