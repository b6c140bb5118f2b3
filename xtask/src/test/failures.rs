//! Why tests failed, picked out of what their binaries print, to be read once more at the end.
//!
//! Behind its results a binary prints what each failed test said, under a heading
//! `---- NAME stdout ----`; in that `thread 'NAME' (…) panicked at FILE:LINE:COLUMN:` opens the reason, or
//! `Error: ` that of a test which returned one, and `stack backtrace:` or an empty line closes it.

use std::fmt;

/// What a reason begins with.
const OPENINGS: [&str; 2] = ["thread '", "Error: "];
/// How many lines of a reason are kept: a difference of two long texts is read where it was printed.
const LINES_MAX: usize = 12;
/// How many failures are kept with their reasons: whoever broke everything reads the first of them.
const FAILURES_MAX: usize = 20;

/// The failures that were read so far.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Failures {
    all: Vec<Failure>,
    is_in_reason: bool,
}

/// A test that failed, and the first lines of why.
#[derive(Debug, PartialEq)]
struct Failure {
    name: String,
    reason: Vec<String>,
}

impl Failures {
    /// Reads a line of output.
    pub(super) fn read(&mut self, line: &str) {
        let heading = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"));
        if let Some(name) = heading {
            self.is_in_reason = false;
            self.all.push(Failure { name: name.to_owned(), reason: Vec::new() });
        } else if line.starts_with("test result: ") {
            self.is_in_reason = false;
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
running 2 tests
test house::burns ... FAILED
failures:
---- house::burns stdout ----
BATON_TEST_SEED=1 makes the same choices again

thread 'house::burns' (12) panicked at house.rs:7:5:
assertion `left == right` failed
  left: [1]
 right: []
stack backtrace:
   0: begin_unwind
---- house::floods stdout ----
Error: expected a roof, found none

failures:
    house::burns
    house::floods
test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        let mut failures = Failures::default();
        output.lines().for_each(|line| failures.read(line));
        assert_eq!(
            failures.to_string(),
            "
  failed house::burns
    thread 'house::burns' (12) panicked at house.rs:7:5:
    assertion `left == right` failed
      left: [1]
     right: []
  failed house::floods
    Error: expected a roof, found none"
        );
    }
}
