//! A value as structured cloning carries it: cycles, shared identity, and what JSON has no word for.
//!
//! A value is a root and a heap. Primitives are where they are used; everything with an identity is once in
//! the heap and is referred to by its position, so two references to one object stay one object. The page
//! side of this codec is `value.js` in the browser crate; the rules are those of
//! `StructuredSerializeInternal` in the HTML standard.
//!
//! On the wire: `{"root": node, "heap": [object, …]}`. A node is `null`, a boolean, a finite number, a string
//! of valid Unicode, or an object with exactly one key: `ref`, `undefined`, `number` (`NaN`, `Infinity`,
//! `-Infinity`, `-0`), `bigint`, `utf16`. A value whose references point outside its heap is refused when it
//! is read, so a holder of a value may follow them.

use crate::text::Text;
use serde::de::{Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// A value of IndexedDB, or of anything else that structured cloning carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Value {
    /// Where it starts.
    pub root: Node,
    /// Everything with an identity; [`Node::Ref`] points here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub heap: Vec<Object>,
}

/// A value whose references were not checked yet.
#[derive(Deserialize)]
struct Unchecked {
    root: Node,
    #[serde(default)]
    heap: Vec<Object>,
}

/// A reference that points outside the heap.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a reference into a heap of {length} objects, found position {position}")]
pub struct DanglingRef {
    /// Where it points.
    pub position: usize,
    /// How many objects the heap has.
    pub length: usize,
}

impl TryFrom<Unchecked> for Value {
    type Error = DanglingRef;

    fn try_from(Unchecked { root, heap }: Unchecked) -> Result<Self, DanglingRef> {
        Self::new(root, heap)
    }
}

impl Value {
    /// A value whose references all point into its heap.
    pub fn new(root: Node, heap: Vec<Object>) -> Result<Self, DanglingRef> {
        let length = heap.len();
        let dangling = |node: &Node| match node {
            Node::Ref(position) if *position >= length => Some(*position),
            _ => None,
        };
        let mut nodes = std::iter::once(&root).chain(heap.iter().flat_map(Object::nodes));
        match nodes.find_map(dangling) {
            Some(position) => Err(DanglingRef { position, length }),
            None => Ok(Self { root, heap }),
        }
    }

    /// A value without a heap.
    pub fn primitive(root: Node) -> Self {
        Self { root, heap: Vec::new() }
    }

    /// Kinds of object in it that could not be carried.
    pub fn losses(&self) -> impl Iterator<Item = &str> {
        self.heap.iter().filter_map(|object| match object {
            Object::Lost { kind } => Some(kind.as_str()),
            _ => None,
        })
    }
}

/// A primitive, or a reference into the heap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number, also `NaN`, the infinities and −0.
    Number(Number),
    /// A `BigInt` in decimal.
    BigInt(String),
    /// A string, also one that is not valid Unicode.
    String(Text),
    /// A position in the heap.
    Ref(usize),
}

/// A number that is equal to itself bit by bit, so that NaN is NaN and 0 is not −0.
#[derive(Debug, Clone, Copy)]
pub struct Number(pub f64);

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits() || (self.0.is_nan() && other.0.is_nan())
    }
}

impl Eq for Number {}

/// Something with an identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Object {
    /// A plain object with its own enumerable properties, in their order.
    Object {
        /// Name and value.
        entries: Vec<(Text, Node)>,
    },
    /// An array, perhaps with holes and with named properties.
    Array {
        /// Its `length`.
        length: u32,
        /// Index or name, and value; what is not here is a hole.
        entries: Vec<(Text, Node)>,
    },
    /// A `Date`.
    Date {
        /// Milliseconds since 1970, or NaN for an invalid date.
        time: Node,
    },
    /// A `RegExp`.
    Regexp {
        /// Its pattern.
        source: Text,
        /// Its flags.
        flags: String,
    },
    /// A `Map`.
    Map {
        /// Key and value in the order of insertion.
        entries: Vec<(Node, Node)>,
    },
    /// A `Set`.
    Set {
        /// Members in the order of insertion.
        values: Vec<Node>,
    },
    /// An `Error` or one of its standard subclasses.
    Error {
        /// `Error`, `TypeError` and so on.
        name: String,
        /// Its message; `undefined` when it has none of its own.
        message: Node,
        /// Its stack.
        stack: Node,
        /// Its cause; `undefined` when it has none.
        #[serde(default = "undefined")]
        cause: Node,
        /// Whether it has a cause of its own and that is `undefined`, which `cause` alone cannot tell.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        caused: bool,
    },
    /// A boxed primitive such as `new String("a")`.
    Boxed {
        /// What is in the box.
        value: Node,
    },
    /// An `ArrayBuffer`.
    ArrayBuffer {
        /// Its bytes in base64.
        bytes: String,
        /// Its `maxByteLength` when it is resizable.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<u64>,
    },
    /// A typed array or `DataView` on a buffer that others may share.
    View {
        /// Constructor, such as `Uint8Array`.
        kind: String,
        /// Its buffer.
        buffer: Node,
        /// Bytes before it.
        offset: u64,
        /// Elements, or bytes of a `DataView`.
        length: u64,
        /// Whether it ends where its buffer ends, also when that is resized.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        follows: bool,
    },
    /// A `Blob`.
    Blob {
        /// Its media type.
        mime: String,
        /// Its bytes in base64.
        bytes: String,
    },
    /// A `File`.
    File {
        /// Its name.
        name: Text,
        /// Its media type.
        mime: String,
        /// Milliseconds since 1970.
        modified: i64,
        /// Its bytes in base64.
        bytes: String,
    },
    /// A `CryptoKey` that its site marked extractable.
    CryptoKey {
        /// The key as a JSON Web Key (RFC 7517).
        jwk: String,
        /// Its algorithm, as `SubtleCrypto.importKey` takes it, in JSON.
        algorithm: String,
        /// What it may be used for.
        usages: Vec<String>,
    },
    /// Something that no script can read, such as a `CryptoKey` that is not extractable.
    Lost {
        /// Its class.
        kind: String,
    },
}

impl Object {
    /// Every node in it, keys of a `Map` too.
    pub fn nodes(&self) -> Vec<&Node> {
        match self {
            Self::Object { entries } | Self::Array { entries, .. } => {
                entries.iter().map(|(_, node)| node).collect()
            }
            Self::Map { entries } => entries.iter().flat_map(|(k, v)| [k, v]).collect(),
            Self::Set { values } => values.iter().collect(),
            Self::Error { message, stack, cause, .. } => vec![message, stack, cause],
            Self::Date { time: node } | Self::Boxed { value: node } => vec![node],
            Self::View { buffer, .. } => vec![buffer],
            Self::Regexp { .. }
            | Self::ArrayBuffer { .. }
            | Self::Blob { .. }
            | Self::File { .. }
            | Self::CryptoKey { .. }
            | Self::Lost { .. } => Vec::new(),
        }
    }
}

fn undefined() -> Node {
    Node::Undefined
}

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

/// Written by hand, as the other direction is, because a node is read a million times over when a
/// database is large, and because an error should say what was expected.
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
            "undefined" => read_undefined(map.next_value()?)?,
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

fn read_undefined<E: Error>(value: bool) -> Result<Node, E> {
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

/// The number that a word means.
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
