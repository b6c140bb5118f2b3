//! A cable between a program and a server of its own: what goes through it can be cut off, and joined again.
//!
//! The one idea: the server lives, and others reach it; only who comes by this cable does not. Its port stays its own
//! also while nobody answers there, so that no other program can have it.

use anyhow::{Context as _, Result};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// Where a cable leads.
#[derive(Debug, Clone)]
pub enum CableEnd {
    /// A socket of Unix, such as that of PostgreSQL.
    Socket(PathBuf),
    /// A server that listens there.
    Address(SocketAddr),
}

/// How a cable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Everything goes through.
    Whole,
    /// What goes through is broken off, and whoever comes is refused.
    Refused,
    /// Nothing goes through, and nobody is told: what was connected stays so, and whoever comes waits. Once it is
    /// joined again, what stood breaks off.
    Silent,
}

/// A cable. It is gone with its owner.
pub struct Cable {
    port: u16,
    to: watch::Sender<CableEnd>,
    cut: watch::Sender<Cut>,
    /// How it is by now.
    is: watch::Receiver<Cut>,
    /// Holds the port while nobody listens.
    _kept: TcpSocket,
    _passing: AbortOnDropHandle<()>,
}

impl Cable {
    /// Lays one to there, from a free port of this machine.
    pub fn lay(to: CableEnd) -> Result<Self> {
        let kept = bind(0).context("expected a free port")?;
        let port = kept.local_addr()?.port();
        let (cut, changes) = watch::channel(Cut::Whole);
        let (to, there) = watch::channel(to);
        let first = listen(port).context("expected to listen at a port of our own")?;
        let (became, is) = watch::channel(Cut::Whole);
        let passing = tokio::spawn(pass_on(port, there, changes, became, first));
        let passing = AbortOnDropHandle::new(passing);
        Ok(Self { port, to, cut, is, _kept: kept, _passing: passing })
    }

    /// The port of this machine at which it begins.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Leads whoever comes from now on elsewhere, as a load balancer does.
    pub fn lead_to(&self, to: CableEnd) {
        self.to.send_replace(to);
    }

    /// Cuts it in this way, or joins it again.
    pub fn set(&self, cut: Cut) {
        self.cut.send_replace(cut);
    }

    /// Waits until it is as it was set last.
    pub async fn settled(&self) {
        let set = *self.cut.borrow();
        // Who passes on is there as long as the cable is.
        let _ = self.is.clone().wait_for(|is| *is == set).await;
    }
}

/// A socket at a port that several of ours may share.
fn bind(port: u16) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    Ok(socket)
}

fn listen(port: u16) -> io::Result<TcpListener> {
    bind(port)?.listen(128)
}

/// Passes on until the cable is gone.
async fn pass_on(
    port: u16,
    to: watch::Receiver<CableEnd>,
    mut cut: watch::Receiver<Cut>,
    became: watch::Sender<Cut>,
    first: TcpListener,
) {
    let mut listener = Some(first);
    let mut streams = JoinSet::new();
    loop {
        // What is so now counts, also where it became so while the last change was followed.
        let now = *cut.borrow_and_update();
        if now == Cut::Refused {
            listener = None;
        } else if listener.is_none() {
            listener = listen(port).ok();
        }
        became.send_replace(now);
        let accepted = async {
            match &listener {
                Some(listener) if now == Cut::Whole => listener.accept().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = cut.changed() => {
                if changed.is_err() {
                    return;
                }
                if *cut.borrow() != Cut::Silent {
                    streams.shutdown().await;
                }
            }
            accepted = accepted => if let Ok((stream, _)) = accepted {
                let to = to.borrow().clone();
                streams.spawn(carry(stream, to, cut.clone()));
            },
            Some(_) = streams.join_next() => {}
        }
    }
}

/// Carries one connection, for as long as the cable is whole; then it stands until it is broken off.
async fn carry(mut stream: TcpStream, to: CableEnd, mut cut: watch::Receiver<Cut>) {
    let both = async {
        match to {
            CableEnd::Socket(path) => join(&mut stream, UnixStream::connect(path).await?).await,
            CableEnd::Address(address) => {
                join(&mut stream, TcpStream::connect(address).await?).await
            }
        }
    };
    let mut both = Box::pin(both);
    tokio::select! {
        // Either side left, or the server is not there: that is told by the end of this connection.
        _ = &mut both => return,
        changed = cut.wait_for(|cut| *cut == Cut::Silent) => if changed.is_err() { return },
    }
    std::future::pending::<()>().await;
}

async fn join(
    stream: &mut TcpStream,
    mut other: impl AsyncRead + AsyncWrite + Unpin,
) -> io::Result<(u64, u64)> {
    copy_bidirectional(stream, &mut other).await
}
