//! A list of requests.

use super::{list, short};
use crate::ask::Found;
use baton_api::debug::NetworkRequest;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The requests that were found, a line each, in about `budget` characters.
pub fn network(found: &Found<NetworkRequest>, budget: usize) -> String {
    let home = most_frequent(&found.items);
    let (lines, left_out) =
        list::fit(&found.items, budget, |request, width| line(request, home, width));
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
    text.push_str(&list::gaps(&found.gaps, "requests or events"));
    text.push_str(&rest(found, lines.len(), left_out));
    text
}

/// What was left out, and how to get more.
fn rest(found: &Found<NetworkRequest>, shown: usize, left_out: usize) -> String {
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
fn line(request: &NetworkRequest, home: Option<&str>, width: usize) -> String {
    let mut line =
        format!("#{} {} {}", request.number, short::start(&request.method, 12), state(request));
    let mut add = |part: &str| {
        line.push(' ');
        line.push_str(part);
    };
    if let Some(kind) = request.resource_type {
        add(kind.as_str());
    }
    if let Some(size) = size(request) {
        add(&short::size(size));
    }
    if let Some(millis) = request.duration_ms {
        add(&short::time(millis));
    }
    add(&short::middle(&short::line(place(&request.url, home)), width));
    let messages = request.messages.len() + request.messages_dropped as usize;
    if messages > 0 {
        add(&format!("{messages} messages"));
    }
    if let Some(error) = &request.error {
        let error = error.trim_start_matches("net::");
        add(&short::start(&short::line(error), 60));
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
pub(super) fn size(request: &NetworkRequest) -> Option<u64> {
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
