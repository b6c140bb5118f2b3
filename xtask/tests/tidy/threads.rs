//! What takes the processor for long stays off the threads on which everybody waits.
//!
//! The one idea: joining, hashing, sealing and reading what may be megabytes stands in a plain function or in
//! a closure without arguments, which `blocking` takes; never straight in what is async. A plain function
//! that does such work is such work itself, for its own file and for all that name it by its module or type.
//! Where something stands is told by how lines are indented, which `rustfmt` sees to.

use crate::repository::{File, files, report};
use std::collections::BTreeSet;

/// What takes long when there is much of it.
const HEAVY: [&str; 22] = [
    "json::bytes",
    "parts::join",
    "parts::split",
    "wire::checksum_of",
    "redact::redact",
    "PartHash::of",
    "PackedPart::of",
    "Pack::make",
    "parcel::read",
    "parcel::write",
    "read_parcels",
    "write_parcels",
    "sealing::seal",
    "sealing::seal_for_all",
    "sealing::open",
    "verify_request",
    "verify_response",
    "sign_request",
    "sign_response",
    "serde_json::from_slice",
    "axum::Json",
    "axum::Json::from_bytes",
];

/// Where it is little, and why: a file and what of its line says which.
const LITTLE: [(&str, &str); 19] = [
    // Nobody waits yet: a node that starts, and one that does not run.
    ("crates/server/src/serve/mod.rs", "NodeLock::acquire"),
    ("crates/server/src/serve/mod.rs", "PageSessions::load"),
    ("crates/backup/src/restore.rs", "Old::inspect"),
    // Texts of a few lines, and one line of the index.
    ("crates/server/src/http/layers.rs", "problem"),
    ("crates/sync/src/shelf.rs", "index::entry"),
    // A refusal of another node, and a request that is kept until it is known where it goes: 64 KiB at most.
    ("crates/server/src/cluster/asking.rs", "problem_in"),
    ("crates/server/src/http/forward/mod.rs", "return serde_json::from_slice(body)"),
    ("crates/server/src/http/forward/browsers.rs", "code_in"),
    ("crates/server/src/http/forward/guests.rs", "mark(&parts"),
    ("crates/server/src/http/forward/pages.rs", "brought(&parts"),
    // What a client asks of a tab came in one message, which has an end.
    ("crates/server/src/everywhere.rs", "json::bytes(filters)"),
    // A short body; a long one is given away.
    ("crates/server/src/http/request.rs", "if is_short { read() }"),
    // A message of a bus has an end at 16 KiB, before it is read.
    ("crates/server/src/cluster/bus/heard.rs", "Unverified::read"),
    // No more is read than a provider or a node may say of itself, and than a header holds.
    ("crates/sync/src/oidc/client.rs", "answered"),
    ("crates/sync/src/oidc/signed.rs", "token"),
    ("crates/sync/src/oidc/mod.rs", "answered"),
    ("crates/sync/src/remote/ask.rs", "Problem"),
    ("crates/sync/src/peers/register.rs", "serde_json::from_slice(&body)"),
    ("crates/sync/src/peers/register.rs", "self.refused(status, &body)"),
];

/// Where a call stands.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// In what an async thread does.
    Async,
    /// In work that is given away, if it is not done under its own name.
    GivenAway(Option<String>),
    /// In a plain function: its name, and the type that it belongs to.
    Plain(String, Option<String>),
    /// Nowhere that can be told.
    Elsewhere,
}

#[test]
fn what_takes_long_is_not_done_where_others_wait() {
    let sources: Vec<File> = files(".rs").into_iter().filter(File::is_of_a_node).collect();
    let found = found(&sources);
    let is_of =
        |line: &str, (path, word): (&str, &str)| line.starts_with(path) && line.contains(word);
    let needed = |one| found.iter().any(|line| is_of(line, one));
    let left: Vec<_> = LITTLE.into_iter().filter(|one| !needed(*one)).collect();
    assert!(left.is_empty(), "nothing is excepted any more by {left:?}");
    let is_little = |line: &str| LITTLE.into_iter().any(|one| is_of(line, one));
    let findings: Vec<String> = found.iter().filter(|line| !is_little(line)).cloned().collect();
    report("give it to baton_store::blocking::blocking", &findings);
}

/// The places where something that takes long is done by an async thread.
fn found(sources: &[File]) -> Vec<String> {
    let mut known: BTreeSet<String> = HEAVY.iter().map(ToString::to_string).collect();
    let mut findings = BTreeSet::new();
    loop {
        let before = known.len();
        for file in sources {
            scan(file, &mut known, &mut findings);
        }
        if known.len() == before {
            return findings.into_iter().collect();
        }
    }
}

/// Looks through a file: what its plain functions do of the kind is `known` from then on.
fn scan(file: &File, known: &mut BTreeSet<String>, findings: &mut BTreeSet<String>) {
    let lines: Vec<(usize, &str)> = file.code().collect();
    let mut own: BTreeSet<String> = known.clone();
    loop {
        let before = own.len();
        let names: Vec<String> = own.iter().cloned().collect();
        let calls = lines.iter().enumerate().filter(|(_, (_, line))| line.contains('('));
        for (at, (number, line)) in calls {
            for start in names.iter().filter_map(|name| call_of(line, name)) {
                match place(&lines, at, start) {
                    Place::Async => {
                        findings.insert(format!("{}:{number}: {}", file.path, line.trim()));
                    }
                    Place::Plain(plain, of) => {
                        let home = of.unwrap_or_else(|| module(&file.path));
                        known.insert(format!("{home}::{plain}"));
                        own.extend([format!("Self::{plain}"), format!("self.{plain}"), plain]);
                    }
                    Place::GivenAway(work) => own.extend(work),
                    Place::Elsewhere => {}
                }
            }
        }
        if own.len() == before {
            return;
        }
    }
}

/// Where a line calls something of this name.
fn call_of(line: &str, name: &str) -> Option<usize> {
    let is_of_name = |c: char| c.is_alphanumeric() || "_:.".contains(c);
    line.match_indices(name).map(|(start, _)| start).find(|start| {
        let (before, after) = (&line[..*start], &line[start + name.len()..]);
        let is_whole =
            !before.ends_with(is_of_name) || name.contains("::") && before.ends_with("::");
        is_whole && !before.ends_with("fn ") && (after.starts_with('(') || after.starts_with("::<"))
    })
}

/// Where the call stands that begins here.
fn place(lines: &[(usize, &str)], at: usize, start: usize) -> Place {
    if is_given_away(&lines[at].1[..start]) {
        return Place::GivenAway(work(lines, at));
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let (mut depth, mut whose) = (indent(lines[at].1), None);
    let mut name = own_name(lines[at].1);
    for (above, (_, line)) in lines[..at].iter().enumerate().rev() {
        if line.trim().is_empty() {
            continue;
        }
        // A header that goes over several lines stands as far to the left as its end.
        let is_end = |line: &str| line == "{" || line.starts_with(')') || line.starts_with("where");
        if indent(line) > depth || (indent(line) == depth && whose.is_none()) {
            continue;
        }
        let text = line.trim();
        if indent(line) < depth {
            depth = indent(line);
            whose = is_end(text).then_some(());
            if whose.is_some() {
                continue;
            }
        } else if is_end(text) {
            continue;
        } else {
            whose = None;
        }
        let is_open = text.ends_with(['{', '(', '[', ',']) || text.ends_with("||");
        if let Some(found) = own_name(text).filter(|_| name.is_none()) {
            if text.contains("async fn") {
                return Place::Async;
            }
            name = Some(found);
        } else if name.is_none() && is_open && is_given_away(text) {
            return Place::GivenAway(work(lines, above));
        } else if name.is_none() && (text.contains("async {") || text.contains("async move {")) {
            return Place::Async;
        }
        if name.is_some() && text.starts_with("impl") {
            return Place::Plain(name.unwrap_or_default(), Some(type_of(text)));
        }
    }
    name.map_or(Place::Elsewhere, |name| Place::Plain(name, None))
}

/// What a closure is called that begins on a line.
fn work(lines: &[(usize, &str)], at: usize) -> Option<String> {
    let above = lines[..at].last().map(|(_, line)| line.trim()).filter(|line| line.ends_with('='));
    let text = above.unwrap_or(lines[at].1.trim());
    let (name, _) = text.strip_prefix("let ")?.split_once(" =")?;
    Some(name.to_owned())
}

/// The name of the function that begins on a line.
fn own_name(line: &str) -> Option<String> {
    let (before, after) = line.trim_start().split_once("fn ")?;
    let is_header = before.split(' ').all(|word| {
        word.is_empty()
            || word.starts_with("pub")
            || ["async", "const", "in"].contains(&word)
            || word.ends_with(')')
    });
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (is_header && !name.is_empty()).then_some(name)
}

/// Whether a text ends within a closure without arguments that is not async.
fn is_given_away(text: &str) -> bool {
    let begins = ["move || ", "move ||", "(|| ", "(||", "= || ", "= ||"];
    let Some((start, begin)) =
        begins.iter().filter_map(|begin| text.rfind(begin).map(|at| (at, begin))).max()
    else {
        return false;
    };
    let within = &text[start + begin.len()..];
    let open = within.matches('(').count() >= within.matches(')').count();
    open && !text[..start].trim_end().ends_with("async") && !within.contains("async ")
}

/// `Liar` of `impl Liar {` and of `impl<T> Told for Liar<T> {`.
fn type_of(header: &str) -> String {
    let header = header.split(" for ").last().unwrap_or(header);
    let header = header.trim_start_matches("impl").trim_start();
    let header = if header.starts_with('<') {
        header.split_once("> ").map_or(header, |(_, rest)| rest)
    } else {
        header
    };
    header.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The name of the module that a file is.
fn module(path: &str) -> String {
    let mut names = path.trim_end_matches(".rs").rsplit('/');
    match names.next() {
        Some("mod" | "lib") => names.next().unwrap_or_default().to_owned(),
        name => name.unwrap_or_default().to_owned(),
    }
}

#[test]
fn what_is_done_where_others_wait_is_found() {
    let text = [
        "impl Shown {",
        "    pub(super) async fn straight(",
        "        found: Vec<Part>,",
        "    ) -> Result<State, NodeError> {",
        "        let found = blocking(move || sealing::open(&found)).await?;",
        "        let state = parts::join(&found);",
        "        let state = blocking(move || {",
        "            parts::join(&found)",
        "        });",
        "        let work =",
        "            move || PartHash::of(&found);",
        "        let given = blocking(work).await;",
        "        let done = work();",
        "        Ok(found.iter().map(|one| Self::plain(one)))",
        "    }",
        "",
        "    fn plain(one: &Part) -> PartHash {",
        "        PartHash::of(one)",
        "    }",
        "}",
        "",
        "fn begun() {",
        "    tokio::spawn(async move {",
        "        if one || serde_json::from_slice(&two) {",
        "            three();",
        "        }",
        "    });",
        "}",
    ];
    let elsewhere = ["async fn there() {", "    let hash = Shown::plain(&one);", "}"];
    let file = |path: &str, text: &[&str]| File { path: path.to_owned(), text: text.join("\n") };
    let sources = [file("there.rs", &elsewhere), file("shown.rs", &text)];
    let found = found(&sources);
    let places: Vec<_> = found.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(
        places,
        ["shown.rs:13", "shown.rs:14", "shown.rs:24", "shown.rs:6", "there.rs:2"],
        "{found:#?}"
    );
}
