//! The reference page shows what is really read and written.

use baton_session::egress::Egress;
use baton_session::identity::BrowserName;
use baton_session::permission::NAMES;
use baton_session::redact::redact;
use baton_session::state::checksum;
use baton_session::{Cookie, Entries, Receipt, State, Value, parts};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Write;

const PAGE: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/state.md"));

/// The fenced blocks of the page: what follows the fence, and what is inside.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let fenced = PAGE.split("\n```").skip(1).step_by(2);
    fenced.filter_map(|block| block.split_once('\n')).collect()
}

fn block(name: &str) -> &'static str {
    blocks().into_iter().find(|(info, _)| *info == name).unwrap().1
}

/// Reads a block as `T`, which must write the same JSON again.
fn check<T: Serialize + DeserializeOwned>(block: &str) {
    let shown: serde_json::Value = serde_json::from_str(block).unwrap();
    let read: T = serde_json::from_str(block).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), shown);
}

#[test]
fn every_block_of_json_is_what_its_type_writes() {
    let mut checked = 0;
    for (info, json) in blocks() {
        match info {
            "json state" | "json redacted" => check::<State>(json),
            "json cookie" => check::<Cookie>(json),
            "json browser" => check::<BrowserName>(json),
            "json egress" => check::<Egress>(json),
            "json entries" => check::<Entries>(json),
            "json value" => check::<Value>(json),
            "json receipt" => check::<Receipt>(json),
            "text checksum" | "text parts" => {}
            other => panic!("a block of no known kind: {other}"),
        }
        checked += 1;
    }
    assert_eq!(checked, 11);
}

#[test]
fn every_permission_is_on_the_page() {
    let (_, section) = PAGE.split_once("## Permissions").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let names = section.lines().filter(|line| line.starts_with("| `"));
    let names = names.filter_map(|line| line.split('|').nth(1)).flat_map(|cell| cell.split(','));
    let mut names: Vec<_> = names.map(|name| name.trim().trim_matches('`')).collect();
    names.sort_unstable();
    assert!(NAMES.iter().map(|(name, _)| *name).eq(names.iter().copied()), "{names:?}");
}

#[test]
fn the_parts_of_the_page_are_those_of_its_state() {
    let state: State = serde_json::from_str(block("json state")).unwrap();
    assert_eq!(block("text checksum"), checksum(&state));
    let mut table = String::new();
    for part in parts::split(&state) {
        let hash = part.reference().hash.to_string();
        let (kind, name) = (part.kind, &part.name);
        let line = format!("{}…  {:4} bytes  {kind:15} {name}", &hash[..12], part.bytes.len());
        writeln!(table, "{}", line.trim_end()).unwrap();
    }
    assert_eq!(block("text parts"), table.trim_end());
}

#[test]
fn the_redacted_state_of_the_page_is_its_state_redacted() {
    let state: State = serde_json::from_str(block("json state")).unwrap();
    let redacted: State = serde_json::from_str(block("json redacted")).unwrap();
    assert_eq!(redact(&state), redacted);
}
