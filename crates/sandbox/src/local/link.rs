//! Our end of a sandbox's socket: orders out, notices in.

use crate::init::{MESSAGE_MAX, Notice, Order, receive, send};
use crate::provider::{Ended, SandboxError};
use rustix::io::Errno;
use rustix::net::Shutdown;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// How many commands may run in a sandbox at once.
const COMMANDS_MAX: usize = 64;

/// A task that waits for a command.
#[derive(Debug)]
struct Waiter {
    started: Option<oneshot::Sender<Result<(), String>>>,
    ended: oneshot::Sender<Ended>,
}

/// What is to be said of a command.
pub(super) struct Watch {
    pub(super) id: u64,
    pub(super) started: oneshot::Receiver<Result<(), String>>,
    pub(super) ended: oneshot::Receiver<Ended>,
}

/// Our end of a sandbox's socket.
#[derive(Debug)]
pub(super) struct Link {
    /// It keeps the bounds of packets, of which the type knows nothing.
    socket: UnixStream,
    commands: Mutex<Commands>,
    /// Commands may come.
    ready: CancellationToken,
    /// The other end has closed, or is to.
    pub(super) closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Commands {
    last: u64,
    waiting: HashMap<u64, Waiter>,
    /// Who waits until all has settled that ran when they asked, each by the order that they gave: one that
    /// was given up is answered later than the next one begins.
    settling: HashMap<u64, oneshot::Sender<bool>>,
}

impl Commands {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn await_settled(&mut self, tell: oneshot::Sender<bool>) -> u64 {
        let id = self.next();
        self.settling.retain(|_, tell| !tell.is_closed());
        self.settling.insert(id, tell);
        id
    }
}

impl Link {
    /// Takes a socket, and listens to it until it closes.
    pub(super) fn open(socket: OwnedFd) -> Result<Arc<Self>, SandboxError> {
        let doing = "listen to a sandbox";
        let socket = Socket::from(socket);
        socket.set_nonblocking(true).map_err(SandboxError::system(doing))?;
        let link = Arc::new(Self {
            socket: UnixStream::from_std(socket).map_err(SandboxError::system(doing))?,
            commands: Mutex::default(),
            ready: CancellationToken::new(),
            closed: CancellationToken::new(),
        });
        let listening = Arc::clone(&link);
        tokio::spawn(async move { listening.listen().await });
        Ok(link)
    }

    /// Waits until the sandbox tells that it is ready.
    pub(super) async fn ready(&self) -> Result<(), SandboxError> {
        tokio::select! {
            () = self.ready.cancelled() => Ok(()),
            () = self.closed.cancelled() => Err(SandboxError::Gone),
        }
    }

    /// Has all end that runs now, and waits until it has, or not in time. Whether all browsers have.
    pub(super) async fn settle(&self) -> Result<bool, SandboxError> {
        let (tell, told) = oneshot::channel();
        let id = self.commands().await_settled(tell);
        self.order(&Order::Settle { id }, &[]).await?;
        tokio::select! {
            told = told => told.map_err(|_| SandboxError::Gone),
            () = self.closed.cancelled() => Err(SandboxError::Gone),
        }
    }

    /// Closes the socket, which ends the sandbox.
    pub(super) fn close(&self) {
        self.closed.cancel();
        // It may be closed from the other end.
        let _ = rustix::net::shutdown(&self.socket, Shutdown::Both);
    }

    /// Lets the setup go on that waits for a byte before the first program starts.
    pub(super) async fn go(&self) -> Result<(), SandboxError> {
        self.write(|socket| rustix::io::write(socket, b"\n").map(drop)).await
    }

    pub(super) async fn order(
        &self,
        order: &Order,
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<(), SandboxError> {
        self.write(|socket| send(socket, order, descriptors)).await
    }

    async fn write(
        &self,
        mut write: impl FnMut(BorrowedFd<'_>) -> Result<(), Errno>,
    ) -> Result<(), SandboxError> {
        let writing = self.socket.async_io(Interest::WRITABLE, || Ok(write(self.socket.as_fd())?));
        writing.await.map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::MSGSIZE) => SandboxError::TooLong { limit: MESSAGE_MAX },
            _ => SandboxError::Gone,
        })
    }

    fn commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for a command.
    pub(super) fn watch(&self) -> Result<Watch, SandboxError> {
        let mut commands = self.commands();
        if commands.waiting.len() >= COMMANDS_MAX {
            return Err(SandboxError::TooMany { limit: COMMANDS_MAX });
        }
        let id = commands.next();
        let (tell_started, started) = oneshot::channel();
        let (tell_ended, ended) = oneshot::channel();
        let waiter = Waiter { started: Some(tell_started), ended: tell_ended };
        commands.waiting.insert(id, waiter);
        Ok(Watch { id, started, ended })
    }

    /// Forgets a command that was never started.
    pub(super) fn forget(&self, id: u64) {
        self.commands().waiting.remove(&id);
    }

    async fn listen(&self) {
        loop {
            let read = || Ok(receive::<Notice>(self.socket.as_fd())?);
            let received = tokio::select! {
                received = self.socket.async_io(Interest::READABLE, read) => received,
                () = self.closed.cancelled() => break,
            };
            match received {
                Ok(Some((notice, _))) => self.hear(notice),
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, "a sandbox said something that is no notice");
                    break;
                }
            }
        }
        self.close();
        // The tasks that wait learn by that that it is gone.
        self.commands().waiting.clear();
    }

    fn hear(&self, notice: Notice) {
        let mut commands = self.commands();
        let tell = |waiter: Option<&mut Waiter>, how| {
            if let Some(started) = waiter.and_then(|waiter| waiter.started.take()) {
                // The asker may have gone.
                let _ = started.send(how);
            }
        };
        match notice {
            Notice::Ready => self.ready.cancel(),
            Notice::Settled { id, whole } => {
                if let Some(tell) = commands.settling.remove(&id) {
                    // The asker may have gone.
                    let _ = tell.send(whole);
                }
            }
            Notice::Started { id } => tell(commands.waiting.get_mut(&id), Ok(())),
            Notice::Failed { id, reason } => {
                tell(commands.waiting.remove(&id).as_mut(), Err(reason));
            }
            Notice::Ended { id, ended } => {
                if let Some(waiter) = commands.waiting.remove(&id) {
                    // The asker may have gone.
                    let _ = waiter.ended.send(ended);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Link;
    use crate::init::{Notice, Order, pair, receive, send};
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;
    use tokio::task::spawn_blocking;

    /// The order that comes next at the other end, which has to be one to settle.
    async fn asked(theirs: &Arc<OwnedFd>) -> u64 {
        let theirs = Arc::clone(theirs);
        let received = move || receive::<Order>(theirs.as_fd()).unwrap();
        match spawn_blocking(received).await.unwrap() {
            Some((Order::Settle { id }, _)) => id,
            other => panic!("expected an order to settle, found {other:?}"),
        }
    }

    #[tokio::test]
    async fn what_is_told_late_answers_nobody_who_asked_later() {
        let (ours, theirs) = pair().unwrap();
        let (link, theirs) = (Link::open(ours).unwrap(), Arc::new(theirs));
        // One that is given up once it was heard.
        let first = tokio::select! {
            settled = link.settle() => panic!("nobody has answered: {settled:?}"),
            first = asked(&theirs) => first,
        };
        let asking = Arc::clone(&link);
        let again = tokio::spawn(async move { asking.settle().await });
        let second = asked(&theirs).await;
        let tell = |notice| send(theirs.as_fd(), &notice, &[]).unwrap();
        tell(Notice::Settled { id: first, whole: false });
        tell(Notice::Ready);
        tell(Notice::Settled { id: second, whole: true });
        assert!(again.await.unwrap().unwrap(), "it is told of its own order");
        link.ready().await.unwrap();
    }
}
