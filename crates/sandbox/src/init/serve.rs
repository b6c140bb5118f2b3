//! The life of a sandbox's first process.

use super::children::Children;
use super::error::InitError;
use super::message::{Begin, Notice, Order};
use super::{channel, loopback, processes, settle, signals, unpack};
use crate::network::HOST;
use baton_confine::calls;
use baton_confine::keyring::{self, KeyringError};
use rustix::io::Errno;
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

/// Does what the other end of the socket on standard input says, until that closes.
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
