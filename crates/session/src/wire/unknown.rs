//! Members of a session file that this version does not know.

use crate::receipt::Receipt;
use crate::receipt::{ItemKind, ReceiptItem};
use crate::unknown::Unknown;
use serde_json::Value;

const DOCUMENT: &[&str] = &["id", "name", "description", "origin", "sync", "state", "tabs"];
const STATE: &[&str] = &[
    "url",
    "title",
    "viewport",
    "localStorage",
    "sessionStorage",
    "indexedDB",
    "cookies",
    "origins",
    "environment",
];
const ENVIRONMENT: &[&str] =
    &["viewport", "userAgent", "timezone", "locale", "geolocation", "permissions", "certificates"];
const COOKIE: &[&str] = &[
    "name",
    "value",
    "domain",
    "path",
    "expires",
    "httpOnly",
    "secure",
    "sameSite",
    "priority",
    "sourceScheme",
    "sourcePort",
    "partitionKey",
    "_crHasCrossSiteAncestor",
];
const ORIGIN: &[&str] =
    &["storageKey", "localStorage", "databases", "caches", "files", "serviceWorkers", "raw"];
const TAB: &[&str] = &["id", "url", "title", "active", "sessionStorage", "history"];

/// A line for each of them.
pub(super) fn tell(document: &Value) -> Receipt {
    let state = &document["state"];
    let each = |list| Value::as_array(list).into_iter().flatten().collect();
    let places: [(&str, Vec<&Value>, &[&str]); 6] = [
        ("the document", vec![document], DOCUMENT),
        ("state", vec![state], STATE),
        ("state.environment", vec![&state["environment"]], ENVIRONMENT),
        ("state.cookies", each(&state["cookies"]), COOKIE),
        ("state.origins", each(&state["origins"]), ORIGIN),
        ("tabs", each(&document["tabs"]), TAB),
    ];
    let mut receipt = Receipt::default();
    for (place, values, known) in places {
        let mut unknown = Unknown::default();
        for (name, member) in values.iter().filter_map(|value| value.as_object()).flatten() {
            if !known.contains(&name.as_str()) && !is_empty(member) {
                unknown.note(name);
            }
        }
        for line in unknown.lines() {
            receipt.push(ReceiptItem::rejected(ItemKind::Part, place, line));
        }
    }
    receipt
}

/// Whether nothing is lost with it.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
