//! Where two states differ, in a few lines: of two whole ones nobody could tell.

use baton_session::State;
use serde_json::Value;

/// How many places are named.
const MOST: usize = 12;
/// How many characters of a value are shown.
const LONGEST: usize = 160;

/// The places at which `found` is not as `expected`, with what is there; nothing where they are equal.
pub(crate) fn differences(found: &State, expected: &State) -> Option<String> {
    if found == expected {
        return None;
    }
    let [found, expected] = [found, expected].map(|state| serde_json::to_value(state).unwrap());
    let mut places = Vec::new();
    compare("", Some(&found), Some(&expected), &mut places);
    let left = places.len().saturating_sub(MOST);
    places.truncate(MOST);
    if left > 0 {
        places.push(format!("and {left} more"));
    }
    Some(places.join("\n"))
}

fn compare(at: &str, found: Option<&Value>, expected: Option<&Value>, places: &mut Vec<String>) {
    match (found, expected) {
        (Some(Value::Object(found)), Some(Value::Object(expected))) => {
            let new = expected.keys().filter(|name| !found.contains_key(*name));
            for name in found.keys().chain(new) {
                compare(&format!("{at}/{name}"), found.get(name), expected.get(name), places);
            }
        }
        (Some(Value::Array(found)), Some(Value::Array(expected))) => {
            for place in 0..found.len().max(expected.len()) {
                compare(&format!("{at}/{place}"), found.get(place), expected.get(place), places);
            }
        }
        (found, expected) if found != expected => {
            places.push(format!("{at}: found {}, expected {}", shown(found), shown(expected)));
        }
        _ => {}
    }
}

fn shown(value: Option<&Value>) -> String {
    let text = value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    text.chars().take(LONGEST).collect()
}
