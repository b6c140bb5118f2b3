//! A list within its budget: as many lines as fit, each as long as there is room.

use baton_api::debug::Gap;
use std::fmt::Write as _;

/// How long the longest part of a line may be, in characters.
const MIN_WIDTH: usize = 20;
const MAX_WIDTH: usize = 160;

/// Lines, newest first, and how many of them were left out. All lines come before long ones: the longest
/// part of each is as long as all of them together allow.
pub(super) fn fit<T>(
    items: &[T],
    budget: usize,
    line: impl Fn(&T, usize) -> String,
) -> (Vec<String>, usize) {
    let lines = |width| within(items.iter().rev().map(|item| line(item, width)), budget);
    let (mut fits, mut too_wide) = (MIN_WIDTH, MAX_WIDTH + 1);
    while too_wide - fits > 1 {
        let width = usize::midpoint(fits, too_wide);
        if lines(width).len() == items.len() { fits = width } else { too_wide = width }
    }
    let shown = lines(fits);
    let left_out = items.len() - shown.len();
    (shown, left_out)
}

fn within(lines: impl Iterator<Item = String>, budget: usize) -> Vec<String> {
    let mut left = budget;
    let fits = |line: &String| {
        let length = line.chars().count() + 1;
        let fits = length <= left;
        left = left.saturating_sub(length);
        fits
    };
    lines.take_while(fits).collect()
}

/// What is missing, a line each.
pub(super) fn gaps(gaps: &[Gap], noun: &str) -> String {
    let mut text = String::new();
    for gap in gaps {
        let much = match gap.missing {
            Some(missing) if gap.at_least => format!("at least {missing}"),
            Some(missing) => missing.to_string(),
            None => "some".to_owned(),
        };
        let place = gap.at.map_or_else(String::new, |at| format!(" (at {at})"));
        let reason = gap.reason.as_str();
        // What is written to a String arrives.
        let _ = writeln!(text, "Missing: {much} {noun}, {reason}{place}.");
    }
    text
}
