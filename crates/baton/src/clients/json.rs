//! Lists of servers in JSON, also with comments and trailing commas.

use super::{Fields, Mistake, NAME, line_of};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

/// What a text says. One without a value says nothing, as `{}` does.
pub(super) fn read(text: &str) -> Result<Value, Mistake> {
    let root = parse(text)?;
    match root.value() {
        None => Ok(Value::Object(serde_json::Map::new())),
        Some(value) => value.to_serde_value().ok_or(Mistake::Unusual),
    }
}

/// Puts `fields` into the entry, or in its place if nothing of it is kept.
pub(super) fn set(
    text: &str,
    key: &'static str,
    fields: &Fields,
    keep: bool,
) -> Result<String, Mistake> {
    let root = parse(text)?;
    let file = root.object_value_or_create().ok_or(Mistake::Unusual)?;
    let servers = file.object_value_or_create(key).ok_or(Mistake::Unusual)?;
    match servers.get(NAME) {
        None => drop(servers.append(NAME, object(fields))),
        Some(entry) if !keep => entry.set_value(object(fields)),
        Some(entry) => change(&entry.object_value().ok_or(Mistake::Unusual)?, fields),
    }
    Ok(root.to_string())
}

/// Takes the entry out.
pub(super) fn remove(text: &str, key: &str) -> Result<String, Mistake> {
    let root = parse(text)?;
    let servers = root.object_value().and_then(|file| file.object_value(key));
    servers.and_then(|servers| servers.get(NAME)).ok_or(Mistake::Unusual)?.remove();
    Ok(root.to_string())
}

/// Changes the values that differ; a new key goes to the place that it has among ours.
fn change(entry: &CstObject, fields: &Fields) {
    for (index, (key, value)) in fields.iter().enumerate() {
        match entry.get(key) {
            Some(field) if field.to_serde_value().as_ref() == Some(value) => {}
            Some(field) => field.set_value(input(value)),
            None => {
                let place = index.min(entry.properties().len());
                entry.insert(place, key, input(value));
            }
        }
    }
}

fn parse(text: &str) -> Result<CstRootNode, Mistake> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| {
        let line = line_of(text, error.range().start);
        Mistake::Syntax { line, reason: error.kind().to_string().to_lowercase() }
    })
}

fn object(fields: &Fields) -> CstInputValue {
    CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), input(value))).collect())
}

/// Strings and lists of them: an entry has nothing else.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        _ => CstInputValue::Null,
    }
}
