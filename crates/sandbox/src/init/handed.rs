//! Ports of a sandbox whose connections are the node's: each is accepted here and handed over as it is.
//!
//! The one idea: a connection is a descriptor, which knows no namespace. So a sandbox needs no network of its
//! own to reach what its holder lets it reach, and no byte passes through this process.

use super::{Handed, send};
use rustix::io::Errno;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::{Builder, sleep};
use std::time::Duration;

/// When it is tried again, where there are no descriptors left or too many are on their way.
const PAUSE: Duration = Duration::from_millis(100);

/// Hands over, from now on and in a thread for each port, what connects to these ports of the loopback.
pub(super) fn open(ports: &[u16], socket: OwnedFd) -> io::Result<()> {
    let socket = Arc::new(socket);
    for port in ports {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?;
        let (port, socket) = (*port, Arc::clone(&socket));
        let serve = move || hand_over(&listener, port, &socket);
        Builder::new().name(format!("port {port}")).spawn(serve)?;
    }
    Ok(())
}

/// Hands over each connection, until the node takes none any more. While it is behind, clients wait.
fn hand_over(listener: &TcpListener, port: u16, socket: &OwnedFd) {
    loop {
        let Ok((client, _)) = listener.accept() else {
            sleep(PAUSE);
            continue;
        };
        loop {
            match send(socket.as_fd(), &Handed { port }, &[client.as_fd()]) {
                Ok(()) => break,
                Err(Errno::INTR) => {}
                Err(Errno::TOOMANYREFS | Errno::NOBUFS | Errno::NOMEM) => sleep(PAUSE),
                Err(_) => return,
            }
        }
    }
}
