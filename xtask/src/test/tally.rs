//! The sum of what all test binaries reported.
//!
//! Each binary closes with one line of the form
//! `test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; …`; the sum is
//! shown in the same form.

use crate::cargo;
use anyhow::{Context as _, Result};
use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// How many tests passed, failed and were ignored.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
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
        let Self { passed, failed, ignored } = self;
        write!(f, "test result: {verdict}. {passed} passed; {failed} failed; {ignored} ignored")
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
            "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1s",
        ] {
            tally.read(line);
        }
        assert_eq!(tally, Tally { passed: 14, failed: 1, ignored: 1 });
        assert_eq!(tally.to_string(), "test result: FAILED. 14 passed; 1 failed; 1 ignored");
    }
}
