//! How a test says that it tested nothing, for something is missing here.
//!
//! The harness of Rust knows no such outcome at run time: to it the test passed. So it says so past
//! the harness, which keeps what a passing test prints to itself, and `cargo xtask test` takes it off
//! what passed.

use std::io::Write as _;

/// What begins the line of a skipped test, followed by its name, a colon and the reason.
pub const SKIPPED: &str = "test skipped: ";

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
/// Without a standard output.
#[expect(clippy::expect_used, reason = "it is a test's own code")]
pub fn skipped(why: &str) {
    let thread = std::thread::current();
    let line = format!("{SKIPPED}{}: {}\n", thread.name().unwrap_or("?"), on_one_line(why));
    // The harness catches what macros print, and not what is written.
    std::io::stdout().write_all(line.as_bytes()).expect("a standard output");
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
