//! Sandboxes that are folders in which nothing runs.
//!
//! They stand for sandboxes where sessions are handed in by the hundred: a profile that is put there is what
//! comes back.

use baton_sandbox::{
    Answer, Command, Ended, Enforced, Process, Provider, Sandbox, SandboxError, SandboxSpec,
    WORKSPACE,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use std::fs::File;
use std::io::{self, Cursor};
use std::path::PathBuf;
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Makes such sandboxes.
#[derive(Debug)]
pub(super) struct Rooms;

/// One of them.
#[derive(Debug)]
struct Room {
    folder: TempDir,
    enforced: Enforced,
    ended: CancellationToken,
}

fn failed(error: &io::Error) -> SandboxError {
    SandboxError::NotStarted { reason: error.to_string() }
}

impl Provider for Rooms {
    fn create<'a>(&'a self, _: &'a SandboxSpec) -> Answer<'a, Box<dyn Sandbox>> {
        async {
            let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
            let enforced = Enforced::No("nothing runs here".to_owned());
            let room = Room { folder, enforced, ended: CancellationToken::new() };
            Ok(Box::new(room) as Box<dyn Sandbox>)
        }
        .boxed()
    }

    fn isolates(&self) -> bool {
        true
    }
}

impl Room {
    fn place(&self, path: &str) -> PathBuf {
        let inside = path.strip_prefix(WORKSPACE).unwrap_or(path);
        self.folder.path().join(inside.trim_start_matches('/'))
    }

    fn pack(&self, path: &str) -> Result<Vec<u8>, SandboxError> {
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_dir_all("", self.place(path)).map_err(|error| failed(&error))?;
        archive.into_inner().map_err(|error| failed(&error))
    }
}

impl Sandbox for Room {
    fn enforced(&self) -> &Enforced {
        &self.enforced
    }

    fn workspace(&self) -> &str {
        WORKSPACE
    }

    fn start<'a>(&'a self, command: &'a Command) -> Answer<'a, Process> {
        async {
            let output = match command.words.as_slice() {
                [verb, path] if verb == "pack" => self.pack(path)?,
                _ => Vec::new(),
            };
            let (ends, ended) = oneshot::channel();
            // Whoever started it may have left.
            let _ = ends.send(Ended::Code(0));
            let end = CancellationToken::new().drop_guard();
            let outputs = [Cursor::new(output), Cursor::new(Vec::new())];
            let outputs = outputs.map(|output| Box::new(output) as baton_sandbox::Output);
            Ok(Process::new(None, outputs, ended, end))
        }
        .boxed()
    }

    fn unpack<'a>(&'a self, archive: File, path: &'a str) -> Answer<'a, Result<(), String>> {
        let unpacked = tar::Archive::new(archive).unpack(self.place(path));
        async { Ok(unpacked.map_err(|error| error.to_string())) }.boxed()
    }

    fn tool(&self, verb: &str, path: &str) -> Command {
        Command::new([verb, path])
    }

    fn settle(&self) -> Answer<'_, ()> {
        async { Ok(()) }.boxed()
    }

    fn remove(&self) -> Answer<'_, ()> {
        self.ended.cancel();
        async { Ok(()) }.boxed()
    }

    fn ended(&self) -> BoxFuture<'_, ()> {
        self.ended.cancelled().boxed()
    }
}
