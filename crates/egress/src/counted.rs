//! What is passed on, counted as it flows: the bodies of requests and answers, and the bytes of a tunnel.

use crate::ledger::Bytes;
use crate::stream::Stream;
use hyper::body::{Body, Bytes as Chunk, Frame, Incoming, SizeHint};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Which way bytes go.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direction {
    Sent,
    Received,
}

/// A body whose bytes are counted.
pub(crate) struct Counted {
    pub(crate) body: Incoming,
    pub(crate) bytes: Arc<Bytes>,
    pub(crate) counts: Direction,
}

impl Body for Counted {
    type Data = Chunk;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Chunk>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            let count = match self.counts {
                Direction::Sent => &self.bytes.sent,
                Direction::Received => &self.bytes.received,
            };
            add(count, data.len());
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection to a target whose bytes are counted.
pub(crate) struct Metered {
    stream: Stream,
    bytes: Arc<Bytes>,
    /// Whether nothing more is said to the target.
    has_ended: bool,
    broke_off: Option<io::Error>,
}

impl Metered {
    pub(crate) fn new(stream: Stream, bytes: Arc<Bytes>) -> Self {
        Self { stream, bytes, has_ended: false, broke_off: None }
    }

    /// How it broke off, if it did so while there was more to say: who has said all may be left without a word.
    pub(crate) fn broke_off(&self) -> Option<&io::Error> {
        self.broke_off.as_ref()
    }

    fn note(&mut self, error: &io::Error) {
        if !self.has_ended && self.broke_off.is_none() {
            self.broke_off = Some(io::Error::new(error.kind(), error.to_string()));
        }
    }
}

fn add(count: &AtomicU64, bytes: usize) {
    count.fetch_add(bytes as u64, Ordering::Relaxed);
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        add(&self.bytes.received, buffer.filled().len() - before);
        if let Poll::Ready(Err(error)) = &read {
            self.note(error);
        }
        read
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        match &written {
            Poll::Ready(Ok(written)) => add(&self.bytes.sent, *written),
            Poll::Ready(Err(error)) => self.note(error),
            Poll::Pending => {}
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.has_ended = true;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
