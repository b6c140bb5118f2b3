//! An address at which nobody listens, for as long as a test needs it.
//!
//! A port that was free a moment ago is another test's a moment later. So the port is taken, and not
//! listened at: a system refuses every client that connects there, and gives it to no other.

use socket2::{Domain, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr};

/// A port of this machine's loopback that refuses every client that connects, until this is dropped.
pub struct Nobody {
    address: SocketAddr,
    _taken: Socket,
}

impl Nobody {
    /// Takes a free port.
    ///
    /// # Panics
    ///
    /// Without a loopback or a free port.
    #[expect(clippy::expect_used, reason = "it is a test's own code")]
    #[must_use]
    pub fn listens() -> Self {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(&any.into()).expect("a free port");
        let address = socket.local_addr().expect("a bound socket has an address");
        Self { address: address.as_socket().expect("an address of IPv4"), _taken: socket }
    }

    /// Where it is.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn whoever_connects_is_refused_and_nobody_else_gets_the_port() {
        let nobody = Nobody::listens();
        let error = TcpStream::connect(nobody.address()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = TcpListener::bind(nobody.address()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
    }
}
