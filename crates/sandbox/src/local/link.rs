//! Our end of a sandbox's socket: orders out, notices in.

use crate::init::{MESSAGE_MAX, Notice, Order, receive, send};
use crate::{Ended, SandboxError};
use rustix::io::Errno;
use rustix::net::Shutdown;
use std::collections::HashMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

/// How many commands may run in a sandbox at once.
const COMMANDS_MAX: usize = 64;

/// Whoever waits for a command.
#[derive(Debug)]
struct Waiter {
    started: Option<oneshot::Sender<Result<(), String>>>,
    ended: oneshot::Sender<Ended>,
}

/// What is to be told of a command.
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
    /// Everything is ready, or has settled.
    told: Notify,
    /// Whether a browser had not ended when everything had settled.
    unsettled: AtomicBool,
    /// The other end has closed, or is to.
    pub(super) closed: CancellationToken,
}

#[derive(Debug, Default)]
struct Commands {
    last: u64,
    waiting: HashMap<u64, Waiter>,
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
            told: Notify::new(),
            unsettled: AtomicBool::new(false),
            closed: CancellationToken::new(),
        });
        let listening = Arc::clone(&link);
        tokio::spawn(async move { listening.listen().await });
        Ok(link)
    }

    /// Waits until the sandbox tells that it is ready or has settled.
    pub(super) async fn told(&self) -> Result<(), SandboxError> {
        tokio::select! {
            () = self.told.notified() => Ok(()),
            () = self.closed.cancelled() => Err(SandboxError::Gone),
        }
    }

    /// Whether all browsers had ended when it told that everything has settled.
    pub(super) fn is_whole(&self) -> bool {
        !self.unsettled.load(Ordering::Acquire)
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
        commands.last += 1;
        let id = commands.last;
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
        // Whoever waits learns by that that it is gone.
        self.commands().waiting.clear();
    }

    fn hear(&self, notice: Notice) {
        let mut commands = self.commands();
        let tell = |waiter: Option<&mut Waiter>, how| {
            if let Some(started) = waiter.and_then(|waiter| waiter.started.take()) {
                // Whoever asked may have gone.
                let _ = started.send(how);
            }
        };
        match notice {
            Notice::Ready => self.told.notify_one(),
            Notice::Settled { whole } => {
                self.unsettled.store(!whole, Ordering::Release);
                self.told.notify_one();
            }
            Notice::Started { id } => tell(commands.waiting.get_mut(&id), Ok(())),
            Notice::Failed { id, reason } => {
                tell(commands.waiting.remove(&id).as_mut(), Err(reason));
            }
            Notice::Ended { id, ended } => {
                if let Some(waiter) = commands.waiting.remove(&id) {
                    // Whoever asked may have gone.
                    let _ = waiter.ended.send(ended);
                }
            }
        }
    }
}
