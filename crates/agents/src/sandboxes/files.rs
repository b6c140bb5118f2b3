//! Reads and writes files of a sandbox, with the rights of what runs in it.
//!
//! The one idea: what is read is passed on, not held. A file in a sandbox may have no end, and there are many
//! sandboxes; so a file is read as fast as the caller takes it, and no faster.

use super::exec::{LIMIT, complaint, ended, nothing, too_much, tool, within_limit};
use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use baton_api::Invalid;
use baton_runtime::Caller;
use baton_sandbox::{Output, Process, WORKSPACE};
use bytes::Bytes;
use std::io::Error;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The largest file that is read or written, in bytes.
pub const FILE_LIMIT: usize = 64 << 20;
/// How much of a file is read at once, in bytes, and how many such parts wait for a slow reader.
const CHUNK: usize = 64 << 10;
const WAITING: usize = 2;

/// A file of a sandbox, part by part. One that ends with an error is not whole.
pub type Parts = mpsc::Receiver<Result<Bytes, Error>>;

/// Reads a file of a sandbox: a plain one, of at most 64 MiB.
pub async fn read(
    context: &Agents,
    caller: &Caller,
    reference: &str,
    path: &str,
) -> Result<Parts, AgentsError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    let mut command = kept.sandbox.tool("read", &place(path)?);
    command.words.push(FILE_LIMIT.to_string());
    let begun = within_limit(async {
        let mut process = kept.sandbox.start(&command).await?;
        let mut output = std::mem::replace(&mut process.output, nothing());
        let first = part(&mut output).await;
        if !first.is_empty() {
            return Ok(Begun::Read(first, output, process));
        }
        let complaint = complaint(&mut process).await;
        Ok(Begun::Ended(ended(process, &complaint).await))
    });
    let (sender, parts) = mpsc::channel(WAITING);
    match begun.await? {
        Begun::Ended(Ok(())) => {}
        Begun::Ended(Err(why)) => return Err(SandboxRefusal::Path { why }.into()),
        Begun::Read(first, output, process) => {
            tokio::spawn(pass_on(first, output, process, sender));
        }
    }
    Ok(parts)
}

/// A tool that reads a file, as far as it is known how that goes.
enum Begun {
    /// There is something to read.
    Read(Bytes, Output, Process),
    /// It has ended, and has read nothing.
    Ended(Result<(), String>),
}

/// Passes a file on, until it ends, is too large, or the caller takes no more of it for a while. The tool
/// that reads it ends with this.
async fn pass_on(
    first: Bytes,
    mut output: Output,
    mut process: Process,
    sender: mpsc::Sender<Result<Bytes, Error>>,
) {
    let (mut next, mut passed) = (first, 0);
    let end = loop {
        passed += next.len();
        if passed > FILE_LIMIT {
            break Err(too_much(FILE_LIMIT));
        }
        if !matches!(timeout(LIMIT, sender.send(Ok(next))).await, Ok(Ok(()))) {
            return;
        }
        next = match timeout(LIMIT, part(&mut output)).await {
            Ok(part) if part.is_empty() => {
                let ended = async {
                    let complaint = complaint(&mut process).await;
                    ended(process, &complaint).await
                };
                let late = |_| Err(format!("it did not end within {LIMIT:?}"));
                break timeout(LIMIT, ended).await.unwrap_or_else(late);
            }
            Ok(part) => part,
            Err(_) => break Err(format!("it took longer than {LIMIT:?}")),
        };
    };
    if let Err(why) = end {
        // The reader learns that there should have been more.
        let _ = timeout(LIMIT, sender.send(Err(Error::other(why)))).await;
    }
}

/// What comes next; nothing at the end, which a pipe that breaks is as well.
async fn part(output: &mut Output) -> Bytes {
    let mut bytes = vec![0; CHUNK];
    let read = output.read(&mut bytes).await.unwrap_or(0);
    bytes.truncate(read);
    bytes.into()
}

/// Writes a file of a sandbox, whole or not at all.
pub async fn write(
    context: &Agents,
    caller: &Caller,
    reference: &str,
    path: &str,
    bytes: &[u8],
) -> Result<(), AgentsError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    let command = kept.sandbox.tool("write", &place(path)?);
    match tool(&*kept.sandbox, &command, bytes, 0).await? {
        Ok(_) => Ok(()),
        Err(why) if why.contains("os error 28") => Err(SandboxRefusal::Full { why }.into()),
        Err(why) => Err(SandboxRefusal::Path { why }.into()),
    }
}

/// A path from the workspace on.
fn place(path: &str) -> Result<String, AgentsError> {
    if path.is_empty() || path.contains('\0') || path.len() > 4096 {
        let expected = "a path of at most 4096 bytes";
        return Err(Invalid { field: "path", expected, found: "another text".to_owned() }.into());
    }
    Ok(if path.starts_with('/') { path.to_owned() } else { format!("{WORKSPACE}/{path}") })
}
