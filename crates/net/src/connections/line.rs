//! The line of a connection: bytes pass as they are, and the place goes with them.
//!
//! It belongs to whoever reads and writes, from the handshake of TLS to the last message of a WebSocket. So
//! a place is held for exactly as long as there is a socket, and ends in every phase.
//!
//! A socket that is closed while more comes resets the connection, and whoever is still sending loses the
//! answer that is on its way (RFC 9112, section 9.6). So what an answered request still sends is taken first.

use super::bounds::Bounds;
use super::places::Place;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep_until};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// How much of the rest of a request is taken at once.
const PIECE: usize = 16 << 10;

/// A socket and its place.
pub(super) struct Line {
    stream: TcpStream,
    place: Place,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    /// How long the other side may take nothing of what is sent.
    limit: Duration,
    /// Runs while the other side takes nothing.
    stalled: Option<Pin<Box<Sleep>>>,
    /// How long the rest of a request is taken that was answered.
    patience: Duration,
    /// Runs while it is.
    rest: Option<Pin<Box<Sleep>>>,
}

impl Line {
    pub(super) fn new(stream: TcpStream, place: Place, bounds: Bounds) -> Self {
        let ended = Box::pin(place.ended().cancelled_owned());
        let (limit, patience) = (bounds.stalled, bounds.silence);
        Self { stream, place, ended, limit, stalled: None, patience, rest: None }
    }

    /// Fails once the place was taken.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.ended.as_mut().poll(context) {
            Poll::Ready(()) => {
                Err(io::Error::new(ErrorKind::ConnectionAborted, "its place was taken"))
            }
            Poll::Pending => Ok(()),
        }
    }

    /// Writes, and fails when nothing was taken for too long.
    fn write(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        self.check(context)?;
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), context) {
            self.stalled = None;
            self.place.moved();
            return Poll::Ready(written);
        }
        let limit = self.limit;
        let stalled =
            self.stalled.get_or_insert_with(|| Box::pin(sleep_until(Instant::now() + limit)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(ErrorKind::TimedOut, "nothing of what is sent is taken")))
    }

    /// Takes what still comes, until nothing does or it takes too long. It is nobody's, so nothing has moved.
    fn take_rest(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let end = Instant::now() + self.patience;
        let mut rest = self.rest.take().unwrap_or_else(|| Box::pin(sleep_until(end)));
        let mut bytes = [0; PIECE];
        while Instant::now() < rest.deadline() {
            self.check(context)?;
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Pending if rest.as_mut().poll(context).is_pending() => {
                    self.rest = Some(rest);
                    return Poll::Pending;
                }
                // The other side has hung up, or its time is over.
                Poll::Ready(_) | Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        let before = buffer.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, buffer));
        if buffer.filled().len() > before {
            self.place.moved();
        }
        Poll::Ready(read)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        if self.place.has_more() { self.take_rest(context) } else { Poll::Ready(Ok(())) }
    }
}
