//! How many bytes a thing takes, near enough.

use baton_api::debug::{ConsoleEntry, Headers, NetworkRequest, SocketMessage};
use serde_json::Value;

/// What a request takes beside its texts: its own fields, and its places in the indexes.
const REQUEST: usize = 900;
/// The same for a line of the console.
const ENTRY: usize = 300;
/// The same for a header, a message of a WebSocket, a value.
const SMALL: usize = 64;

pub(super) fn of_request(request: &NetworkRequest) -> usize {
    let texts = [
        Some(&request.url),
        Some(&request.request_id),
        request.request_body.as_ref(),
        request.response_body.as_ref(),
        request.status_text.as_ref(),
        request.mime_type.as_ref(),
        request.error.as_ref(),
        request.frame.as_ref(),
        request.worker.as_ref(),
    ];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    let headers = [&request.request_headers, &request.response_headers];
    let headers: usize = headers.into_iter().flatten().map(of_headers).sum();
    REQUEST + texts + headers + request.messages.iter().map(of_message).sum::<usize>()
}

pub(super) fn of_message(message: &SocketMessage) -> usize {
    SMALL + message.payload.len()
}

pub(super) fn of_entry(entry: &ConsoleEntry) -> usize {
    let texts = [&entry.source, &entry.stack_trace, &entry.frame, &entry.worker];
    let texts: usize = texts.into_iter().flatten().map(String::len).sum();
    ENTRY + entry.message.len() + texts + entry.args.iter().map(of_value).sum::<usize>()
}

fn of_headers(headers: &Headers) -> usize {
    headers.iter().map(|(name, value)| SMALL + name.len() + value.len()).sum()
}

fn of_value(value: &Value) -> usize {
    SMALL
        + match value {
            Value::String(text) => text.len(),
            Value::Array(values) => values.iter().map(of_value).sum(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| name.len() + of_value(value)).sum()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}
