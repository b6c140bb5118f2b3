//! A list within its budget: as many lines as fit, each as long as there is room.

use baton_api::debug::Gap;
use std::fmt::Write as _;

/// How long a line's longest part may be, in characters: there are as many as fit, so the first width
/// that lets all lines in is taken.
const WIDTHS: [usize; 8] = [160, 100, 70, 50, 40, 32, 26, 20];

/// Lines, newest first, and how many of them were left out.
pub(super) fn fit<T>(
    items: &[T],
    budget: usize,
    line: impl Fn(&T, usize) -> String,
) -> (Vec<String>, usize) {
    let mut lines = Vec::new();
    for width in WIDTHS {
        let shown = items.iter().rev().map(|item| line(item, width));
        lines = within(shown, budget);
        if lines.len() == items.len() {
            break;
        }
    }
    let left_out = items.len() - lines.len();
    (lines, left_out)
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
