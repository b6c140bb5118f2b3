//! What a process takes, as Linux tells it.

use anyhow::{Context as _, Result};
use std::fs;
use std::time::Duration;

/// Linux tells programs processor time in hundredths of a second, whatever it counts in itself.
const TICK: Duration = Duration::from_millis(10);

/// The processor time that a process has used so far, with all of its threads.
pub fn processor_time(pid: u32) -> Result<Duration> {
    let text = read(pid, "stat")?;
    // The program's name stands in parentheses and may hold anything. Behind it, `utime` and `stime`
    // are the 12th and 13th fields.
    let fields = text.rsplit_once(')').map(|(_, fields)| fields.split_whitespace().skip(11));
    let fields = fields.with_context(|| format!("expected a name in parentheses, found {text}"))?;
    fields.take(2).try_fold(Duration::ZERO, |sum, ticks| Ok(sum + TICK * ticks.parse::<u32>()?))
}

/// The same of a process and all that it has started, as far as they live.
pub fn processor_time_of_all(pid: u32) -> Result<Duration> {
    let mut sum = processor_time(pid)?;
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        // A thread, or a process, may have ended meanwhile.
        let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            sum += processor_time_of_all(child.parse()?).unwrap_or_default();
        }
    }
    Ok(sum)
}

/// The memory of a process in megabytes, what it shares with others divided among them (PSS).
pub fn memory(pid: u32) -> Result<f64> {
    let text = read(pid, "smaps_rollup")?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB"));
    let kibibytes = kibibytes.with_context(|| format!("expected a line `Pss:`, found {text}"))?;
    Ok(kibibytes.trim().parse::<f64>()? * 1024.0 / 1e6)
}

/// The bytes that a process has given to the disk so far.
pub fn written(pid: u32) -> Result<u64> {
    let text = read(pid, "io")?;
    let line = text.lines().find_map(|line| line.strip_prefix("write_bytes:"));
    Ok(line
        .with_context(|| format!("expected a line `write_bytes:`, found {text}"))?
        .trim()
        .parse()?)
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    fs::read_to_string(&path).with_context(|| format!("could not read {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_takes_something() {
        let own = std::process::id();
        assert!(memory(own).unwrap() > 0.1);
        let before = processor_time(own).unwrap();
        while processor_time(own).unwrap() == before {
            std::hint::spin_loop();
        }
    }
}
