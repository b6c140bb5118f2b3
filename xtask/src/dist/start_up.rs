//! What a start of the program costs: bounds that hold for all later work.
//!
//! Agents start `baton mcp` anew with each of their sessions, and shells ask `baton` for completions, so what a start
//! takes is taken often. The median of many counts, since other programs run on this machine too.

use super::command;
use anyhow::{Context as _, Result, ensure};
use std::fmt;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How often each is started.
const STARTS: usize = 50;
/// The most that `baton --version` may take.
const VERSION: Duration = Duration::from_millis(5);
/// The most that `baton mcp` may take from its start by a shell to the end of its list of tools.
const TOOLS: Duration = Duration::from_millis(8);
/// The most memory that it may hold then, in bytes: its share of what it shares with others included (PSS).
const MEMORY: u64 = 10_000_000;

/// What a client says until it has the list.
const HANDSHAKE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
    r#""capabilities":{},"clientInfo":{"name":"start-up","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

/// What was measured: medians.
pub(super) struct StartUp {
    version: Duration,
    tools: Duration,
    /// The memory, as its share of what it shares with others.
    pss: u64,
    /// The memory, with all of what it shares.
    rss: u64,
}

impl StartUp {
    /// Whether every bound holds.
    pub(super) fn holds(&self) -> bool {
        self.version <= VERSION && self.tools <= TOOLS && self.pss <= MEMORY
    }
}

impl fmt::Display for StartUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (version, tools) = (milliseconds(self.version), milliseconds(self.tools));
        let (pss, rss) = (megabytes(self.pss), megabytes(self.rss));
        write!(f, "--version {version:.1} ms, tools {tools:.1} ms, {pss:.1} MB (RSS {rss:.1} MB)")?;
        if self.holds() {
            return Ok(());
        }
        let (version, tools) = (milliseconds(VERSION), milliseconds(TOOLS));
        let memory = megabytes(MEMORY);
        write!(f, "; expected at most {version:.0} ms, {tools:.0} ms and {memory:.0} MB")
    }
}

/// Measures both.
pub(super) fn measure(program: &Path, room: &Path) -> Result<StartUp> {
    let version = median(|| asked_for_its_version(program, room))?;
    let mut memory = Vec::new();
    let tools = median(|| {
        let (took, held) = asked_for_its_tools(program, room)?;
        memory.push(held);
        Ok(took)
    })?;
    memory.sort_unstable();
    let (pss, rss) = memory.get(memory.len() / 2).copied().context("expected a measurement")?;
    Ok(StartUp { version, tools, pss, rss })
}

fn median(mut once: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let mut all = (0..STARTS).map(|_| once()).collect::<Result<Vec<_>>>()?;
    all.sort_unstable();
    all.get(STARTS / 2).copied().context("expected a measurement")
}

fn asked_for_its_version(program: &Path, room: &Path) -> Result<Duration> {
    let begun = Instant::now();
    let done = command(program, room).arg("--version").output()?;
    let took = begun.elapsed();
    ensure!(done.status.success(), "expected a version, found {}", done.status);
    Ok(took)
}

/// How long it took, and the memory that it then held: PSS and RSS.
fn asked_for_its_tools(program: &Path, room: &Path) -> Result<(Duration, (u64, u64))> {
    let begun = Instant::now();
    let mut shell = command(Path::new("sh"), room);
    shell.args(["-c", "exec \"$0\" mcp"]).arg(program);
    let mut bridge = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let heard = heard(&mut bridge);
    let took = begun.elapsed();
    let held = heard.and_then(|()| memory(bridge.id()));
    // It ends with its input.
    drop(bridge.stdin.take());
    bridge.wait()?;
    Ok((took, held?))
}

fn heard(bridge: &mut Child) -> Result<()> {
    bridge.stdin.as_mut().context("expected an input")?.write_all(HANDSHAKE.as_bytes())?;
    let answers = bridge.stdout.as_mut().context("expected an output")?;
    for line in BufReader::new(answers).lines() {
        if line?.contains("\"tools\":[") {
            return Ok(());
        }
    }
    anyhow::bail!("expected a list of tools, found the end of the program")
}

/// PSS and RSS of a process, in bytes (proc(5), `smaps_rollup`).
fn memory(process: u32) -> Result<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kibibytes * 1024)
    };
    field("Pss:").zip(field("Rss:")).context("expected the memory of a process")
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[allow(clippy::cast_precision_loss, reason = "no process is so large")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::{MEMORY, StartUp, TOOLS, VERSION};
    use std::time::Duration;

    #[test]
    fn a_bound_that_does_not_hold_is_told_with_what_was_expected() {
        let within = StartUp { version: VERSION, tools: TOOLS, pss: MEMORY, rss: 14_000_000 };
        assert!(within.holds());
        let told = "--version 5.0 ms, tools 8.0 ms, 10.0 MB (RSS 14.0 MB)";
        assert_eq!(within.to_string(), told);
        let slow = StartUp { tools: Duration::from_millis(12), ..within };
        assert!(!slow.holds());
        let told = "--version 5.0 ms, tools 12.0 ms, 10.0 MB (RSS 14.0 MB); expected at most 5 ms, 8 ms and 10 MB";
        assert_eq!(slow.to_string(), told);
    }
}
