//! IndexedDB keys: what a key path finds in a value.
//!
//! The format leaves a key out when it stands in the value: "evaluate a key path on a value" of the
//! Indexed Database API.

use super::typed_array::view_bytes;
use crate::database::KeyPath;
use crate::json_tree::MAX_VALUE_DEPTH;
use crate::text::Text;
use crate::value::{Node, Number, Object, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The key that a path finds in a value; `None` when there is none.
pub(super) fn key_of(value: &Value, path: &KeyPath) -> Option<Value> {
    let mut copier = Copier { value, heap: Vec::new() };
    let root = match path {
        KeyPath::One(path) => copier.key(&evaluate(value, path)?, 0)?,
        KeyPath::Many(paths) => {
            let nodes: Option<Vec<Node>> = paths.iter().map(|path| evaluate(value, path)).collect();
            copier.array(&nodes?, 0)?
        }
    };
    Some(Value { root, heap: copier.heap })
}

/// A key in its one form: views are buffers, −0 is 0, the heap is in the order of reading.
pub(super) fn canonical(key: &Value) -> Option<Value> {
    key_of(key, &KeyPath::One("".into()))
}

/// What stands in `value` at `path`.
fn evaluate(value: &Value, path: &Text) -> Option<Node> {
    let path = path.as_str()?;
    if path.is_empty() {
        return Some(value.root.clone());
    }
    path.split('.').try_fold(value.root.clone(), |node, name| member(value, &node, name))
}

fn member(value: &Value, node: &Node, name: &str) -> Option<Node> {
    let number = |length| Some(Node::Number(Number(length)));
    #[expect(clippy::cast_precision_loss, reason = "no string is that long")]
    match node {
        Node::String(text) if name == "length" => number(text.len() as f64),
        Node::Ref(position) => match value.heap.get(*position)? {
            Object::Array { length, .. } if name == "length" => number(f64::from(*length)),
            Object::Object { entries } | Object::Array { entries, .. } => {
                let mut entries = entries.iter().rev();
                entries.find(|(key, _)| key.as_str() == Some(name)).map(|(_, node)| node.clone())
            }
            _ => None,
        },
        _ => None,
    }
}

/// Copies what is a valid key into a heap of its own.
struct Copier<'a> {
    value: &'a Value,
    heap: Vec<Object>,
}

impl Copier<'_> {
    fn key(&mut self, node: &Node, depth: usize) -> Option<Node> {
        let position = match node {
            Node::Number(Number(number)) if number.is_nan() => return None,
            Node::Number(Number(0.0)) => return Some(Node::Number(Number(0.0))),
            Node::Number(_) | Node::String(_) => return Some(node.clone()),
            Node::Ref(position) if depth < MAX_VALUE_DEPTH => *position,
            _ => return None,
        };
        let value = self.value;
        let object = value.heap.get(position)?;
        match object {
            Object::Date { time: Node::Number(Number(time)) } if !time.is_nan() => {
                Some(self.push(object.clone()))
            }
            Object::ArrayBuffer { bytes, .. } => {
                Some(self.push(Object::ArrayBuffer { bytes: bytes.clone(), max: None }))
            }
            Object::View { .. } => {
                let bytes = STANDARD.encode(view_bytes(value, object)?.0);
                Some(self.push(Object::ArrayBuffer { bytes, max: None }))
            }
            Object::Array { length, entries } if usize::try_from(*length) == Ok(entries.len()) => {
                let nodes: Vec<Node> = entries.iter().map(|(_, node)| node.clone()).collect();
                self.array(&nodes, depth + 1)
            }
            _ => None,
        }
    }

    fn push(&mut self, object: Object) -> Node {
        self.heap.push(object);
        Node::Ref(self.heap.len() - 1)
    }

    fn array(&mut self, nodes: &[Node], depth: usize) -> Option<Node> {
        let position = self.heap.len();
        let length = u32::try_from(nodes.len()).ok()?;
        self.heap.push(Object::Array { length, entries: Vec::new() });
        let mut filled = Vec::with_capacity(nodes.len());
        for (index, node) in nodes.iter().enumerate() {
            filled.push((index.to_string().into(), self.key(node, depth)?));
        }
        self.heap[position] = Object::Array { length, entries: filled };
        Some(Node::Ref(position))
    }
}
