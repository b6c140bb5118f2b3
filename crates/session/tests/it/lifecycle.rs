//! Which state of a session may follow which.

use baton_session::Lifecycle;
use baton_session::session::{Mover, TRANSITIONS, Transition};
use std::fmt::Write;

#[test]
fn the_table_of_transitions() {
    let mut table = String::from("from \\ to  ");
    for to in Lifecycle::ALL {
        write!(table, " {to:<11}").unwrap();
    }
    for from in Lifecycle::ALL {
        write!(table, "\n{from:<11}").unwrap();
        for to in Lifecycle::ALL {
            let word = if from.may_become(to) { "yes" } else { "-" };
            write!(table, " {word:<11}").unwrap();
        }
    }
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    from \ to   active      recoverable stale       failed      closed
    active      -           yes         yes         -           yes
    recoverable yes         -           -           yes         yes
    stale       yes         -           -           yes         yes
    failed      yes         -           -           -           yes
    closed      yes         -           -           -           -
    ");
}

#[test]
fn the_reference_shows_the_state_machine() {
    let page =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/lifecycle.md"));
    let mut table =
        String::from("| from | to | by | when | what is kept |\n|---|---|---|---|---|\n");
    for Transition { from, to, by, when, keeps } in TRANSITIONS {
        let by = match by {
            Mover::Owner => "its owner",
            Mover::Node => "the node",
        };
        writeln!(table, "| `{from}` | `{to}` | {by} | {when} | {keeps} |").unwrap();
    }
    assert!(page.contains(&table), "expected docs/reference/lifecycle.md to hold\n{table}");
}

#[test]
fn every_word_is_read_back() {
    for state in Lifecycle::ALL {
        assert_eq!(state.as_str().parse(), Ok(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
    }
    let error = "running".parse::<Lifecycle>().unwrap_err();
    insta::assert_snapshot!(
        error,
        @r#"expected active, recoverable, stale, failed or closed, found "running""#
    );
}
