//! The nodes of a cluster, for people.

use super::table;
use super::table::Table;
use baton_api::{NodeBus, NodeDrain, NodeList, NodeView};
use baton_session::NodeLabel;
use jiff::Timestamp;
use std::fmt::Write as _;

/// A clock that is further off than this, in milliseconds, is said to be.
const AHEAD_MAX: u64 = 5_000;

/// The nodes of a cluster.
pub(crate) fn nodes(list: &NodeList) -> String {
    let Some(cluster) = &list.cluster else { return "no cluster".to_owned() };
    let now = Timestamp::now();
    let mut table = Table::new(&["NODE", "AT", "BROWSERS", "ROOM", "VERSION", "SEEN", ""]);
    for node in &list.items {
        table.row([
            node.name.clone(),
            node.internal_url.trim_end_matches('/').to_owned(),
            node.browsers.to_string(),
            room(node),
            node.version.clone(),
            table::age(node.seen_at, now),
            remarks(node),
        ]);
    }
    format!("cluster {}\n{}", table::plain(cluster), table.render())
}

/// One node in full.
pub(crate) fn node(node: &NodeView) -> String {
    let now = Timestamp::now();
    // That it answers by itself says nothing of it.
    let node_elsewhere = NodeView { is_this: false, ..node.clone() };
    let remarks = Some(remarks(&node_elsewhere)).filter(|text| !text.is_empty());
    let title = remarks.map_or_else(|| node.name.clone(), |text| format!("{} ({text})", node.name));
    let lines = [
        ("id", node.node_id.to_string()),
        ("at", node.internal_url.trim_end_matches('/').to_owned()),
        ("version", node.version.clone()),
        ("browsers", node.browsers.to_string()),
        ("sandboxes", node.sandboxes.to_string()),
        ("room", rooms(node)),
        ("started", table::age(node.started_at, now)),
        ("seen", table::age(node.seen_at, now)),
        ("clock", format!("{} ms ahead of the database", node.clock_ahead_ms)),
    ];
    let bus = node.bus.as_ref().map(|bus| ("bus", self::bus(bus)));
    let labels = (!node.labels.is_empty()).then(|| ("labels", NodeLabel::list(&node.labels)));
    let drain = node.drain.as_ref().map(|drain| ("drain", told(drain)));
    let lines = lines.into_iter().chain(labels).chain(bus).chain(drain);
    let lines = lines.map(|(name, text)| format!("  {name:<9} {}", table::plain(&text)));
    format!("{}\n{}", table::plain(&title), lines.collect::<Vec<_>>().join("\n"))
}

/// How many browsers more a node takes.
fn room(node: &NodeView) -> String {
    if node.is_draining {
        return "none".to_owned();
    }
    node.places.map_or_else(|| "any".to_owned(), |places| places.to_string())
}

/// How many browsers and sandboxes more a node takes.
fn rooms(node: &NodeView) -> String {
    if node.is_draining {
        return "none".to_owned();
    }
    let told = |places: Option<u64>, (one, many): (&str, &str)| match places {
        None => format!("any number of {many}"),
        Some(1) => format!("1 {one}"),
        Some(places) => format!("{places} {many}"),
    };
    let browsers = told(node.places, ("browser", "browsers"));
    format!("{browsers}, {}", told(node.sandbox_places, ("sandbox", "sandboxes")))
}

/// How far a drain is, in a line.
fn told(drain: &NodeDrain) -> String {
    let NodeDrain { left, moved, stayed, sandboxes, is_done } = drain;
    let mut text = format!("{} moved", table::counted(moved.len() as u64, "session"));
    if !stayed.is_empty() {
        let _ = write!(text, ", {} stayed", stayed.len());
    }
    if !is_done {
        let _ = write!(text, ", {left} left");
    }
    if *sandboxes > 0 {
        let word = if *sandboxes == 1 { "sandbox stays" } else { "sandboxes stay" };
        let _ = write!(text, ", {sandboxes} {word} until the end");
    }
    text
}

/// What became of what a node ran.
pub(crate) fn drained(node: &NodeView) -> String {
    let Some(drain) = &node.drain else { return self::node(node) };
    let mut table = Table::new(&["SESSION", "NOW AT", "AWAY", ""]);
    for moved in &drain.moved {
        let away = format!("{} ms", moved.pause_ms);
        table.row([moved.name.to_string(), moved.to.clone(), away, String::new()]);
    }
    for stayed in &drain.stayed {
        let (name, here) = (stayed.name.to_string(), node.name.clone());
        table.row([name, here, String::new(), stayed.why.clone()]);
    }
    let head = format!("{}: {}", table::plain(&node.name), told(drain));
    if drain.moved.is_empty() && drain.stayed.is_empty() {
        return head;
    }
    format!("{head}\n{}", table.render())
}

/// How the bus of a node is.
fn bus(bus: &NodeBus) -> String {
    if !bus.is_connected {
        let found = bus.found.as_deref().unwrap_or("it is being connected");
        return format!("away: {found}");
    }
    let dropped: u64 = bus.dropped.values().sum();
    let (sent, heard, gaps) = (bus.sent, bus.heard, bus.gaps);
    format!("connected: {sent} sent, {heard} heard, {dropped} dropped, {gaps} gaps")
}

/// Why the bus of the node that answers is away, for a doctor; none where it is connected, or there is none.
pub(crate) fn bus_away(list: &NodeList) -> Option<String> {
    let bus = list.items.iter().find(|node| node.is_this)?.bus.as_ref()?;
    (!bus.is_connected).then(|| self::bus(bus))
}

/// Of how many nodes a cluster is made, for a doctor, and what is wrong with them.
pub(crate) fn clustered(list: &NodeList) -> Option<(String, Vec<String>)> {
    let cluster = table::plain(list.cluster.as_ref()?);
    let there = list.items.iter().filter(|node| node.is_there).count();
    let wrong = list.items.iter().filter(|node| !node.is_there || is_off(node));
    let wrong = wrong.map(|node| format!("{}: {}", table::plain(&node.name), remarks(node)));
    Some((format!("{cluster}, {}", table::counted(there as u64, "node")), wrong.collect()))
}

fn is_off(node: &NodeView) -> bool {
    node.clock_ahead_ms.unsigned_abs() > AHEAD_MAX
}

/// What has to be said of a node.
fn remarks(node: &NodeView) -> String {
    let mut remarks = Vec::new();
    if node.is_this {
        remarks.push("this one".to_owned());
    }
    if !node.is_there {
        remarks.push("gone".to_owned());
    } else if node.is_draining {
        remarks.push("drains".to_owned());
    }
    if is_off(node) {
        let seconds = node.clock_ahead_ms.unsigned_abs() / 1000;
        let side = if node.clock_ahead_ms > 0 { "ahead" } else { "behind" };
        remarks.push(format!("clock {seconds} s {side}"));
    }
    remarks.join(", ")
}
