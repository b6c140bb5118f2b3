//! A list of requests, or of lines of a console, within its budget: as many lines as fit, each as long as there
//! is room.

use crate::query::Matches;
use baton_api::EgressHost;
use baton_api::debug::{ConsoleEntry, Gap, NetworkRequest};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// How many characters the place of a line takes at most.
const PLACE: usize = 40;

/// Half of how many characters of a message are shown at least.
const MIN_MESSAGE: usize = 40;

/// A line that was written so often in a row.
struct Folded {
    newest: Arc<ConsoleEntry>,
    times: usize,
}

/// The requests that were found, a line each, in about `budget` characters.
pub fn network(found: &Matches<NetworkRequest>, budget: usize) -> String {
    let home = most_frequent(&found.items);
    let (lines, left_out) =
        fit(&found.items, budget, |request, width| request_line(request, home, width));
    let mut text = match (lines.len(), home) {
        (0, _) => "No request fits.\n".to_owned(),
        (1, _) => "1 request:\n".to_owned(),
        (count, Some(home)) => format!("{count} requests, newest first; paths are of {home}\n"),
        (count, None) => format!("{count} requests, newest first\n"),
    };
    for line in &lines {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&gaps(&found.gaps, "requests or events"));
    text.push_str(&other_requests(found, lines.len(), left_out));
    text
}

/// How many hosts are told that a session did not reach.
const HOSTS: usize = 20;

/// What a session's way out did not let through, a line each, those that were tried most often first.
pub fn not_reached(hosts: &[EgressHost]) -> String {
    let tries = |host: &EgressHost| host.refused + host.failed;
    let mut by_tries: Vec<_> = hosts.iter().collect();
    by_tries.sort_by_key(|host| std::cmp::Reverse(tries(host)));
    let mut text = String::new();
    for host in by_tries.iter().take(HOSTS) {
        // Written to a String, which takes everything.
        let _ = write!(
            text,
            "\nNot reached by the session: {}, {} times: {}",
            host.host.as_deref().unwrap_or("other hosts"),
            tries(host),
            host.why.as_deref().unwrap_or("unknown why")
        );
    }
    if by_tries.len() > HOSTS {
        let _ = write!(text, "\nand {} more hosts", by_tries.len() - HOSTS);
    }
    text
}

/// What was left out, and how to get more.
fn other_requests(found: &Matches<NetworkRequest>, shown: usize, left_out: usize) -> String {
    let mut text = String::new();
    // Written to a String, which takes everything.
    let oldest = found.items.len().checked_sub(shown).and_then(|at| found.items.get(at));
    match oldest.filter(|_| left_out > 0).map(|oldest| oldest.number).or(found.older) {
        Some(before) => {
            let older = left_out + found.more;
            let _ = writeln!(
                text,
                "Left out: {older} older. before={before} lists them; url_pattern, method, status_min or since narrow the list."
            );
        }
        None if found.more > 0 => {
            let _ = writeln!(
                text,
                "Left out: {} newer. after={} lists them.",
                found.more, found.cursor
            );
        }
        None => {}
    }
    if shown > 0 {
        let _ = writeln!(text, "id=NUMBER shows one with headers and body.");
    }
    let _ = write!(text, "after={} lists what is new from here on.", found.cursor);
    text
}

/// The origin that most requests went to, if it saves repeating it.
fn most_frequent(requests: &[Arc<NetworkRequest>]) -> Option<&str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for request in requests {
        if let Some(origin) = origin(&request.url) {
            *counts.entry(origin).or_default() += 1;
        }
    }
    let most = counts.into_iter().filter(|(_, count)| *count > 1);
    most.max_by_key(|(origin, count)| (*count, std::cmp::Reverse(*origin)))
        .map(|(origin, _)| origin)
}

/// Scheme, host and port of an address.
fn origin(url: &str) -> Option<&str> {
    let host = url.find("://")? + 3;
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    Some(&url[..end])
}

/// `#12 GET 200 fetch 1.2kB 35ms /api/items`
fn request_line(request: &NetworkRequest, home: Option<&str>, width: usize) -> String {
    let mut line =
        format!("#{} {} {}", request.number, super::start(&request.method, 12), state(request));
    let mut add = |part: &str| {
        line.push(' ');
        line.push_str(part);
    };
    if let Some(kind) = request.resource_type {
        add(kind.as_str());
    }
    if let Some(size) = bytes(request) {
        add(&super::short_size(size));
    }
    if let Some(millis) = request.duration_ms {
        add(&super::time(millis));
    }
    add(&super::middle(&super::line(place(&request.url, home)), width));
    let messages = request.messages.len() + request.messages_dropped as usize;
    if messages > 0 {
        add(&format!("{messages} messages"));
    }
    if let Some(error) = &request.error {
        let error = error.trim_start_matches("net::");
        add(&super::start(&super::line(error), 60));
    }
    line
}

/// The status, or what there is in its place.
pub fn state(request: &NetworkRequest) -> String {
    match (request.status, &request.error) {
        (Some(status), Some(_)) if status != 0 => format!("{status} failed"),
        (_, Some(_)) => "failed".to_owned(),
        (Some(0), None) => "opaque".to_owned(),
        (Some(status), None) => status.to_string(),
        (None, None) if request.ended => "ended".to_owned(),
        (None, None) => "pending".to_owned(),
    }
}

/// The size of the body, or what came over the network.
pub(super) fn bytes(request: &NetworkRequest) -> Option<u64> {
    let body = || {
        request
            .response_body
            .as_ref()
            .filter(|_| !request.response_body_truncated && !request.response_body_base64)
    };
    request.response_body_size.or(request.transfer_size).or_else(|| Some(body()?.len() as u64))
}

/// The path on the origin that the list names; of others of the same scheme also the host.
fn place<'a>(url: &'a str, home: Option<&str>) -> &'a str {
    let Some((home, origin)) = home.zip(origin(url)) else { return url };
    let path = &url[origin.len()..];
    if origin == home {
        return if path.is_empty() { "/" } else { path };
    }
    let scheme = |origin: &str| origin.find("://");
    let same = scheme(home).filter(|at| url.get(..*at) == home.get(..*at));
    same.map_or(url, |at| &url[at + 1..])
}

/// The lines that were found, in about `budget` characters. What was written several times in a row is
/// one line.
pub fn console(found: &Matches<ConsoleEntry>, budget: usize) -> String {
    let folded = fold(&found.items);
    let (lines, left_out) = fit(&folded, budget, console_line);
    let shown: usize = folded.iter().rev().take(lines.len()).map(|line| line.times).sum();
    let mut text = match shown {
        0 => "No line fits.\n".to_owned(),
        1 => "1 line:\n".to_owned(),
        count => format!("{count} lines, newest first\n"),
    };
    for line in &lines {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&gaps(&found.gaps, "lines or events"));
    text.push_str(&other_lines(found, shown, left_out > 0));
    text
}

fn other_lines(found: &Matches<ConsoleEntry>, shown: usize, is_cut: bool) -> String {
    let mut text = String::new();
    let oldest = found.items.len().checked_sub(shown).and_then(|at| found.items.get(at));
    match oldest.filter(|_| is_cut).map(|oldest| oldest.seq).or(found.older) {
        Some(before) => {
            let older = found.items.len() - shown + found.more;
            // Written to a String, which takes everything.
            let _ = writeln!(
                text,
                "Left out: {older} older. before={before} lists them; level, message_pattern or since narrow the list."
            );
        }
        None if found.more > 0 => {
            let _ = writeln!(
                text,
                "Left out: {} newer. after={} lists them.",
                found.more, found.cursor
            );
        }
        None => {}
    }
    if shown > 0 {
        let _ = writeln!(text, "id=NUMBER shows one in full, with its stack.");
    }
    let _ = write!(text, "after={} lists what is new from here on.", found.cursor);
    text
}

fn fold(entries: &[Arc<ConsoleEntry>]) -> Vec<Folded> {
    let mut folded: Vec<Folded> = Vec::new();
    for entry in entries {
        match folded.last_mut().filter(|last| is_same(&last.newest, entry)) {
            Some(last) => {
                last.newest = Arc::clone(entry);
                last.times += 1;
            }
            None => folded.push(Folded { newest: Arc::clone(entry), times: 1 }),
        }
    }
    folded
}

fn is_same(one: &ConsoleEntry, other: &ConsoleEntry) -> bool {
    let of = |entry: &ConsoleEntry| (entry.level, entry.line, entry.column);
    of(one) == of(other) && one.message == other.message && one.source == other.source
}

/// `#7 error app.js:10:5 Cannot read … (3 times)`
fn console_line(folded: &Folded, width: usize) -> String {
    let Folded { newest: entry, times } = folded;
    let mut line = format!("#{} {}", entry.seq, entry.level);
    if let Some(place) = place_of(entry) {
        line.push(' ');
        line.push_str(&super::middle(&place, PLACE));
    }
    line.push(' ');
    // Words take fewer tokens than addresses, and say nothing when they are few.
    let width = 2 * width.max(MIN_MESSAGE);
    line.push_str(&super::start(&super::line(&entry.message), width));
    if *times > 1 {
        let _ = write!(line, " ({times} times)");
    }
    line
}

/// The file, the line and the column.
fn place_of(entry: &ConsoleEntry) -> Option<String> {
    let source = entry.source.as_deref().filter(|source| !source.is_empty())?;
    let way = source.split(['?', '#']).next().unwrap_or_default();
    let file = way.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut place = super::line(file).into_owned();
    for number in [entry.line, entry.column].into_iter().flatten() {
        let _ = write!(place, ":{number}");
    }
    Some(place)
}

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
