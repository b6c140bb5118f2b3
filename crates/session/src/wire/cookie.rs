//! A cookie of a session file: its own form, but for the instant it ends, which is in seconds.
//!
//! Read is also what others write: -1 for a cookie that ends with the browser, and a partition key
//! that is only its site.

use super::error::{ReadError, field};
use crate::cookie::Cookie;
use crate::cookie::Expiry;
use crate::json;
use serde_json::{Value, json};

/// Reads the cookie that stands at `place`.
pub(super) fn read(item: &Value, place: &str) -> Result<Cookie, ReadError> {
    let mut item = item.clone();
    if let Some(fields) = item.as_object_mut() {
        match fields.remove("expires") {
            None | Some(Value::Null) => {}
            Some(Value::Number(seconds)) => {
                let at = seconds.as_f64().and_then(Expiry::from_seconds);
                fields.extend(at.map(|Expiry(at)| ("expires".to_owned(), json!(at))));
            }
            Some(_) => {
                let place = format!("{place}.expires");
                return Err(ReadError::at(place, "expected seconds since 1970, or -1"));
            }
        }
        if let Some(Value::String(site)) = fields.get("partitionKey").cloned() {
            // The default of those who write it like this.
            let ancestor = fields.get("_crHasCrossSiteAncestor") != Some(&Value::Bool(false));
            let key = json!({"topLevelSite": site, "hasCrossSiteAncestor": ancestor});
            let key = if site.is_empty() { Value::Null } else { key };
            fields.insert("partitionKey".to_owned(), key);
        }
    }
    field(&item, place)
}

/// Writes a cookie.
pub(super) fn write(cookie: &Cookie) -> Value {
    let mut item = json::value(cookie);
    if let (Some(expires), Some(fields)) = (cookie.expires, item.as_object_mut()) {
        fields.insert("expires".to_owned(), json!(expires.as_seconds()));
    }
    item
}
