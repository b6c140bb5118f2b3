//! A thin client of the Chrome `DevTools` Protocol (CDP) with flat sessions.
//!
//! The one idea: it is tolerant. Only the envelope of a message is parsed; what cannot be
//! understood is counted and logged, never fatal; and every call has a time limit, because a page
//! with an open dialog or a busy main thread answers nothing at all.
//!
//! The envelope says who a message is for and what it is; its payload is left as it came.
//! Payloads stay raw because they may hold lone surrogates, which no Rust string can, and because
//! passing them on untouched is both exact and cheap.
//!
//! A text may hold half a surrogate pair, as a JSON escape. No Rust string holds such a half, so serde
//! refuses it; what a page wrote must not be lost for that, so such texts are read as `WideText`.

mod connection;
mod events;
mod transport;

pub use connection::{CALL_LIMIT, CdpError, CdpSession, Connection};
pub use events::{Event, Events};
pub use transport::{AddressError, FRAME_LIMIT, FrameReader, FrameWriter, Transport, connect};

use baton_session::Text;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

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
pub struct CallFailure {
    /// The JSON-RPC code, mostly −32000.
    #[serde(default)]
    pub code: i64,
    /// The browser's own words.
    #[serde(default)]
    pub message: String,
}

impl CallFailure {
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

/// A text inside of a message of the protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WideText(pub(crate) Text);

impl<'de> Deserialize<'de> for WideText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?.get();
        let text = match serde_json::from_str::<String>(raw) {
            Ok(text) => Some(Text::from(text)),
            Err(_) => units(raw).map(|units| Text::from_utf16(&units)),
        };
        text.map(Self).ok_or_else(|| D::Error::invalid_type(Unexpected::Other(raw), &"a string"))
    }
}

impl Serialize for WideText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = self.0.as_str() {
            return serializer.serialize_str(text);
        }
        let units = self.0.to_utf16();
        let escapes: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let json = format!("\"{}\"", escapes.concat());
        RawValue::from_string(json).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

/// The UTF-16 of a JSON string; none of anything else.
fn units(json: &str) -> Option<Vec<u16>> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    let mut units = Vec::with_capacity(inside.len());
    let mut rest = inside.chars();
    while let Some(next) = rest.next() {
        if next != '\\' {
            units.extend_from_slice(next.encode_utf16(&mut [0; 2]));
            continue;
        }
        units.push(match rest.next()? {
            'u' => {
                let digits = rest.as_str().get(..4)?;
                rest = rest.as_str().get(4..)?.chars();
                u16::from_str_radix(digits, 16).ok()?
            }
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'b' => 0x08,
            'f' => 0x0c,
            other => u16::try_from(u32::from(other)).ok()?,
        });
    }
    Some(units)
}

/// The id that `Target.attachToTarget` gave to a flat session; not a Baton session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct CdpSessionId(Arc<str>);

impl CdpSessionId {
    /// The id as the browser wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for CdpSessionId {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<&str> for CdpSessionId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<CdpSessionId> for String {
    fn from(id: CdpSessionId) -> Self {
        id.0.as_ref().to_owned()
    }
}

impl fmt::Display for CdpSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
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

    #[test]
    fn halves_of_a_pair_come_and_go_as_they_are() {
        for (json, units) in [
            (r#""\ud83d""#, vec![0xd83d]),
            (r#""a\n\"\\\/\udc00ż🎼\ud83d\udE00\b""#, {
                let mut all = vec![97, 10, 34, 92, 47, 0xdc00];
                all.extend("ż🎼😀\u{8}".encode_utf16());
                all
            }),
            (r#""plain \u0000""#, "plain \0".encode_utf16().collect()),
        ] {
            let read: WideText = serde_json::from_str(json).unwrap();
            assert_eq!(read.0.to_utf16(), units, "{json}");
            let again = serde_json::to_string(&read).unwrap();
            assert_eq!(serde_json::from_str::<WideText>(&again).unwrap(), read, "{again}");
        }
    }

    #[test]
    fn what_is_no_string_is_refused() {
        for json in ["1", "null", "[\"a\"]", "{}"] {
            assert!(serde_json::from_str::<WideText>(json).is_err(), "{json}");
        }
    }
}
