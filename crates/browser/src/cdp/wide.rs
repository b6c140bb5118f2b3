//! Text as the protocol carries it: JSON escapes that may stand for half a surrogate pair.
//!
//! No Rust string holds such a half, so serde refuses it; what a page wrote must not be lost for that.

use baton_session::Text;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::value::RawValue;

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

#[cfg(test)]
mod tests {
    use super::*;

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
