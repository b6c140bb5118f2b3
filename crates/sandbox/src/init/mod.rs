//! The first process in a sandbox: it starts what it is asked to, and gives up everything when the socket
//! that it was born with closes.
//!
//! The one idea: whatever runs in a sandbox is a child of process 1, and the kernel ends them all when that
//! one ends. So nothing can outlive the holder of the other end of the socket.

mod handed;
mod loopback;
mod pack;
mod processes;
mod serve;
mod tool;

pub(crate) use processes::BROWSERS_LIMIT;
pub(crate) use serve::BARE;

use crate::provider::Ended;
use baton_confine::calls::CallsError;
use baton_confine::keyring::KeyringError;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// Why the first process of a sandbox ended otherwise than it was asked to.
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
    /// It could not hand over what connects to ports of its own.
    #[error("expected to hand over what connects to ports of the sandbox: {0}")]
    NotHanded(#[source] std::io::Error),
    /// A tool that there is not.
    #[error("expected bare, read, write, pack or connect, and a path")]
    NoTool,
}

impl InitError {
    /// Makes an error about a file.
    fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
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
        [] => serve::serve(),
        [verb, path] if verb == serve::BARE => serve::hold(Path::new(path)),
        [verb, path] => tool::run(verb, Path::new(path), None),
        [verb, path, more] => tool::run(verb, Path::new(path), Some(more)),
        _ => Err(InitError::NoTool),
    }
}

/// The longest message, in bytes. A packet has to fit into the socket's buffer, of which Linux grants
/// 212,992 bytes without asking.
pub(crate) const MESSAGE_MAX: usize = 128 * 1024;

/// What the first process is sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// Get ready.
    Begin(Begin),
    /// Start a command; its input, output and errors come along as descriptors.
    Start(Start),
    /// Unpack a tar archive, which comes along as a descriptor.
    Unpack(Unpack),
    /// End a command and its process group at once.
    Kill { id: u64 },
    /// Ask all that runs to end, and tell when it has.
    Settle { id: u64 },
}

/// What makes a sandbox ready.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Begin {
    /// Small files and what is in them.
    pub(crate) files: BTreeMap<String, String>,
    /// Ports of the machine's loopback that are found at the loopback here, too.
    #[serde(default)]
    pub(crate) host_ports: Vec<u16>,
    /// Ports of the loopback here whose connections are handed to the node, over a socket that comes along as
    /// a descriptor.
    #[serde(default)]
    pub(crate) handed_ports: Vec<u16>,
}

/// A connection that is handed to the node; it comes along as a descriptor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Handed {
    /// To which port it was made.
    pub(crate) port: u16,
}

/// A command.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) id: u64,
    pub(crate) words: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) directory: String,
}

/// A tar archive, and the folder into which it goes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Unpack {
    pub(crate) id: u64,
    pub(crate) path: String,
}

/// What the first process tells the node. It comes from a sandbox, so it is believed about nothing else.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Notice {
    /// Commands may come.
    Ready,
    /// A command runs.
    Started { id: u64 },
    /// A command could not be started, or an archive not be unpacked.
    Failed { id: u64, reason: String },
    /// A command has ended, or an archive is unpacked.
    Ended { id: u64, ended: Ended },
    /// All that was asked to end by that order has, or not in time; and whether the browsers have.
    Settled { id: u64, whole: bool },
}

/// How many descriptors come with a packet at most: input, output, errors.
const DESCRIPTORS: usize = 3;

/// Two sockets, each the other's end.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
}

/// Sends a packet. A message that is too long is an error, [`Errno::MSGSIZE`].
pub(crate) fn send(
    socket: BorrowedFd<'_>,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    let text = serde_json::to_vec(message).map_err(|_| Errno::INVAL)?;
    if text.len() > MESSAGE_MAX {
        return Err(Errno::MSGSIZE);
    }
    send_bytes(socket, &text, descriptors)
}

fn send_bytes(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(Errno::INVAL);
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL).map(drop)
}

/// Receives a packet; none when the other end has closed. One that is not understood is an error,
/// [`Errno::BADMSG`].
pub(crate) fn receive<T: DeserializeOwned>(
    socket: BorrowedFd<'_>,
) -> Result<Option<(T, Vec<OwnedFd>)>, Errno> {
    let mut bytes = vec![0; MESSAGE_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let parts = &mut [IoSliceMut::new(&mut bytes)];
    let received = recvmsg(socket, parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?.bytes;
    if received == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(more) = message {
            descriptors.extend(more);
        }
    }
    let message = serde_json::from_slice(&bytes[..received]).map_err(|_| Errno::BADMSG)?;
    Ok(Some((message, descriptors)))
}
