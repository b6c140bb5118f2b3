//! Questions find what fits, and say where to go on.

use super::{Tab, at, line, requested};
use baton_api::debug::{ConsoleFilters, ConsoleLevel, GapReason, NetworkFilters};
use baton_debug::query::{ConsoleFilter, Matches, RequestFilter};
use baton_debug::{Limits, TabBuffer};

fn shop() -> Tab {
    let mut tab = Tab::new();
    tab.get("1", "https://shop.test/", 200, 0);
    tab.get("2", "https://shop.test/app.js", 304, 100);
    tab.get("3", "https://api.test/items?page=1", 200, 200);
    tab.get("4", "https://api.test/cart", 500, 300);
    tab.sent(requested("5", "POST", "https://api.test/order", 400));
    tab
}

fn ask(tab: &TabBuffer, asked: &NetworkFilters) -> Matches<baton_api::debug::NetworkRequest> {
    RequestFilter::new(asked).unwrap().find(tab)
}

/// The numbers of what fits.
fn numbers(tab: &Tab, asked: &NetworkFilters) -> Vec<u64> {
    ask(&tab.buffer, asked).items.iter().map(|request| request.number).collect()
}

fn all() -> NetworkFilters {
    NetworkFilters::default()
}

#[test]
fn each_filter_takes_its_part() {
    let tab = shop();
    let pattern = |pattern: &str| NetworkFilters { url_pattern: Some(pattern.into()), ..all() };
    assert_eq!(numbers(&tab, &all()), [1, 2, 3, 4, 5]);
    assert_eq!(numbers(&tab, &pattern(r"^https://api\.test/(items|cart)")), [3, 4]);
    assert_eq!(numbers(&tab, &pattern("(?i)APP")), [2]);
    let methods = NetworkFilters { method: vec!["post".into(), "PUT".into()], ..all() };
    assert_eq!(numbers(&tab, &methods), [5]);
    let status = |min, max| NetworkFilters { status_min: min, status_max: max, ..all() };
    assert_eq!(numbers(&tab, &status(Some(300), None)), [2, 4]);
    assert_eq!(numbers(&tab, &status(None, Some(304))), [1, 2, 3], "no status is none that fits");
    assert_eq!(numbers(&tab, &status(Some(300), Some(399))), [2]);
    assert_eq!(numbers(&tab, &NetworkFilters { since: Some(at(200)), ..all() }), [4, 5]);
    let called = |id: &str| NetworkFilters { id: Some(id.into()), ..all() };
    assert_eq!(numbers(&tab, &called("#4")), [4]);
    assert_eq!(numbers(&tab, &called("4")), [4]);
    assert!(numbers(&tab, &called("none")).is_empty());
    let both = NetworkFilters { status_min: Some(200), ..pattern("api") };
    assert_eq!(numbers(&tab, &both), [3, 4], "what is asked counts together");
}

#[test]
fn a_limit_takes_the_newest_and_before_the_older_ones() {
    let tab = shop();
    let page = |before| ask(&tab.buffer, &NetworkFilters { limit: Some(2), before, ..all() });
    let newest = page(None);
    assert_eq!(newest.items.iter().map(|one| one.number).collect::<Vec<_>>(), [4, 5]);
    assert_eq!((newest.more, newest.older), (3, Some(4)));
    let middle = page(newest.older);
    assert_eq!(middle.items.iter().map(|one| one.number).collect::<Vec<_>>(), [2, 3]);
    let oldest = page(middle.older);
    assert_eq!(oldest.items.iter().map(|one| one.number).collect::<Vec<_>>(), [1]);
    assert_eq!((oldest.more, oldest.older), (0, None));
}

#[test]
fn a_cursor_continues_where_the_answer_before_ended() {
    let mut tab = shop();
    let first = ask(&tab.buffer, &all());
    let after = |cursor| NetworkFilters { after: Some(cursor), ..all() };
    assert!(ask(&tab.buffer, &after(first.cursor)).items.is_empty());
    tab.answer(super::answered("5", 201, 450));
    tab.get("6", "https://shop.test/done", 200, 500);
    let then = ask(&tab.buffer, &after(first.cursor));
    let told: Vec<_> = then.items.iter().map(|one| (one.number, one.status)).collect();
    assert_eq!(told, [(5, Some(201)), (6, Some(200))]);
    assert!(ask(&tab.buffer, &after(then.cursor)).items.is_empty());

    let one = |cursor| ask(&tab.buffer, &NetworkFilters { limit: Some(1), ..after(cursor) });
    let next = one(first.cursor);
    assert_eq!(
        (next.items[0].number, next.more),
        (5, 1),
        "behind a cursor the next, not the newest"
    );
    let next = one(next.cursor);
    assert_eq!((next.items[0].number, next.more), (6, 0));
}

#[test]
fn a_cursor_that_is_too_old_is_told_how_much_is_missing() {
    let mut tab = Tab::with(Limits { requests: 3, ..Limits::default() });
    for count in 1..=10 {
        tab.sent(requested(&count.to_string(), "GET", "https://a.test/", count));
    }
    let found = ask(&tab.buffer, &NetworkFilters { after: Some(4), ..all() });
    assert_eq!(found.items.len(), 3);
    let gap = &found.gaps[0];
    assert_eq!((gap.reason, gap.missing, gap.at_least), (GapReason::BufferFull, Some(3), false));
    assert!(ask(&tab.buffer, &NetworkFilters { after: Some(7), ..all() }).gaps.is_empty());
}

#[test]
fn the_console_is_asked_alike() {
    let mut tab = Tab::new();
    for (level, text, millis) in [
        (ConsoleLevel::Log, "cart has 2 items", 0),
        (ConsoleLevel::Warn, "cart is slow", 10),
        (ConsoleLevel::Error, "cannot pay", 20),
    ] {
        tab.write(line(level, text, millis));
    }
    let found = |asked: ConsoleFilters| -> Vec<u64> {
        let found = ConsoleFilter::new(&asked).unwrap().find(&tab.buffer);
        found.items.iter().map(|entry| entry.seq).collect()
    };
    let all = ConsoleFilters::default;
    assert_eq!(found(all()), [1, 2, 3]);
    let loud = vec![ConsoleLevel::Warn, ConsoleLevel::Error];
    assert_eq!(found(ConsoleFilters { level: loud, ..all() }), [2, 3]);
    assert_eq!(found(ConsoleFilters { message_pattern: Some("^cart".into()), ..all() }), [1, 2]);
    assert_eq!(found(ConsoleFilters { since: Some(at(0)), ..all() }), [2, 3]);
    assert_eq!(found(ConsoleFilters { limit: Some(1), ..all() }), [3]);
    assert_eq!(found(ConsoleFilters { limit: Some(1), before: Some(3), ..all() }), [2]);
    assert_eq!(found(ConsoleFilters { after: Some(2), ..all() }), [3]);
    assert_eq!(found(ConsoleFilters { id: Some(2), ..all() }), [2]);
}

#[test]
fn a_question_that_makes_no_sense_is_refused_with_the_reason() {
    let refused = |asked| RequestFilter::new(&asked).unwrap_err().to_string();
    let pattern = |pattern: String| NetworkFilters { url_pattern: Some(pattern), ..all() };
    let refusals = [
        refused(pattern("api/(items".into())),
        refused(pattern("(a{1000}){1000}".into())),
        refused(pattern("a".repeat(1_001))),
        refused(pattern("(a)(?=b)".into())),
        refused(NetworkFilters { limit: Some(0), ..all() }),
        refused(NetworkFilters { status_min: Some(500), status_max: Some(200), ..all() }),
        refused(NetworkFilters { after: Some(1), before: Some(2), ..all() }),
        ConsoleFilter::new(&ConsoleFilters {
            message_pattern: Some("*".into()),
            ..ConsoleFilters::default()
        })
        .unwrap_err()
        .to_string(),
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r"
    expected a regular expression in url_pattern, found one that is refused: unclosed group
    expected a regular expression in url_pattern, found one that is refused: Compiled regex exceeds size limit of 1048576 bytes
    expected a regular expression of up to 1000 bytes in url_pattern, found 1001
    expected a regular expression in url_pattern, found one that is refused: look-around, including look-ahead and look-behind, is not supported
    expected a limit from 1 on, found 0
    expected a status_min of at most status_max, found 500 and 200
    expected after or before, found both
    expected a regular expression in message_pattern, found one that is refused: repetition operator missing expression
    ");
}

#[test]
fn a_pattern_that_would_run_away_elsewhere_does_not() {
    let mut tab = Tab::new();
    let path = "a".repeat(2_000);
    for count in 0..200 {
        tab.sent(requested(&count.to_string(), "GET", &format!("https://a.test/{path}"), count));
    }
    for (bomb, fits) in
        [("(a+)+$", 200), ("(a|aa)+$", 200), ("(.*)*x", 0), ("^(([a-z])+.)+[A-Z]([a-z])+$", 0)]
    {
        let asked = NetworkFilters { url_pattern: Some(bomb.into()), ..all() };
        assert_eq!(ask(&tab.buffer, &asked).items.len(), fits, "{bomb}");
    }
}

#[test]
fn an_answer_has_bodies_only_if_they_were_asked_for() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", "https://a.test/", 0));
    let body = Some("body".to_owned());
    tab.finish(baton_api::debug::Finished { body, ..super::finished("1", 5) });
    let data = |bodies| ask(&tab.buffer, &all()).into_data("q".into(), bodies);
    assert_eq!(data(false).requests[0].response_body, None);
    assert_eq!(data(true).requests[0].response_body.as_deref(), Some("body"));
    assert_eq!((data(true).request_id.as_str(), data(true).cursor), ("q", 2));
}
