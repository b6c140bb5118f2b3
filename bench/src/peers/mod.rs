//! Baton and its peers side by side: which kinds of state come back, and how long a restore takes.
//!
//! The one idea: everybody is measured in the same run, on the same machine, with the same browser and
//! the same site, and the site judges. The peers come from their registries, in pinned versions, and
//! each is used in all the ways that its documentation offers; its best one is told first.

mod driver;
mod kinds;
mod times;

use crate::report::{Section, Table};
use anyhow::Result;
use driver::Peers;
use std::cmp::Ordering;
use std::path::Path;

/// Measures Baton and its peers; what cannot be installed is left out, and it is said.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    let peers = Peers::install().await;
    if let Err(reason) = &peers {
        println!("the peers are left out: {reason:#}");
    }
    let left_out =
        peers.as_ref().err().map(|reason| format!(" The peers are left out: {reason:#}."));
    let peers = peers.ok();
    let mut sections = [
        kinds::measure(baton, peers.as_ref()).await?,
        times::measure(baton, peers.as_ref()).await?,
    ];
    for section in &mut sections {
        section.method.push_str(left_out.as_deref().unwrap_or_default());
    }
    Ok(sections.into())
}

/// Where a session is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Disk {
    /// With the profile that the killed browser left behind.
    Same,
    /// Without any profile, as on another machine.
    Fresh,
}

/// A section that holds tables alone.
fn section(title: &'static str, method: String, tables: Vec<Table>) -> Section {
    Section {
        title,
        method,
        comparisons: Vec::new(),
        figures: Vec::new(),
        medians: Vec::new(),
        tables,
    }
}

/// What the page calls a way of a tool.
fn name(title: &str, way: &str) -> String {
    format!("{title}: {way}")
}

/// Which of the ways are the best of their tool: of equal ones, the first. A tool is what stands before
/// the colon, and who has no result is never best.
fn best<T>(ways: &[(&str, Option<T>)], compare: impl Fn(&T, &T) -> Ordering) -> Vec<bool> {
    let tool = |at: usize| ways[at].0.split(": ").next();
    let beats = |one: usize, other: usize| match (&ways[one].1, &ways[other].1) {
        (Some(found), Some(than)) => match compare(found, than) {
            Ordering::Greater => true,
            Ordering::Equal => one < other,
            Ordering::Less => false,
        },
        (found, _) => found.is_some(),
    };
    let others = |at: usize| (0..ways.len()).filter(move |other| *other != at);
    (0..ways.len())
        .map(|at| {
            ways[at].1.is_some()
                && others(at).filter(|other| tool(*other) == tool(at)).all(|other| beats(at, other))
        })
        .collect()
}

/// A cell, in bold where it is of a best way.
fn cell(text: &str, is_best: bool) -> String {
    if is_best { format!("**{text}**") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{best, kinds, times};

    /// The first cells of the rows of a section's first table, without versions and bold type.
    fn rows(heading: &str, column: usize) -> Vec<String> {
        let page = include_str!("../../../docs/reference/peers.md");
        let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
        let table = section.lines().skip_while(|line| !line.starts_with('|'));
        let rows = table.take_while(|line| line.starts_with('|')).skip(2);
        rows.map(|row| {
            let cell = row.split(" | ").nth(column).unwrap();
            let cell = cell.trim_start_matches("| ").replace("**", "");
            match cell.split_once(": ") {
                Some((title, way)) => {
                    let is_version =
                        |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
                    let versioned = title.rsplit_once(' ').filter(|(_, last)| is_version(last));
                    format!("{}: {way}", versioned.map_or(title, |(name, _)| name))
                }
                None => cell,
            }
        })
        .collect()
    }

    #[test]
    fn the_page_has_a_row_for_every_way_and_no_other() {
        assert_eq!(rows("Kinds of state kept", 1), kinds::ways());
        assert_eq!(rows("Time of a restore", 0), times::ways());
    }

    #[test]
    fn the_best_way_of_each_tool_is_the_first_of_the_largest() {
        let ways = [
            ("One 1.0: a", Some(3)),
            ("One 1.0: b", Some(5)),
            ("One 1.0: c", Some(5)),
            ("Two 2.0: a", None),
            ("Two 2.0: b", Some(1)),
            ("Three 3.0: a", None),
        ];
        assert_eq!(best(&ways, Ord::cmp), [false, true, false, false, true, false]);
    }
}
