//! The results as a page: what was measured, on which machine, and whether the aim was met.
//!
//! Things that were measured in pairs are told as a ratio, with a bound that says how far chance can have carried
//! it.

use crate::Part;
use anyhow::{Context as _, Result};
use clap::ValueEnum;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

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
    /// Whether the aim is for the upper bound, not for the mean and the median.
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
        for (name, value) in describe(baton) {
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
        let mut name = run_name();
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
        let compared = "ratio | lower 95 % | upper 95 % | median | pairs | aim | |\n|---|---|---|---|---|---|---|---";
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
        let Ratio { mean, lower, upper, median, pairs } = self.ratio;
        // The mean shows what a few pairs took, and the median what half of them did.
        let (bound, value) = if self.aim_is_for_the_bound {
            ("upper bound", upper)
        } else {
            ("mean and median", mean.max(median))
        };
        let (what, aim, verdict) = (self.what, self.aim, verdict(value, self.aim));
        format!(
            "{what} | {mean:.3} | {lower:.3} | {upper:.3} | {median:.3} | {pairs} | {bound} at most \
             {aim:.2} | {verdict}"
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

/// The ratio of two things that were measured in pairs.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// The geometric mean of the pairs' ratios.
    pub mean: f64,
    /// The lower 95 % bound of the mean.
    pub lower: f64,
    /// The upper 95 % bound of the mean.
    pub upper: f64,
    /// The median of the pairs' ratios.
    pub median: f64,
    /// How many pairs.
    pub pairs: usize,
}

impl Ratio {
    /// The ratio `measured / baseline`. Its bounds are the 2.5 % and 97.5 % points of 10,000 means of
    /// pairs drawn again with replacement (percentile bootstrap).
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let logs: Vec<f64> =
            pairs.iter().map(|(measured, baseline)| (measured / baseline).ln()).collect();
        let mut draw = Draw(1);
        let mut means: Vec<f64> = (0..DRAWS)
            .map(|_| mean((0..logs.len()).map(|_| logs[draw.below(logs.len())])))
            .collect();
        means.sort_by(f64::total_cmp);
        Self {
            mean: mean(logs.iter().copied()).exp(),
            lower: means[DRAWS / 40].exp(),
            upper: means[DRAWS - DRAWS / 40 - 1].exp(),
            median: median(pairs.iter().map(|(measured, baseline)| measured / baseline)),
            pairs: pairs.len(),
        }
    }
}

const DRAWS: usize = 10_000;

#[expect(clippy::cast_precision_loss, reason = "a few dozen values")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The value in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The value below which so many of a hundred lie.
pub fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() * percent / 100).copied().unwrap_or(f64::NAN)
}

/// A sequence that is the same in every run (`SplitMix64`).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap_or(0) % bound
    }
}

/// The machine, one line each: processor, memory, system, browser, program.
fn describe(baton: &Path) -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let model = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned());
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".to_owned());
    vec![
        ("processor", format!("{model}, {cores} cores")),
        ("memory", memory),
        ("system", field("/etc/os-release", "PRETTY_NAME").unwrap_or_default()),
        ("kernel", run("uname", &["-r"])),
        ("browser", run("chromium", &["--version"])),
        ("program", run(&baton.to_string_lossy(), &["--version"])),
        ("revision", revision()),
        ("date", date()),
    ]
}

/// The name of a run: its date and the revision of the code.
fn run_name() -> String {
    format!("{}-{}", date(), revision())
}

fn date() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

fn revision() -> String {
    run("git", &["describe", "--always", "--dirty"])
}

/// The value after a name and `:` or `=`.
fn field(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let (_, value) = line.split_once([':', '='])?;
    Some(value.trim().trim_matches('"').to_owned())
}

fn run(program: &str, args: &[&str]) -> String {
    let output = Command::new(program).args(args).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_else(|_| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_have_the_ratio_one() {
        let ratio = Ratio::of(&[(2.0, 2.0), (3.0, 3.0)]);
        assert!((ratio.mean - 1.0).abs() < 1e-9 && (ratio.upper - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_bounds_stand_around_the_mean() {
        let pairs: Vec<_> = (0..30).map(|n| (1.1 + 0.01 * f64::from(n % 7), 1.0)).collect();
        let ratio = Ratio::of(&pairs);
        assert!(1.1 < ratio.lower && ratio.lower < ratio.mean);
        assert!(ratio.mean < ratio.upper && ratio.upper < 1.17);
    }

    #[test]
    fn the_median_is_judged_beside_the_mean() {
        let pairs = [(0.5, 1.0), (1.2, 1.0), (1.2, 1.0)];
        let (ratio, what, aim) = (Ratio::of(&pairs), "a page", 1.0);
        assert!(ratio.mean < aim && (ratio.median - 1.2).abs() < 1e-9);
        let compared = Comparison { what, ratio, aim, aim_is_for_the_bound: false };
        let line = compared.render();
        assert!(line.ends_with("| 1.200 | 3 | mean and median at most 1.00 | missed"), "{line}");
    }
}
