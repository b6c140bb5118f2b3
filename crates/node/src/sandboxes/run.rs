//! Runs one of the tools of a sandbox to its end.

use super::SandboxRefusal;
use baton_sandbox::{Command, Ended, Process, Sandbox, SandboxError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long a tool may take.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// How much of what it complains about is told, in bytes.
const COMPLAINT: u64 = 4096;

/// Runs a tool that reads `input`, and answers what it writes, up to `most` bytes and one more.
pub(super) async fn tool(
    sandbox: &dyn Sandbox,
    command: &Command,
    input: &[u8],
    most: usize,
) -> Result<Result<Vec<u8>, String>, SandboxRefusal> {
    let run = async {
        let mut process = sandbox.start(command).await?;
        let (mut sender, mut output) = (process.input.take(), Vec::new());
        let write = async {
            if let Some(sender) = &mut sender {
                // What has ended reads no more; how it ended tells why.
                let _ = sender.write_all(input).await;
            }
            drop(sender);
        };
        let mut complaint = Vec::new();
        let mut errors = process.errors.take(COMPLAINT);
        let mut bounded = process.output.take(most as u64 + 1);
        let (read, complained) =
            (bounded.read_to_end(&mut output), errors.read_to_end(&mut complaint));
        // A pipe that breaks is the end of what it says.
        let ((), _, _) = tokio::join!(write, read, complained);
        (process.output, process.errors) = (bounded.into_inner(), errors.into_inner());
        Ok::<_, SandboxRefusal>(said(process, output, &complaint, most).await)
    };
    let limited = tokio::time::timeout(LIMIT, run).await;
    limited.map_err(|_| SandboxError::TimedOut { what: "a sandbox that answers", limit: LIMIT })?
}

async fn said(
    mut process: Process,
    output: Vec<u8>,
    complaint: &[u8],
    most: usize,
) -> Result<Vec<u8>, String> {
    if output.len() > most {
        return Err(format!("expected at most {most} bytes, found more"));
    }
    if process.ended().await == Ended::Code(0) {
        return Ok(output);
    }
    let told = String::from_utf8_lossy(complaint);
    let told = told.lines().next().unwrap_or("it said nothing");
    Err(told.strip_prefix("error: ").unwrap_or(told).to_owned())
}
