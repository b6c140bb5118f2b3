//! What comes out of a sandbox that has no network: the connections that its programs make to ports of its own
//! loopback.

use crate::init::{Handed, pair, receive};
use crate::network::Network;
use crate::provider::{Connections, SandboxError};
use futures_util::StreamExt as _;
use futures_util::stream::unfold;
use rustix::net::{AddressFamily, SocketType, sockopt};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use tokio::io::Interest;
use tokio::net::{TcpStream, UnixStream};

/// The connections of a network that hands them over, and the other end of the socket over which they come.
pub(super) fn connections(
    network: &Network,
) -> Result<Option<(Connections, OwnedFd)>, SandboxError> {
    if network.handed_ports().is_empty() {
        return Ok(None);
    }
    let doing = "listen to a sandbox's connections";
    let (ours, theirs) = pair().map_err(SandboxError::system(doing))?;
    let socket = Socket::from(ours);
    socket.set_nonblocking(true).map_err(SandboxError::system(doing))?;
    let socket = UnixStream::from_std(socket).map_err(SandboxError::system(doing))?;
    let all = unfold(socket, async |socket| Some((next(&socket).await?, socket)));
    Ok(Some((all.boxed(), theirs)))
}

/// The next connection; none when the sandbox has ended. What is none costs itself alone: where this node has no
/// descriptor left for one, the kernel drops it on its way.
async fn next(socket: &UnixStream) -> Option<(u16, TcpStream)> {
    loop {
        // The socket keeps the bounds of packets, of which its type knows nothing.
        let read = || Ok(receive::<Handed>(socket.as_fd())?);
        let received = socket.async_io(Interest::READABLE, read).await;
        let (Handed { port }, descriptors) = received
            .inspect_err(|error| tracing::warn!(%error, "a sandbox handed over what is no packet"))
            .ok()??;
        match connection(descriptors) {
            Ok(stream) => return Some((port, stream)),
            Err(error) => tracing::warn!(%error, "a sandbox handed over what is no connection"),
        }
    }
}

/// A connection of TCP. It comes from a sandbox: another kind of file could keep a thread of ours waiting.
fn connection(descriptors: Vec<OwnedFd>) -> io::Result<TcpStream> {
    let expected = || io::Error::new(io::ErrorKind::InvalidData, "expected a connection of TCP");
    let [socket] = <[OwnedFd; 1]>::try_from(descriptors).map_err(|_| expected())?;
    let is_ip =
        matches!(sockopt::socket_domain(&socket)?, AddressFamily::INET | AddressFamily::INET6);
    if !is_ip || sockopt::socket_type(&socket)? != SocketType::STREAM {
        return Err(expected());
    }
    let stream = std::net::TcpStream::from(socket);
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}

#[cfg(test)]
mod tests {
    use super::connections;
    use crate::init::{Handed, send};
    use crate::network::Network;
    use futures_util::StreamExt as _;
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[tokio::test]
    async fn what_is_no_connection_costs_itself_alone() {
        let (mut all, theirs) = connections(&Network::Handed(vec![1])).unwrap().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();

        let file = File::open("/dev/zero").unwrap();
        send(theirs.as_fd(), &Handed { port: 5 }, &[file.as_fd()]).unwrap();
        send(theirs.as_fd(), &Handed { port: 6 }, &[]).unwrap();
        send(theirs.as_fd(), &Handed { port: 7 }, &[client.as_fd()]).unwrap();
        let (port, stream) = all.next().await.unwrap();
        assert_eq!((port, stream.local_addr().unwrap()), (7, client.local_addr().unwrap()));
        drop(theirs);
        assert!(all.next().await.is_none(), "it has ended");
    }
}
