//! The messages of a WebSocket: the newest, within their bounds.

use super::weight::of_message;
use crate::limits::Limits;
use baton_api::debug::{NetworkRequest, SocketMessage};

/// Adds a message; the oldest go.
pub(super) fn add(request: &mut NetworkRequest, message: SocketMessage, limits: &Limits) {
    request.messages.push(message);
    let mut bytes: usize = request.messages.iter().map(of_message).sum();
    let mut surplus = 0;
    for message in &request.messages {
        let left = request.messages.len() - surplus;
        if left <= limits.messages && bytes <= limits.messages_bytes {
            break;
        }
        bytes -= of_message(message);
        surplus += 1;
    }
    request.messages.drain(..surplus);
    let surplus = u32::try_from(surplus).unwrap_or(u32::MAX);
    request.messages_dropped = request.messages_dropped.saturating_add(surplus);
}
