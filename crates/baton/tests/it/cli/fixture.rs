//! A data folder in a temporary place, and the program run on it.

use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long anything may take.
const LIMIT: Duration = Duration::from_mins(1);

/// A data folder. When it goes, so does the node that runs on it.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// Runs the program on this folder, without variables that could change what it does.
    pub(crate) fn run(&self, args: &[&str]) -> Assert {
        self.run_with(args, &[])
    }

    /// The same with variables.
    pub(crate) fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> Assert {
        let mut command = cargo_bin_cmd!("baton");
        let kept = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME");
        command.env_clear().envs(kept).env("BATON_DATA", self.data());
        command.env("BATON_LISTEN", "127.0.0.1:0");
        command.env("BATON_BROWSER", "/nowhere/chromium").envs(variables.iter().copied());
        // Nothing may be a terminal: its width would change how help is wrapped.
        command.args(args).write_stdin("").timeout(LIMIT).assert()
    }

    /// Runs the program with `--json` and reads the one document that it must write.
    pub(crate) fn json(&self, args: &[&str]) -> (i32, Value) {
        let run = self.run(&[&["--json"], args].concat());
        let code = run.get_output().status.code().unwrap();
        (code, serde_json::from_slice(&run.get_output().stdout).unwrap())
    }

    /// The process of the node that runs on this folder.
    pub(crate) fn node_pid(&self) -> Option<i32> {
        let text = std::fs::read(self.data().join("node.json")).ok()?;
        let file: Value = serde_json::from_slice(&text).ok()?;
        i32::try_from(file["pid"].as_u64()?).ok()
    }

    /// Whether a node holds the folder still: it gives up its address before it ends.
    pub(crate) fn is_held(&self) -> bool {
        let lock = std::fs::File::open(self.data().join("node.lock"));
        lock.is_ok_and(|lock| lock.try_lock().is_err())
    }

    /// Asks the node to end and waits until it has.
    pub(crate) fn stop_node(&self) {
        let Some(pid) = self.node_pid().and_then(Pid::from_raw) else { return };
        kill_process(pid, Signal::TERM).unwrap();
        self.wait_for_the_end();
        assert!(self.node_pid().is_none(), "it left its address behind");
    }

    /// Kills the node, and waits until it is gone.
    pub(crate) fn kill_node(&self) {
        let pid = self.node_pid().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
        self.wait_for_the_end();
    }

    fn wait_for_the_end(&self) {
        let end = Instant::now() + LIMIT;
        while self.is_held() {
            assert!(Instant::now() < end, "expected the node to end within {LIMIT:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A test that failed half-way must not leave its node behind.
        if let Some(pid) = self.node_pid().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// What a run wrote to standard output, with the folder's own path replaced.
pub(crate) fn stdout(run: &Assert, data: &Path) -> String {
    tidy(&run.get_output().stdout, data)
}

/// What a run wrote to standard error, with the folder's own path replaced.
pub(crate) fn stderr(run: &Assert, data: &Path) -> String {
    tidy(&run.get_output().stderr, data)
}

fn tidy(bytes: &[u8], data: &Path) -> String {
    String::from_utf8(bytes.to_vec()).unwrap().replace(data.to_str().unwrap(), "DATA")
}
