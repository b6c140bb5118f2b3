//! `baton sandbox-init`: the first process in a sandbox. Started by a node only.

use baton_api::Exit;
use clap::Args;

/// Run as the first process of a sandbox, or as one of its tools
#[derive(Debug, Args)]
pub(super) struct SandboxInit {
    /// `read`, `write`, `pack` or `connect` and a path; without them it obeys the socket on standard input, and with `bare` and a folder there
    #[arg(value_name = "WORD", num_args = 0..)]
    words: Vec<String>,
}

impl SandboxInit {
    #[cfg(target_os = "linux")]
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        baton_sandbox::init::run(&self.words)?;
        Ok(Exit::Done)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn run(self) -> anyhow::Result<Exit> {
        anyhow::bail!("sandboxes need Linux, and {} words are of no use here", self.words.len())
    }
}
