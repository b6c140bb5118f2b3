//! A keeper that a version before the rules started, as its node meets it: it says nothing of them.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinHandle;

/// What such a keeper does not say in its welcome.
const UNSAID: [&str; 2] = ["confinement", "fenced"];
/// What ends a frame.
const END: u8 = 0;

/// A living keeper whose welcome is that of an older one, as long as this is there. All else is passed on.
pub(super) struct OlderKeeper {
    socket: PathBuf,
    listens: JoinHandle<()>,
}

impl OlderKeeper {
    /// Takes the place of the keeper that listens at `socket`, to whom no node is connected.
    pub(super) fn in_place_of(socket: &Path) -> Self {
        let real = socket.with_extension("real");
        fs::rename(socket, &real).unwrap();
        let listener = UnixListener::bind(socket).unwrap();
        let place = socket.to_owned();
        let listens = tokio::spawn(async move {
            while let Ok((node, _)) = listener.accept().await {
                let (real, place) = (real.clone(), place.clone());
                tokio::spawn(async move {
                    // Whoever leaves first ends it.
                    let _ = pass_on(node, &real, &place).await;
                });
            }
        });
        Self { socket: socket.to_owned(), listens }
    }
}

impl Drop for OlderKeeper {
    fn drop(&mut self) {
        self.listens.abort();
        let _ = fs::remove_file(&self.socket);
    }
}

/// Passes on what a node and the keeper at `real` say. When that ends, it is gone from its `place` before the node
/// hears of it, which would else end the process that still listens there: this one.
async fn pass_on(node: UnixStream, real: &Path, place: &Path) -> std::io::Result<()> {
    let keeper = UnixStream::connect(real).await?;
    let (mut from_node, mut to_node) = node.into_split();
    let (from_keeper, mut to_keeper) = keeper.into_split();
    let has_left = Arc::new(AtomicBool::new(false));
    let leaves = Arc::clone(&has_left);
    let asks = tokio::spawn(async move {
        let _ = copy(&mut from_node, &mut to_keeper).await;
        leaves.store(true, Ordering::SeqCst);
    });
    let mut from_keeper = BufReader::new(from_keeper);
    loop {
        let mut frame = Vec::new();
        if from_keeper.read_until(END, &mut frame).await? == 0 {
            break;
        }
        frame.pop();
        let mut said: Value = serde_json::from_slice(&frame)?;
        let welcome = said.get_mut("welcome").and_then(Value::as_object_mut);
        let is_welcome = welcome.is_some();
        if let Some(welcome) = welcome {
            for name in UNSAID {
                welcome.remove(name).unwrap();
            }
        }
        to_node.write_all(&[said.to_string().as_bytes(), &[END]].concat()).await?;
        if is_welcome {
            // What comes behind it is the browser's.
            copy(&mut from_keeper, &mut to_node).await?;
            break;
        }
    }
    if !has_left.load(Ordering::SeqCst) {
        let _ = fs::remove_file(place);
    }
    to_node.shutdown().await?;
    asks.abort();
    Ok(())
}
