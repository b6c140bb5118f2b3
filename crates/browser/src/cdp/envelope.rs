//! The envelope of a CDP message: who it is for and what it is, its payload left as it came.
//!
//! Payloads stay raw because they may hold lone surrogates, which no Rust string can, and because
//! passing them on untouched is both exact and cheap.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One message in either direction, borrowed from its frame.
#[derive(Debug, Deserialize)]
pub struct Envelope<'a> {
    /// The number of a call or of its reply; events have none.
    #[serde(default)]
    pub id: Option<u64>,
    /// The method of a call or an event.
    #[serde(default, borrow)]
    pub method: Option<Cow<'a, str>>,
    /// The flat session it belongs to; none for the browser itself.
    #[serde(default, borrow, rename = "sessionId")]
    pub session: Option<Cow<'a, str>>,
    /// Parameters of a call or an event.
    #[serde(default, borrow)]
    pub params: Option<&'a RawValue>,
    /// The result of a call.
    #[serde(default, borrow)]
    pub result: Option<&'a RawValue>,
    /// The error of a call.
    #[serde(default, borrow)]
    pub error: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// Reads the envelope of one frame.
    pub fn parse(frame: &'a [u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(frame)
    }
}

/// The error object of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Failure {
    /// The JSON-RPC code, mostly −32000.
    #[serde(default)]
    pub code: i64,
    /// The browser's own words.
    #[serde(default)]
    pub message: String,
}

impl Failure {
    /// Reads an error object; one that is not as expected is quoted as its message.
    pub fn parse(raw: &RawValue) -> Self {
        serde_json::from_str(raw.get())
            .unwrap_or_else(|_| Self { code: 0, message: raw.get().to_owned() })
    }
}

/// Writes a call: the parameters are already JSON, `null` means none.
pub(crate) fn write_call(id: u64, session: Option<&str>, method: &str, params: &str) -> Vec<u8> {
    let mut frame = format!("{{\"id\":{id},\"method\":{}", quoted(method));
    if params != "null" {
        frame.push_str(",\"params\":");
        frame.push_str(params);
    }
    if let Some(session) = session {
        frame.push_str(",\"sessionId\":");
        frame.push_str(&quoted(session));
    }
    frame.push('}');
    frame.into_bytes()
}

/// `text` as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_surrogate_in_the_payload_does_not_hide_the_envelope() {
        let frame = br#"{"id":7,"result":{"value":"\ud800"},"sessionId":"S"}"#;
        let envelope = Envelope::parse(frame).unwrap();
        assert_eq!(envelope.id, Some(7));
        assert_eq!(envelope.session.as_deref(), Some("S"));
        assert_eq!(envelope.result.unwrap().get(), r#"{"value":"\ud800"}"#);
    }

    #[test]
    fn an_unknown_field_is_ignored_and_a_wrong_type_is_not_understood() {
        assert!(Envelope::parse(br#"{"method":"A.b","novelty":[1]}"#).is_ok());
        assert!(Envelope::parse(br#"{"id":"seven"}"#).is_err());
        assert!(Envelope::parse(b"{").is_err());
        assert!(Envelope::parse(b"{\"method\":\"\xff\"}").is_err());
    }

    #[test]
    fn a_call_without_parameters_has_no_params_field() {
        assert_eq!(write_call(1, None, "A.b", "null"), br#"{"id":1,"method":"A.b"}"#);
        assert_eq!(
            write_call(2, Some("S"), "A.b", "{}"),
            br#"{"id":2,"method":"A.b","params":{},"sessionId":"S"}"#
        );
    }
}
