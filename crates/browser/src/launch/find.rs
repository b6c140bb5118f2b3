//! Where Chromium is, and which version.

use super::error::LaunchError;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Real binaries, preferred to the wrappers on the path: a distribution's wrapper adds switches.
const BINARIES: &[&str] =
    &["/usr/lib/chromium/chromium", "/usr/lib64/chromium-browser/chromium-browser"];
/// Names on the path, best first.
const NAMES: &[&str] =
    &["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome"];
/// How long the program may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// The browser to start: the one that was named, else the best that is installed.
/// `path_var` is the caller's `PATH`.
pub fn find_browser(
    explicit: Option<&Path>,
    path_var: Option<&OsStr>,
) -> Result<PathBuf, LaunchError> {
    if let Some(path) = explicit {
        return named(path);
    }
    let folders: Vec<PathBuf> =
        path_var.map(|paths| std::env::split_paths(paths).collect()).unwrap_or_default();
    let on_path = NAMES.iter().flat_map(|name| folders.iter().map(move |dir| dir.join(name)));
    BINARIES.iter().map(PathBuf::from).chain(on_path).find(|path| is_program(path)).ok_or_else(
        || {
            let tried: Vec<&str> = BINARIES.iter().chain(NAMES).copied().collect();
            LaunchError::NotFound { tried: tried.join(", ") }
        },
    )
}

fn named(path: &Path) -> Result<PathBuf, LaunchError> {
    if is_program(path) {
        return Ok(path.to_owned());
    }
    let found = if path.exists() { "a file that cannot be run" } else { "nothing" };
    Err(LaunchError::NotRunnable { path: path.to_owned(), found: found.to_owned() })
}

fn is_program(path: &Path) -> bool {
    let access = rustix::fs::access(path, rustix::fs::Access::EXEC_OK);
    access.is_ok() && path.is_file()
}

/// What the program says of itself, such as `Chromium 156.0.8078.79`.
pub async fn version(program: &Path) -> Result<String, LaunchError> {
    let not_runnable = |found: String| LaunchError::NotRunnable { path: program.to_owned(), found };
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(VERSION_LIMIT, command.output())
        .await
        .map_err(|_| not_runnable(format!("no version within {VERSION_LIMIT:?}")))?
        .map_err(|error| not_runnable(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) if output.status.success() => Ok(line.chars().take(200).collect()),
        _ => Err(not_runnable(format!("no version ({})", output.status))),
    }
}
