//! The arguments of tools: what a model reads of them, and how what it sends is read.

use super::answer::Failure;
use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What stands in a schema and tells a model nothing.
const IDLE: [&str; 4] = ["$schema", "title", "format", "default"];

/// The description of a tool and the schema of its arguments, as short as they can be said.
pub(super) fn schema<T: JsonSchema>() -> (String, JsonObject) {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let mut schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = schema.as_object_mut().map(std::mem::take).unwrap_or_default();
    let description = match object.remove("description") {
        Some(Value::String(text)) => one_line(&text),
        _ => String::new(),
    };
    object.iter_mut().for_each(|(_, value)| shorten(value));
    object.retain(|key, _| !IDLE.contains(&key.as_str()));
    // Every schema of arguments is an object, also one without any.
    object.entry("properties").or_insert_with(|| Value::Object(JsonObject::new()));
    (description, object)
}

/// An argument that may be left out is left out, and not null.
fn shorten(value: &mut Value) {
    match value {
        Value::Object(object) => {
            // The names of properties are no keywords.
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.values_mut().for_each(shorten);
            }
            for (key, value) in object.iter_mut().filter(|(key, _)| *key != "properties") {
                match (key.as_str(), value) {
                    ("type", Value::Array(types)) => types.retain(|kind| kind != "null"),
                    ("enum", Value::Array(values)) => values.retain(|value| !value.is_null()),
                    ("description", Value::String(text)) => *text = one_line(text),
                    (_, value) => shorten(value),
                }
            }
            if let Some(Value::Array(types)) = object.get("type")
                && let [only] = types.as_slice()
            {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
            if object.get("type").is_some_and(Value::is_string) || object.contains_key("items") {
                object.retain(|key, _| !IDLE.contains(&key.as_str()) && key != "minimum");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        _ => {}
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads what was sent; a refusal says where it is wrong, never what else was sent.
pub(super) fn read<T: DeserializeOwned>(given: JsonObject) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Failure::Arguments(error.to_string()))
}
