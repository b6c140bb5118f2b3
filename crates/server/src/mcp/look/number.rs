//! Arguments of the tools that look in, as clients give them: an id is a text or a number, and a level one of a
//! few words.

use baton_api::debug::ConsoleLevel;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Number(u64),
    Text(String),
}

/// An id that some clients give as a number.
pub(super) fn optional<'de, D: Deserializer<'de>>(d: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<Given>::deserialize(d)?.map(|given| match given {
        Given::Number(number) => number.to_string(),
        Given::Text(text) => text,
    }))
}

/// The levels that a console has.
pub(super) fn levels(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = ConsoleLevel::ALL.iter().map(|level| level.as_str()).collect();
    json_schema!({ "type": "array", "items": { "type": "string", "enum": words } })
}
