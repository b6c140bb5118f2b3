//! Running cargo: the same binary that runs us, always from the root of the repository.

use anyhow::{Context as _, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// A cargo command that will run at the root of the repository.
pub(crate) fn cargo(args: &[&str]) -> Command {
    // Cargo tells its children which binary it is, so that a chosen toolchain stays chosen.
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(args).current_dir(root());
    command
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Where cargo puts what it builds.
pub(crate) fn target() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR");
    chosen.map_or_else(|| root().join("target"), |chosen| root().join(chosen))
}

/// Prints and runs a command with our own input and output.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus> {
    eprintln!("$ {}", shown(command));
    command.status().with_context(|| format!("could not start {}", shown(command)))
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
