//! What happened in the demo: one document for a program, some lines for a person.

use super::hand_in::HandedIn;
use super::second::Carried;
use super::steps::Step;
use super::visitor::Shown;
use crate::output;
use baton_api::ResumeResult;
use serde::Serialize;

/// What happened, as one document.
#[derive(Serialize)]
pub(super) struct Story {
    /// Whether the page says so after each resume.
    pub(super) signed_in: bool,
    /// What was done, in order.
    pub(super) steps: Vec<Step>,
    /// All steps together, in milliseconds.
    pub(super) total_ms: u64,
    /// What the page showed before everything died.
    pub(super) before: Shown,
    /// What it shows after the resume.
    pub(super) after: Shown,
    /// What the resume did: the session with its receipt, and the time of each step.
    pub(super) resume: ResumeResult,
    /// What became of the session at the second node.
    pub(super) second: Carried,
    /// What an agent in a sandbox found; none where this machine makes no sandboxes.
    pub(super) handed_in: Option<HandedIn>,
}

impl Story {
    /// The session, the receipt, what the page shows, and what to do next.
    pub(super) fn in_words(&self) -> String {
        let resumed = output::resumed(&self.resume);
        let agent = match self.handed_in {
            Some(_) => ", and into a sandbox, to an agent",
            None => "",
        };
        let seconds = std::time::Duration::from_millis(self.total_ms).as_secs_f64();
        format!(
            "\n{resumed}\n\n{}\n\
             Browser, keeper and node died, and then the session went to a second node, with a browser \
             of its own{agent}.\nIt is still signed in. It took {seconds:.1} s.\n\
             Everything that the demo made is gone again.\n\n{}",
            self.comparison(),
            next_commands(),
        )
    }

    fn comparison(&self) -> String {
        let Self { before, after, second, .. } = self;
        let all = [before, after, &second.shown];
        let rows = [
            ("THE PAGE SHOWS", ["BEFORE", "AFTER", "AT THE SECOND NODE"]),
            ("heading", all.map(|shown| shown.who.as_str())),
            ("localStorage", all.map(|shown| shown.local_storage.as_str())),
            ("sessionStorage", all.map(|shown| shown.session_storage.as_str())),
            ("IndexedDB", all.map(|shown| shown.indexed_db.as_str())),
        ];
        rows.map(|(what, [before, after, there])| {
            format!("{what:<16}{before:<18}{after:<18}{there}\n")
        })
        .concat()
    }
}

/// What to do after it, with the program named as it was typed.
fn next_commands() -> String {
    let baton = std::env::args().next().unwrap_or_else(|| "baton".to_owned());
    format!(
        "\
What next:
  {baton} open https://example.org --name try
      a session of your own; --headed shows its window
  {baton} sessions list
      what there is, and where it stands
  {baton} sessions resume try
      bring it back after a crash
  docs/guide/getting-started.md
      a first session, step by step
  docs/guide/carry.md
      sessions between your machines
  docs/guide/hand-in.md
      agents in sandboxes that start logged in"
    )
}
