//! The results as a page: what was measured, on which machine, and whether the aim was met.

use crate::machine;
use crate::ratio::Ratio;
use anyhow::{Context as _, Result};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// One comparison.
pub struct Section {
    /// What stands against what.
    pub title: &'static str,
    /// How it was measured, in a sentence or two.
    pub method: String,
    /// The ratio.
    pub ratio: Ratio,
    /// What the ratio should not exceed.
    pub aim: f64,
    /// Whether the aim is for the upper bound, not for the mean.
    pub aim_is_for_the_bound: bool,
    /// Medians of what was measured, for a feeling of the size.
    pub medians: Vec<(String, String)>,
}

/// All results of a run.
pub struct Report {
    text: String,
}

impl Report {
    /// A page that begins with the machine.
    pub fn new(baton: &Path) -> Result<Self> {
        let mut text = String::from(
            "# What keeping a session costs\n\nWritten by `cargo xtask bench`. Ratios within one run; \
             absolute times depend on the machine.\n\n| | |\n|---|---|\n",
        );
        for (name, value) in machine::describe(baton) {
            writeln!(text, "| {name} | {value} |")?;
        }
        Ok(Self { text })
    }

    /// Adds a comparison, and shows it.
    pub fn add(&mut self, section: &Section) {
        let shown = section.render();
        println!("{shown}");
        self.text.push_str(&shown);
    }

    /// Writes the page.
    pub fn write(self, folder: &Path) -> Result<()> {
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{}.md", machine::run_name()));
        fs::write(&path, self.text)
            .with_context(|| format!("could not write {}", path.display()))?;
        println!("written to {}", path.display());
        Ok(())
    }
}

impl Section {
    fn render(&self) -> String {
        let Ratio { mean, lower, upper, pairs } = self.ratio;
        let (what, value) =
            if self.aim_is_for_the_bound { ("upper bound", upper) } else { ("mean", mean) };
        let verdict = if value <= self.aim { "met" } else { "missed" };
        let (title, method, aim) = (self.title, &self.method, self.aim);
        let medians: Vec<_> =
            self.medians.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
        format!(
            "\n## {title}\n\n{method}\n\n\
             | ratio | lower 95 % | upper 95 % | pairs | aim | |\n|---|---|---|---|---|---|\n\
             | {mean:.3} | {lower:.3} | {upper:.3} | {pairs} | {what} at most {aim:.2} | {verdict} |\n\n\
             | median | |\n|---|---|\n{}",
            medians.concat()
        )
    }
}
