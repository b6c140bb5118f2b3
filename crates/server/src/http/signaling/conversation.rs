//! One connection to the relay: messages are taken one after the other, and answered.

use super::Socket;
use crate::context::Context;
use crate::looking::{BrowserLink, answer};
use baton_api::debug::{
    BadMessage, BrowserMessage, ClientMessage, DebugError, DebugErrorCode, EpochMs, LinkEnd,
    RelayMessage,
};
use baton_runtime::Caller;
use baton_session::json;
use futures_util::{SinkExt, StreamExt};
use jiff::Timestamp;
use std::time::Duration;
use tokio::time::{Instant, interval_at, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};

/// How long a connection may be silent. Browsers say something every 20 s.
const SILENCE: Duration = Duration::from_mins(1);
/// How long a message may take until the other side has taken it.
const SEND_LIMIT: Duration = Duration::from_secs(10);
/// How often it is looked whether the key was revoked.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// How many messages that nobody understands end a connection.
const MISUNDERSTOOD: u32 = 100;

/// Who is at the other side.
pub(super) enum Side {
    /// A paired browser, which tells.
    Browser(BrowserLink),
    /// Somebody who looks in, and asks.
    Client(Context, Caller),
}

impl Side {
    /// Takes a message; what there is to answer.
    async fn take(&mut self, text: &str) -> Result<Option<RelayMessage>, BadMessage> {
        match self {
            Self::Browser(link) => Ok(link.take(BrowserMessage::read(text)?, now()).await),
            Self::Client(context, caller) => {
                Ok(Some(answer(context, caller, ClientMessage::read(text)?).await))
            }
        }
    }
}

/// Takes what a paired browser tells, until one side leaves.
pub(super) async fn hear_browser(
    context: &Context,
    caller: Caller,
    browser_id: String,
    socket: &mut Socket,
) -> LinkEnd {
    let seat = context.browsers.sit(&caller.key).await;
    let link = BrowserLink::new(context.clone(), caller.clone(), browser_id);
    tokio::select! {
        () = seat.left() => LinkEnd::Replaced,
        end = converse(context, &caller, socket, Side::Browser(link)) => end,
    }
}

/// Reads messages one after the other, and sends what there is to answer.
pub(super) async fn converse(
    context: &Context,
    caller: &Caller,
    socket: &mut Socket,
    mut side: Side,
) -> LinkEnd {
    let mut look = interval_at(Instant::now() + LOOK_PAUSE, LOOK_PAUSE);
    let (mut misunderstood, mut heard) = (0, Instant::now());
    loop {
        let message = tokio::select! {
            biased;
            () = context.ending.cancelled() => return LinkEnd::Ending,
            _ = look.tick() => {
                // A database that does not answer changes nothing.
                if context.is_shut_out(caller).await.unwrap_or(false) {
                    return LinkEnd::Revoked;
                }
                if heard.elapsed() > SILENCE {
                    return LinkEnd::Silent;
                }
                continue;
            }
            message = socket.next() => message,
        };
        heard = Instant::now();
        let answer = match message {
            Some(Ok(Message::Text(text))) => side.take(text.as_str()).await,
            Some(Ok(Message::Binary(_))) => Err(BadMessage::Form("binary".to_owned())),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
            Some(Err(Error::Capacity(_))) => return LinkEnd::TooLong,
            Some(Ok(Message::Close(_)) | Err(_)) | None => return LinkEnd::Left,
        };
        let answer = answer.unwrap_or_else(|bad| {
            misunderstood += 1;
            Some(not_understood(&bad))
        });
        if misunderstood > MISUNDERSTOOD {
            return LinkEnd::Garbage;
        }
        if let Some(answer) = answer
            && !send(socket, &answer).await
        {
            return LinkEnd::Left;
        }
    }
}

fn not_understood(bad: &BadMessage) -> RelayMessage {
    let (code, message) = (DebugErrorCode::InvalidMessage, bad.to_string());
    RelayMessage::Error(DebugError { request_id: None, token: None, offered: None, code, message })
}

/// Whether the other side took it.
async fn send(socket: &mut Socket, message: &RelayMessage) -> bool {
    matches!(timeout(SEND_LIMIT, socket.send(Message::text(json::text(message)))).await, Ok(Ok(())))
}

fn now() -> EpochMs {
    EpochMs::new(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default())
}
