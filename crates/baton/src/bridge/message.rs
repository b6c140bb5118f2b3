//! Messages: JSON-RPC 2.0, one a line (MCP's transport over standard input and output).
//!
//! Version 2025-03-26 of the protocol has several on a line, too: each is answered for itself.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Read};
use tokio::sync::mpsc;

/// The longest line that is read, in bytes.
pub(super) const LINE_BYTES: usize = 16 << 20;

/// How many messages a line may have.
const BATCH: usize = 64;
/// How many lines are read ahead.
const WAITING: usize = 64;

/// A result, or an error object.
pub(super) type Outcome = Result<Value, Value>;

/// A request of the client.
#[derive(Debug)]
pub(super) struct Incoming {
    /// Names it, in the answer; a number or a string.
    pub(super) id: Value,
    /// What is asked for.
    pub(super) method: String,
    /// With what.
    pub(super) params: Map<String, Value>,
    /// The same as it was written, to be passed on unchanged.
    pub(super) raw: Box<RawValue>,
}

impl Incoming {
    /// The version of the protocol, as newer clients say it with each request.
    pub(super) fn version(&self) -> Option<&str> {
        self.params.get("_meta")?.get("io.modelcontextprotocol/protocolVersion")?.as_str()
    }
}

/// The version from which on each request says in which protocol it wants its answer, and each answer of what
/// kind it is.
pub(super) const STATELESS: &str = "2026-07-28";

/// Who waits for an answer, and in which protocol: whatever answers leave, leave in its words.
#[derive(Debug, Clone)]
pub(super) struct Asker {
    id: Value,
    is_new: bool,
}

impl Incoming {
    /// Who asks.
    pub(super) fn asker(&self) -> Asker {
        let is_new = self.version().is_some_and(|version| version >= STATELESS);
        Asker { id: self.id.clone(), is_new }
    }
}

impl Asker {
    /// The answer.
    pub(super) fn response(&self, outcome: Outcome) -> Value {
        let complete = |mut result: Value| {
            if let Some(fields) = result.as_object_mut().filter(|_| self.is_new) {
                fields.entry("resultType").or_insert_with(|| json!("complete"));
            }
            result
        };
        response(&self.id, outcome.map(complete))
    }

    /// The answer that another server has written, which may speak an older protocol, on a line.
    pub(super) fn line(&self, outcome: Result<&RawValue, &RawValue>) -> String {
        let (field, raw) = match outcome {
            Ok(result) => ("result", result.get()),
            Err(error) => ("error", error.get()),
        };
        let fields = raw.strip_prefix('{').filter(|_| {
            let says =
                serde_json::from_str(raw).map_or(true, |kind: ResultKind| kind.said.is_some());
            outcome.is_ok() && self.is_new && !says
        });
        let id = &self.id;
        let Some(fields) = fields else {
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"{field}":{raw}}}"#);
        };
        let comma = if fields.trim_start().starts_with('}') { "" } else { "," };
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"{field}":{{"resultType":"complete"{comma}{fields}}}"#
        )
    }
}

/// Of which kind a result says that it is.
#[derive(Deserialize)]
struct ResultKind {
    #[serde(rename = "resultType")]
    said: Option<IgnoredAny>,
}

/// A message of the client.
#[derive(Debug)]
pub(super) enum Message {
    /// It wants an answer.
    Request(Incoming),
    /// It wants none.
    Notification {
        /// What happened.
        method: String,
        /// More about it.
        params: Value,
    },
    /// It answers a request of ours.
    Response {
        /// Which one.
        id: Value,
        /// With what.
        outcome: Outcome,
    },
}

/// A message whose parts are not read yet: the larger ones are often only passed on.
#[derive(Deserialize)]
pub(super) struct Envelope {
    #[serde(default, deserialize_with = "given")]
    pub(super) id: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    pub(super) method: Option<Value>,
    #[serde(default)]
    pub(super) params: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) result: Option<Box<RawValue>>,
    #[serde(default, deserialize_with = "given")]
    pub(super) error: Option<Box<RawValue>>,
}

impl Envelope {
    /// Reads the outside of a message; none when it is JSON, and no message.
    pub(super) fn read(line: &[u8]) -> serde_json::Result<Option<Self>> {
        // What serde reads in place of an object, a list of its fields, is no message.
        let is_object = line.trim_ascii_start().first() == Some(&b'{');
        match serde_json::from_slice(line) {
            Ok(envelope) => Ok(is_object.then_some(envelope)),
            Err(reason) if reason.is_data() => Ok(None),
            Err(reason) => Err(reason),
        }
    }
}

/// A field that is there, be it null.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(field: D) -> Result<Option<T>, D::Error> {
    T::deserialize(field).map(Some)
}

/// Reads the messages of a line; what cannot be read is answered with the error in its place.
pub(super) fn read(line: &[u8]) -> Vec<Result<Message, Value>> {
    let refused = |code: i32, text: String| vec![refuse(&Value::Null, code, &text)];
    if line.trim_ascii_start().first() != Some(&b'[') {
        return vec![read_one(line)];
    }
    match serde_json::from_slice::<Vec<Box<RawValue>>>(line) {
        Ok(batch) if (1..=BATCH).contains(&batch.len()) => {
            batch.iter().map(|message| read_one(message.get().as_bytes())).collect()
        }
        Ok(batch) => {
            let found = batch.len();
            refused(-32600, format!("expected 1 to {BATCH} messages a line, found {found}"))
        }
        Err(reason) => refused(-32700, format!("expected JSON: {reason}")),
    }
}

fn refuse(id: &Value, code: i32, text: &str) -> Result<Message, Value> {
    Err(response(id, Err(error(code, text))))
}

fn read_one(line: &[u8]) -> Result<Message, Value> {
    let envelope = match Envelope::read(line) {
        Ok(Some(envelope)) => envelope,
        Ok(None) => {
            return refuse(&Value::Null, -32600, "expected a message, found something else");
        }
        Err(reason) => return refuse(&Value::Null, -32700, &format!("expected JSON: {reason}")),
    };
    let Envelope { id, method, params, result, error } = envelope;
    let Some(method) = method else {
        let id = id.unwrap_or_default();
        let outcome = match (result, error) {
            (Some(result), _) => Ok(understood(&result)),
            (None, Some(error)) => Err(understood(&error)),
            (None, None) => return refuse(&id, -32600, "expected a method, found none"),
        };
        return Ok(Message::Response { id, outcome });
    };
    let Value::String(method) = method else {
        return refuse(&id.unwrap_or_default(), -32600, "expected the method as text");
    };
    let params = params.unwrap_or_else(|| RawValue::NULL.to_owned());
    let read = match understood(&params) {
        Value::Null => json!({}),
        read => read,
    };
    let Some(id) = id else { return Ok(Message::Notification { method, params: read }) };
    match read {
        Value::Object(params_read) => {
            Ok(Message::Request(Incoming { id, method, params: params_read, raw: params }))
        }
        _ => refuse(&id, -32602, "expected params as an object, found something else"),
    }
}

/// JSON that was read as such already.
pub(super) fn understood(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The answer to a request.
pub(super) fn response(id: &Value, outcome: Outcome) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

/// An error object; the codes are JSON-RPC's.
pub(super) fn error(code: i32, text: &str) -> Value {
    json!({"code": code, "message": text})
}

/// The lines of an input, read by a thread of their own: a pipe cannot be waited for otherwise.
pub(super) fn lines(input: impl BufRead + Send + 'static) -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (lines, waiting) = mpsc::channel(WAITING);
    std::thread::spawn(move || {
        let mut input = input;
        while let Some(line) = line(&mut input).transpose() {
            let is_last = line.is_err();
            if lines.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    });
    waiting
}

/// The next line with something on it; none at the end. One that is too long is an error: nothing
/// behind it can be understood.
fn line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(LINE_BYTES).unwrap_or(u64::MAX);
        if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.len() == LINE_BYTES && line.last() != Some(&b'\n') {
            let text = format!("expected lines of at most {LINE_BYTES} bytes, found a longer one");
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_server_wrote_says_of_what_kind_it_is_to_who_wants_to_know() {
        let line = |is_new, text: &str| {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            let line = Asker { id: json!(7), is_new }.line(Ok(&raw));
            serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
        };
        assert_eq!(line(false, r#"{"content":[]}"#), json!({"content": []}));
        assert_eq!(line(true, r#"{"content":[]}"#)["resultType"], "complete");
        assert_eq!(line(true, "{ }"), json!({"resultType": "complete"}));
        assert_eq!(
            line(true, r#"{"resultType":"input_required"}"#)["resultType"],
            "input_required"
        );
        // Deeper down it belongs to another protocol.
        let deep = line(true, r#"{"structuredContent":{"resultType":"x"}}"#);
        assert_eq!(deep["resultType"], "complete");
        assert_eq!(line(true, "null"), Value::Null);
        let error = RawValue::from_string(r#"{"code":1}"#.to_owned()).unwrap();
        let told = Asker { id: json!(7), is_new: true }.line(Err(&error));
        assert_eq!(told, r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#);
    }
}
