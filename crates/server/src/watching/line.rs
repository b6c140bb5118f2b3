//! What is written to a viewer: a few messages that wait, and whether it reads at all.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_util::sync::CancellationToken;

pub(super) type ViewerStream = SplitStream<WebSocketStream<TokioIo<Upgraded>>>;

/// How many messages wait for a viewer.
const WAITING: usize = 16;
/// How many of those places pictures leave to what is said beside them.
const FOR_WORDS: usize = 8;
/// How long a viewer may take until it has read a message.
const SEND_LIMIT: Duration = Duration::from_secs(10);
/// How often a viewer is asked whether it is there; a browser answers by itself.
const ASK_PAUSE: Duration = Duration::from_secs(2);
/// How long the last words may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// The way to a viewer.
pub(super) struct Line {
    queue: mpsc::Sender<Message>,
    broken: CancellationToken,
    writer: JoinHandle<()>,
}

impl Line {
    /// The way to the viewer at the other end of this, and what it says.
    pub(super) fn open<S>(socket: WebSocketStream<S>) -> (Self, SplitStream<WebSocketStream<S>>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self::open_within(socket, SEND_LIMIT)
    }

    /// The same for a viewer that may take so long until it has read a message.
    fn open_within<S>(
        socket: WebSocketStream<S>,
        limit: Duration,
    ) -> (Self, SplitStream<WebSocketStream<S>>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sink, heard) = socket.split();
        let (queue, messages) = mpsc::channel(WAITING);
        let broken = CancellationToken::new();
        let writer = tokio::spawn(write(sink, messages, limit, broken.clone()));
        (Self { queue, broken, writer }, heard)
    }

    /// Sends a message, if there is room for it.
    pub(super) fn offer(&self, message: Message) -> bool {
        self.queue.try_send(message).is_ok()
    }

    /// Whether there is room for a picture.
    pub(super) fn takes_pictures(&self) -> bool {
        self.queue.capacity() > FOR_WORDS
    }

    /// Waits until the viewer is gone, or has read nothing for too long.
    pub(super) async fn broken(&self) {
        self.broken.cancelled().await;
    }

    /// Says why it ends, to a viewer that listens, and ends it.
    pub(super) async fn close(mut self, frame: CloseFrame) {
        self.offer(Message::Close(Some(frame)));
        drop(self.queue);
        if timeout(FAREWELL, &mut self.writer).await.is_err() {
            self.writer.abort();
        }
    }
}

async fn write<S>(
    mut sink: SplitSink<WebSocketStream<S>, Message>,
    mut messages: mpsc::Receiver<Message>,
    limit: Duration,
    broken: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut asks = interval(ASK_PAUSE);
    asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            biased;
            message = messages.recv() => message,
            _ = asks.tick() => Some(Message::Ping(Vec::new().into())),
        };
        let Some(message) = message else { break };
        if !matches!(timeout(limit, sink.send(message)).await, Ok(Ok(()))) {
            break;
        }
    }
    broken.cancel();
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio_tungstenite::tungstenite::protocol::Role;

    /// How long something may take to be seen.
    const SEEN: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_viewer_that_reads_nothing_makes_nobody_wait_and_its_line_ends() {
        // Its socket takes less than one picture.
        let (ours, _unread) = tokio::io::duplex(1024);
        let socket = WebSocketStream::from_raw_socket(ours, Role::Server, None).await;
        let (line, _heard) = Line::open_within(socket, Duration::from_millis(100));
        // There is no waiting until all is full, so nothing of it is written before.
        for _ in 0..WAITING - FOR_WORDS {
            assert!(line.takes_pictures() && line.offer(Message::binary(vec![0; 64 << 10])));
        }
        assert!(!line.takes_pictures());
        for _ in 0..FOR_WORDS {
            assert!(line.offer(Message::text("words")));
        }
        assert!(!line.offer(Message::text("words")));
        timeout(SEEN, line.broken()).await.expect("the end of its line");
        assert!(!line.offer(Message::text("words")));
    }
}
