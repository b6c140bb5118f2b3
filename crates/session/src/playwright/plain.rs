//! Values that JSON can say as they are: trees of objects and arrays, each referred to once.

use crate::json_tree::{Json, MAX_VALUE_DEPTH};
use crate::node::special;
use crate::text::Text;
use crate::value::{Node, Object, Value};

/// How often each object of the heap is referred to.
pub(super) fn uses(value: &Value) -> Vec<usize> {
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
pub(super) fn dense(length: u32, entries: &[(Text, Node)]) -> Option<impl Iterator<Item = &Node>> {
    let full = usize::try_from(length) == Ok(entries.len());
    let mut names = entries.iter().enumerate();
    let in_order = names.all(|(index, (name, _))| name.as_str() == Some(&index.to_string()));
    (full && in_order).then(|| entries.iter().map(|(_, node)| node))
}
