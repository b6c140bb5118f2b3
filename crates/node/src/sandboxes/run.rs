//! Runs one of the tools of a sandbox to its end.

use super::SandboxRefusal;
use baton_sandbox::{Command, Ended, Process, Sandbox, SandboxError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long a tool may take.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// How much of what it complains about is told, in bytes.
const COMPLAINT: u64 = 4096;

/// What a tool did: what it wrote, or why it failed.
pub(super) type Said = Result<Vec<u8>, String>;

/// Runs a tool that reads `input`, and answers what it writes, up to `most` bytes and one more.
pub(super) async fn tool(
    sandbox: &dyn Sandbox,
    command: &Command,
    input: &[u8],
    most: usize,
) -> Result<Said, SandboxRefusal> {
    within_limit(async {
        let mut process = sandbox.start(command).await?;
        let sender = process.input.take();
        let write = async {
            if let Some(mut sender) = sender {
                // What has ended reads no more; how it ended tells why.
                let _ = sender.write_all(input).await;
            }
        };
        let ((), said) = tokio::join!(write, hear(process, most));
        Ok(said)
    })
    .await
}

/// Bounds how long something in a sandbox takes.
pub(super) async fn within_limit<T>(
    run: impl Future<Output = Result<T, SandboxRefusal>>,
) -> Result<T, SandboxRefusal> {
    let limited = tokio::time::timeout(LIMIT, run).await;
    limited.map_err(|_| SandboxError::TimedOut { what: "a sandbox that answers", limit: LIMIT })?
}

/// What a tool says until it ends.
async fn hear(mut process: Process, most: usize) -> Said {
    let (mut output, mut complaint) = (Vec::new(), Vec::new());
    let mut errors = process.errors.take(COMPLAINT);
    let mut bounded = process.output.take(most as u64 + 1);
    // A pipe that breaks is the end of what it says.
    let (_, _) = tokio::join!(bounded.read_to_end(&mut output), errors.read_to_end(&mut complaint));
    (process.output, process.errors) = (bounded.into_inner(), errors.into_inner());
    said(process, output, &complaint, most).await
}

async fn said(mut process: Process, output: Vec<u8>, complaint: &[u8], most: usize) -> Said {
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
