//! The network between a browser and its node, which can be cut.

use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use url::Url;

/// A way to a node; it ends when this is dropped.
pub(super) struct Wire {
    address: SocketAddr,
    is_cut: Arc<watch::Sender<bool>>,
    task: JoinHandle<()>,
}

impl Wire {
    /// A way from there to whoever listens here.
    pub(super) fn lay(listener: TcpListener, node: SocketAddr) -> Self {
        let address = listener.local_addr().unwrap();
        let is_cut = Arc::new(watch::Sender::new(false));
        let task = tokio::spawn(pass(listener, node, Arc::clone(&is_cut)));
        Self { address, is_cut, task }
    }

    /// Where a browser finds the node by it.
    pub(super) fn url(&self) -> Url {
        format!("http://{}/", self.address).parse().unwrap()
    }

    /// Ends every connection, and lets none through.
    pub(super) fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    /// Lets connections through again.
    pub(super) fn mend(&self) {
        self.is_cut.send_replace(false);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn pass(listener: TcpListener, node: SocketAddr, is_cut: Arc<watch::Sender<bool>>) {
    while let Ok((mut here, _)) = listener.accept().await {
        let mut cut = is_cut.subscribe();
        tokio::spawn(async move {
            let talk = async {
                let mut there = TcpStream::connect(node).await?;
                copy_bidirectional(&mut here, &mut there).await
            };
            tokio::select! {
                biased;
                _ = cut.wait_for(|is_cut| *is_cut) => {}
                _ = talk => {}
            }
        });
    }
}
