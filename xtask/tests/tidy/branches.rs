//! What a `tokio::select!` hears, it goes on hearing.
//!
//! A branch whose pattern does not fit is switched off until another branch is done: whoever writes
//! `Some(Input::Frame(frame)) = inputs.recv()` is deaf after the first input of another kind. So a pattern
//! says there whether there is something, and no more; a `match` behind the arrow says what.

use crate::repository::{File, files, report};
use regex::Regex;

#[test]
fn no_branch_is_switched_off_by_what_it_hears() {
    let findings: Vec<String> = files(".rs").iter().flat_map(switched_off).collect();
    report("take what is heard as a whole, and match it behind the arrow", &findings);
}

/// The branches of a file whose patterns look into what they hear.
fn switched_off(file: &File) -> Vec<String> {
    let branch = Regex::new(r"^\s*(?:Some|Ok|Err)\((?P<inside>.+)\) = .+=>").unwrap();
    let looks_in = |line: &str| {
        let inside = branch.captures(line).map(|found| found["inside"].to_owned());
        !line.contains(" if let ")
            && inside.is_some_and(|inside| inside.contains(['(', ':']) && inside != "()")
    };
    let lines = file.text.lines().enumerate().filter(|(_, line)| looks_in(line));
    lines.map(|(index, line)| format!("{}:{}: {}", file.path, index + 1, line.trim())).collect()
}

#[test]
fn a_branch_that_looks_into_what_it_hears_is_found() {
    let text = [
        "tokio::select! {",
        "    Some(Input::Frame(frame)) = self.inputs.recv() => hear(frame),",
        "    Some(Ok(Some(ready))) = begun.join_next() => return ready,",
        "    Some(input) = self.inputs.recv() => hear(input),",
        "    Ok(()) = changed.changed() => {}",
        "}",
        "match next { Some(Err(_)) if let Some(why) = why => why }",
    ];
    let file = File { path: "it.rs".to_owned(), text: text.join("\n") };
    let found = switched_off(&file);
    let places: Vec<_> = found.iter().filter_map(|line| line.get(..7)).collect();
    assert_eq!(places, ["it.rs:2", "it.rs:3"], "{found:#?}");
}
