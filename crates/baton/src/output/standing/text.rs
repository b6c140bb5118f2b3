//! How sessions stand, for people: a table by session, the choices, and what waits in one line.

use super::{AtPeer, Here, Row, Standing, Stands, Waits};
use crate::output::conflicts::{command, named};
use crate::output::exchange::{failed, nobody};
use crate::output::revisions::revisions;
use crate::output::style;
use crate::output::table::Table;
use baton_api::sync::{ConflictView, DirectoryView, RefusedFile};
use console::{measure_text_width, truncate_str};
use jiff::Timestamp;

/// How wide the column of peers gets before it goes on in the next line.
const PEERS_WIDTH: usize = 34;
/// How wide the name of a node gets beside a command.
const NAME_WIDTH: usize = 20;

/// What is where, what waits, and what to type.
pub(crate) fn standing(standing: &Standing) -> String {
    let now = Timestamp::now();
    let mut lines = Vec::new();
    if !standing.sessions.is_empty() {
        let mut table = Table::new(&["SESSION", "HERE", "AT PEERS", "WHAT WAITS"]);
        for row in &standing.sessions {
            add(&mut table, row, now);
        }
        lines.push(table.render());
    }
    lines.extend(failed(&standing.failed));
    let conflicts = standing.conflicts.iter();
    lines.extend(conflicts.flat_map(|conflict| choices(standing, conflict, now)));
    lines.extend(folder(&standing.directory));
    lines.push(summary(standing));
    lines.join("\n")
}

/// A session: one line, and more for peers that do not fit into it.
fn add(table: &mut Table, row: &Row, now: Timestamp) {
    let peers = packed(row.peers.iter().map(|peer| at(row, peer)));
    let mut peers = peers.into_iter();
    let first = peers.next().unwrap_or_else(|| "-".to_owned());
    table.row([row.name.to_string(), here(row.here.as_ref(), now), first, waits(row.waits)]);
    for more in peers {
        table.row([String::new(), String::new(), more, String::new()]);
    }
}

fn here(here: Option<&Here>, now: Timestamp) -> String {
    let Some(here) = here else { return "not here".to_owned() };
    let age = style::age(here.last_modified, now);
    if here.deleted { format!("deleted {age}") } else { format!("rev {}, {age}", here.version) }
}

fn at(row: &Row, AtPeer { peer, stands, taken }: &AtPeer) -> String {
    let words = match stands {
        _ if *taken => "took it over",
        Stands::Newer if row.here.is_none() => "has it",
        Stands::Older if row.is_gone() => "still has it",
        Stands::Same => "same",
        Stands::Part => "has its part",
        Stands::Newer => "newer",
        Stands::Older => "older",
        Stands::Changed => "changed too",
        Stands::Missing => "missing",
        Stands::Deleted => "deleted",
    };
    format!("{peer} {words}")
}

/// Texts in as few lines as take them.
fn packed(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for text in texts {
        match lines.last_mut() {
            Some(line)
                if measure_text_width(line) + measure_text_width(&text) + 2 <= PEERS_WIDTH =>
            {
                line.push_str(", ");
                line.push_str(&text);
            }
            _ => lines.push(text),
        }
    }
    lines
}

fn waits(waits: Waits) -> String {
    let moves = moves(waits);
    match (moves.is_empty(), waits.in_conflict) {
        (_, 0) => moves,
        (true, _) => "in conflict".to_owned(),
        (false, _) => format!("in conflict, {moves}"),
    }
}

fn moves(waits: Waits) -> String {
    let counts = [(waits.to_pull, "to pull"), (waits.to_push, "to push")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, way)| format!("{count} {way}")).collect::<Vec<_>>().join(", ")
}

/// The commands that end a conflict.
fn choices(standing: &Standing, conflict: &ConflictView, now: Timestamp) -> Vec<String> {
    let name = named(&conflict.name);
    let told = format!("{name} is in conflict; baton sync conflicts {name} shows what differs");
    let mut lines = vec![style::doubtful(&told)];
    lines.extend(revisions(conflict).enumerate().map(|(at, revision)| {
        let by = style::plain(&standing.names.name(revision.node_id));
        let by = truncate_str(&by, NAME_WIDTH, "…");
        let age = style::age(revision.last_modified, now);
        let mark = match (revision.deleted, at) {
            (true, _) => ", deletes it",
            (false, 0) => ", counts now",
            (false, _) => "",
        };
        format!("  {}  ({by}, {age}{mark})", command(conflict, &revision.rev))
    }));
    lines
}

/// How it stands with the sync directory, in words; nothing when there is none.
fn folder(directory: &DirectoryView) -> Vec<String> {
    let Some(path) = &directory.path else { return Vec::new() };
    let mut lines =
        vec![format!("{path}: {} in step", style::counted(directory.sessions, "session"))];
    let failed = directory.failed.iter().map(|reason| format!("  not in step: {reason}"));
    lines.extend(failed);
    for RefusedFile { file, reason, .. } in &directory.refused {
        let mut reason = reason.lines();
        lines.push(format!("  left aside: {file}: {}", reason.next().unwrap_or_default()));
        lines.extend(reason.map(|line| format!("    {line}")));
    }
    lines
}

/// What waits, all together.
fn summary(standing: &Standing) -> String {
    let mut parts = Vec::new();
    let moves = moves(standing.waits);
    if !moves.is_empty() {
        parts.push(format!("{moves}: baton sync run"));
    }
    if standing.waits.in_conflict > 0 {
        parts.push(format!("{} in conflict: baton sync conflicts", standing.waits.in_conflict));
    }
    let taken = standing.sessions.iter().filter(|row| row.is_taken()).count();
    if taken > 0 {
        parts.push(format!("{taken} taken over by a peer: saved and closed here"));
    }
    let refused = standing.failed.iter().filter(|failed| failed.is_refused()).count();
    for (count, what) in [(standing.failed.len() - refused, "did not answer"), (refused, "refused")]
    {
        if count > 0 {
            parts.push(format!("{} {what}", style::counted(count, "peer")));
        }
    }
    match (parts.is_empty(), standing.asked()) {
        (true, 0) => nobody(&standing.asking),
        (true, _) => style::good("in sync"),
        (false, _) => style::doubtful(&parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::packed;

    #[test]
    fn peers_go_on_in_the_next_line_when_there_are_many() {
        let texts = ["berlin newer", "copenhagen same", "reykjavik changed too", "oslo same"];
        let lines = packed(texts.iter().map(ToString::to_string));
        assert_eq!(lines, ["berlin newer, copenhagen same", "reykjavik changed too, oslo same"]);
    }
}
