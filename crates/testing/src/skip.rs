//! How a test says that it tested nothing, for something is missing here.
//!
//! The harness of Rust knows no such outcome at run time: to it the test passed. So it says so in a file that
//! `cargo xtask test` names, which takes it off what passed; and past the harness, which keeps what a passing
//! test prints to itself, to the developer who runs it by hand.

use std::fs::OpenOptions;
use std::io::Write as _;

/// The variable with which `cargo xtask test` names the file of those that were skipped.
const SKIPS: &str = "BATON_TEST_SKIPS";
/// What begins the line of a skipped test, followed by its name, a colon and the reason.
const SKIPPED: &str = "test skipped: ";

/// Ends a test that cannot test anything here, and says why: the words of a format.
///
/// Nothing else may end a test early; the tidy tests look for it.
#[macro_export]
macro_rules! skip {
    ($($why:tt)+) => {
        return $crate::skipped(&format!($($why)+))
    };
}

/// Says that the test of this thread tested nothing; [`skip!`] does it and ends the test.
///
/// # Panics
///
/// Without a standard output, or where the file of skipped tests cannot be written.
#[expect(clippy::expect_used, reason = "it is a test's own code")]
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("{}: {}\n", thread.name().unwrap_or("?"), on_one_line(why));
    // The harness catches what macros print, and not what is written.
    let said = format!("{SKIPPED}{line}");
    std::io::stdout().write_all(said.as_bytes()).expect("a standard output");
    if let Some(path) = std::env::var_os(SKIPS) {
        // One short line in one call: those of other processes come before or behind it, whole.
        let file = OpenOptions::new().append(true).create(true).open(path);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("a file of skipped tests");
    }
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
