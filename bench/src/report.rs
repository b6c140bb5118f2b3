//! The results as a page: what was measured, on which machine, and whether the aim was met.

use crate::Part;
use crate::machine;
use crate::ratio::Ratio;
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// One question, and what was measured to answer it.
pub struct Section {
    /// What stands against what.
    pub title: &'static str,
    /// How it was measured, in a sentence or two.
    pub method: String,
    /// What stands against a baseline.
    pub comparisons: Vec<Comparison>,
    /// What has no baseline.
    pub figures: Vec<Figure>,
    /// Medians of what was measured, for a feeling of the size.
    pub medians: Vec<(String, String)>,
    /// What none of these can show.
    pub tables: Vec<Table>,
}

/// Something that stands against its baseline.
pub struct Comparison {
    /// What was measured.
    pub what: &'static str,
    /// The ratio.
    pub ratio: Ratio,
    /// What the ratio should not exceed.
    pub aim: f64,
    /// Whether the aim is for the upper bound, not for the mean.
    pub aim_is_for_the_bound: bool,
}

/// Something absolute, which depends on the machine.
pub struct Figure {
    /// What was measured.
    pub what: String,
    /// What was found.
    pub found: f64,
    /// What should not be exceeded.
    pub aim: f64,
    /// In which unit both are.
    pub unit: &'static str,
}

/// A table of its own.
pub struct Table {
    /// The columns but for the first.
    pub heading: Vec<String>,
    /// The first column, and the others.
    pub rows: Vec<(String, Vec<String>)>,
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
             what is absolute depends on the machine.\n\n| | |\n|---|---|\n",
        );
        for (name, value) in machine::describe(baton) {
            writeln!(text, "| {name} | {value} |")?;
        }
        Ok(Self { text })
    }

    /// Adds a section, and shows it.
    pub fn add(&mut self, section: &Section) {
        let shown = section.render();
        println!("{shown}");
        self.text.push_str(&shown);
    }

    /// Writes the page. One that holds some parts `only` says so in its name, so that it never takes
    /// the place of a whole one.
    pub fn write(self, folder: &Path, only: &[Part]) -> Result<()> {
        fs::create_dir_all(folder)?;
        let mut name = machine::run_name();
        for part in only.iter().filter_map(Part::to_possible_value) {
            write!(name, "-{}", part.get_name())?;
        }
        let path = folder.join(format!("{name}.md"));
        fs::write(&path, self.text)
            .with_context(|| format!("could not write {}", path.display()))?;
        println!("written to {}", path.display());
        Ok(())
    }
}

impl Section {
    fn render(&self) -> String {
        let mut tables = String::new();
        let compared =
            "ratio | lower 95 % | upper 95 % | pairs | aim | |\n|---|---|---|---|---|---|---";
        let comparisons: Vec<_> = self.comparisons.iter().map(Comparison::render).collect();
        tables.push_str(&table(compared, &comparisons));
        let figures: Vec<_> = self.figures.iter().map(Figure::render).collect();
        tables.push_str(&table("absolute | aim | |\n|---|---|---|---", &figures));
        let medians: Vec<_> =
            self.medians.iter().map(|(name, value)| format!("{name} | {value}")).collect();
        tables.push_str(&table("median |\n|---|---", &medians));
        for Table { heading, rows } in &self.tables {
            let line = "|---".repeat(heading.len() + 1);
            let heading = format!("{} |\n{line}", heading.join(" | "));
            let rows: Vec<_> = rows
                .iter()
                .map(|(name, cells)| format!("{name} | {}", cells.join(" | ")))
                .collect();
            tables.push_str(&table(&heading, &rows));
        }
        format!("\n## {}\n\n{}\n{tables}", self.title, self.method)
    }
}

/// A table whose first column has no heading; nothing when it has no rows.
fn table(heading: &str, rows: &[String]) -> String {
    let rows: Vec<_> = rows.iter().map(|row| format!("| {row} |\n")).collect();
    if rows.is_empty() { String::new() } else { format!("\n| | {heading}|\n{}", rows.concat()) }
}

impl Comparison {
    fn render(&self) -> String {
        let Ratio { mean, lower, upper, pairs } = self.ratio;
        let (bound, value) =
            if self.aim_is_for_the_bound { ("upper bound", upper) } else { ("mean", mean) };
        let (what, aim, verdict) = (self.what, self.aim, verdict(value, self.aim));
        format!(
            "{what} | {mean:.3} | {lower:.3} | {upper:.3} | {pairs} | {bound} at most {aim:.2} | {verdict}"
        )
    }
}

impl Figure {
    fn render(&self) -> String {
        let Self { what, found, aim, unit } = self;
        let verdict = verdict(*found, *aim);
        format!("{what} | {found:.2} {unit} | at most {aim} {unit} | {verdict}")
    }
}

fn verdict(found: f64, aim: f64) -> &'static str {
    if found <= aim { "met" } else { "missed" }
}
