//! A connection to a target, or to a further proxy that takes requests for it.

use hyper_util::client::legacy::connect::{Connected, Connection};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection to a target, or to a further proxy that takes requests for it.
pub(crate) struct Stream {
    io: Box<dyn Io>,
    is_proxy: bool,
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

impl Stream {
    pub(crate) fn new(io: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) -> Self {
        Self { io: Box::new(io), is_proxy: false }
    }

    /// The same, to a further proxy that takes requests.
    pub(crate) fn for_requests(self) -> Self {
        Self { is_proxy: true, ..self }
    }
}

/// Requests to a further proxy name the whole address (RFC 9112, section 3.2.2).
impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new().proxy(self.is_proxy)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}
