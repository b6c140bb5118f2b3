//! The life of a sandbox's first process.

use super::children::Children;
use super::message::{Begin, Notice, Order};
use super::{bare, channel, loopback, processes, settle, signals, tool, unpack};
use crate::network::HOST;
use baton_confine::calls::{self, CallsError};
use baton_confine::keyring::{self, KeyringError};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

/// Why the first process of a sandbox ended otherwise than it was told to.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// It was not started by a provider.
    #[error("expected the socket of a sandbox as standard input")]
    NoSocket(#[source] std::io::Error),
    /// The other end said something that is no order.
    #[error("expected an order from the node: {0}")]
    NoOrder(#[source] std::io::Error),
    /// A file could not be written or read.
    #[error("{path}: {source}")]
    File {
        /// Which one.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// It could not leave the keys of the node's user.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// It could not give up calls of the kernel.
    #[error(transparent)]
    Calls(#[from] CallsError),
    /// It could not keep what it starts away from itself.
    #[error("expected a first process that no other one can read: {0}")]
    Readable(#[source] std::io::Error),
    /// It could not hear a signal that its node ignores.
    #[error("expected to hear what the node was told to ignore: {0}")]
    Deaf(#[source] std::io::Error),
    /// It could not pass on what connects to ports of the machine.
    #[error("expected to pass on what connects to ports of the machine: {0}")]
    Loopback(#[source] std::io::Error),
    /// A tool that there is not.
    #[error("expected bare, read, write, pack or connect, and a path")]
    NoTool,
}

impl InitError {
    /// Makes an error about a file.
    pub(super) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { path, source }
    }
}

/// Runs as the first process of a sandbox until the socket on standard input closes: in namespaces that the
/// kernel takes away with it, or, given `bare PATH`, without any, in that folder. Given other words, runs
/// as one of the tools that move files: `read PATH [BYTES]`, `write PATH`, `pack PATH`; or as the one that
/// reaches a socket: `connect PATH`.
pub fn run(words: &[String]) -> Result<(), InitError> {
    match words {
        [] => serve(),
        [verb, path] if verb == bare::BARE => bare::hold(Path::new(path)),
        [verb, path] => tool::run(verb, Path::new(path), None),
        [verb, path, more] => tool::run(verb, Path::new(path), Some(more)),
        _ => Err(InitError::NoTool),
    }
}

pub(super) fn serve() -> Result<(), InitError> {
    confine()?;
    signals::hear().map_err(InitError::Deaf)?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map_err(InitError::NoSocket)?;
    forget_inherited(&socket);
    let children = Arc::new(Children::new(socket));
    let reaping = Arc::clone(&children);
    std::thread::spawn(move || reaping.reap());
    loop {
        match channel::receive(children.socket()) {
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
            prepare(&begin)?;
            children.tell(&Notice::Ready);
        }
        Order::Start(start) => children.start(&start, descriptors),
        Order::Unpack(order) => {
            let children = Arc::clone(children);
            std::thread::spawn(move || children.tell(&unpack::obey(&order, descriptors)));
        }
        Order::Kill { id } => children.kill(id),
        Order::Settle { id } => {
            let children = Arc::clone(children);
            std::thread::spawn(move || {
                let whole = settle::settle();
                // What comes out of it from now on comes from us: nobody else is there to write it.
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

fn prepare(begin: &Begin) -> Result<(), InitError> {
    for (path, text) in &begin.files {
        std::fs::write(path, text).map_err(InitError::file(Path::new(path)))?;
    }
    loopback::open(&begin.host_ports, HOST).map_err(InitError::Loopback)
}
