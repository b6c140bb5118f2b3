//! Strategies for values with cycles and shared identity, and for databases that hold them.

use super::text;
use baton_session::stored::{Index, KeyPath, ObjectStore, Record};
use baton_session::value::{Node, Number, Object};
use baton_session::{Database, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// A node that may refer to any of `heap` objects.
pub(crate) fn node(heap: usize) -> BoxedStrategy<Node> {
    let primitive = prop_oneof![
        Just(Node::Undefined),
        Just(Node::Null),
        any::<bool>().prop_map(Node::Bool),
        proptest::num::f64::ANY.prop_map(|number| Node::Number(Number(number))),
        (-3i32..3).prop_map(|number| Node::Number(Number(f64::from(number)))),
        Just(Node::Number(Number(-0.0))),
        "-?[0-9]{1,20}".prop_map(Node::BigInt),
        text().prop_map(Node::String),
    ];
    if heap == 0 {
        return primitive.boxed();
    }
    prop_oneof![2 => primitive, 1 => (0..heap).prop_map(Node::Ref)].boxed()
}

/// Some bytes.
pub(crate) fn base64() -> impl Strategy<Value = String> {
    select(vec!["", "AA==", "AQIDBAUGBwg=", "/+8="]).prop_map(str::to_owned)
}

/// Any object whose nodes may refer to any of `heap` objects.
pub(crate) fn object(heap: usize) -> BoxedStrategy<Object> {
    let node = || node(heap);
    let entries = || vec((text(), node()), 0..4);
    prop_oneof![
        entries().prop_map(|entries| Object::Object { entries }),
        (any::<u32>(), entries()).prop_map(|(length, entries)| Object::Array { length, entries }),
        node().prop_map(|time| Object::Date { time }),
        (text(), "[gimsuy]{0,2}").prop_map(|(source, flags)| Object::Regexp { source, flags }),
        vec((node(), node()), 0..3).prop_map(|entries| Object::Map { entries }),
        vec(node(), 0..3).prop_map(|values| Object::Set { values }),
        ("(Type|Range)?Error", node(), node(), node(), any::<bool>()).prop_map(
            |(name, message, stack, cause, caused)| Object::Error {
                name,
                message,
                stack,
                cause,
                caused
            }
        ),
        node().prop_map(|value| Object::Boxed { value }),
        (base64(), option::of(any::<u64>()))
            .prop_map(|(bytes, max)| Object::ArrayBuffer { bytes, max }),
        (node(), any::<u64>(), any::<u64>(), any::<bool>()).prop_map(
            |(buffer, offset, length, follows)| Object::View {
                kind: "Uint8Array".to_owned(),
                buffer,
                offset,
                length,
                follows,
            }
        ),
        base64().prop_map(|bytes| Object::Blob { mime: "text/plain".to_owned(), bytes }),
        (text(), any::<i64>(), base64()).prop_map(|(name, modified, bytes)| {
            Object::File { name, mime: String::new(), modified, bytes }
        }),
        Just(Object::CryptoKey {
            jwk: r#"{"kty":"oct","k":"c2VjcmV0"}"#.to_owned(),
            algorithm: r#"{"name":"HMAC","hash":"SHA-256"}"#.to_owned(),
            usages: vec!["sign".to_owned()],
        }),
        Just(Object::Lost { kind: "CryptoKey".to_owned() }),
    ]
    .boxed()
}

/// Any value, with cycles.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    (0..5usize).prop_flat_map(|heap| {
        (node(heap), vec(object(heap), heap))
            .prop_map(|(root, heap)| Value::new(root, heap).unwrap())
    })
}

fn key_path() -> impl Strategy<Value = KeyPath> {
    prop_oneof![text().prop_map(KeyPath::One), vec(text(), 1..3).prop_map(KeyPath::Many)]
}

fn index() -> impl Strategy<Value = Index> {
    (text(), key_path(), any::<bool>(), any::<bool>()).prop_map(
        |(name, key_path, unique, multi_entry)| Index { name, key_path, unique, multi_entry },
    )
}

fn store() -> impl Strategy<Value = ObjectStore> {
    let record = (value(), value()).prop_map(|(key, value)| Record { key, value });
    let keys = (option::of(key_path()), any::<bool>(), option::of(any::<u64>()));
    (text(), keys, vec(index(), 0..2), vec(record, 0..3)).prop_map(
        |(name, (key_path, auto_increment, next_key), indexes, records)| ObjectStore {
            name,
            key_path,
            auto_increment,
            next_key,
            indexes,
            records,
        },
    )
}

/// Any database.
pub(crate) fn database() -> impl Strategy<Value = Database> {
    (text(), any::<u64>(), vec(store(), 0..3)).prop_map(|(name, version, stores)| Database {
        name,
        version,
        stores,
    })
}
