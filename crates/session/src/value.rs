//! A value as structured cloning carries it: cycles, shared identity, and what JSON has no word for.
//!
//! A value is a root and a heap. Primitives stand where they are used; everything with an identity
//! stands once in the heap and is referred to by its position, so two references to one object stay
//! one object. The page side of this codec is `value.js` in the browser crate; the rules are those
//! of `StructuredSerializeInternal` in the HTML standard.
//!
//! On the wire: `{"root": node, "heap": [object, …]}`. A node is `null`, a boolean, a finite number,
//! a string of valid Unicode, or an object with exactly one key: `ref`, `undefined`, `number`
//! (`NaN`, `Infinity`, `-Infinity`, `-0`), `bigint`, `utf16`. A value whose references point outside
//! its heap is refused when it is read, so whoever holds a value may follow them.

use crate::text::Text;
use serde::{Deserialize, Serialize};

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
