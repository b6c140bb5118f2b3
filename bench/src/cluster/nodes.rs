//! Three nodes that are one, and a session with a browser at the first of them.

use super::Side;
use crate::{members, site};
use anyhow::{Context as _, Result, ensure};
use baton_api::{Client, NodeBus};
use baton_playground::{Nats, Site, TestNode};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What the session is called.
pub const SESSION: &str = "shop";
/// How long the nodes may take until they hear each other.
const MEET_LIMIT: Duration = Duration::from_mins(1);
/// How often it is looked whether they do.
const PAUSE: Duration = Duration::from_millis(100);

/// Nodes with one PostgreSQL and one server of NATS; all end with this, or with the process.
pub struct Nodes {
    own: TestNode,
    other: TestNode,
    third: TestNode,
    _nats: Nats,
    site: Site,
}

impl Nodes {
    /// Starts them, waits until they hear each other, and opens the session.
    pub async fn start(baton: &Path) -> Result<Self> {
        let program = Nats::find();
        let program = program.context("expected nats-server, which `cargo xtask setup` unpacks")?;
        let nats = Nats::start(program, None).await?;
        let database = tokio::task::spawn_blocking(baton_postgres::create_database).await??;
        let bus = [
            ("BATON_CLUSTER_BUS_URL", nats.url()),
            ("BATON_CLUSTER_BUS_CREDENTIALS", nats.credentials().display().to_string()),
        ];
        let own = members::start(baton, "own", &database, &bus).await?;
        let other = members::start(baton, "other", &database, &bus).await?;
        let third = members::start(baton, "third", &database, &bus).await?;
        let site = site::start().await?;
        let nodes = Self { own, other, third, _nats: nats, site };
        nodes.meet().await?;
        let url = nodes.site.url("/resting")?;
        let session = nodes.own.open(SESSION, [url]).await?;
        let here = nodes.own.holders(session).await;
        here.context("expected the session at the node that was asked for it")?;
        Ok(nodes)
    }

    /// The one that has the session, or another.
    pub fn at(&self, side: Side) -> Result<&Client> {
        match side {
            Side::Own => self.own.client(),
            Side::Other => self.other.client(),
        }
    }

    /// How the bus is, as that node says it.
    pub async fn bus(&self, side: Side) -> Result<NodeBus> {
        bus(self.at(side)?).await
    }

    /// Ends everything.
    pub async fn clear(self) -> Result<()> {
        for node in [self.own, self.other, self.third] {
            node.clear().await?;
        }
        Ok(())
    }

    async fn meet(&self) -> Result<()> {
        let end = Instant::now() + MEET_LIMIT;
        for node in [&self.own, &self.other, &self.third] {
            let client = node.client()?;
            while client.list_nodes().await?.items.len() < 3 || !bus(client).await?.is_connected {
                ensure!(Instant::now() < end, "expected three nodes that hear each other");
                sleep(PAUSE).await;
            }
        }
        Ok(())
    }
}

async fn bus(client: &Client) -> Result<NodeBus> {
    let nodes = client.list_nodes().await?.items;
    nodes.into_iter().find_map(|node| node.bus).context("expected a bus of the node that was asked")
}
