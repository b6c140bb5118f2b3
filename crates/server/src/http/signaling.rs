//! The relay over `WebSocket`: browsers tell of their tabs, and whoever looks in asks.
//!
//! Who comes with a key looks in; who comes with a ticket, as a subprotocol, is a paired browser: what
//! runs in browsers cannot send headers along. A browser is let in before its ticket is looked at, and
//! then sent away with a code, because a refused handshake tells it nothing.

mod conversation;
mod end;

use super::websocket::shake_hands;
use crate::auth::Debug;
use crate::context::Context;
use crate::door::Refusal;
use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::Response;
use axum::http::header::{HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use axum::http::request::Parts;
use baton_api::Problem;
use baton_api::debug::{LinkEnd, MAX_MESSAGE_BYTES};
use baton_net::connections::Visit;
use baton_runtime::Caller;
use conversation::{Side, converse, hear_browser};
use end::close;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use secrecy::SecretString;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

/// What browsers and this node speak.
const PROTOCOL: &str = "baton.v1";
/// With what the subprotocol begins that bears a ticket.
const TICKET: &str = "baton.ticket.";

type Socket = WebSocketStream<TokioIo<Upgraded>>;

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
    let caller = match ticket {
        Some(_) => None,
        None => Some(Debug::from_request_parts(&mut parts, &context).await?.0),
    };
    let (upgrade, mut answer) = shake_hands(&mut parts)?;
    if speaks(&parts) {
        let protocol = HeaderValue::from_static(PROTOCOL);
        answer.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, protocol);
    }
    let visit = parts.extensions.get::<Visit>().cloned();
    context.tasks.spawn(serve(context.clone(), upgrade, ticket, caller, visit));
    Ok(answer)
}

/// The subprotocols that the other side offers.
fn offered(parts: &Parts) -> impl Iterator<Item = &str> {
    let values = parts.headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter();
    let values = values.filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

fn ticket(parts: &Parts) -> Option<SecretString> {
    offered(parts).find_map(|one| one.strip_prefix(TICKET)).map(SecretString::from)
}

fn speaks(parts: &Parts) -> bool {
    offered(parts).any(|one| one == PROTOCOL)
}

async fn serve(
    context: Context,
    upgrade: OnUpgrade,
    ticket: Option<SecretString>,
    caller: Option<Caller>,
    visit: Option<Visit>,
) {
    // A node into whose tabs somebody looks is of use.
    let _in_use = context.activity.begin();
    let stream = match upgrade.await {
        Ok(stream) => TokioIo::new(stream),
        Err(error) => return tracing::debug!(%error, "a client left before it had its WebSocket"),
    };
    let most = Some(MAX_MESSAGE_BYTES);
    let config = WebSocketConfig::default().max_message_size(most).max_frame_size(most);
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config)).await;
    let end = match (caller, ticket) {
        (Some(caller), _) => {
            let client = Side::Client(context.clone(), caller.clone());
            converse(&context, &caller, &mut socket, client).await
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
