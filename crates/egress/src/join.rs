//! Two connections that become one: what comes from either goes to the other, until both have ended.
//!
//! The one idea: who has ended one half may wait for the rest of the other one as long as that comes. A host that never
//! ends its half would keep the place of whoever has left; so a half that is alone and silent is let go.

use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional_with_sizes};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// For how long one half goes on without a byte once the other one has ended.
pub const HALF_CLOSED: Duration = Duration::from_mins(1);

/// Passes bytes on both ways, at most `size` at once, until both sides have ended; or one has, and nothing moved for
/// `limit`. What it is given ends when its caller drops it.
pub async fn join(
    one: &mut (impl AsyncRead + AsyncWrite + Unpin),
    other: &mut (impl AsyncRead + AsyncWrite + Unpin),
    size: usize,
    limit: Duration,
) -> io::Result<()> {
    let halves = Halves::default();
    let mut one = Watched { io: one, halves: &halves };
    let mut other = Watched { io: other, halves: &halves };
    tokio::select! {
        copied = copy_bidirectional_with_sizes(&mut one, &mut other, size, size) => copied.map(drop),
        () = halves.are_still(limit) => Err(io::ErrorKind::TimedOut.into()),
    }
}

/// What is known of both halves.
#[derive(Default)]
struct Halves {
    /// When a byte moved last, since one of them has ended.
    moved: Mutex<Option<Instant>>,
    ended: Notify,
}

impl Halves {
    /// Waits until one has ended, and nothing moved since for so long.
    async fn are_still(&self, limit: Duration) {
        self.ended.notified().await;
        while let Some(end) = self.end_of(limit) {
            sleep_until(end).await;
        }
    }

    /// When nothing will have moved for so long; none when that is so.
    fn end_of(&self, limit: Duration) -> Option<Instant> {
        self.moved().map(|moved| moved + limit).filter(|end| *end > Instant::now())
    }

    fn end(&self) {
        self.moved().get_or_insert_with(Instant::now);
        self.ended.notify_one();
    }

    fn move_on(&self) {
        if let Some(moved) = &mut *self.moved() {
            *moved = Instant::now();
        }
    }

    fn moved(&self) -> MutexGuard<'_, Option<Instant>> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection of which is noted that it moves, and that it has ended.
struct Watched<'a, T> {
    io: &'a mut T,
    halves: &'a Halves,
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<'_, T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (before, has_room) = (buffer.filled().len(), buffer.remaining() > 0);
        let read = Pin::new(&mut *self.io).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = &read {
            if buffer.filled().len() > before {
                self.halves.move_on();
            } else if has_room {
                self.halves.end();
            }
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<'_, T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut *self.io).poll_write(context, bytes);
        if let Poll::Ready(Ok(1..)) = &written {
            self.halves.move_on();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::join;
    use std::io;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::task::JoinHandle;

    const LIMIT: Duration = Duration::from_millis(500);

    /// The outer ends of two connections that are one.
    fn joined() -> (DuplexStream, DuplexStream, JoinHandle<io::Result<()>>) {
        let ((client, mut one), (host, mut other)) = (duplex(64), duplex(64));
        let joined = tokio::spawn(async move { join(&mut one, &mut other, 64, LIMIT).await });
        (client, host, joined)
    }

    #[tokio::test]
    async fn a_half_that_is_alone_and_silent_is_let_go() {
        let (client, mut host, joined) = joined();
        drop(client);
        assert_eq!(host.read(&mut [0]).await.unwrap(), 0, "it hears that the client has left");
        let error = joined.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        host.write_all(b"too late").await.unwrap_err();
    }

    #[tokio::test]
    async fn a_half_that_is_alone_goes_on_as_long_as_it_says_something() {
        let (mut client, mut host, joined) = joined();
        client.shutdown().await.unwrap();
        let mut pause = tokio::time::interval(LIMIT / 5);
        for _ in 0..10 {
            pause.tick().await;
            host.write_all(b"a").await.unwrap();
            assert_eq!(client.read_u8().await.unwrap(), b'a');
        }
        drop(host);
        assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
        joined.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn two_that_say_nothing_and_end_nothing_stay() {
        let (mut client, mut host, joined) = joined();
        tokio::time::sleep(LIMIT * 2).await;
        client.write_all(b"a").await.unwrap();
        assert_eq!(host.read_u8().await.unwrap(), b'a');
        assert!(!joined.is_finished());
    }
}
