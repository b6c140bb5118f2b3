//! Strategies for states that Playwright's format can say to the last bit.
//!
//! A value is drawn as a tree and then laid out in a heap in the order of reading, the order in
//! which a reader of the format finds its objects.

use super::{cookies, entries, text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_session::cookie::{Priority, SameSite, SourceScheme};
use baton_session::state::OriginState;
use baton_session::stored::{FileContent, Index, KeyPath, ObjectStore, Record};
use baton_session::value::{Node, Number, Object};
use baton_session::{Cookie, Database, Environment, FileEntry, State, StorageKey, Text, Value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;

/// A value before it has a heap.
#[derive(Debug, Clone)]
enum Tree {
    Node(Node),
    Leaf(Object),
    Typed(&'static str, Vec<u8>),
    List(Vec<Tree>),
    Object(BTreeMap<Text, Tree>),
    Map(Vec<(Tree, Tree)>),
    Set(Vec<Tree>),
    /// One of the containers so far.
    Back(usize),
}

/// The value of a tree.
fn value_of(tree: &Tree) -> Value {
    let mut layout = Layout::default();
    let root = layout.node(tree);
    Value::new(root, layout.heap).unwrap()
}

#[derive(Default)]
struct Layout {
    heap: Vec<Object>,
    containers: Vec<usize>,
}

impl Layout {
    fn push(&mut self, object: Object) -> Node {
        self.heap.push(object);
        Node::Ref(self.heap.len() - 1)
    }

    fn node(&mut self, tree: &Tree) -> Node {
        match tree {
            Tree::Node(node) => node.clone(),
            Tree::Leaf(object) => self.push(object.clone()),
            Tree::Typed(kind, bytes) => self.view(kind, bytes),
            Tree::Back(_) if self.containers.is_empty() => Node::Null,
            Tree::Back(nth) => Node::Ref(self.containers[nth % self.containers.len()]),
            container => {
                let position = self.heap.len();
                self.heap.push(Object::Lost { kind: "not laid out yet".to_owned() });
                self.containers.push(position);
                self.heap[position] = self.container(container);
                Node::Ref(position)
            }
        }
    }

    fn view(&mut self, kind: &str, bytes: &[u8]) -> Node {
        let position = self.heap.len();
        let [kind, word] = [kind, kind.trim_start_matches(char::is_alphabetic)];
        let bits: u64 = word.trim_end_matches(char::is_alphabetic).parse().unwrap();
        let length = bytes.len() as u64 / (bits / 8);
        let buffer = Node::Ref(position + 1);
        self.push(Object::View {
            kind: kind.to_owned(),
            buffer,
            offset: 0,
            length,
            follows: false,
        });
        self.push(Object::ArrayBuffer { bytes: STANDARD.encode(bytes), max: None });
        Node::Ref(position)
    }

    fn container(&mut self, tree: &Tree) -> Object {
        match tree {
            Tree::List(items) => Object::Array {
                length: u32::try_from(items.len()).unwrap(),
                entries: (0..)
                    .zip(items)
                    .map(|(index, item): (u32, _)| (index.to_string().into(), self.node(item)))
                    .collect(),
            },
            Tree::Object(members) => Object::Object {
                entries: members.iter().map(|(k, v)| (k.clone(), self.node(v))).collect(),
            },
            Tree::Map(entries) => Object::Map {
                entries: entries.iter().map(|(k, v)| (self.node(k), self.node(v))).collect(),
            },
            Tree::Set(values) => {
                Object::Set { values: values.iter().map(|item| self.node(item)).collect() }
            }
            other => unreachable!("{other:?} is no container"),
        }
    }
}

fn date() -> impl Strategy<Value = Tree> {
    (-62_167_219_200_000..253_402_300_800_000i64).prop_map(|millis| {
        #[expect(clippy::cast_precision_loss, reason = "in range")]
        Tree::Leaf(Object::Date { time: Node::Number(Number(millis as f64)) })
    })
}

fn buffer() -> impl Strategy<Value = Tree> {
    vec(any::<u8>(), 0..9).prop_map(|bytes| {
        Tree::Leaf(Object::ArrayBuffer { bytes: STANDARD.encode(bytes), max: None })
    })
}

fn leaf() -> impl Strategy<Value = Tree> {
    let kinds = vec!["Uint8Array", "Int16Array", "Uint32Array", "Float64Array", "BigUint64Array"];
    prop_oneof![
        4 => super::values::node(0).prop_map(Tree::Node),
        1 => date(),
        1 => buffer(),
        1 => (select(kinds), vec(any::<[u8; 8]>(), 0..3))
            .prop_map(|(kind, words)| Tree::Typed(kind, words.concat())),
        1 => (text(), "[gimsuy]{0,2}")
            .prop_map(|(source, flags)| Tree::Leaf(Object::Regexp { source, flags })),
        1 => (text(), text()).prop_map(|(message, stack)| Tree::Leaf(Object::Error {
            name: "TypeError".to_owned(),
            message: Node::String(message),
            stack: Node::String(stack),
            cause: Node::Undefined,
            caused: false,
        })),
        1 => (0..8usize).prop_map(Tree::Back),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Tree::List),
            btree_map(text(), inner.clone(), 0..4).prop_map(Tree::Object),
            vec((inner.clone(), inner.clone()), 0..3).prop_map(Tree::Map),
            vec(inner, 0..3).prop_map(Tree::Set),
        ]
    })
}

fn key() -> impl Strategy<Value = Tree> {
    let number = proptest::num::f64::NORMAL | proptest::num::f64::INFINITE;
    let leaf = prop_oneof![
        number.prop_map(|number| Tree::Node(Node::Number(Number(number)))),
        text().prop_map(|text| Tree::Node(Node::String(text))),
        date(),
        buffer(),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| vec(inner, 0..3).prop_map(Tree::List))
}

fn store(
    name: &str,
    key_path: Option<KeyPath>,
    next_key: Option<u64>,
    records: Vec<Record>,
) -> ObjectStore {
    let index = Index {
        name: "by mail".into(),
        key_path: KeyPath::Many(vec!["mail".into(), "name".into()]),
        unique: false,
        multi_entry: false,
    };
    let auto_increment = next_key.is_some();
    let (name, indexes) = (name.into(), vec![index]);
    ObjectStore { name, key_path, auto_increment, next_key, indexes, records }
}

fn object<const N: usize>(members: [(&str, Tree); N]) -> Tree {
    Tree::Object(members.into_iter().map(|(name, tree)| (name.into(), tree)).collect())
}

fn out_of_line() -> impl Strategy<Value = ObjectStore> {
    vec((key(), tree()), 0..4).prop_map(|records| {
        let record = |(k, v): &(Tree, Tree)| Record { key: value_of(k), value: value_of(v) };
        store("out of line", None, None, records.iter().map(record).collect())
    })
}

fn in_line() -> impl Strategy<Value = ObjectStore> {
    vec((key(), tree()), 0..4).prop_map(|records| {
        let record = |(key, tree): &(Tree, Tree)| {
            let user = object([("id", key.clone())]);
            let value = object([("a", tree.clone()), ("user", user)]);
            Record { key: value_of(key), value: value_of(&value) }
        };
        let path = KeyPath::One("user.id".into());
        store("in line", Some(path), None, records.iter().map(record).collect())
    })
}

fn compound() -> impl Strategy<Value = ObjectStore> {
    vec((key(), key()), 0..4).prop_map(|records| {
        let record = |(a, b): &(Tree, Tree)| Record {
            key: value_of(&Tree::List(vec![a.clone(), b.clone()])),
            value: value_of(&object([("a", a.clone()), ("b", b.clone())])),
        };
        let path = KeyPath::Many(vec!["a".into(), "b".into()]);
        store("compound", Some(path), None, records.iter().map(record).collect())
    })
}

fn generated() -> impl Strategy<Value = ObjectStore> {
    btree_map(1..1000u32, tree(), 0..4).prop_map(|records| {
        let next = records.keys().last().map_or(1, |last| u64::from(*last) + 1);
        let record = |(key, tree): (&u32, &Tree)| Record {
            key: Value::primitive(Node::Number(Number(f64::from(*key)))),
            value: value_of(tree),
        };
        store("generated", None, Some(next), records.iter().map(record).collect())
    })
}

fn database() -> impl Strategy<Value = Database> {
    (text(), 1..(1u64 << 53), (compound(), generated(), in_line(), out_of_line())).prop_map(
        |(name, version, (a, b, c, d))| Database { name, version, stores: vec![a, b, c, d] },
    )
}

/// Files whose folders are listed, too.
fn files() -> impl Strategy<Value = Vec<FileEntry>> {
    let file = vec(any::<u8>(), 0..9)
        .prop_map(|bytes| FileContent::File { bytes: STANDARD.encode(bytes) });
    // What a folder is called no file is.
    let paths = (vec("[A-Zé ]{1,3}", 0..3), "[a-z.]{3}");
    btree_map(paths, file, 0..4).prop_map(|files| {
        let mut tree = BTreeMap::new();
        for ((folders, name), file) in files {
            for end in 1..=folders.len() {
                tree.insert(folders[..end].to_vec(), FileContent::Folder);
            }
            tree.insert([folders, vec![name]].concat(), file);
        }
        tree.into_iter().map(|(path, content)| FileEntry { path, content }).collect()
    })
}

fn origin_state() -> impl Strategy<Value = OriginState> {
    (entries(), vec(database(), 0..2), files()).prop_map(|(local_storage, databases, files)| {
        OriginState { local_storage, databases, files, ..OriginState::default() }
    })
}

fn sayable_cookie(cookie: Cookie) -> Cookie {
    Cookie {
        same_site: cookie.same_site.or(Some(SameSite::Lax)),
        priority: Priority::Medium,
        source_scheme: SourceScheme::Unset,
        source_port: None,
        ..cookie
    }
}

/// A state that the format can say to the last bit, normalized.
pub(crate) fn state() -> impl Strategy<Value = State> {
    let keys = vec!["https://app.test", "http://localhost:8080", "http://[::1]:3000"];
    let key = select(keys).prop_map(StorageKey::first_party);
    (cookies(), btree_map(key, origin_state(), 0..3)).prop_map(|(cookies, origins)| {
        let place = |cookie: &Cookie| (cookie.place(), cookie.partition_key.clone());
        let cookies: BTreeMap<_, _> = cookies
            .into_iter()
            .map(sayable_cookie)
            .map(|cookie| (place(&cookie), cookie))
            .collect();
        let cookies = cookies.into_values().collect();
        let environment = Environment::default();
        let mut state = State { cookies, origins, tabs: Vec::new(), environment };
        state.normalize();
        state
    })
}
