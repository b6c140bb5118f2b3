//! Why tests failed, picked out of what their binaries print, to be read once more at the end.
//!
//! Behind its summary nextest prints what each failed test said, under a line `FAIL [ 1.2s] (3/5) BINARY NAME`
//! (or `TIMEOUT`, `SIGABRT` …); in that `thread 'NAME' (…) panicked at FILE:LINE:COLUMN:` opens the reason, or
//! `Error: ` that of a test which returned one, and `stack backtrace:` or an empty line closes it.

use std::fmt;

/// What a reason begins with.
const OPENINGS: [&str; 2] = ["thread '", "Error: "];
/// How tests end that did not fail.
const WELL: [&str; 3] = ["PASS", "SLOW", "LEAK"];
/// How many lines of a reason are kept: a difference of two long texts is read where it was printed.
const LINES_MAX: usize = 12;
/// How many failures are kept with their reasons: whoever broke everything reads the first of them.
const FAILURES_MAX: usize = 20;

/// The failures that were read so far.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Failures {
    all: Vec<Failure>,
    is_behind_summary: bool,
    is_in_reason: bool,
}

/// A test that failed, and the first lines of why.
#[derive(Debug, PartialEq)]
struct Failure {
    name: String,
    reason: Vec<String>,
}

impl Failures {
    /// Reads a line of the report.
    pub(super) fn read(&mut self, line: &str) {
        let line = line.strip_prefix("    ").unwrap_or(line);
        if line.trim_start().starts_with("Summary [") {
            self.is_behind_summary = true;
        } else if !self.is_behind_summary {
            // While the tests run, a line says only which one failed.
        } else if let Some(name) = heading(line) {
            self.is_in_reason = false;
            self.all.push(Failure { name: name.to_owned(), reason: Vec::new() });
        } else if let Some(failure) = self.all.last_mut() {
            let opens = failure.reason.is_empty() && OPENINGS.iter().any(|it| line.starts_with(it));
            let closes = line.is_empty() || line.starts_with("stack backtrace:");
            self.is_in_reason = opens || self.is_in_reason && !closes;
            if self.is_in_reason && failure.reason.len() < LINES_MAX {
                failure.reason.push(line.to_owned());
            }
        }
    }
}

/// The binary and the name of a failed test, where a line is its heading: how it ended, how long it took and
/// which one of how many it was stand before them.
fn heading(line: &str) -> Option<&str> {
    let (outcome, rest) = line.trim_start().split_once(" [")?;
    let (_, name) = rest.split_once("s] (").and_then(|(_, rest)| rest.split_once(") "))?;
    (!outcome.contains(' ') && !WELL.contains(&outcome)).then_some(name)
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Failure { name, reason } in self.all.iter().take(FAILURES_MAX) {
            write!(f, "\n  failed {name}")?;
            reason.iter().try_for_each(|line| write!(f, "\n    {line}"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Failures;

    #[test]
    fn each_failure_is_told_with_why() {
        let output = "\
        FAIL [   0.036s] (1/3) estate::it house::burns
     Summary [   4.035s] 3 tests run: 0 passed, 2 failed, 1 timed out, 1 skipped
        FAIL [   0.036s] (1/3) estate::it house::burns
  stdout ───

    running 1 test
    BATON_TEST_SEED=1 makes the same choices again

  stderr ───
    thread 'house::burns' (12) panicked at house.rs:7:5:
    assertion `left == right` failed
      left: [1]
     right: []
    stack backtrace:
       0: begin_unwind
        FAIL [   0.139s] (2/3) estate house::floods
  stderr ───
    Error: expected a roof, found none

     TIMEOUT [   4.008s] (3/3) estate house::waits
  stdout ───

    (test timed out)
error: test run failed";
        let mut failures = Failures::default();
        output.lines().for_each(|line| failures.read(line));
        assert_eq!(
            failures.to_string(),
            "
  failed estate::it house::burns
    thread 'house::burns' (12) panicked at house.rs:7:5:
    assertion `left == right` failed
      left: [1]
     right: []
  failed estate house::floods
    Error: expected a roof, found none
  failed estate house::waits"
        );
    }
}
