//! The demo's steps: what was done, how it went, how long it took.

use crate::output::{self, Output};
use anyhow::{Context as _, Result};
use serde::Serialize;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// The steps so far; each is shown as soon as it is done.
pub(super) struct Steps {
    output: Output,
    began: Instant,
    done: Vec<Step>,
}

/// One step that is done.
#[derive(Serialize)]
pub(super) struct Step {
    /// What was done.
    what: &'static str,
    /// What came of it.
    result: String,
    /// How long it took, in milliseconds.
    ms: u64,
}

impl Steps {
    /// No step yet.
    pub(super) fn new(output: Output) -> Self {
        Self { output, began: Instant::now(), done: Vec::new() }
    }

    /// Does a step; `work` answers what later steps need and what is shown of it.
    pub(super) async fn step<T, D: Display>(
        &mut self,
        what: &'static str,
        work: impl Future<Output = Result<(T, D)>>,
    ) -> Result<T> {
        let progress = self.output.progress(what);
        let start = Instant::now();
        let done = work.await.with_context(|| format!("failed to {what}"));
        progress.end();
        let (value, result) = done?;
        let step = Step { what, result: result.to_string(), ms: milliseconds(start.elapsed()) };
        let tick = output::good("✓");
        self.output.note(&format!("{tick} {:>5} ms  {what}: {}", step.ms, step.result));
        self.done.push(step);
        Ok(value)
    }

    /// All steps, and how long they took together, in milliseconds.
    pub(super) fn finish(self) -> (Vec<Step>, u64) {
        (self.done, milliseconds(self.began.elapsed()))
    }
}

fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}
