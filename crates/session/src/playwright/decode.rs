//! Values as Playwright encodes them, read: `parseEvaluationResultValue` of playwright-core.
//!
//! What JSON can say is there as itself; the rest is an object with one telling member, such as `{"d":
//! "1970-01-01T00:00:00.000Z"}`. Containers carry an `id`, to which `{"ref": id}` refers.

use crate::json_tree::Json;
use crate::text::Text;
use crate::value::{Node, Number, Object, Value, from_special, is_big_int};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use std::collections::BTreeMap;

/// What in a value cannot be read.
type DecodeReason = &'static str;

/// The value that is in `plain` as itself, or else encoded in `encoded`.
pub(super) fn decode(plain: Option<&Json>, encoded: Option<&Json>) -> Result<Value, DecodeReason> {
    let mut decoder = Decoder::default();
    let root = match (plain, encoded) {
        (Some(plain), _) => decoder.plain(plain)?,
        (None, Some(encoded)) => decoder.encoded(encoded)?,
        (None, None) => Node::Undefined,
    };
    Ok(Value { root, heap: decoder.heap })
}

#[derive(Default)]
struct Decoder {
    heap: Vec<Object>,
    /// Positions in the heap by `id`, which is any number.
    ids: BTreeMap<u64, usize>,
}

impl Decoder {
    fn push(&mut self, object: Object) -> Node {
        self.heap.push(object);
        Node::Ref(self.heap.len() - 1)
    }

    /// Takes a position for an object before what is in it, which may refer to it.
    fn hold(&mut self) {
        self.heap.push(Object::Set { values: Vec::new() });
    }

    fn reserve(&mut self, json: &Json) -> usize {
        let position = self.heap.len();
        self.hold();
        if let Some(Json::Number(id)) = json.get("id") {
            self.ids.insert(id.to_bits(), position);
        }
        position
    }

    fn plain(&mut self, json: &Json) -> Result<Node, DecodeReason> {
        let position = self.heap.len();
        let object = match json {
            Json::Null => return Ok(Node::Null),
            Json::Bool(value) => return Ok(Node::Bool(*value)),
            Json::Number(value) => return Ok(Node::Number(Number(*value))),
            Json::Text(text) => return Ok(Node::String(text.clone())),
            Json::TooDeep => return Err("a value nested less deep"),
            Json::Array(items) => {
                self.hold();
                let nodes: Result<_, DecodeReason> =
                    items.iter().map(|item| self.plain(item)).collect();
                array(nodes?)?
            }
            Json::Object(members) => {
                self.hold();
                let mut entries = Vec::with_capacity(members.len());
                for (name, value) in members {
                    entries.push((name.clone(), self.plain(value)?));
                }
                Object::Object { entries }
            }
        };
        self.heap[position] = object;
        Ok(Node::Ref(position))
    }

    fn encoded(&mut self, json: &Json) -> Result<Node, DecodeReason> {
        const TAGS: [&str; 15] =
            ["ref", "v", "d", "u", "bi", "e", "r", "a", "o", "m", "s", "h", "fn", "ta", "ab"];
        let tag = TAGS.into_iter().find_map(|tag| Some((tag, json.get(tag)?)));
        let Some((tag, inner)) = tag else {
            return self.plain(json);
        };
        match (tag, inner) {
            ("ref", Json::Number(id)) => {
                let position = self.ids.get(&id.to_bits()).ok_or("a ref to an earlier id")?;
                Ok(Node::Ref(*position))
            }
            ("v", Json::Text(word)) => Ok(word_of(word)),
            ("d", Json::Text(date)) => date_of(date).map(|time| self.push(Object::Date { time })),
            // What `toJSON` makes of an invalid date.
            ("d", Json::Null) => {
                Ok(self.push(Object::Date { time: Node::Number(Number(f64::NAN)) }))
            }
            ("bi", Json::Text(digits)) => match digits.as_str() {
                Some(digits) if is_big_int(digits) => Ok(Node::BigInt(digits.to_owned())),
                _ => Err("a bigint in decimal"),
            },
            ("e", error) => self.error(error),
            ("r", regexp) => self.regexp(regexp),
            ("a" | "o" | "m" | "s", Json::Array(items)) => self.container(json, tag, items),
            ("ta", array) => self.typed_array(array),
            ("ab", buffer) => self.buffer(buffer.get_str("b")).map(|(node, _)| node),
            _ => Err("a value that IndexedDB can hold"),
        }
    }

    fn container(&mut self, json: &Json, tag: &str, items: &[Json]) -> Result<Node, DecodeReason> {
        let position = self.reserve(json);
        self.heap[position] = match tag {
            "a" => array(self.all(items)?)?,
            "s" => Object::Set { values: self.all(items)? },
            "m" => Object::Map { entries: self.pairs(items)? },
            _ => Object::Object { entries: self.members(items)? },
        };
        Ok(Node::Ref(position))
    }

    fn all(&mut self, items: &[Json]) -> Result<Vec<Node>, DecodeReason> {
        items.iter().map(|item| self.encoded(item)).collect()
    }

    fn pairs(&mut self, items: &[Json]) -> Result<Vec<(Node, Node)>, DecodeReason> {
        let pair = |item: &Json| {
            let (Some(key), Some(value)) = (item.get("k"), item.get("v")) else {
                return Err("k and v in each entry of a Map");
            };
            Ok((self.encoded(key)?, self.encoded(value)?))
        };
        items.iter().map(pair).collect()
    }

    fn members(&mut self, items: &[Json]) -> Result<Vec<(Text, Node)>, DecodeReason> {
        let mut entries = Vec::with_capacity(items.len());
        for item in items {
            let (Some(name), Some(value)) = (item.get_text("k"), item.get("v")) else {
                return Err("k and v in each property of an object");
            };
            // Playwright skips it, too.
            if name.as_str() != Some("__proto__") {
                entries.push((name.clone(), self.encoded(value)?));
            }
        }
        Ok(entries)
    }

    fn error(&mut self, json: &Json) -> Result<Node, DecodeReason> {
        let (Some(name), Some(message)) = (json.get_str("n"), json.get_text("m")) else {
            return Err("n and m of an error as strings");
        };
        let stack = json.get_text("s").cloned().map_or(Node::Undefined, Node::String);
        let message = Node::String(message.clone());
        let name = name.to_owned();
        Ok(self.push(Object::Error { name, message, stack, cause: Node::Undefined, caused: false }))
    }

    fn regexp(&mut self, json: &Json) -> Result<Node, DecodeReason> {
        let (Some(source), Some(flags)) = (json.get_text("p"), json.get_str("f")) else {
            return Err("p and f of a regular expression as strings");
        };
        Ok(self.push(Object::Regexp { source: source.clone(), flags: flags.to_owned() }))
    }

    fn typed_array(&mut self, json: &Json) -> Result<Node, DecodeReason> {
        let word = json.get_str("k");
        let known = TYPED_ARRAYS.iter().find(|array| Some(array.word) == word);
        let kind = known.ok_or("a known kind of typed array")?;
        let view = self.heap.len();
        self.hold();
        let (buffer, size) = self.buffer(json.get_str("b"))?;
        if size % kind.element != 0 {
            return Err("as many bytes as a typed array has elements");
        }
        let length = size / kind.element;
        self.heap[view] =
            Object::View { kind: kind.kind.to_owned(), buffer, offset: 0, length, follows: false };
        Ok(Node::Ref(view))
    }

    /// A buffer, and how many bytes are in it.
    fn buffer(&mut self, base64: Option<&str>) -> Result<(Node, u64), DecodeReason> {
        const EXPECTED: DecodeReason = "bytes in base64";
        let base64 = base64.ok_or(EXPECTED)?;
        let size = STANDARD.decode(base64).map_err(|_| EXPECTED)?.len();
        let buffer = self.push(Object::ArrayBuffer { bytes: base64.to_owned(), max: None });
        Ok((buffer, size as u64))
    }
}

/// An array without holes.
fn array(nodes: Vec<Node>) -> Result<Object, DecodeReason> {
    let length = u32::try_from(nodes.len()).map_err(|_| "an array of fewer items")?;
    let entries = nodes.into_iter().enumerate();
    Ok(Object::Array {
        length,
        entries: entries.map(|(index, node)| (index.to_string().into(), node)).collect(),
    })
}

/// A word that JSON has no value for; an unknown one is `undefined`, as in Playwright.
fn word_of(word: &Text) -> Node {
    match word.as_str() {
        Some("null") => Node::Null,
        Some(word) => from_special(word).map_or(Node::Undefined, Node::Number),
        None => Node::Undefined,
    }
}

fn date_of(text: &Text) -> Result<Node, DecodeReason> {
    let instant: Option<Timestamp> = text.as_str().and_then(|text| text.parse().ok());
    let millis = instant.ok_or("a date up to the year 9999")?.as_millisecond();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds until the year 9999 fit in f64")]
    Ok(Node::Number(Number(millis as f64)))
}

/// A kind of typed array.
pub(super) struct TypedArray {
    /// Playwright's word for it.
    pub(super) word: &'static str,
    /// Its constructor.
    pub(super) kind: &'static str,
    /// Bytes of one element.
    pub(super) element: u64,
}

/// `typedArrayConstructors` of playwright-core. `Float16Array` and `DataView` are not among them.
pub(super) const TYPED_ARRAYS: [TypedArray; 11] = [
    typed_array("i8", "Int8Array", 1),
    typed_array("ui8", "Uint8Array", 1),
    typed_array("ui8c", "Uint8ClampedArray", 1),
    typed_array("i16", "Int16Array", 2),
    typed_array("ui16", "Uint16Array", 2),
    typed_array("i32", "Int32Array", 4),
    typed_array("ui32", "Uint32Array", 4),
    typed_array("f32", "Float32Array", 4),
    typed_array("f64", "Float64Array", 8),
    typed_array("bi64", "BigInt64Array", 8),
    typed_array("bui64", "BigUint64Array", 8),
];

const fn typed_array(word: &'static str, kind: &'static str, element: u64) -> TypedArray {
    TypedArray { word, kind, element }
}

/// Bytes of one element of a view of this kind; `None` for a kind that does not exist.
fn element_of(kind: &str) -> Option<u64> {
    match kind {
        "DataView" => Some(1),
        "Float16Array" => Some(2),
        _ => TYPED_ARRAYS.iter().find(|array| array.kind == kind).map(|array| array.element),
    }
}

/// The bytes that a view shows, and whether they are its whole buffer.
pub(super) fn view_bytes(value: &Value, view: &Object) -> Option<(Vec<u8>, bool)> {
    let Object::View { kind, buffer: Node::Ref(position), offset, length, .. } = view else {
        return None;
    };
    let Some(Object::ArrayBuffer { bytes, .. }) = value.heap.get(*position) else {
        return None;
    };
    let bytes = STANDARD.decode(bytes).ok()?;
    let start = usize::try_from(*offset).ok()?;
    let size = usize::try_from(length.checked_mul(element_of(kind)?)?).ok()?;
    let shown = bytes.get(start..start.checked_add(size)?)?;
    Some((shown.to_vec(), shown.len() == bytes.len()))
}
