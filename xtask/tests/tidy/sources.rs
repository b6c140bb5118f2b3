//! What a source file owes its reader, and what it may reach.

use crate::repository::{File, files, report};

/// Who may print and read the environment: the programs, what starts them, and what tests say.
const PROGRAMS: [&str; 8] =
    ["baton", "xtask", "bench", "packages", "playground", "postgres", "testing", "walk"];

/// What only programs do.
const ONLY_PROGRAMS: [&str; 11] = [
    "println!",
    "eprintln!",
    "print!(",
    "io::stdout",
    "io::stderr",
    "env::var",
    "env::args",
    "env::home_dir",
    "env::temp_dir",
    "env::current_dir",
    "dirs::",
];

/// What the pure model never does.
const NEVER_IN_THE_MODEL: [&str; 14] = [
    "std::fs",
    "std::net::Tcp",
    "std::net::Udp",
    "std::net::ToSocketAddrs",
    "std::process",
    "std::thread",
    "std::env",
    "tokio",
    "async fn",
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "rand::",
];

/// The longest source file.
const MAX_LINES: usize = 500;

#[test]
fn every_file_opens_with_its_purpose() {
    let mute = files(".rs").into_iter().filter(|file| !file.text.starts_with("//! "));
    report("a file must open with `//! ` and its purpose", &paths(mute));
}

#[test]
fn no_source_file_is_long() {
    let long = files(".rs")
        .into_iter()
        .filter(|file| file.is_source() && file.text.lines().count() > MAX_LINES);
    report("a file is longer than 500 lines", &paths(long));
}

#[test]
fn only_programs_print_and_read_the_environment() {
    let libraries = files(".rs")
        .into_iter()
        .filter(|file| file.is_source() && !PROGRAMS.contains(&file.package()));
    let findings: Vec<String> = libraries.flat_map(|file| places(&file, &ONLY_PROGRAMS)).collect();
    report("a library prints, or reads its environment", &findings);
}

#[test]
fn one_way_leads_off_the_async_threads() {
    // The last one turns a panic over what an agent wrote into a reason of its own.
    let ways = [
        "crates/store/src/blocking.rs",
        "crates/egress/src/blocking.rs",
        "crates/agents/src/sandboxes/take_back.rs",
    ];
    let others = files(".rs")
        .into_iter()
        .filter(|file| file.runs_in_a_node() && !ways.contains(&file.path.as_str()));
    let findings: Vec<String> =
        others.flat_map(|file| places(&file, &["spawn_blocking"])).collect();
    report("blocking goes on with a panic, and this hides it", &findings);
}

#[test]
fn nothing_is_written_as_an_empty_text() {
    let findings: Vec<String> = files(".rs").iter().flat_map(emptied).collect();
    report(
        "what cannot be written becomes empty; baton_session::json has ways that do not",
        &findings,
    );
}

/// Where a file writes JSON, and something else in its place when that fails.
fn emptied(file: &File) -> Vec<String> {
    let is_library = file.path.starts_with("crates/") && file.is_source();
    let lines: Vec<(usize, &str)> = file.code().filter(|_| is_library).collect();
    let ways = ["serde_json::to_", "serde_json_canonicalizer::to_"];
    let mut found = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        let Some(from) = ways.iter().filter_map(|way| line.find(way)).min() else { continue };
        let rest = lines[at + 1..].iter().map(|(_, line)| line.trim());
        let mut statement = String::new();
        for piece in std::iter::once(line[from..].trim()).chain(rest) {
            statement.push_str(piece);
            if piece.ends_with([';', '{', '}']) {
                break;
            }
        }
        if statement.contains(".unwrap_or_default()") || statement.contains(".unwrap_or(") {
            found.push(format!("{}:{number}: {}", file.path, line.trim()));
        }
    }
    found
}

#[test]
fn what_becomes_empty_is_found() {
    let text = [
        "fn one() {",
        "    let it = serde_json::to_vec(&it).unwrap_or_default();",
        "    let it = serde_json_canonicalizer::to_vec(&it)",
        "        .unwrap_or(nothing);",
        "    let it = serde_json::to_value(it)?;",
        "    it.unwrap_or_default()",
        "}",
    ];
    let file = |path: &str| File { path: path.to_owned(), text: text.join("\n") };
    let found = emptied(&file("crates/server/src/it.rs"));
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("it.rs:2") && found[1].contains("it.rs:3"), "{found:#?}");
    assert!(emptied(&file("crates/server/tests/it.rs")).is_empty());
}

#[test]
fn one_door_speaks_mcp() {
    let others = files(".rs").into_iter().filter(|file| {
        let path = file.path.as_str();
        path.starts_with("crates/server/src") && !path.starts_with("crates/server/src/mcp/")
    });
    let findings: Vec<String> = others.flat_map(|file| places(&file, &["rmcp::"])).collect();
    report("rmcp moves fast, and is named outside of the door that speaks it", &findings);
}

#[test]
fn the_model_knows_no_clock_disk_network_or_randomness() {
    let model = files(".rs").into_iter().filter(|file| file.path.starts_with("crates/session/src"));
    let findings: Vec<String> = model.flat_map(|file| places(&file, &NEVER_IN_THE_MODEL)).collect();
    report("the model is not pure", &findings);
}

#[test]
fn rmcp_is_named_in_one_module() {
    let elsewhere =
        files(".rs").into_iter().filter(|file| !file.path.starts_with("crates/server/src/mcp"));
    let ours = |file: &File| file.package() != "xtask";
    let findings: Vec<String> =
        elsewhere.filter(ours).flat_map(|file| places(&file, &["rmcp::"])).collect();
    report("rmcp is used outside of its module", &findings);
}

#[test]
fn the_json_of_axum_is_named_where_bodies_are_read() {
    // It reads and writes where others wait; `http::request` and `http::answer` look how much there is.
    let others = files(".rs")
        .into_iter()
        .filter(|file| file.is_of_a_node() && file.path != "crates/server/src/http/request.rs");
    let ways = ["axum::Json", "axum::{Json", "axum_extra::"];
    let findings: Vec<String> = others.flat_map(|file| places(&file, &ways)).collect();
    report("http::request::Json reads a body, and http::answer::answer writes one", &findings);
}

#[test]
fn no_file_names_a_place_of_one_machine() {
    // Written in two pieces, so that this file does not find itself.
    let places_of_one_machine = [concat!("/wo", "rk/"), concat!("/tmp/", "brief")];
    let mut findings = Vec::new();
    for file in
        [".rs", ".md", ".toml", ".sql", ".json", ".ci/run"].iter().flat_map(|e| files_or_none(e))
    {
        for (index, line) in file.text.lines().enumerate() {
            if places_of_one_machine.iter().any(|place| line.contains(place)) {
                findings.push(format!("{}:{}: {}", file.path, index + 1, line.trim()));
            }
        }
    }
    report("a path of one machine", &findings);
}

#[test]
fn no_tool_has_left_its_files_behind() {
    let endings = [".pending-snap", ".snap.new", ".orig", ".rej", ".profraw"];
    let left: Vec<String> =
        endings.iter().flat_map(|e| files_or_none(e)).map(|file| file.path).collect();
    report("a file that a tool left behind", &left);
}

/// Like `files`, for endings that the repository need not have.
fn files_or_none(ending: &str) -> Vec<File> {
    files("").into_iter().filter(|file| file.path.ends_with(ending)).collect()
}

/// The lines of code that hold one of `words`.
fn places(file: &File, words: &[&str]) -> Vec<String> {
    let found = file.code().filter(|(_, line)| words.iter().any(|word| line.contains(word)));
    found.map(|(number, line)| format!("{}:{number}: {}", file.path, line.trim())).collect()
}

fn paths(files: impl Iterator<Item = File>) -> Vec<String> {
    files.map(|file| format!("{} ({} lines)", file.path, file.text.lines().count())).collect()
}
