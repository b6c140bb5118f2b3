//! One client's connection: a reader that may be paused, and a bounded queue of frames to it.
//!
//! The one idea: the browser never waits for a client. Whoever does not read what it asked for, up
//! to the bound, is disconnected.

use super::input::Input;
use super::mux::ClientId;
use crate::cdp::{FrameReader, FrameWriter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How many frames, and how many bytes of them, may wait for one client.
const FRAMES: usize = 8192;
const BYTES: usize = 64 * 1024 * 1024;
/// How many frames are written at once, if so many wait.
const BATCH: usize = 64;
/// How long a client that is being disconnected may take to read what was already sent.
const DRAIN_LIMIT: Duration = Duration::from_secs(1);

/// A client that said hello.
pub(super) struct Client {
    outbox: mpsc::Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    reader: Option<(FrameReader, Option<watch::Receiver<bool>>)>,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Client {
    /// Starts to write to the client; its own frames wait until [`Client::listen`], and each of them
    /// while the `gate` says false, if there is one.
    pub(super) fn new(
        reader: FrameReader,
        writer: FrameWriter,
        gate: Option<watch::Receiver<bool>>,
        place: OwnedSemaphorePermit,
        tasks: &TaskTracker,
    ) -> Self {
        let (outbox, frames) = mpsc::channel(FRAMES);
        let waiting = Arc::new(AtomicUsize::new(0));
        let stop = CancellationToken::new();
        tasks.spawn(write(writer, frames, Arc::clone(&waiting), stop.clone()));
        Self { outbox, waiting, reader: Some((reader, gate)), stop, _place: place }
    }

    /// Starts to read the client's frames into `inputs`.
    pub(super) fn listen(&mut self, id: ClientId, inputs: mpsc::Sender<Input>) {
        if let Some((reader, gate)) = self.reader.take() {
            tokio::spawn(read(id, reader, gate, inputs, self.stop.clone()));
        }
    }

    /// Queues a frame; false when the client is too slow. A single large frame always has room.
    pub(super) fn send(&self, frame: Vec<u8>) -> bool {
        let bytes = frame.len();
        let before = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        (before == 0 || before + bytes <= BYTES) && self.outbox.try_send(frame).is_ok()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn read(
    id: ClientId,
    mut reader: FrameReader,
    mut gate: Option<watch::Receiver<bool>>,
    inputs: mpsc::Sender<Input>,
    stop: CancellationToken,
) {
    let reading = async {
        while let Ok(Some(frame)) = reader.next().await {
            if let Some(gate) = &mut gate {
                // Without a loop behind it nobody receives either.
                let _ = gate.wait_for(|is_open| *is_open).await;
            }
            if inputs.send(Input::Frame(id, frame)).await.is_err() {
                return;
            }
        }
        // When nobody receives any more, nobody needs to know.
        let _ = inputs.send(Input::Left(id)).await;
    };
    tokio::select! {
        () = reading => {}
        () = stop.cancelled() => {}
    }
}

async fn write(
    mut writer: FrameWriter,
    mut frames: mpsc::Receiver<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    stop: CancellationToken,
) {
    let sending = async {
        let mut batch = Vec::with_capacity(BATCH);
        while frames.recv_many(&mut batch, BATCH).await > 0 {
            let bytes = batch.iter().map(Vec::len).sum();
            if writer.send_all(batch.drain(..)).await.is_err() {
                break;
            }
            waiting.fetch_sub(bytes, Ordering::Relaxed);
        }
        writer.close().await;
    };
    tokio::select! {
        () = sending => {}
        () = async { stop.cancelled().await; tokio::time::sleep(DRAIN_LIMIT).await } => {}
    }
}
