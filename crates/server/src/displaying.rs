//! Viewers that see the display of a sandbox through the node, one WebSocket each.
//!
//! The one idea: it is a pipe with a bound, and a viewer that does not read stops its own pipe and no other one. The
//! pipe ends at once with the page, the key, the sandbox or the node, whatever is said in it.

use crate::context::Context;
use crate::page::LivePage;
use baton_agents::sandboxes::{DisplayView, ViewEnd};
use baton_runtime::Caller;
use futures_util::future::{OptionFuture, pending};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};

/// How much waits for a viewer, or for a display, in bytes.
const WAITING: usize = 64 << 10;
/// The longest message of a viewer, in bytes: what somebody pastes.
const MESSAGE_MAX: usize = 256 << 10;
/// How long a viewer, or a display, may take until it has read what is sent.
const SEND_LIMIT: Duration = Duration::from_secs(10);
/// How often a viewer is asked whether it is there; a browser answers by itself.
const ASK_PAUSE: Duration = Duration::from_secs(2);
/// How long a viewer may say nothing at all.
const SILENCE: Duration = Duration::from_secs(20);
/// How often it is looked whether the key was revoked elsewhere.
const LOOK_PAUSE: Duration = Duration::from_secs(2);
/// How long the last words may take.
const FAREWELL: Duration = Duration::from_secs(1);

type DisplaySocket = WebSocketStream<TokioIo<Upgraded>>;

/// What is shown to whom.
pub(crate) struct Display {
    /// In whose name it is opened.
    pub(crate) caller: Caller,
    /// The page that shows it; none for a program with a key.
    pub(crate) page: Option<LivePage>,
    /// The display, where the node is logged in.
    pub(crate) view: DisplayView,
}

/// Shows a display to a viewer that was promised a WebSocket, until it leaves or may not stay.
pub(crate) async fn serve(context: Context, display: Display, upgrade: OnUpgrade) {
    // A node at which a person looks at a sandbox is in use.
    let _in_use = context.activity.start_request();
    let stream = match upgrade.await {
        Ok(stream) => TokioIo::new(stream),
        Err(error) => return tracing::debug!(%error, "a viewer left before it had its WebSocket"),
    };
    let most = Some(MESSAGE_MAX);
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
    let socket =
        Box::pin(WebSocketStream::from_raw_socket(stream, Role::Server, Some(config))).await;
    let Display { caller, page, view } = display;
    let (mut sink, said) = socket.split();
    let (near, far) = duplex(WAITING);
    let (shown, typed) = split(near);
    let signed_out = OptionFuture::from(page.map(LivePage::end));
    let is_of_page = async {
        if signed_out.await.is_none() {
            pending::<()>().await;
        }
    };
    let farewell = tokio::select! {
        biased;
        () = context.ending.cancelled() => (CloseCode::Away, "the node ends"),
        () = is_of_page => (CloseCode::Policy, "the page was signed out"),
        () = context.revocation(&caller, LOOK_PAUSE) => (CloseCode::Policy, "the key was revoked"),
        end = Box::pin(view.show(far)) => match end {
            ViewEnd::Left => (CloseCode::Normal, "the viewer left"),
            ViewEnd::SandboxEnded => (CloseCode::Away, "the sandbox has ended"),
            ViewEnd::DisplayEnded => (CloseCode::Away, "the display has ended"),
        },
        () = hear(said, typed) => (CloseCode::Normal, "the viewer left"),
        () = tell(&mut sink, shown) => (CloseCode::Normal, "the viewer left"),
    };
    let (code, reason) = farewell;
    let frame = CloseFrame { code, reason: reason.into() };
    // A viewer that is gone hears nothing.
    let _ = timeout(FAREWELL, sink.send(Message::Close(Some(frame)))).await;
}

/// Passes on what the viewer does, until it leaves, says what is no RFB, or says nothing for too long.
async fn hear(mut said: SplitStream<DisplaySocket>, mut typed: WriteHalf<DuplexStream>) {
    while let Ok(Some(Ok(message))) = timeout(SILENCE, said.next()).await {
        match message {
            Message::Binary(bytes) => {
                if !matches!(timeout(SEND_LIMIT, typed.write_all(&bytes)).await, Ok(Ok(()))) {
                    return;
                }
            }
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Text(_) | Message::Close(_) | Message::Frame(_) => return,
        }
    }
}

/// Passes on what is shown, until the viewer reads no more.
async fn tell(sink: &mut SplitSink<DisplaySocket, Message>, mut shown: ReadHalf<DuplexStream>) {
    let mut part = vec![0; WAITING];
    let mut asks = interval(ASK_PAUSE);
    asks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            read = shown.read(&mut part) => match read {
                Ok(read) if read > 0 => Message::Binary(part[..read].to_vec().into()),
                _ => return,
            },
            _ = asks.tick() => Message::Ping(Vec::new().into()),
        };
        if !matches!(timeout(SEND_LIMIT, sink.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
}
