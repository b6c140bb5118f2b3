//! The typed arrays that the format has words for, and the bytes of any view.

use crate::value::{Node, Object, Value};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

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
