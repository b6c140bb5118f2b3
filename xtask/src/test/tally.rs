//! What nextest reports, added up, to be read once more at the end.
//!
//! It closes a run with a line `Summary [ 4.0s] 5 tests run: 2 passed, 3 failed, 1 skipped`, and what it calls
//! skipped was ignored. A test that finds out when it runs that it can test nothing here passes for nextest,
//! and adds a line `NAME: WHY` to the file that [`SKIPS`] names (`baton_testing::skip`): it is taken off what
//! passed, and shown with its reason. So is what failed.
//!
//! Behind its summary nextest prints what each failed test said, under a line `FAIL [ 1.2s] (3/5) BINARY NAME`
//! (or `TIMEOUT`, `SIGABRT` …); in that `thread 'NAME' (…) panicked at FILE:LINE:COLUMN:` opens the reason, or
//! `Error: ` that of a test which returned one, and `stack backtrace:` or an empty line closes it, but for an
//! empty line right below the opening, with which a message of many lines begins.

use crate::cargo;
use anyhow::{Context as _, Result};
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names the file of skipped tests, as `baton_testing` reads it.
const SKIPS: &str = "BATON_TEST_SKIPS";

/// How many tests passed, failed and were ignored, and which were skipped.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// With those that were skipped.
    passed: u64,
    failed: u64,
    ignored: u64,
    /// Names with reasons.
    skipped: Vec<String>,
    failures: Failures,
}

impl Tally {
    /// Runs nextest, passes its report on line by line, and adds it up; answers whether it succeeded.
    pub(crate) fn watch(&mut self, nextest: &mut Command) -> Result<bool> {
        let skips = skips_file();
        std::fs::create_dir_all(skips.parent().unwrap_or(&skips))?;
        std::fs::write(&skips, "").with_context(|| format!("writing {}", skips.display()))?;
        let mut child = nextest
            .env(SKIPS, &skips)
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {}", cargo::shown(nextest)))?;
        if let Some(report) = child.stderr.take() {
            for line in BufReader::new(report).split(b'\n') {
                let line = line.context("could not read what nextest reports")?;
                let line = String::from_utf8_lossy(&line);
                eprintln!("{line}");
                self.read(&line);
            }
        }
        let passed = child.wait()?.success();
        self.skipped.extend(std::fs::read_to_string(&skips)?.lines().map(str::to_owned));
        Ok(passed)
    }

    /// How many tests ran.
    pub(crate) fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// Adds what a line of the report says; most say nothing that counts.
    fn read(&mut self, line: &str) {
        self.failures.read(line);
        let Some((_, counts)) =
            line.trim_start().strip_prefix("Summary [").and_then(|rest| rest.split_once(" run: "))
        else {
            return;
        };
        for count in counts.split(", ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let number: u64 = number.parse().unwrap_or(0);
            match what.split(' ').next() {
                Some("passed") => self.passed += number,
                Some("failed" | "timed" | "exec") => self.failed += number,
                Some("skipped") => self.ignored += number,
                _ => {}
            }
        }
    }
}

fn skips_file() -> PathBuf {
    Path::new(cargo::root()).join("target/skipped-tests")
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.failed == 0 { "ok" } else { "FAILED" };
        let Self { failed, ignored, skipped, .. } = self;
        let passed = self.passed.saturating_sub(skipped.len() as u64);
        write!(f, "test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored; ")?;
        write!(f, "{} skipped", skipped.len())?;
        skipped.iter().try_for_each(|why| write!(f, "\n  skipped {why}"))?;
        write!(f, "{}", self.failures)
    }
}

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
            let is_blank = line.is_empty();
            let closes =
                is_blank && failure.reason.len() > 1 || line.starts_with("stack backtrace:");
            self.is_in_reason = opens || self.is_in_reason && !closes;
            if self.is_in_reason && !is_blank && failure.reason.len() < LINES_MAX {
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
    use super::{Failures, Tally};

    #[test]
    fn summaries_add_up_and_other_lines_do_not_count() {
        let mut tally = Tally::default();
        for line in [
            "    Starting 12 tests across 1 binary (1 test skipped)",
            "     Summary [   0.100s] 12 tests run: 12 passed, 1 skipped",
            "        PASS [   0.033s] (2/5) baton::it disk::full",
            "     Summary [   4.035s] 6 tests run: 2 passed (1 slow, 1 leaky), 3 failed, 1 timed out, 0 skipped",
        ] {
            tally.read(line);
        }
        tally.skipped.push("disk::full: no disk could be mounted".to_owned());
        assert_eq!((tally.passed, tally.failed, tally.ignored), (14, 4, 1));
        assert_eq!(
            tally.to_string(),
            "test result: FAILED. 13 passed; 4 failed; 1 ignored; 1 skipped\n  \
             skipped disk::full: no disk could be mounted"
        );
    }

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
