//! What is done in a sandbox: commands of a caller, who hears what they write, its own tools, to their end,
//! and files that are read and written with the rights of what runs in it.
//!
//! The one idea: what is read is passed on, not held. A file in a sandbox may have no end, and there are many
//! sandboxes; so a file is read as fast as the caller takes it, and no faster.

use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use baton_api::Invalid;
use baton_api::sandbox::{CommandLine, ExecEnd, ExecEvent, ExecSandbox};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_sandbox::{Command, Ended, Output, Process, Sandbox, SandboxError, WORKSPACE};
use bytes::Bytes;
use std::io::Error;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How much is read at once, in bytes, and how many events wait for a slow reader.
const CHUNK: usize = 16 << 10;
const WAITING: usize = 16;
/// How long what a command wrote last is waited for, once it has ended: what it started may hold its
/// output open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// The longest that a command may be given.
const LONGEST: u32 = 24 * 60 * 60;
/// How many characters of a program's name are in the audit log.
const NOTED: usize = 100;

/// What a command does, up to its end. Dropping it ends the command.
pub type Events = mpsc::Receiver<ExecEvent>;

/// Runs a command in one of the caller's sandboxes.
pub async fn exec(
    context: &Agents,
    caller: &Caller,
    reference: &str,
    request: ExecSandbox,
) -> Result<Events, AgentsError> {
    let kept = context.sandboxes.find(&caller.owner, reference)?;
    let ExecSandbox { command, env, directory, input, timeout } = request;
    let limit = limit(timeout)?;
    // What follows may be a secret.
    let program = match &command {
        CommandLine::Line(_) => "sh".to_owned(),
        CommandLine::Words(words) => words.first().cloned().unwrap_or_default(),
    };
    let mut command = match command {
        CommandLine::Line(line) => Command::shell(line),
        CommandLine::Words(words) => Command::new(words),
    };
    command.env.clone_from(&kept.env);
    command.env.extend(env);
    if let Some(directory) = directory {
        command.directory = directory;
    }
    let id = kept.view.id.to_string();
    let note = Note::new(&caller.actor, &caller.owner, Action::ExecSandbox, id);
    let note = note.with("program", program.chars().take(NOTED).collect::<String>());
    let started = kept
        .sandbox
        .start(&command)
        .await
        .map_err(|error| AgentsError::from(SandboxRefusal::from(error)));
    let process = note.end(&context.store, started).await?;
    let (sender, events) = mpsc::channel(WAITING);
    tokio::spawn(follow(process, input.unwrap_or_default(), limit, sender));
    Ok(events)
}

fn limit(seconds: Option<u32>) -> Result<Option<Duration>, AgentsError> {
    match seconds {
        Some(seconds) if seconds == 0 || seconds > LONGEST => Err(Invalid {
            field: "timeout",
            expected: "a number of seconds from 1 to 86400",
            found: seconds.to_string(),
        }
        .into()),
        seconds => Ok(seconds.map(|seconds| Duration::from_secs(seconds.into()))),
    }
}

/// Tells what a process does until it has ended, its time is over, or the caller listens no more.
async fn follow(
    mut process: Process,
    input: String,
    limit: Option<Duration>,
    sender: mpsc::Sender<ExecEvent>,
) {
    let over = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    let end = tokio::select! {
        end = tell(&mut process, input, &sender) => end,
        () = over => ExecEnd::TimedOut,
        () = sender.closed() => return,
    };
    // What has taken too long ends now, however long a slow reader takes to hear it.
    drop(process);
    // A caller that left wants to know nothing more.
    let _ = sender.send(ExecEvent::Exit(end)).await;
}

async fn tell(process: &mut Process, input: String, sender: &mpsc::Sender<ExecEvent>) -> ExecEnd {
    let mut writer = process.input.take();
    let write = async {
        if let Some(writer) = &mut writer {
            // What reads no more has ended, or does not care.
            let _ = writer.write_all(input.as_bytes()).await;
        }
        drop(writer);
    };
    tokio::pin!(write);
    let empty = || -> Output { Box::new(tokio::io::empty()) };
    let output = std::mem::replace(&mut process.output, empty());
    let errors = std::mem::replace(&mut process.errors, empty());
    let spoken = async {
        tokio::join!(
            speak(output, ExecEvent::Stdout, sender),
            speak(errors, ExecEvent::Stderr, sender)
        )
    };
    tokio::pin!(spoken);
    let (mut has_written, mut has_spoken) = (false, false);
    let ended = loop {
        tokio::select! {
            () = &mut write, if !has_written => has_written = true,
            _ = &mut spoken, if !has_spoken => has_spoken = true,
            ended = process.ended() => break ended,
        }
    };
    if !has_spoken {
        let _ = tokio::time::timeout(LAST_WORDS, spoken).await;
    }
    match ended {
        Ended::Code(code) => ExecEnd::Code(code),
        Ended::Signal(signal) => ExecEnd::Signal(signal),
        Ended::Gone => ExecEnd::Gone,
    }
}

/// Tells what comes out of one pipe, never half a character.
async fn speak(
    mut from: Output,
    event: impl Fn(String) -> ExecEvent,
    sender: &mpsc::Sender<ExecEvent>,
) {
    let (mut pending, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        // A pipe that breaks is the end of what it says.
        let read = from.read(&mut chunk).await.unwrap_or(0);
        pending.extend_from_slice(&chunk[..read]);
        let whole = if read == 0 { pending.len() } else { whole(&pending) };
        let rest = pending.split_off(whole);
        if !pending.is_empty() {
            let text = String::from_utf8_lossy(&pending).into_owned();
            if sender.send(event(text)).await.is_err() {
                return;
            }
        }
        pending = rest;
        if read == 0 {
            return;
        }
    }
}

/// How many bytes there are before a character that is not whole yet.
fn whole(bytes: &[u8]) -> usize {
    let mut chunks = bytes.utf8_chunks();
    let last = chunks.by_ref().last().map_or(0, |last| last.invalid().len());
    let start = bytes.len() - last;
    let is_begun = std::str::from_utf8(&bytes[start..]).is_err_and(|e| e.error_len().is_none());
    if last > 0 && is_begun { start } else { bytes.len() }
}

/// How long a tool may take.
pub(super) const LIMIT: Duration = Duration::from_mins(1);
/// How much of what it complains about is shown, in bytes.
const COMPLAINT: u64 = 4096;

/// What a tool did: what it wrote, or why it failed.
type ToolOutput = Result<Vec<u8>, String>;

/// Runs a tool that reads `input`, and answers what it writes, up to `most` bytes. One that writes more is
/// ended there and then.
pub(super) async fn tool(
    sandbox: &dyn Sandbox,
    command: &Command,
    input: &[u8],
    most: usize,
) -> Result<ToolOutput, SandboxRefusal> {
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
async fn hear(mut process: Process, most: usize) -> ToolOutput {
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

/// The largest file that is read or written, in bytes.
pub const FILE_LIMIT: usize = 64 << 20;
/// How much of a file is read at once, in bytes, and how many such parts wait for a slow reader.
const CHUNK_OF_FILE: usize = 64 << 10;
const WAITING_OF_FILE: usize = 2;

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
    let (sender, parts) = mpsc::channel(WAITING_OF_FILE);
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
    let mut bytes = vec![0; CHUNK_OF_FILE];
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

#[cfg(test)]
mod tests {
    use super::whole;

    #[test]
    fn a_character_is_told_when_it_is_whole() {
        let text = "aé€😀".as_bytes();
        let cuts: Vec<usize> = (0..=text.len()).map(|at| whole(&text[..at])).collect();
        assert_eq!(cuts, [0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10]);
        // What never becomes one is not waited for.
        assert_eq!(whole(b"a\xff"), 2);
        assert_eq!(whole(b"\xff\xc3"), 1);
    }
}
