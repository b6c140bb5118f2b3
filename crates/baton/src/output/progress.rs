//! Shows on a terminal that something takes its time.

use baton_session::printable::Printable;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A line that moves until it is ended. It is drawn on standard error, and only on a terminal.
#[derive(Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn begin(what: &'static str, quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new_spinner();
        bar.set_draw_target(ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed:.dim}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Says what is being done now.
    pub(crate) fn say(&self, what: &str) {
        self.0.set_message(Printable::for_terminal(what).to_string());
    }

    /// Removes the line.
    pub(crate) fn end(self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
