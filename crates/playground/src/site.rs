//! A site on loopback, on every host name that ends in `.localhost`.

use anyhow::Result;
use axum::Router;
use std::net::SocketAddr;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use url::Url;

/// A running site; it ends when this is dropped.
pub struct Site {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Site {
    /// Serves `pages` on a free port.
    pub async fn start(pages: Router) -> Result<Self> {
        Self::on(TcpListener::bind("127.0.0.1:0").await?, pages)
    }

    /// Serves `pages` to whoever reaches this listener.
    pub fn on(listener: TcpListener, pages: Router) -> Result<Self> {
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // It ends with the task: there is nothing to say when it does.
            let _ = axum::serve(listener, pages).await;
        });
        Ok(Self { address, task })
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> Result<Url> {
        Ok(Url::parse(&format!("http://{}{path}", self.address))?)
    }

    /// The address of a path on a host of its own, such as `a.localhost`.
    pub fn url_on(&self, host: &str, path: &str) -> Result<Url> {
        Ok(Url::parse(&format!("http://{host}.localhost:{}{path}", self.address.port()))?)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}
