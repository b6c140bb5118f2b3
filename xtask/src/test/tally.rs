//! What nextest reports, added up, to be read once more at the end.
//!
//! It closes a run with a line `Summary [ 4.0s] 5 tests run: 2 passed, 3 failed, 1 skipped`, and what it calls
//! skipped was ignored. A test that finds out when it runs that it can test nothing here passes for nextest,
//! and adds a line `NAME: WHY` to the file that [`SKIPS`] names (`baton_testing::skip`): it is taken off what
//! passed, and shown with its reason. So is what failed.

use super::failures::Failures;
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

#[cfg(test)]
mod tests {
    use super::Tally;

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
}
