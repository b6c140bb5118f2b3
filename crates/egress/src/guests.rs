//! The guests: only the processes of one browser may use its session's way out.
//!
//! The one idea: whose a connection is, the kernel knows. It tells the number of the socket at the other end
//! (`sock_diag(7)`), and the process that has it open is found in the browser's own process group. A socket that
//! its owner has closed has no number any more, and so no owner that could be the browser.
//!
//! `/proc/net/tcp` tells the same and takes up to a tenth of a second for it.

use crate::proxy::Guests;
use rustix::io;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The processes of a browser: those of its process group.
#[derive(Debug, Default)]
pub struct BrowserProcesses {
    /// The group, once the browser runs.
    group: OnceLock<u32>,
    /// Which process had the last connection: Chromium makes all of them in one.
    last: Mutex<Option<u32>>,
}

impl BrowserProcesses {
    /// From now on the processes of this browser may come; before, none may.
    pub fn admit(&self, browser: u32) {
        if let Some(group) = group_of(browser) {
            // There is one browser.
            let _ = self.group.set(group);
        }
    }

    /// Whether a process of the browser has this socket open.
    fn have(&self, inode: u32) -> bool {
        let Some(group) = self.group.get() else { return false };
        let socket = format!("socket:[{inode}]");
        let last = *self.last();
        if last.is_some_and(|pid| has_open(pid, *group, &socket)) {
            return true;
        }
        let found = processes().find(|pid| has_open(*pid, *group, &socket));
        // Another program that comes in between costs the browser nothing.
        if found.is_some() {
            *self.last() = found;
        }
        found.is_some()
    }

    fn last(&self) -> MutexGuard<'_, Option<u32>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guests for BrowserProcesses {
    fn may_come(&self, client: SocketAddr, here: SocketAddr) -> bool {
        match inode_of(client, here) {
            Ok(Some(inode)) => self.have(inode),
            Ok(None) => false,
            Err(error) => {
                tracing::error!(%error, "the system does not tell whose a connection is: it is refused");
                false
            }
        }
    }
}

/// All processes that this one sees.
fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The process group of a process (`proc_pid_stat(5)`); none of one that is gone, or whose group is outside of
/// our namespace of processes and has no number in it, as that of a program that comes into a container.
pub fn group_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name is in parentheses, and may have some of its own.
    let (_, behind) = stat.rsplit_once(") ")?;
    behind.split(' ').nth(2)?.parse().ok().filter(|group| *group > 0)
}

/// Whether a process is of a group and has a socket open. One whose files we may not see has none of ours.
fn has_open(pid: u32, group: u32, socket: &str) -> bool {
    if group_of(pid) != Some(group) {
        return false;
    }
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let mut links = files.filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.as_path() == Path::new(socket))
}

/// The number of the socket at `client` that is connected to `here`; none when its owner has closed it.
fn inode_of(client: SocketAddr, here: SocketAddr) -> io::Result<Option<u32>> {
    let socket = netlink_socket()?;
    rustix::net::send(&socket, &question(client, here), SendFlags::empty())?;
    // The kernel has answered by now (`netlink(7)`): it handles a request while it is sent.
    let mut answer = [0; 1024];
    let (length, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    Ok(inode_in(&answer[..length]))
}

fn netlink_socket() -> io::Result<OwnedFd> {
    let (family, kind) = (AddressFamily::NETLINK, SocketType::DGRAM);
    rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))
}

/// The length of the head of a message, and of a question (`linux/netlink.h`, `linux/inet_diag.h`).
const HEAD: usize = 16;
const QUESTION: usize = 56;
/// `SOCK_DIAG_BY_FAMILY`, which is the type of the question and of its answer.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
const TCP: u8 = 6;
/// Where the number stands in an answer: behind the head, four bytes, both ends, three numbers and the user.
const INODE: usize = HEAD + 4 + 48 + 12 + 4;

/// The question for one socket (`struct inet_diag_req_v2`): that of the client, of which its own end is the
/// source.
fn question(client: SocketAddr, here: SocketAddr) -> [u8; HEAD + QUESTION] {
    let mut message = [0; HEAD + QUESTION];
    let length = u32::try_from(message.len()).unwrap_or_default();
    message[..4].copy_from_slice(&length.to_ne_bytes());
    message[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST.to_ne_bytes());
    let question = &mut message[HEAD..];
    let family = if client.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    question[0] = u8::try_from(family.as_raw()).unwrap_or_default();
    question[1] = TCP;
    // In any state.
    question[4..8].copy_from_slice(&u32::MAX.to_ne_bytes());
    question[8..10].copy_from_slice(&client.port().to_be_bytes());
    question[10..12].copy_from_slice(&here.port().to_be_bytes());
    write_address(&mut question[12..28], client.ip());
    write_address(&mut question[28..44], here.ip());
    // `INET_DIAG_NOCOOKIE`: we do not know the socket from before.
    question[48..56].fill(u8::MAX);
    message
}

fn write_address(place: &mut [u8], address: IpAddr) {
    match address {
        IpAddr::V4(address) => place[..4].copy_from_slice(&address.octets()),
        IpAddr::V6(address) => place.copy_from_slice(&address.octets()),
    }
}

/// The number in an answer; none in an error, which is the answer about a socket that is not there.
fn inode_in(answer: &[u8]) -> Option<u32> {
    let kind = answer.get(4..6)?;
    let inode = answer.get(INODE..INODE + 4)?;
    let inode = u32::from_ne_bytes(inode.try_into().ok()?);
    (kind == BY_FAMILY.to_ne_bytes() && inode != 0).then_some(inode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn the_kernel_knows_whose_a_connection_is() {
        for place in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(place) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, address) = listener.accept().unwrap();
            let here = server.local_addr().unwrap();
            let inode = rustix::fs::fstat(client.as_fd()).unwrap().st_ino;
            assert_eq!(inode_of(address, here).unwrap().map(u64::from), Some(inode));
            // A process of ours has it open, but it is of no browser.
            assert!(!BrowserProcesses::default().may_come(address, here));
            let ours = BrowserProcesses::default();
            ours.admit(std::process::id());
            assert!(ours.may_come(address, here));
            drop(client);
            assert!(!ours.may_come(address, here), "nobody has a socket that was closed");
        }
    }
}
