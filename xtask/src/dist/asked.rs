//! What is asked of each way to install the program: the demo ends signed in, soon enough, and a node starts and ends.

use anyhow::{Context as _, Result, ensure};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the demo may take by its own clock, in seconds.
const DEMO_SECONDS: f64 = 20.0;
/// How long a node may take to start, and to end.
pub(super) const NODE_LIMIT: Duration = Duration::from_mins(1);
/// How often it is looked whether it did.
const STEP: Duration = Duration::from_millis(50);

/// How long the demo took that printed this, in seconds; fails where that is too long, or it is not signed in.
pub(super) fn demo_took(said: &str) -> Result<f64> {
    let seconds = took(said)?;
    ensure!(seconds <= DEMO_SECONDS, "expected at most {DEMO_SECONDS} s, found {seconds} s");
    Ok(seconds)
}

/// Waits for what a node does.
pub(super) fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        match look() {
            None if start.elapsed() < NODE_LIMIT => sleep(STEP),
            found => return found,
        }
    }
}

/// What the demo says at its end: `It is still signed in. It took 7.9 s.`
fn took(said: &str) -> Result<f64> {
    let end = said.split("It is still signed in. It took ").nth(1);
    let number = end.and_then(|end| end.split(" s.").next()).and_then(|text| text.parse().ok());
    number.context("expected the demo to end with how long it took, still signed in")
}

#[cfg(test)]
mod tests {
    use super::took;

    #[test]
    fn the_time_is_read_where_the_page_is_signed_in() {
        let seconds = took("…\nIt is still signed in. It took 7.9 s.\nEverything").unwrap();
        assert_eq!(seconds.to_string(), "7.9");
        assert!(took("It took 7.9 s.").is_err());
    }
}
