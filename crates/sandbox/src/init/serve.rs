//! The life of a sandbox's first process: it obeys its node, and keeps the commands that run.

use super::processes::end_all;
use super::{Begin, InitError, Notice, Order, Start, handed, loopback, processes, tool};
use crate::init;
use crate::network::HOST;
use crate::provider::Ended;
use baton_confine::keyring::KeyringError;
use baton_confine::{calls, keyring};
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, getpid,
    kill_process_group, set_child_subreaper, set_dumpable_behavior, setsid, wait, waitid,
};
use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Does what the other end of the socket on standard input says, until that closes.
pub(super) fn serve() -> Result<(), InitError> {
    confine()?;
    processes::hear().map_err(InitError::Deaf)?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(InitError::NoSocket)?;
    forget_inherited(&socket);
    let children = Arc::new(Children::new(socket));
    let reaping = Arc::clone(&children);
    std::thread::spawn(move || reaping.reap());
    loop {
        match init::receive(children.socket()) {
            Ok(Some((order, descriptors))) => obey(&children, order, descriptors)?,
            // The node has gone, or closed the sandbox: that is the end of all that runs here.
            Ok(None) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(InitError::NoOrder(error.into())),
        }
    }
}

/// Gives up what no namespace takes, for this process and all that it starts, and keeps those out of its
/// memory and its descriptors: they have the same user.
fn confine() -> Result<(), InitError> {
    match keyring::join() {
        // The calls that reach keys are given up below in any case.
        Ok(_) | Err(KeyringError::Full) => {}
        Err(error) => return Err(error.into()),
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| InitError::Readable(error.into()))?;
    Ok(calls::refuse()?)
}

fn obey(
    children: &Arc<Children>,
    order: Order,
    descriptors: Vec<OwnedFd>,
) -> Result<(), InitError> {
    match order {
        Order::Begin(begin) => {
            prepare(&begin, descriptors)?;
            children.tell(&Notice::Ready);
        }
        Order::Start(start) => children.start(&start, descriptors),
        Order::Unpack(order) => {
            let children = Arc::clone(children);
            std::thread::spawn(move || children.tell(&tool::obey(&order, descriptors)));
        }
        Order::Kill { id } => children.kill(id),
        Order::Settle { id } => {
            let children = Arc::clone(children);
            std::thread::spawn(move || {
                let whole = processes::settle();
                // What comes out of it from now on comes from us: no other process is there to write it.
                let whole = processes::end_all() && whole;
                children.tell(&Notice::Settled { id, whole });
            });
        }
    }
    Ok(())
}

/// Closes whatever else we were born with: what a node was started with, and passed on unknowingly.
fn forget_inherited(socket: &OwnedFd) {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let open: Vec<RawFd> = names.filter_map(|name| name.parse().ok()).collect();
    for number in open.into_iter().filter(|number| *number > 2 && *number != socket.as_raw_fd()) {
        // The folder that was just read is among them, and closed already.
        let _ = nix::unistd::close(number);
    }
}

fn prepare(begin: &Begin, descriptors: Vec<OwnedFd>) -> Result<(), InitError> {
    for (path, text) in &begin.files {
        std::fs::write(path, text).map_err(InitError::file(Path::new(path)))?;
    }
    if let Some(socket) = descriptors.into_iter().next() {
        handed::open(&begin.handed_ports, socket).map_err(InitError::NotHanded)?;
    }
    loopback::open(&begin.host_ports, HOST).map_err(InitError::Loopback)
}

/// The word with which it is started, before the folder.
pub(crate) const BARE: &str = "bare";

/// Serves until the socket on standard input closes, and then ends all that was started and removes
/// `folder`.
///
/// What the kernel would end and remove with a namespace, this process ends and removes itself.
pub(super) fn hold(folder: &Path) -> Result<(), InitError> {
    // A person who interrupts the node from a terminal does not interrupt this.
    let _ = setsid();
    // Processes whose parent ends are left to this one, so that it can end them.
    set_child_subreaper(Some(getpid())).map_err(|error| InitError::file(folder)(error.into()))?;
    let served = serve();
    end_all();
    std::fs::remove_dir_all(folder).map_err(InitError::file(folder))?;
    served
}

/// The commands that run, by process.
type RunningCommands = HashMap<Pid, u64>;

/// The commands that run in a sandbox.
#[derive(Debug)]
struct Children {
    running: Mutex<RunningCommands>,
    born: Condvar,
    socket: OwnedFd,
}

impl Children {
    fn new(socket: OwnedFd) -> Self {
        Self { running: Mutex::default(), born: Condvar::new(), socket }
    }

    fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Tells the node. When it has gone, the reader of the socket ends all of this.
    fn tell(&self, notice: &Notice) {
        let _ = init::send(self.socket(), notice, &[]);
    }

    fn running(&self) -> MutexGuard<'_, RunningCommands> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a command. Nothing is reaped until it is noted, so that no end comes before its beginning.
    fn start(&self, start: &Start, descriptors: Vec<OwnedFd>) {
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
    fn kill(&self, id: u64) {
        let running = self.running();
        if let Some((pid, _)) = running.iter().find(|(_, other)| **other == id) {
            let _ = kill_process_group(*pid, Signal::KILL);
        }
    }

    /// Waits for children, its own and those that were left to it, for as long as it lives.
    fn reap(&self) {
        loop {
            // Looks only: what ends while a command is started belongs to its starter.
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
