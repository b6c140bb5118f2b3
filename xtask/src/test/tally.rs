//! The sum of what all test binaries reported.
//!
//! Each binary closes with one line of the form
//! `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; …`; the sum is
//! shown in the same form. A test that finds out when it runs that it can test nothing here passes for
//! its binary, and says `test skipped: NAME: WHY` on a line of its own (`baton_testing::skip`): it is
//! taken off what passed, and shown with its reason. So is what failed.

use super::failures::Failures;
use crate::cargo;
use anyhow::{Context as _, Result};
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// What a test says that tested nothing.
const SKIPPED: &str = "test skipped: ";

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
    /// Runs a command, passes its output on line by line, and adds up what it reports; answers
    /// whether it succeeded.
    pub(crate) fn watch(&mut self, command: &mut Command) -> Result<bool> {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {}", cargo::shown(command)))?;
        if let Some(output) = child.stdout.take() {
            for line in BufReader::new(output).split(b'\n') {
                let line = line.context("could not read cargo's output")?;
                let line = String::from_utf8_lossy(&line);
                println!("{line}");
                self.read(&line);
            }
        }
        Ok(child.wait()?.success())
    }

    /// How many tests ran.
    pub(crate) fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    /// Adds what a line of output reports; other lines change nothing.
    fn read(&mut self, line: &str) {
        self.failures.read(line);
        // One test at a time has its name on the line before it ends.
        if let Some((_, skipped)) = line.split_once(SKIPPED) {
            self.skipped.push(skipped.to_owned());
        }
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else {
                continue;
            };
            let number: u64 = number.parse().unwrap_or(0);
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn closing_lines_add_up_and_others_do_not_count() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s",
            "test a_story ... ok",
            "test disk::full ... test skipped: disk::full: no disk could be mounted",
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1s",
        ] {
            tally.read(line);
        }
        assert_eq!((tally.passed, tally.failed, tally.ignored), (14, 1, 1));
        assert_eq!(
            tally.to_string(),
            "test result: FAILED. 13 passed; 1 failed; 1 ignored; 1 skipped\n  \
             skipped disk::full: no disk could be mounted"
        );
    }
}
