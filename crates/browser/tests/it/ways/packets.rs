//! Every packet on the interfaces of the network of the story, read by the test itself.

use rustix::net::{
    AddressFamily, RecvFlags, SocketFlags, SocketType, eth, recv, socket_with, sockopt,
};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much may wait for us, in bytes.
const WAITING: usize = 128 << 20;
/// The request that is behind all others.
pub(super) const END: &str = "/the-end";

/// One packet, without what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Packet {
    /// The protocol over IP: 6 is TCP, 17 is UDP.
    pub(super) protocol: u8,
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
}

/// The packets so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Packets(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    packets: BTreeSet<Packet>,
    has_end: bool,
}

impl Packets {
    /// Reads all packets of all interfaces, for as long as the process lives.
    pub(super) fn capture() -> Self {
        let (family, kind) = (AddressFamily::PACKET, SocketType::RAW);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(eth::ALL)).unwrap();
        sockopt::set_socket_recv_buffer_size_force(&socket, WAITING).unwrap();
        let packets = Self::default();
        let seen = packets.clone();
        std::thread::spawn(move || {
            let mut frame = vec![0; 128 << 10];
            while let Ok((length, _)) = recv(&socket, &mut frame[..], RecvFlags::empty()) {
                let frame = &frame[..length];
                let mut seen = seen.seen();
                seen.packets.extend(read(frame));
                // Its request for it, without a way out or with one.
                let end = format!("GET {END} ");
                seen.has_end |= frame.windows(end.len()).any(|part| part == end.as_bytes());
            }
        });
        packets
    }

    /// Whether the last request was seen, and so everything before it.
    pub(super) fn has_end(&self) -> bool {
        self.seen().has_end
    }

    pub(super) fn all(&self) -> BTreeSet<Packet> {
        self.seen().packets.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The packet in a frame of Ethernet, as the loopback and its like have it; none if it is not IP.
fn read(frame: &[u8]) -> Option<Packet> {
    let (kind, packet) = (frame.get(12..14)?, frame.get(14..)?);
    let (protocol, from, to, rest): (_, IpAddr, IpAddr, _) = match kind {
        [0x08, 0x00] => {
            let address = |at: usize| Some(Ipv4Addr::from(*packet.get(at..)?.first_chunk::<4>()?));
            let head = usize::from(packet.first()? & 0x0f) * 4;
            (*packet.get(9)?, address(12)?.into(), address(16)?.into(), packet.get(head..)?)
        }
        [0x86, 0xdd] => {
            let address = |at: usize| Some(Ipv6Addr::from(*packet.get(at..)?.first_chunk::<16>()?));
            (*packet.get(6)?, address(8)?.into(), address(24)?.into(), packet.get(40..)?)
        }
        _ => return None,
    };
    let port = |at: usize| match protocol {
        6 | 17 => rest.get(at..at + 2).map(|port| u16::from_be_bytes([port[0], port[1]])),
        _ => Some(0),
    };
    let (from, to) = (from.to_canonical(), to.to_canonical());
    Some(Packet {
        protocol,
        from: SocketAddr::new(from, port(0)?),
        to: SocketAddr::new(to, port(2)?),
    })
}
