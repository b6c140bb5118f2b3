//! The relay over `WebSocket`: browsers tell of their tabs, and clients that look in ask.
//!
//! Who comes with a key looks in; who comes with a ticket, as a subprotocol, is a paired browser: what
//! runs in browsers cannot send headers along. A browser is let in before its ticket is looked at, and
//! then sent away with a code, because a refused handshake tells it nothing. Messages are taken one after the
//! other, and answered.

use super::request::shake_hands;
use crate::answering::Asker;
use crate::auth::Debug;
use crate::cluster::Origin;
use crate::context::Context;
use crate::ingress::Refusal;
use crate::looking::BrowserLink;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::Response;
use axum::http::header::{HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use axum::http::request::Parts;
use baton_api::Problem;
use baton_api::debug::{
    BadMessage, BrowserMessage, ClientMessage, DebugError, DebugErrorCode, EpochMs, LinkEnd,
    MAX_MESSAGE_BYTES, RelayMessage,
};
use baton_net::connections::Visit;
use baton_runtime::Caller;
use baton_session::json;
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use jiff::Timestamp;
use secrecy::SecretString;
use std::time::Duration;
use tokio::time::{Instant, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

/// What browsers and this node speak.
const PROTOCOL: &str = "baton.v1";
/// With what the subprotocol begins that bears a ticket.
const TICKET: &str = "baton.ticket.";

type RelaySocket = WebSocketStream<TokioIo<Upgraded>>;

/// The relay: JSON messages of the debug protocol, one a frame. Browsers come with a ticket of
/// `/debug/connect` as a subprotocol, others with a key.
#[utoipa::path(
    get, path = "/api/signaling/ws", tag = "debug", security(("api_key" = []), ()),
    responses((status = 101), (status = "4XX", body = Problem))
)]
pub(super) async fn connect(
    State(context): State<Context>,
    request: Request,
) -> Result<Response<Body>, Refusal> {
    let (mut parts, _) = request.into_parts();
    let ticket = ticket(&parts);
    let asker = if ticket.is_some() {
        None
    } else {
        let Debug(caller) = Debug::from_request_parts(&mut parts, &context).await?;
        let origin = Origin::from_request_parts(&mut parts, &context).await?;
        Some(Asker { context: context.clone(), caller, origin })
    };
    let (upgrade, mut answer) = shake_hands(&mut parts)?;
    if speaks(&parts) {
        let protocol = HeaderValue::from_static(PROTOCOL);
        answer.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    let visit = parts.extensions.get::<Visit>().cloned();
    context.tasks.spawn(serve(context.clone(), upgrade, ticket, asker, visit));
    Ok(answer)
}

/// The subprotocols that the other side offers.
fn offered(parts: &Parts) -> impl Iterator<Item = &str> {
    let values = parts.headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// The ticket that a paired browser shows.
pub(super) fn ticket(parts: &Parts) -> Option<SecretString> {
    offered(parts).find_map(|one| one.strip_prefix(TICKET)).map(SecretString::from)
}

fn speaks(parts: &Parts) -> bool {
    offered(parts).any(|one| one == PROTOCOL)
}

async fn serve(
    context: Context,
    upgrade: OnUpgrade,
    ticket: Option<SecretString>,
    asker: Option<Asker>,
    visit: Option<Visit>,
) {
    // A node into whose tabs a client looks is in use.
    let _in_use = context.activity.start_request();
    let stream = match upgrade.await {
        Ok(stream) => TokioIo::new(stream),
        Err(error) => return tracing::debug!(%error, "a client left before it had its WebSocket"),
    };
    let most = Some(MAX_MESSAGE_BYTES);
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let end = match (asker, ticket) {
        (Some(asker), _) => {
            let caller = asker.caller.clone();
            converse(&context, &caller, &mut socket, Side::Client(Box::new(asker))).await
        }
        (None, Some(ticket)) => match context.browsers.take_ticket(&ticket) {
            Some((caller, browser_id)) => {
                let shown = visit.map(|visit| visit.show(&caller.key, Some(&caller.owner)));
                if let Some(Err(_)) = shown {
                    return close(&mut socket, LinkEnd::TooMany).await;
                }
                hear_browser(&context, caller, browser_id, &mut socket).await
            }
            None => LinkEnd::NoTicket,
        },
        (None, None) => LinkEnd::NoTicket,
    };
    close(&mut socket, end).await;
}

/// How long a connection may be silent. Browsers say something every 20 s.
const SILENCE: Duration = Duration::from_mins(1);
/// How long a message may take until the other side has taken it.
const SEND_LIMIT: Duration = Duration::from_secs(10);
/// How often it is looked whether the key was revoked.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
/// How many messages that make no sense end a connection.
const MISUNDERSTOOD: u32 = 100;

/// Who is at the other side.
enum Side {
    /// A paired browser, which tells of its tabs.
    Browser(Box<BrowserLink>),
    /// A client that looks in, and asks.
    Client(Box<Asker>),
}

impl Side {
    /// Takes a message; what there is to answer.
    async fn handle_message(&mut self, text: &str) -> Result<Option<RelayMessage>, BadMessage> {
        match self {
            Self::Browser(link) => {
                Ok(link.handle_message(BrowserMessage::read(text)?, now()).await)
            }
            Self::Client(asker) => Ok(Some(asker.answer(ClientMessage::read(text)?).await)),
        }
    }
}

/// Takes what a paired browser tells, until one side leaves.
async fn hear_browser(
    context: &Context,
    caller: Caller,
    browser_id: String,
    socket: &mut RelaySocket,
) -> LinkEnd {
    let seat = context.browsers.sit(&caller.key).await;
    let link = BrowserLink::new(context.clone(), caller.clone(), browser_id);
    tokio::select! {
        () = seat.left() => LinkEnd::Replaced,
        end = converse(context, &caller, socket, Side::Browser(Box::new(link))) => end,
    }
}

/// Reads messages one after the other, and sends what there is to answer.
async fn converse(
    context: &Context,
    caller: &Caller,
    socket: &mut RelaySocket,
    mut side: Side,
) -> LinkEnd {
    let mut revoked = context.revoked.subscribe();
    let mut look = interval_at(Instant::now() + LOOK_PAUSE, LOOK_PAUSE);
    let (mut misunderstood, mut heard) = (0, Instant::now());
    loop {
        let message = tokio::select! {
            biased;
            () = context.ending.cancelled() => return LinkEnd::Ending,
            Ok(()) = revoked.changed() => {
                if context.is_shut_out(caller).await.unwrap_or(false) {
                    return LinkEnd::Revoked;
                }
                continue;
            }
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
            Some(Ok(Message::Text(text))) => side.handle_message(text.as_str()).await,
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
async fn send(socket: &mut RelaySocket, message: &RelayMessage) -> bool {
    matches!(timeout(SEND_LIMIT, socket.send(Message::text(json::text(message)))).await, Ok(Ok(())))
}

fn now() -> EpochMs {
    EpochMs::new(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or_default())
}

/// How long the other side may take to say farewell.
const FAREWELL: Duration = Duration::from_secs(1);

/// Tells the other side why its connection ends.
async fn close(socket: &mut RelaySocket, end: LinkEnd) {
    let frame = CloseFrame { code: end.code().into(), reason: end.reason().into() };
    let farewell = async {
        // A client that left needs no farewell.
        if socket.close(Some(frame)).await.is_ok() {
            while let Some(Ok(_)) = socket.next().await {}
        }
    };
    let _ = timeout(FAREWELL, farewell).await;
}
