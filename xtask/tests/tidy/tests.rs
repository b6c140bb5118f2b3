//! A test that is green has tested something.
//!
//! The one idea: the harness of Rust calls a test green that found nothing to test and ended. So a test
//! ends early with `skip!` alone, which says so and is counted.

use crate::repository::{File, files, report};

#[test]
fn a_test_that_tests_nothing_says_so() {
    let findings: Vec<String> = files(".rs").iter().flat_map(silent).collect();
    report("a test ends early without `baton_testing::skip!`", &findings);
}

#[test]
fn a_property_says_its_seed() {
    let findings: Vec<String> = files(".rs").iter().flat_map(seedless).collect();
    report(
        "a property is tried without `baton_testing::cases`, which says by which seed",
        &findings,
    );
}

/// The blocks of properties of a file that have a seed which nobody is told.
fn seedless(file: &File) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let blocks =
        lines.iter().enumerate().filter(|(_, line)| line.trim() == concat!("proptest", "! {"));
    let is_told = |at: usize| {
        let head = lines[at + 1..].iter().take_while(|line| !line.trim().is_empty());
        let head: String = head.copied().collect();
        head.contains("proptest_config") && head.contains("cases(") && !head.contains("with_cases(")
    };
    blocks
        .filter(|(at, _)| !is_told(*at))
        .map(|(at, _)| format!("{}:{}", file.path, at + 1))
        .collect()
}

#[test]
fn a_property_without_a_seed_is_found() {
    let block = |head: &str| format!("{}! {{\n    {head}\n\n    #[test]\n}}", "proptest");
    let found =
        |head: &str| seedless(&File { path: "some.rs".to_owned(), text: block(head) }).len();
    assert_eq!(found("#![proptest_config(cases(256))]"), 0);
    assert_eq!(found("#![proptest_config(ProptestConfig::with_cases(24))]"), 1);
    assert_eq!(found("#[test]"), 1);
}

/// The places of a file where a test may end green without a word: where it returns, and a test that is
/// one `if` and nothing else.
fn silent(file: &File) -> Vec<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if !is_mark(line.trim_start()) {
            continue;
        }
        let of = |line: &str| line.len() - line.trim_start().len();
        let ends = |line: &str| line.starts_with('}') || line.trim_start().starts_with('}');
        let end = (start..lines.len()).find(|at| of(lines[*at]) == indent && ends(lines[*at]));
        let opens = (start..lines.len()).find(|at| lines[*at].ends_with('{'));
        let (Some(end), Some(opens)) = (end, opens) else { continue };
        let body = lines.get(opens + 1..end).unwrap_or_default();
        let place = |at: usize| format!("{}:{}", file.path, opens + 2 + at);
        found.extend(returns(body).map(place));
        let outer: Vec<&str> = body.iter().filter(|line| of(line) == indent + 4).copied().collect();
        if let [first, last] = outer[..]
            && first.trim_start().starts_with("if ")
            && last.trim() == "}"
        {
            found.push(place(0));
        }
    }
    found
}

fn is_mark(line: &str) -> bool {
    ["#[test]", "#[tokio::test", "#[rstest"].iter().any(|mark| line.starts_with(mark))
}

/// Where a body returns nothing, closures in it too: they are few, and are written otherwise.
fn returns<'a>(body: &'a [&str]) -> impl Iterator<Item = usize> + 'a {
    let is_bare = |line: &str| {
        let code = line.split("//").next().unwrap_or_default();
        code.contains("return;") || code.contains("return }") || code.trim_end() == "return"
    };
    body.iter().enumerate().filter(move |(_, line)| is_bare(line)).map(|(at, _)| at)
}

#[test]
fn what_ends_early_is_found() {
    let text = [
        "#[test]",
        "fn one() {",
        "    let Some(it) = it() else { go };",
        "}",
        "#[tokio::test(flavor = \"multi_thread\")]",
        "async fn other() {",
        "    if is_root() {",
        "        story();",
        "    }",
        "}",
        "fn none_of_ours() {",
        "    go;",
        "}",
        "#[test]",
        "fn third() {",
        "    if !is_root() {",
        "        skip!(\"only root\");",
        "    }",
        "    story();",
        "}",
    ];
    let file =
        File { path: "tests/it.rs".to_owned(), text: text.join("\n").replace("go", "return") };
    assert_eq!(silent(&file), ["tests/it.rs:3", "tests/it.rs:7"]);
}
