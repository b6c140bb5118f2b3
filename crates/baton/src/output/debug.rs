//! What tabs did, for people.

use super::table::Table;
use super::{table, views};
use baton_api::debug::{
    ConsoleData, ConsoleEntry, ConsoleLevel, DebugTab, EpochMs, Gap, NetworkData, NetworkRequest,
    ResourceType,
};
use baton_debug::rendering;
use jiff::tz::TimeZone;

/// How much of one request, or of one line, is shown, in characters.
const WHOLE: usize = 200_000;

/// Tabs, a line each.
pub(crate) fn debug_tabs(tabs: &[DebugTab]) -> String {
    if tabs.is_empty() {
        return "no tabs; baton debug on ID records those of a session".to_owned();
    }
    let mut table = Table::new(&["TOKEN", "OF", "TITLE", "ADDRESS"]);
    for tab in tabs {
        table.row([tab.token.to_string(), tab.of(), tab.title.clone(), tab.url.clone()]);
    }
    table.render()
}

/// Requests, a line each, and what is missing.
pub(crate) fn debug_requests(found: &NetworkData) -> String {
    let mut lines: Vec<String> = found.gaps.iter().map(debug_gap).collect();
    if found.requests.is_empty() {
        lines.push("no request fits".to_owned());
        lines.extend(views::reached(&found.hosts));
        lines.extend(views::not_reached(&found.not_reached));
        return lines.join("\n");
    }
    let mut table =
        Table::new(&["#", "TIME", "METHOD", "STATUS", "TOOK", "SIZE", "TYPE", "ADDRESS"]);
    for request in &found.requests {
        table.row([
            request.number.to_string(),
            time(request.timestamp),
            request.method.clone(),
            rendering::state(request),
            request.duration_ms.map(rendering::time).unwrap_or_default(),
            rendering::size(request).unwrap_or_default(),
            request.resource_type.map(|kind| kind.to_string()).unwrap_or_default(),
            address(request),
        ]);
    }
    lines.push(table.render());
    if found.older.is_some() {
        lines.push("there are older ones; --limit and the filters choose among them".to_owned());
    }
    lines.extend(views::reached(&found.hosts));
    lines.extend(views::not_reached(&found.not_reached));
    lines.join("\n")
}

/// One request as it is followed.
pub(crate) fn debug_request_line(request: &NetworkRequest) -> String {
    let took = request.duration_ms.map(rendering::time).unwrap_or_default();
    let state = rendering::state(request);
    let line = format!(
        "{} #{} {} {state} {took} {}",
        time(request.timestamp),
        request.number,
        table::plain(&request.method),
        table::plain(&address(request)),
    );
    let is_bad = request.error.is_some() || request.status.is_some_and(|status| status >= 400);
    if is_bad { table::bad(&line) } else { line }
}

/// Where it went, and why it failed.
fn address(request: &NetworkRequest) -> String {
    match &request.error {
        Some(error) => format!("{} {error}", request.url),
        None => request.url.clone(),
    }
}

/// Whether requests of this kind go on for as long as the page likes.
pub(crate) fn never_ends(kind: ResourceType) -> bool {
    matches!(kind, ResourceType::WebSocket | ResourceType::EventSource)
}

/// One request with headers and bodies.
pub(crate) fn debug_request(request: &NetworkRequest) -> String {
    printable(&rendering::request(request, WHOLE))
}

/// Lines of a console, and what is missing.
pub(crate) fn debug_console(found: &ConsoleData) -> String {
    let mut lines: Vec<String> = found.gaps.iter().map(debug_gap).collect();
    lines.extend(found.entries.iter().map(debug_line));
    if found.entries.is_empty() {
        lines.push("no line fits".to_owned());
    }
    if found.older.is_some() {
        lines.push("there are older ones; --limit and the filters choose among them".to_owned());
    }
    lines.join("\n")
}

/// One line of a console.
pub(crate) fn debug_line(entry: &ConsoleEntry) -> String {
    let level = entry.level.as_str();
    let line = format!(
        "{} #{} {level:<5} {}",
        time(entry.timestamp),
        entry.seq,
        table::plain(&rendering::line(&entry.message))
    );
    match entry.level {
        ConsoleLevel::Error => table::bad(&line),
        ConsoleLevel::Warn => table::doubtful(&line),
        ConsoleLevel::Log | ConsoleLevel::Debug | ConsoleLevel::Info => line,
    }
}

/// One line of a console with its stack.
pub(crate) fn debug_entry(entry: &ConsoleEntry) -> String {
    printable(&rendering::entry(entry, WHOLE))
}

/// Where something is missing.
pub(crate) fn debug_gap(gap: &Gap) -> String {
    let much = match gap.missing {
        Some(missing) if gap.at_least => format!("at least {missing}"),
        Some(missing) => missing.to_string(),
        None => "something".to_owned(),
    };
    let at = gap.at.map(|at| format!("{} ", time(at))).unwrap_or_default();
    table::doubtful(&format!("{at}missing: {much}, {}", gap.reason.as_str()))
}

/// The time of day where the person is.
fn time(instant: EpochMs) -> String {
    let here = instant.timestamp().to_zoned(TimeZone::system());
    here.strftime("%H:%M:%S%.3f").to_string()
}

/// A text of several lines that cannot move the cursor.
fn printable(text: &str) -> String {
    text.lines().map(table::plain).collect::<Vec<_>>().join("\n")
}
