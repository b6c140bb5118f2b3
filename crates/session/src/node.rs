//! The JSON form of a [`Node`]: see [`value`](crate::value) for what it says.
//!
//! It is written by hand because a node is read a million times over when a database is large, and
//! because an error should say what was expected.

use crate::text::Text;
use crate::value::{Node, Number};
use serde::de::{Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The only key of a node that is a JSON object.
const TAGS: &[&str] = &["ref", "undefined", "number", "bigint", "utf16"];

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::String(text) => text.serialize(serializer),
            Self::Number(Number(value)) => match special(*value) {
                Some(word) => tagged(serializer, "number", word),
                None => serializer.serialize_f64(*value),
            },
            Self::Undefined => tagged(serializer, "undefined", &true),
            Self::BigInt(digits) => tagged(serializer, "bigint", digits),
            Self::Ref(position) => tagged(serializer, "ref", position),
        }
    }
}

fn tagged<S: Serializer, T: Serialize + ?Sized>(
    serializer: S,
    tag: &str,
    value: &T,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, value)?;
    map.end()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a string or an object with one key: ")?;
        f.write_str(&TAGS.join(", "))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Number(Number(value)))
    }

    #[expect(clippy::cast_precision_loss, reason = "a page's numbers are doubles")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Number(Number(value as f64)))
    }

    #[expect(clippy::cast_precision_loss, reason = "a page's numbers are doubles")]
    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Number(Number(value as f64)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::String(text.into()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Node, E> {
        Ok(Node::String(text.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let Some(tag) = map.next_key::<String>()? else {
            return Err(Error::invalid_length(0, &self));
        };
        let node = match tag.as_str() {
            "ref" => Node::Ref(map.next_value()?),
            "undefined" => undefined(map.next_value()?)?,
            "number" => number(&map.next_value::<String>()?)?,
            "bigint" => big_int(map.next_value()?)?,
            "utf16" => {
                let base64: String = map.next_value()?;
                Node::String(Text::from_base64(&base64).map_err(Error::custom)?)
            }
            other => return Err(Error::unknown_field(other, TAGS)),
        };
        if map.next_key::<IgnoredAny>()?.is_some() {
            return Err(Error::invalid_length(2, &self));
        }
        Ok(node)
    }
}

fn undefined<E: Error>(value: bool) -> Result<Node, E> {
    if value {
        return Ok(Node::Undefined);
    }
    Err(E::invalid_value(Unexpected::Bool(false), &"true as the value of `undefined`"))
}

fn big_int<E: Error>(digits: String) -> Result<Node, E> {
    if is_big_int(&digits) {
        return Ok(Node::BigInt(digits));
    }
    Err(E::custom("expected a bigint in decimal, found something else"))
}

/// Whether a page's `BigInt()` takes these digits as they are.
pub(crate) fn is_big_int(digits: &str) -> bool {
    let digits = digits.strip_prefix('-').unwrap_or(digits);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The word for a number that JSON has no digits for.
pub(crate) fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else if value == 0.0 && value.is_sign_negative() {
        Some("-0")
    } else {
        None
    }
}

/// The number that a word stands for.
pub(crate) fn from_special(word: &str) -> Option<Number> {
    match word {
        "NaN" => Some(Number(f64::NAN)),
        "Infinity" => Some(Number(f64::INFINITY)),
        "-Infinity" => Some(Number(f64::NEG_INFINITY)),
        "-0" => Some(Number(-0.0)),
        _ => None,
    }
}

fn number<E: Error>(word: &str) -> Result<Node, E> {
    let expected = "expected NaN, Infinity, -Infinity or -0 as a number in words";
    from_special(word).map(Node::Number).ok_or_else(|| E::custom(expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Node, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn every_form_on_the_wire_is_read() {
        let number = |value| Ok(Node::Number(Number(value)));
        assert_eq!(read("null"), Ok(Node::Null));
        assert_eq!(read("5"), number(5.0));
        assert_eq!(read("5.0"), number(5.0));
        assert_eq!(read("-5e300"), number(-5e300));
        assert_eq!(read("18446744073709551615"), number(18_446_744_073_709_551_615.0));
        assert_eq!(read("\"null\""), Ok(Node::String("null".into())));
        assert_eq!(read(r#"{"ref":3}"#), Ok(Node::Ref(3)));
        assert_eq!(read(r#"{"undefined":true}"#), Ok(Node::Undefined));
        assert_eq!(read(r#"{"number":"-0"}"#), number(-0.0));
        assert_eq!(read(r#"{"bigint":"-12"}"#), Ok(Node::BigInt("-12".into())));
        assert_eq!(read(r#"{"utf16":"ANg="}"#), Ok(Node::String(Text::from_utf16(&[0xd800]))));
    }

    #[test]
    fn what_is_no_node_is_refused() {
        let broken = [
            "[]",
            "{}",
            r#"{"object":1}"#,
            r#"{"ref":-1}"#,
            r#"{"ref":0,"undefined":true}"#,
            r#"{"undefined":false}"#,
            r#"{"number":"5"}"#,
            r#"{"bigint":"0x5"}"#,
            r#"{"bigint":"-"}"#,
            r#"{"utf16":"AA=="}"#,
        ];
        for json in broken {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
