//! The console as models read it.

use super::{Tab, at, line};
use baton_api::debug::{ConsoleEntry, ConsoleFilters, ConsoleLevel, GapReason};
use baton_debug::query::ConsoleFilter;
use baton_debug::rendering;
use serde_json::json;

fn list(tab: &Tab, budget: usize) -> String {
    rendering::console(
        &ConsoleFilter::new(&ConsoleFilters::default()).unwrap().find(&tab.buffer),
        budget,
    )
}

fn from(source: &str, place: (u32, u32), entry: ConsoleEntry) -> ConsoleEntry {
    let (line, column) = (Some(place.0), Some(place.1));
    ConsoleEntry { source: Some(source.into()), line, column, ..entry }
}

#[test]
fn a_list_has_level_place_and_message_and_folds_what_is_repeated() {
    let mut tab = Tab::new();
    let app = "https://shop.test/static/app.js?v=3";
    tab.write(line(ConsoleLevel::Log, "started", 0));
    for millis in 1..=3 {
        tab.write(from(app, (10, 5), line(ConsoleLevel::Warn, "slow\nanswer", millis)));
    }
    let broken = "TypeError: Cannot read properties of undefined (reading 'price')";
    tab.write(from(app, (120, 17), line(ConsoleLevel::Error, broken, 9)));
    tab.buffer.miss(GapReason::FirstLoad, None, at(9));
    insta::assert_snapshot!(list(&tab, 1_000), @r"
    5 lines, newest first
    #5 error app.js:120:17 TypeError: Cannot read properties of undefined (reading 'price')
    #4 warn app.js:10:5 slow answer (3 times)
    #1 log started
    Missing: some lines or events, the page had begun to load before anyone looked (at 2027-01-15T08:00:00.009Z).
    id=NUMBER shows one in full, with its stack.
    after=6 lists what is new from here on.
    ");
}

#[test]
fn a_budget_leaves_out_the_oldest_and_says_so() {
    let mut tab = Tab::new();
    for count in 1..=500 {
        let message = format!("{count}: {}", "a long story ".repeat(40));
        tab.write(line(ConsoleLevel::Log, &message, count));
    }
    insta::assert_snapshot!(list(&tab, 250), @r"
    2 lines, newest first
    #500 log 500: a long story a long story a long story a long story a long story a long st…
    #499 log 499: a long story a long story a long story a long story a long story a long st…
    Left out: 498 older. before=499 lists them; level, message_pattern or since narrow the list.
    id=NUMBER shows one in full, with its stack.
    after=500 lists what is new from here on.
    ");
}

#[test]
fn one_line_is_shown_with_its_stack() {
    let mut tab = Tab::new();
    let entry = ConsoleEntry {
        stack_trace: Some("at pay (app.js:3:4)\nat click (app.js:9:1)".into()),
        args: vec![json!("cannot pay"), json!({"total": 3, "card_number": "4111111111111111"})],
        ..from(
            "https://shop.test/app.js",
            (3, 4),
            line(ConsoleLevel::Error, "cannot pay [object Object]", 0),
        )
    };
    tab.write(entry);
    let entry = tab.buffer.entries().next().unwrap();
    insta::assert_snapshot!(rendering::entry(entry, 1_000), @r#"
    #1 error 2027-01-15T08:00:00Z https://shop.test/app.js:3:4
    message:
    cannot pay [object Object]
    stack:
    at pay (app.js:3:4)
    at click (app.js:9:1)
    arguments:
    ["cannot pay",{"card_number":"[redacted]","total":3}]
    "#);
}
