//! Directions: `baton → server → {sync, agents, proxy} → runtime → {debug, federation, store, net} →
//! {browser, sandbox, api} → session → redaction`; nothing points up or sideways.

use crate::repository::{File, files, report};
use std::collections::BTreeSet;

/// Which of our crates each crate may name.
const DIRECTIONS: [(&str, &[&str]); 27] = [
    // No other crate, so that it can be compiled for a browser.
    ("redaction", &[]),
    ("session", &["redaction"]),
    ("postgres", &[]),
    ("testing", &[]),
    // `postgres` is there for the tests.
    ("store", &["session", "postgres"]),
    ("browser", &["session", "redaction", "confine", "egress"]),
    ("api", &["session", "redaction"]),
    ("net", &["session", "api", "egress"]),
    // It knows no HTTP and no database.
    ("debug", &["session", "redaction", "browser", "api"]),
    // Usable by themselves.
    ("federation", &[]),
    ("confine", &[]),
    ("egress", &[]),
    // What is none of the internet is the same for browsers and for sandboxes.
    ("sandbox", &["confine", "egress"]),
    // It carries profiles, too, so it stands above both.
    ("backup", &["session", "store", "browser"]),
    // It knows no doors, and of other nodes what it asks of them.
    ("runtime", &["session", "redaction", "store", "browser", "debug", "net", "federation", "api"]),
    // It runs by itself, too.
    ("proxy", &["session", "store", "debug", "net", "egress", "api", "runtime"]),
    // `testkit` is there for the tests.
    ("sync", &["session", "store", "browser", "net", "api", "runtime", "testkit"]),
    ("testkit", &["session", "api", "sync"]),
    ("agents", &["session", "store", "browser", "net", "egress", "sandbox", "api", "runtime"]),
    (
        "server",
        &[
            "session",
            "store",
            "browser",
            "debug",
            "net",
            "federation",
            "sandbox",
            "api",
            "runtime",
            "proxy",
            "sync",
            "agents",
            // Its tests restore a backup, play other nodes, and start a database and a bus that nodes share.
            "backup",
            "playground",
            "postgres",
            "testkit",
        ],
    ),
    ("playground", &["session", "store", "browser", "api"]),
    // It opens the database of a node beside it, to see what is there.
    (
        "walk",
        &["session", "store", "browser", "sandbox", "api", "server", "playground", "postgres"],
    ),
    // `browser` and `sandbox` are there for the hidden commands that keepers and first processes of
    // sandboxes run as.
    (
        "baton",
        &[
            "session",
            "store",
            "browser",
            "debug",
            "net",
            "federation",
            "sandbox",
            "api",
            "runtime",
            "proxy",
            "sync",
            "agents",
            "backup",
            "server",
            "playground",
            "postgres",
            "walk",
        ],
    ),
    // What a program of somebody else may name; `playground` is there for the tests.
    ("examples", &["session", "store", "federation", "api", "playground"]),
    // What the extension for Chrome loads.
    ("extensions", &["redaction"]),
    // It is given programs, and knows none of what they are made of.
    ("packages", &[]),
    // One PostgreSQL serves the tests of all crates.
    ("xtask", &["postgres"]),
];

/// Which crates alone may name a dependency that is kept behind their wall.
const KEPT_APART: [(&str, &[&str]); 11] = [
    // What listens; the sites of `playground` and of the demo do, too.
    ("axum", &["net", "proxy", "server", "playground", "baton"]),
    // `browser` speaks to Chromium with it, `node` is spoken to.
    ("tokio-tungstenite", &["browser", "server"]),
    ("command-fds", &["browser"]),
    ("rusqlite", &["browser"]),
    ("rusty-leveldb", &["browser"]),
    ("zbus", &["browser"]),
    ("sqlx", &["store"]),
    ("rmcp", &["server"]),
    // What is given up by a process is given up in one place, with the reasons.
    ("keyutils", &["confine"]),
    ("libc", &["confine"]),
    ("seccompiler", &["confine"]),
];

/// What the tests of each crate may use, and the crate that is nothing but a test.
const FOR_TESTS: &str = "baton-testing";

/// What tests and benchmarks may use beyond those walls: they play the browsers that speak to a node, and
/// the sites that these show.
const SPOKEN_IN_TESTS: [&str; 2] = ["tokio-tungstenite", "axum"];

/// What the pure model must not be able to reach.
const NOT_IN_THE_MODEL: [&str; 8] =
    ["tokio", "rand", "getrandom", "reqwest", "axum", "sqlx", "tempfile", "rustix"];

#[test]
fn our_crates_depend_downwards_only() {
    let mut findings = Vec::new();
    for manifest in manifests() {
        let package = manifest.package();
        if package == "bench" {
            continue;
        }
        let allowed = DIRECTIONS.iter().find(|(name, _)| *name == package);
        let Some((_, allowed)) = allowed else {
            findings.push(format!("{}: no direction is laid down for {package}", manifest.path));
            continue;
        };
        let is_a_test = ["walk", "playground"].contains(&package);
        if !is_a_test && dependencies(&manifest, Scope::Normal).contains(FOR_TESTS) {
            findings.push(format!("{package} must depend on {FOR_TESTS} for its tests alone"));
        }
        for dependency in dependencies(&manifest, Scope::All) {
            let ours = dependency.strip_prefix("baton-").filter(|_| dependency != FOR_TESTS);
            if let Some(ours) = ours.filter(|ours| !allowed.contains(ours)) {
                findings.push(format!("{package} must not depend on {ours}"));
            }
        }
    }
    report("a crate depends upwards or sideways", &findings);
}

#[test]
fn heavy_dependencies_stay_behind_one_wall() {
    let mut findings = Vec::new();
    for manifest in manifests() {
        let [all, own] = [Scope::All, Scope::Normal].map(|scope| dependencies(&manifest, scope));
        for (dependency, allowed) in KEPT_APART {
            let is_spoken = SPOKEN_IN_TESTS.contains(&dependency);
            let used = if is_spoken { &own } else { &all };
            let package = manifest.package();
            let is_played = is_spoken && package == "bench";
            if used.contains(dependency) && !allowed.contains(&package) && !is_played {
                findings.push(format!("{package} must not use {dependency}"));
            }
        }
    }
    report("a dependency is used outside of its wall", &findings);
}

#[test]
fn the_model_is_pure() {
    let manifests = manifests();
    let session = manifests.iter().find(|manifest| manifest.package() == "session").unwrap();
    let used = dependencies(session, Scope::Normal);
    let impure: Vec<String> = NOT_IN_THE_MODEL
        .iter()
        .filter(|name| used.contains(**name))
        .map(|name| format!("session must not use {name}"))
        .collect();
    report("the model reaches the outside world", &impure);
}

#[test]
fn every_dependency_is_listed_once_in_the_workspace() {
    let mut findings = Vec::new();
    for manifest in manifests() {
        for (name, value) in tables(&manifest, Scope::All).into_iter().flatten() {
            let inherited = value.get("workspace").and_then(toml::Value::as_bool) == Some(true);
            if !inherited {
                findings.push(format!("{}: {name} must say `workspace = true`", manifest.path));
            }
        }
    }
    report("a version stands outside of the workspace's table", &findings);
}

/// Which tables of a manifest are meant.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    Normal,
    All,
}

/// The manifests of our crates, without the workspace's own. The fuzz targets are a workspace of their
/// own.
fn manifests() -> Vec<File> {
    let mut manifests = files("/Cargo.toml");
    manifests.retain(|file| file.path.starts_with("crates/") || !file.path.contains("crates/"));
    manifests.retain(|file| file.package() != "fuzz");
    manifests
}

fn dependencies(manifest: &File, scope: Scope) -> BTreeSet<String> {
    tables(manifest, scope).into_iter().flatten().map(|(name, _)| name).collect()
}

/// The dependency tables, also those of single targets.
fn tables(manifest: &File, scope: Scope) -> Vec<toml::Table> {
    let parsed: toml::Table = toml::from_str(&manifest.text).unwrap();
    let names: &[&str] = match scope {
        Scope::Normal => &["dependencies", "build-dependencies"],
        Scope::All => &["dependencies", "build-dependencies", "dev-dependencies"],
    };
    let targets = parsed.get("target").and_then(toml::Value::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values());
    std::iter::once(&toml::Value::Table(parsed.clone()))
        .chain(targets)
        .flat_map(|place| names.iter().filter_map(|name| place.get(name)))
        .filter_map(|table| table.as_table().cloned())
        .collect()
}
