//! Three stand-in nodes: a schedule of them takes as long as its leases, and costs little more.

use super::machines::{CLUSTER, Held, Machines, Seat};
use crate::standin::{Member, Shared, StandInNode, Street};
use anyhow::Result;
use baton_api::Client;
use baton_session::SessionId;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::runtime::Handle;

/// The nodes, and the browsers that are none.
#[derive(Debug)]
pub struct StandInMachines {
    street: Street,
    nodes: Vec<StandInNode>,
}

impl Machines for StandInMachines {
    const LEASE: Duration = Duration::from_secs(4);

    type Of = ();

    async fn start((): &(), seats: Vec<Seat>) -> Result<Self> {
        let street = Street::new(seats.len(), true);
        let mut nodes = Vec::new();
        for (at, seat) in seats.into_iter().enumerate() {
            let member = Member {
                cluster: CLUSTER.to_owned(),
                internal_url: seat.internal_url,
                bus: (seat.bus, seat.credentials),
            };
            let database = seat.database.as_str().parse()?;
            let shared = Shared { database, lease: Self::LEASE, member: Some(member) };
            let mut node = StandInNode::new(&street, at, &Handle::current(), Some(shared))?;
            node.start(false).await?;
            nodes.push(node);
        }
        Ok(Self { street, nodes })
    }

    fn address(&self, at: usize) -> Result<SocketAddr> {
        Ok(self.nodes[at].address())
    }

    fn client(&self, at: usize) -> Result<Client> {
        self.nodes[at].client()
    }

    fn is_up(&self, at: usize) -> bool {
        self.nodes[at].is_up()
    }

    async fn start_node(&mut self, at: usize, rehydrates: bool) -> Result<()> {
        self.nodes[at].start(rehydrates).await
    }

    async fn kill_node(&mut self, at: usize) -> Result<()> {
        self.nodes[at].kill().await
    }

    async fn stop_node(&mut self, at: usize) -> Result<()> {
        self.nodes[at].stop().await
    }

    fn freeze_node(&self, at: usize) {
        self.nodes[at].freeze(true);
    }

    fn thaw(&self) {
        self.nodes.iter().for_each(|node| node.freeze(false));
    }

    fn findings(&self) -> Vec<String> {
        self.street.findings()
    }

    async fn browser(&self, session: SessionId) -> Option<Held> {
        let found = self.street.anywhere(session);
        found.map(|browser| Held { number: browser.number, marks: browser.names() })
    }

    async fn places(&self, session: SessionId) -> Vec<usize> {
        self.street.places(session)
    }

    fn newest(&self, session: SessionId) -> Option<u64> {
        self.street.newest(session)
    }

    async fn mark(&self, session: SessionId, name: &str, host: &str) -> bool {
        let found = self.street.anywhere(session);
        found.is_some_and(|browser| browser.set_cookie(name, host))
    }

    async fn kill_browser(&self, session: SessionId) {
        for at in self.street.places(session) {
            self.street.kill(at, session).await;
        }
    }
}

impl Drop for StandInMachines {
    fn drop(&mut self) {
        self.street.clear();
    }
}
