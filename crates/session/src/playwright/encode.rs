//! Values as Playwright encodes them, written: the other side of [`decode`](super::decode).
//!
//! A value is written exactly, or it is refused with the reason. Two things are near enough to be
//! written with a note: a `Date` that is referred to twice becomes two, and a view of a part of its
//! buffer keeps only that part.

use super::decode::{TYPED_ARRAYS, view_bytes};
use crate::json_tree::{Json, MAX_VALUE_DEPTH};
use crate::text::Text;
use crate::value::{Node, Object, Value, special};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

/// What in a value the format has no word for.
type EncodeReason = &'static str;

const TOO_DEEP: EncodeReason = "a value nested less than 129 deep";

/// A value in the format's words.
pub(super) struct Encoded {
    /// The value.
    pub(super) json: Json,
    /// Whether it is there as itself, in `value`, not in `valueEncoded`.
    pub(super) plain: bool,
    /// What was changed.
    pub(super) notes: Vec<EncodeReason>,
}

/// Encodes a value, or says what in it has no word.
pub(super) fn encode(value: &Value) -> Result<Encoded, EncodeReason> {
    let uses = uses(value);
    if let Some(json) = plain(value, &uses) {
        return Ok(Encoded { json, plain: true, notes: Vec::new() });
    }
    let ids = vec![None; value.heap.len()];
    let mut encoder = Encoder { value, uses, ids, last: 0, notes: Vec::new() };
    let json = encoder.encoded(&value.root, 0)?;
    encoder.notes.dedup();
    Ok(Encoded { json, plain: false, notes: encoder.notes })
}

struct Encoder<'a> {
    value: &'a Value,
    uses: Vec<usize>,
    ids: Vec<Option<u32>>,
    last: u32,
    notes: Vec<EncodeReason>,
}

impl Encoder<'_> {
    fn encoded(&mut self, node: &Node, depth: usize) -> Result<Json, EncodeReason> {
        if depth > MAX_VALUE_DEPTH {
            return Err(TOO_DEEP);
        }
        Ok(match node {
            Node::Undefined => word("undefined"),
            Node::Null => word("null"),
            Node::Bool(value) => Json::Bool(*value),
            Node::Number(number) => special(number.0).map_or(Json::Number(number.0), word),
            Node::BigInt(digits) => Json::object([("bi", Json::text(digits))]),
            Node::String(text) => Json::Text(text.clone()),
            Node::Ref(position) => return self.object(*position, depth),
        })
    }

    fn object(&mut self, position: usize, depth: usize) -> Result<Json, EncodeReason> {
        const DANGLING: EncodeReason = "a reference into its heap";
        if let Some(id) = self.ids.get(position).ok_or(DANGLING)? {
            return Ok(Json::object([("ref", Json::Number(f64::from(*id)))]));
        }
        let value = self.value;
        let object = value.heap.get(position).ok_or(DANGLING)?;
        match object {
            Object::Object { .. }
            | Object::Array { .. }
            | Object::Map { .. }
            | Object::Set { .. } => {
                return self.container(position, object, depth);
            }
            Object::Date { time } => {
                if self.uses[position] > 1 {
                    self.notes.push("a Date that is referred to twice becomes two");
                }
                return iso(time).map(|date| Json::object([("d", Json::text(&date))]));
            }
            _ if self.uses[position] > 1 => {
                return Err("an object that is referred to once");
            }
            _ => {}
        }
        match object {
            Object::Regexp { source, flags } => {
                let regexp = [("p", Json::Text(source.clone())), ("f", Json::text(flags))];
                Ok(Json::object([("r", Json::object(regexp))]))
            }
            Object::Error { name, message, stack, cause: Node::Undefined, caused: false } => {
                error(name, message, stack)
            }
            Object::Error { .. } => Err(NO_ERROR),
            Object::ArrayBuffer { bytes, max: None } => {
                Ok(Json::object([("ab", Json::object([("b", Json::text(bytes))]))]))
            }
            Object::View { kind, .. } => self.view(object, kind),
            _ => Err(wordless(object)),
        }
    }

    fn container(
        &mut self,
        position: usize,
        object: &Object,
        depth: usize,
    ) -> Result<Json, EncodeReason> {
        self.last += 1;
        let id = self.last;
        self.ids[position] = Some(id);
        let mut items = Vec::new();
        let tag = match object {
            Object::Array { length, entries } => {
                let nodes = dense(*length, entries).ok_or("an array without holes and names")?;
                for node in nodes {
                    items.push(self.encoded(node, depth + 1)?);
                }
                "a"
            }
            Object::Set { values } => {
                for node in values {
                    items.push(self.encoded(node, depth + 1)?);
                }
                "s"
            }
            Object::Map { entries } => {
                for (key, value) in entries {
                    let key = self.encoded(key, depth + 1)?;
                    items.push(pair(key, self.encoded(value, depth + 1)?));
                }
                "m"
            }
            Object::Object { entries } => {
                for (name, node) in entries {
                    if name.as_str() == Some("__proto__") {
                        return Err("no property called __proto__");
                    }
                    items.push(pair(Json::Text(name.clone()), self.encoded(node, depth + 1)?));
                }
                "o"
            }
            other => return Err(wordless(other)),
        };
        Ok(Json::object([(tag, Json::Array(items)), ("id", Json::Number(f64::from(id)))]))
    }

    fn view(&mut self, view: &Object, kind: &str) -> Result<Json, EncodeReason> {
        let known = TYPED_ARRAYS.iter().find(|array| array.kind == kind);
        let word = known.ok_or("a typed array that the format knows, no DataView")?.word;
        let Object::View { buffer: Node::Ref(buffer), .. } = view else {
            return Err("a view on a buffer");
        };
        if self.uses.get(*buffer) != Some(&1) {
            return Err("a buffer of its own under each view");
        }
        if let Some(Object::ArrayBuffer { max: Some(_), .. }) = self.value.heap.get(*buffer) {
            return Err("a buffer of fixed length");
        }
        let (bytes, whole) = view_bytes(self.value, view).ok_or("a view inside its buffer")?;
        if !whole {
            self.notes.push("a view keeps only its own part of its buffer");
        }
        let array = [("b", Json::text(&STANDARD.encode(bytes))), ("k", Json::text(word))];
        Ok(Json::object([("ta", Json::object(array))]))
    }
}

fn word(word: &str) -> Json {
    Json::object([("v", Json::text(word))])
}

fn pair(key: Json, value: Json) -> Json {
    Json::object([("k", key), ("v", value)])
}

/// What the format has for an error.
const NO_ERROR: EncodeReason = "an Error with a message and a stack, without a cause";

/// Message and stack are strings in the format, and it has no cause.
fn error(name: &str, message: &Node, stack: &Node) -> Result<Json, EncodeReason> {
    let (Node::String(message), Node::String(stack)) = (message, stack) else {
        return Err(NO_ERROR);
    };
    let [name, message, stack] =
        [Json::text(name), Json::Text(message.clone()), Json::Text(stack.clone())];
    Ok(Json::object([("e", Json::object([("n", name), ("m", message), ("s", stack)]))]))
}

/// A date as `Date.prototype.toJSON` writes it.
fn iso(time: &Node) -> Result<String, EncodeReason> {
    const EXPECTED: EncodeReason = "a valid Date from the year 0 to 9999";
    let Node::Number(number) = time else {
        return Err(EXPECTED);
    };
    let limit = 253_402_300_800_000.0;
    if number.0.fract() != 0.0 || !(-62_167_219_200_000.0..limit).contains(&number.0) {
        return Err(EXPECTED);
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and in range")]
    let instant = Timestamp::from_millisecond(number.0 as i64).map_err(|_| EXPECTED)?;
    Ok(instant.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string())
}

/// What was expected instead of an object that the format has no word for.
fn wordless(object: &Object) -> EncodeReason {
    match object {
        Object::Boxed { .. } => "no boxed primitive",
        Object::Blob { .. } => "no Blob",
        Object::File { .. } => "no File",
        Object::CryptoKey { .. } => "no CryptoKey",
        Object::ArrayBuffer { .. } => "a buffer of fixed length",
        _ => "only what a script can read",
    }
}

/// How often each object of the heap is referred to.
fn uses(value: &Value) -> Vec<usize> {
    let mut uses = vec![0; value.heap.len()];
    let nodes = value.heap.iter().flat_map(Object::nodes);
    for node in nodes.chain([&value.root]) {
        if let Node::Ref(position) = node
            && let Some(count) = uses.get_mut(*position)
        {
            *count += 1;
        }
    }
    uses
}

/// The value as JSON; `None` when anything in it needs more words.
pub(super) fn plain(value: &Value, uses: &[usize]) -> Option<Json> {
    node(value, uses, &value.root, 0)
}

fn node(value: &Value, uses: &[usize], node: &Node, depth: usize) -> Option<Json> {
    match node {
        Node::Null => Some(Json::Null),
        Node::Bool(value) => Some(Json::Bool(*value)),
        Node::Number(number) if special(number.0).is_none() => Some(Json::Number(number.0)),
        Node::String(text) => Some(Json::Text(text.clone())),
        Node::Ref(position) if depth < MAX_VALUE_DEPTH && uses.get(*position) == Some(&1) => {
            object(value, uses, value.heap.get(*position)?, depth + 1)
        }
        _ => None,
    }
}

fn object(value: &Value, uses: &[usize], object: &Object, depth: usize) -> Option<Json> {
    match object {
        Object::Object { entries } => entries
            .iter()
            .map(|(name, inner)| {
                name.as_str().filter(|name| *name != "__proto__")?;
                Some((name.clone(), node(value, uses, inner, depth)?))
            })
            .collect::<Option<_>>()
            .map(Json::Object),
        Object::Array { length, entries } => dense(*length, entries)?
            .map(|inner| node(value, uses, inner, depth))
            .collect::<Option<_>>()
            .map(Json::Array),
        _ => None,
    }
}

/// The items of an array that has neither holes nor named properties.
fn dense(length: u32, entries: &[(Text, Node)]) -> Option<impl Iterator<Item = &Node>> {
    let full = usize::try_from(length) == Ok(entries.len());
    let mut names = entries.iter().enumerate();
    let in_order = names.all(|(index, (name, _))| name.as_str() == Some(&index.to_string()));
    (full && in_order).then(|| entries.iter().map(|(_, node)| node))
}
