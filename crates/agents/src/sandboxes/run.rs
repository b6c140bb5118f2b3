//! Runs one of the tools of a sandbox to its end, or to the bound of what it may say.

use super::error::SandboxRefusal;
use baton_sandbox::{Command, Ended, Output, Process, Sandbox, SandboxError};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// How long a tool may take.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// How much of what it complains about is told, in bytes.
const COMPLAINT: u64 = 4096;

/// What a tool did: what it wrote, or why it failed.
pub(super) type Said = Result<Vec<u8>, String>;

/// Runs a tool that reads `input`, and answers what it writes, up to `most` bytes. One that writes more is
/// ended there and then.
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
            Ok(())
        };
        // What has said too much is not waited for, and ends with what is dropped here.
        let said = tokio::try_join!(write, hear(process, most));
        Ok(said.map(|((), said)| said))
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
    let mut output = Vec::new();
    let said = std::mem::replace(&mut process.output, nothing());
    let speak = async {
        // A pipe that breaks is the end of what it says.
        let _ = said.take(most as u64 + 1).read_to_end(&mut output).await;
        if output.len() > most { Err(too_much(most)) } else { Ok(()) }
    };
    let ((), complaint) = tokio::try_join!(speak, async { Ok(complaint(&mut process).await) })?;
    ended(process, &complaint).await.map(|()| output)
}

/// What a tool complains about, up to a bound; it gets no answer where it says more.
pub(super) async fn complaint(process: &mut Process) -> Vec<u8> {
    let mut complaint = Vec::new();
    let errors = std::mem::replace(&mut process.errors, nothing());
    // A pipe that breaks is the end of what it says.
    let _ = errors.take(COMPLAINT).read_to_end(&mut complaint).await;
    complaint
}

/// Waits for the end of a tool that says no more; or says why it failed.
pub(super) async fn ended(mut process: Process, complaint: &[u8]) -> Result<(), String> {
    if process.ended().await == Ended::Code(0) {
        return Ok(());
    }
    let told = String::from_utf8_lossy(complaint);
    let told = told.lines().next().unwrap_or("it said nothing");
    Err(told.strip_prefix("error: ").unwrap_or(told).to_owned())
}

pub(super) fn too_much(most: usize) -> String {
    format!("expected at most {most} bytes, found more")
}

/// In the place of a pipe that was taken.
pub(super) fn nothing() -> Output {
    Box::new(tokio::io::empty())
}
