//! The machine that the results come from.

use std::fs;
use std::path::Path;
use std::process::Command;

/// One line each: processor, memory, system, browser, program.
pub fn describe(baton: &Path) -> Vec<(&'static str, String)> {
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
pub fn run_name() -> String {
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
