//! What a schedule needs of the nodes of a cluster and of the browsers at them.

use crate::ask::Marks;
use anyhow::Result;
use baton_api::Client;
use baton_session::SessionId;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How many nodes there are.
pub(crate) const NODES: usize = 3;

/// What the cluster is called.
pub(crate) const CLUSTER: &str = "shop";

/// Where a node of a cluster finds the others, and they find it.
#[derive(Debug, Clone)]
pub struct Seat {
    /// The database, by the node's own cable.
    pub database: Url,
    /// Where the others ask this one.
    pub internal_url: Url,
    /// The bus, by the node's own cable.
    pub bus: Url,
    /// What it is let in by there.
    pub credentials: PathBuf,
}

/// A browser of a session, and what it holds.
#[derive(Debug, Clone)]
pub struct Held {
    /// No other browser has this number.
    pub number: u64,
    /// The names of its cookies.
    pub marks: Marks,
}

/// Nodes that can be asked, broken and looked at. What is asked of one by its number counts from 0.
pub trait Machines: Send + Sync + Sized {
    /// For how long each holds what it holds.
    const LEASE: Duration;

    /// Of what they are made.
    type Of: Sync;

    /// Starts a node for each seat.
    fn start(of: &Self::Of, seats: Vec<Seat>) -> impl Future<Output = Result<Self>> + Send;

    /// Where a node listens.
    fn address(&self, at: usize) -> Result<SocketAddr>;

    /// A client of a node, whether or not it runs.
    fn client(&self, at: usize) -> Result<Client>;

    /// Whether a node runs, or stands still.
    fn is_up(&self, at: usize) -> bool;

    /// Starts a node again, where it was.
    fn start_node(
        &mut self,
        at: usize,
        rehydrates: bool,
    ) -> impl Future<Output = Result<()>> + Send;

    /// Kills a node; its browsers live on.
    fn kill_node(&mut self, at: usize) -> impl Future<Output = Result<()>> + Send;

    /// Ends a node as it should be ended.
    fn stop_node(&mut self, at: usize) -> impl Future<Output = Result<()>> + Send;

    /// Lets a node stand still.
    fn freeze_node(&self, at: usize);

    /// Lets all go on that stand still.
    fn thaw(&self);

    /// What must never be, and was since this was asked last.
    fn findings(&self) -> Vec<String>;

    /// The browser of a session, wherever it is.
    fn browser(&self, session: SessionId) -> impl Future<Output = Option<Held>> + Send;

    /// At which nodes a session has a browser.
    fn places(&self, session: SessionId) -> impl Future<Output = Vec<usize>> + Send;

    /// The number of the browser of a session that started last; none when it never had one.
    fn newest(&self, session: SessionId) -> Option<u64>;

    /// Sets a cookie in the browser of a session, as the site of that host would; false when none runs.
    fn mark(&self, session: SessionId, name: &str, host: &str)
    -> impl Future<Output = bool> + Send;

    /// Kills the browser of a session, and its keeper.
    fn kill_browser(&self, session: SessionId) -> impl Future<Output = ()> + Send;
}
