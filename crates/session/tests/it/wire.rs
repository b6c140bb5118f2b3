//! Every type reads what it writes, and refuses what it never wrote.

use crate::arbitrary::{self, values};
use baton_session::value::{Node, Object};
use baton_session::{State, Value};
use baton_testing::cases;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn round_trip<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let json = serde_json::to_string(value).unwrap();
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error} in {json}"))
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn small_types_read_what_they_write(
        text in arbitrary::text(),
        cookie in arbitrary::cookie(),
        entries in arbitrary::entries(),
        tab in arbitrary::tab(),
        environment in arbitrary::environment(),
    ) {
        prop_assert_eq!(round_trip(&text), text);
        prop_assert_eq!(round_trip(&cookie), cookie);
        prop_assert_eq!(round_trip(&entries), entries);
        prop_assert_eq!(round_trip(&tab), tab);
        prop_assert_eq!(round_trip(&environment), environment);
    }

    #[test]
    fn values_and_databases_read_what_they_write(
        value in values::value(),
        database in values::database(),
    ) {
        prop_assert_eq!(round_trip(&value), value);
        prop_assert_eq!(round_trip(&database), database);
    }

    #[test]
    fn a_state_reads_what_it_writes(state in arbitrary::state()) {
        prop_assert_eq!(round_trip(&state), state);
    }

    #[test]
    fn equal_texts_are_written_alike(text in arbitrary::text()) {
        let units = text.to_utf16();
        prop_assert_eq!(units.len(), text.len());
        prop_assert_eq!(baton_session::Text::from_utf16(&units), text);
    }

    #[test]
    fn broken_json_never_panics(json in "[\\[\\]{}\":,a-z0-9\\\\]{0,40}") {
        let _ = serde_json::from_str::<State>(&json);
        let _ = serde_json::from_str::<Value>(&json);
    }
}

#[test]
fn a_reference_outside_the_heap_is_refused() {
    let read = |json: &str| serde_json::from_str::<Value>(json).map_err(|error| error.to_string());
    insta::assert_snapshot!(
        read(r#"{"root":{"ref":0}}"#).unwrap_err(),
        @"expected a reference into a heap of 0 objects, found position 0"
    );
    for heap in [
        r#"{"type":"object","entries":[["a",{"ref":1}]]}"#,
        r#"{"type":"map","entries":[[{"ref":1},null]]}"#,
        r#"{"type":"set","values":[{"ref":1}]}"#,
        r#"{"type":"error","name":"Error","message":"","stack":"","cause":{"ref":1}}"#,
        r#"{"type":"view","kind":"Uint8Array","buffer":{"ref":1},"offset":0,"length":0}"#,
    ] {
        read(&format!(r#"{{"root":{{"ref":0}},"heap":[{heap}]}}"#)).unwrap_err();
    }
    let cycle = read(r#"{"root":{"ref":0},"heap":[{"type":"set","values":[{"ref":0}]}]}"#);
    let own = vec![Object::Set { values: vec![Node::Ref(0)] }];
    assert_eq!(cycle, Ok(Value { root: Node::Ref(0), heap: own }));
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let deep = "[".repeat(1_000_000);
    serde_json::from_str::<Value>(&format!(r#"{{"root":{deep}"#)).unwrap_err();
    serde_json::from_str::<State>(&format!(r#"{{"cookies":{deep}"#)).unwrap_err();
    // A chain of a million objects is long, not deep.
    let link = |next: usize| Object::Set { values: vec![Node::Ref(next)] };
    let chain = Value::new(Node::Ref(0), (0..100_000).map(|n| link(n / 2)).collect()).unwrap();
    assert_eq!(round_trip(&chain), chain);
}

#[test]
fn the_words_of_the_wire_stand_fast() {
    let forms = r#"{"root":{"ref":0},"heap":[
        {"type":"object","entries":[["a",{"undefined":true}],[{"utf16":"ANg="},null]]},
        {"type":"array","length":3,"entries":[["0",1.5]]},
        {"type":"date","time":{"number":"NaN"}},
        {"type":"regexp","source":"a","flags":"g"},
        {"type":"map","entries":[["k",true]]},
        {"type":"set","values":[{"bigint":"12"}]},
        {"type":"error","name":"Error","message":"m","stack":"s","cause":{"undefined":true}},
        {"type":"boxed","value":"a"},
        {"type":"array_buffer","bytes":"AA==","max":8},
        {"type":"view","kind":"Uint8Array","buffer":{"ref":8},"offset":0,"length":1},
        {"type":"blob","mime":"text/plain","bytes":"AA=="},
        {"type":"file","name":"a.txt","mime":"","modified":5,"bytes":""},
        {"type":"crypto_key","jwk":"{}","algorithm":"{}","usages":["sign"]},
        {"type":"lost","kind":"CryptoKey"}]}"#;
    let value: Value = serde_json::from_str(forms).unwrap();
    let plain: serde_json::Value = serde_json::from_str(forms).unwrap();
    assert_eq!(serde_json::to_value(&value).unwrap(), plain);
    assert_eq!(value.losses().collect::<Vec<_>>(), ["CryptoKey"]);
}
