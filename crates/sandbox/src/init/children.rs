//! The commands that run in a sandbox, and whoever they leave behind.

use super::channel;
use super::message::{Notice, Start};
use crate::command::Ended;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, wait, waitid,
};
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The commands that run, by process.
type Running = HashMap<Pid, u64>;

/// The commands that run in a sandbox.
#[derive(Debug)]
pub(super) struct Children {
    running: Mutex<Running>,
    born: Condvar,
    socket: OwnedFd,
}

impl Children {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { running: Mutex::default(), born: Condvar::new(), socket }
    }

    pub(super) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Tells the node. When it has gone, whoever reads the socket ends all of this.
    pub(super) fn tell(&self, notice: &Notice) {
        let _ = channel::send(self.socket(), notice, &[]);
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a command. Nobody reaps until it is noted, so that no end comes before its beginning.
    pub(super) fn start(&self, start: &Start, descriptors: Vec<OwnedFd>) {
        let id = start.id;
        let mut running = self.running();
        match spawn(start, descriptors) {
            Ok(pid) => {
                running.insert(pid, id);
                self.tell(&Notice::Started { id });
                self.born.notify_all();
            }
            Err(error) => self.tell(&Notice::Failed { id, reason: error.to_string() }),
        }
    }

    /// Ends a command and its process group at once. One that has ended already is no longer here.
    pub(super) fn kill(&self, id: u64) {
        let running = self.running();
        if let Some((pid, _)) = running.iter().find(|(_, other)| **other == id) {
            let _ = kill_process_group(*pid, Signal::KILL);
        }
    }

    /// Waits for children, its own and those that were left to it, for as long as it lives.
    pub(super) fn reap(&self) {
        loop {
            // Looks only: what ends while a command is started belongs to whoever starts it.
            let some_ended = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            let mut running = self.running();
            if some_ended.is_err() && running.is_empty() {
                drop(self.born.wait(running));
                continue;
            }
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                if let Some(id) = running.remove(&pid) {
                    self.tell(&Notice::Ended { id, ended: how(status) });
                }
            }
        }
    }
}

fn spawn(start: &Start, descriptors: Vec<OwnedFd>) -> std::io::Result<Pid> {
    let invalid =
        |what: &str| std::io::Error::new(std::io::ErrorKind::InvalidInput, what.to_owned());
    let [input, output, errors] =
        <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| invalid("expected three descriptors"))?;
    let (program, arguments) =
        start.words.split_first().ok_or_else(|| invalid("expected a program"))?;
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(&start.env)
        .current_dir(&start.directory)
        .stdin(input)
        .stdout(output)
        .stderr(errors)
        .process_group(0)
        .spawn()?;
    Ok(Pid::from_child(&child))
}

fn how(status: WaitStatus) -> Ended {
    let signal = status.terminating_signal().map(Ended::Signal);
    status.exit_status().map(Ended::Code).or(signal).unwrap_or(Ended::Gone)
}
