//! Inside a crate, too, everything leads one way: no file and no folder leads back to itself, and an import
//! names the file that has what it wants.

use crate::imports::{Imports, Module};
use crate::repository::{files, report};
use std::collections::{BTreeMap, BTreeSet};

/// The crates, by where their sources are.
const CRATES: [&str; 24] = [
    "crates/agents/src/",
    "crates/api/src/",
    "crates/backup/src/",
    "crates/baton/src/",
    "crates/browser/src/",
    "crates/confine/src/",
    "crates/debug/src/",
    "crates/egress/src/",
    "crates/federation/src/",
    "crates/net/src/",
    "crates/server/src/",
    "crates/playground/src/",
    "crates/proxy/src/",
    "crates/redaction/src/",
    "crates/runtime/src/",
    "crates/sandbox/src/",
    "crates/session/src/",
    "crates/store/src/",
    "crates/sync/src/",
    "crates/testing/src/",
    "crates/walk/src/",
    "bench/src/",
    "extensions/chrome/redactor/src/",
    "xtask/src/",
];

/// What leads from one room to another, for example.
type Ways = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn nothing_leads_back_to_where_it_came_from() {
    let sources = files(".rs");
    let mut findings = Vec::new();
    for folder in CRATES {
        let found = circles(&Imports::of(&sources, folder));
        findings.extend(found.into_iter().map(|(_, told)| format!("{folder}: {told}")));
    }
    report("move what both need to a file below them", &findings);
}

#[test]
fn an_import_names_the_file_that_has_it() {
    let sources = files(".rs");
    let faces = CRATES.iter().flat_map(|folder| Imports::of(&sources, folder).through_a_face());
    report("import it from the module below that has it", &faces.collect::<Vec<_>>());
}

/// The circles of rooms at every level: how many rooms each has, and what leads around.
fn circles(imports: &Imports) -> Vec<(usize, String)> {
    let mut levels: BTreeMap<Module, Ways> = BTreeMap::new();
    for arrow in imports.arrows() {
        let shared =
            arrow.from.iter().zip(arrow.to).take_while(|(one, other)| one == other).count();
        let room = |module: &Module| module.get(shared).map_or("itself", String::as_str).to_owned();
        let (from, to) = (room(arrow.from), room(arrow.to));
        // What a child takes from its parent leads up, to what holds both.
        if from != to && to != "itself" {
            let told = format!("{} takes {}", arrow.from.join("::"), arrow.name);
            let level = levels.entry(arrow.from[..shared].to_vec()).or_default();
            level.entry(from).or_default().insert(to, told);
        }
    }
    let told = |(level, ways): (Module, Ways)| {
        let in_circles = in_circles(&ways);
        in_circles
            .into_iter()
            .map(move |rooms| {
                let place =
                    if level.is_empty() { "the crate".to_owned() } else { level.join("::") };
                (rooms.len(), format!("in {place}: {}", around(&ways, &rooms)))
            })
            .collect::<Vec<_>>()
    };
    levels.into_iter().flat_map(told).collect()
}

fn around(ways: &Ways, rooms: &BTreeSet<String>) -> String {
    let inside = ways.iter().filter(|(from, _)| rooms.contains(*from)).flat_map(|(from, to)| {
        let to = to.iter().filter(|(to, _)| rooms.contains(*to));
        to.map(move |(to, told)| format!("{from} → {to} ({told})"))
    });
    inside.collect::<Vec<_>>().join(", ")
}

/// The rooms that lead to each other, circle by circle.
fn in_circles(ways: &Ways) -> Vec<BTreeSet<String>> {
    let reached = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut left: Vec<&String> = vec![from];
        while let Some(room) = left.pop() {
            for next in ways.get(room).into_iter().flat_map(BTreeMap::keys) {
                if seen.insert(next.clone()) {
                    left.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        ways.keys().map(|room| (room, reached(room))).collect();
    let mut circles = BTreeSet::new();
    for (room, from_it) in &reached {
        if from_it.contains(*room) {
            let back = |other: &&String| reached.get(other).is_some_and(|all| all.contains(*room));
            circles.insert(from_it.iter().filter(back).cloned().collect());
        }
    }
    circles.into_iter().collect()
}

#[test]
fn a_circle_is_found_and_a_parent_that_holds_its_children_is_none() {
    let file = |path: &str, text: &str| crate::repository::File {
        path: path.to_owned(),
        text: text.to_owned(),
    };
    let sources = [
        file("src/lib.rs", "mod a; mod b; pub use b::inner::Deep; pub use a::Plain;"),
        file("src/a.rs", "use crate::Deep; pub struct Plain;"),
        file("src/b/mod.rs", "mod inner; pub struct Ground; fn all() { inner::work() }"),
        file("src/b/inner.rs", "use super::Ground; fn work() { matches!(0, crate::a::Plain) }"),
    ];
    let imports = Imports::of(&sources, "src/");
    let [(2, circle)] = &circles(&imports)[..] else { panic!("one circle of two rooms") };
    assert_eq!(circle, "in the crate: a → b (a takes Deep), b → a (b::inner takes Plain)");
    let [face] = &imports.through_a_face()[..] else { panic!("one import through a face") };
    assert_eq!(face, "src/a.rs: Deep of crate::b::inner::Deep");
}
