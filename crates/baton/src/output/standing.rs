//! How sessions stand: what is where, what is newer, what waits and conflicts, as a document and for people.

use super::exchange::{Failed, command, failed, named, nobody, revisions};
use super::peers::Names;
use super::table;
use super::table::Table;
use baton_api::sync::{
    ConflictView, Difference, DifferenceList, DirectoryView, RefusedFile, SessionDifference,
    SyncIndex,
};
use baton_session::{RevisionId, SessionId, SessionName};
use console::{measure_text_width, truncate_str};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::HashMap;

/// How sessions stand here and at peers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Standing {
    /// A list for each peer, of those that differ.
    peers: Vec<DifferenceList>,
    /// Peers that could not say.
    pub(crate) failed: Vec<Failed>,
    /// Confirmed peers that have no address: they ask this node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asking: Vec<String>,
    /// How far this node is in step with its sync directory.
    directory: DirectoryView,
    /// Each session, those for which something waits first.
    sessions: Vec<Row>,
    /// Those in which a person has to choose.
    conflicts: Vec<ConflictView>,
    /// What waits, all together.
    waits: Waits,
    #[serde(skip)]
    names: Names,
}

/// What a node and its peers said of themselves.
pub(crate) struct NodeReport {
    /// How sessions stand at each peer, also those that do not differ.
    pub(crate) lists: Vec<DifferenceList>,
    /// Peers that could not say.
    pub(crate) failed: Vec<Failed>,
    /// Confirmed peers that have no address.
    pub(crate) asking: Vec<String>,
    /// What is here.
    pub(crate) here: SyncIndex,
    /// In which a person has to choose.
    pub(crate) conflicts: Vec<ConflictView>,
    /// How far the node is in step with its sync directory.
    pub(crate) directory: DirectoryView,
    /// What people call the nodes.
    pub(crate) names: Names,
}

/// One session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    session_id: SessionId,
    name: SessionName,
    /// What counts here; none when it is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    here: Option<Here>,
    /// What each peer has of it that was asked and knows of it, or should.
    peers: Vec<AtPeer>,
    waits: Waits,
}

/// The revision that counts here.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Here {
    rev: RevisionId,
    version: u64,
    last_modified: Timestamp,
    deleted: bool,
}

/// What a peer has of the session.
#[derive(Debug, Serialize)]
struct AtPeer {
    peer: String,
    stands: Stands,
    /// Whether the session ran here, and the peer took it over meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    taken: bool,
}

/// What a peer has of a session, compared with what is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Stands {
    Same,
    /// The same, of the part that it has.
    Part,
    Newer,
    Older,
    /// Changed here and there.
    Changed,
    Missing,
    /// Deleted there, after what is here.
    Deleted,
}

/// What waits: movements, and choices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Waits {
    to_pull: usize,
    to_push: usize,
    in_conflict: usize,
}

impl Standing {
    /// Puts together by session what peers said.
    pub(crate) fn of(told: NodeReport) -> Self {
        let NodeReport { mut lists, failed, asking, here, conflicts, directory, names } = told;
        let mut sessions = rows(&here, &lists, &conflicts);
        sessions.sort_by(|a, b| {
            let key = |row: &Row| (!row.waits.is_any(), row.name.clone(), row.session_id);
            key(a).cmp(&key(b))
        });
        for list in &mut lists {
            list.items.retain(|item| item.difference != Difference::Same);
        }
        let waits = sessions.iter().fold(Waits::default(), |sum, row| sum.and(row.waits));
        Self { peers: lists, failed, asking, directory, sessions, conflicts, waits, names }
    }

    /// How many peers were asked.
    fn asked(&self) -> usize {
        self.peers.len() + self.failed.len()
    }
}

fn rows(here: &SyncIndex, lists: &[DifferenceList], conflicts: &[ConflictView]) -> Vec<Row> {
    let mut rows: HashMap<SessionId, Row> = HashMap::new();
    for ours in &here.sessions {
        let (rev, version, deleted) = (ours.rev, ours.version, ours.deleted);
        let here = Here { rev, version, last_modified: ours.last_modified, deleted };
        rows.insert(ours.id, Row::new(ours.id, &ours.name, Some(here)));
    }
    for list in lists {
        for item in &list.items {
            let new = || Row::new(item.session_id, &item.name, None);
            rows.entry(item.session_id).or_insert_with(new).add(&list.name, item);
        }
    }
    for conflict in conflicts {
        if let Some(row) = rows.get_mut(&conflict.session_id) {
            row.waits.in_conflict = 1;
        }
    }
    // What was deleted and is nowhere is no news.
    rows.into_values().filter(|row| row.waits.is_any() || !row.is_gone()).collect()
}

impl Row {
    fn new(session_id: SessionId, name: &SessionName, here: Option<Here>) -> Self {
        let (name, waits) = (name.clone(), Waits::default());
        Self { session_id, name, here, peers: Vec::new(), waits }
    }

    fn add(&mut self, peer: &str, item: &SessionDifference) {
        let (peer, stands) = (peer.to_owned(), Stands::of(item));
        self.peers.push(AtPeer { peer, stands, taken: item.taken });
        let difference = item.difference;
        let is_pulled = matches!(difference, Difference::Behind | Difference::Diverged);
        let is_pushed = matches!(difference, Difference::Ahead | Difference::Diverged);
        self.waits.to_pull += usize::from(is_pulled);
        self.waits.to_push += usize::from(is_pushed);
    }

    /// Whether it ran here, and a peer took it over meanwhile.
    fn is_taken(&self) -> bool {
        self.peers.iter().any(|peer| peer.taken)
    }

    fn is_gone(&self) -> bool {
        self.here.as_ref().is_none_or(|here| here.deleted)
    }
}

impl Stands {
    fn of(item: &SessionDifference) -> Self {
        match (item.difference, item.there) {
            (Difference::Same, true) if item.in_part => Self::Part,
            (Difference::Same, _) => Self::Same,
            (Difference::Behind | Difference::Diverged, false) => Self::Deleted,
            (Difference::Ahead, false) => Self::Missing,
            (Difference::Behind, true) => Self::Newer,
            (Difference::Ahead, true) => Self::Older,
            (Difference::Diverged, true) => Self::Changed,
        }
    }
}

impl Waits {
    fn is_any(self) -> bool {
        self != Self::default()
    }

    fn and(self, other: Self) -> Self {
        Self {
            to_pull: self.to_pull + other.to_pull,
            to_push: self.to_push + other.to_push,
            in_conflict: self.in_conflict + other.in_conflict,
        }
    }
}

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
    let age = table::age(here.last_modified, now);
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
    let mut lines = vec![table::doubtful(&told)];
    lines.extend(revisions(conflict).enumerate().map(|(at, revision)| {
        let by = table::plain(&standing.names.name(revision.node_id));
        let by = truncate_str(&by, NAME_WIDTH, "…");
        let age = table::age(revision.last_modified, now);
        let mark = match (revision.deleted, at) {
            (true, _) => ", deletes it",
            (false, 0) => ", counts now",
            (false, _) => "",
        };
        format!("  {}  ({by}, {age}{mark})", command(conflict, &revision.rev))
    }));
    lines
}

/// How far this node is in step with its sync directory, in words; nothing when it has none.
fn folder(directory: &DirectoryView) -> Vec<String> {
    let Some(path) = &directory.path else { return Vec::new() };
    let mut lines =
        vec![format!("{path}: {} in step", table::counted(directory.sessions, "session"))];
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
            parts.push(format!("{} {what}", table::counted(count, "peer")));
        }
    }
    match (parts.is_empty(), standing.asked()) {
        (true, 0) => nobody(&standing.asking),
        (true, _) => table::good("in sync"),
        (false, _) => table::doubtful(&parts.join("; ")),
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
