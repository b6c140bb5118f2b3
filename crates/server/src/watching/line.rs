//! What is written to a viewer: a few messages that wait, and whether it reads at all.

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_util::sync::CancellationToken;

pub(super) type ViewerSocket = WebSocketStream<TokioIo<Upgraded>>;
pub(super) type ViewerStream = SplitStream<ViewerSocket>;

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
    pub(super) fn open(socket: ViewerSocket) -> (Self, ViewerStream) {
        let (sink, heard) = socket.split();
        let (queue, messages) = mpsc::channel(WAITING);
        let broken = CancellationToken::new();
        let writer = tokio::spawn(write(sink, messages, broken.clone()));
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

async fn write(
    mut sink: SplitSink<ViewerSocket, Message>,
    mut messages: mpsc::Receiver<Message>,
    broken: CancellationToken,
) {
    let mut asks = interval(ASK_PAUSE);
    asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            biased;
            message = messages.recv() => message,
            _ = asks.tick() => Some(Message::Ping(Vec::new().into())),
        };
        let Some(message) = message else { break };
        if !matches!(timeout(SEND_LIMIT, sink.send(message)).await, Ok(Ok(()))) {
            break;
        }
    }
    broken.cancel();
}
