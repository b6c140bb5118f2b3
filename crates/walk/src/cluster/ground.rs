//! Three nodes that are one, with a real PostgreSQL and a real NATS, each at the end of a cable of its own.

use super::machines::{Machines, NODES, Seat};
use crate::standin::MASTER_KEY;
use anyhow::{Context as _, Result};
use baton_api::Client;
use baton_playground::{Cable, CableEnd, Cut, Nats};
use baton_postgres::Server;
use baton_store::{Limits, MasterKey, Store};
use std::path::PathBuf;
use tokio::task::{block_in_place, spawn_blocking};

/// What leads from or to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// To the database.
    Database,
    /// To the bus.
    Bus,
    /// From the other nodes to this one.
    Way,
}

/// The cables of one node.
struct Lines {
    database: Cable,
    bus: Cable,
    way: Cable,
}

impl Lines {
    fn lay(server: &Server, bus: &Nats) -> Result<Self> {
        Ok(Self {
            database: Cable::lay(CableEnd::Socket(server.socket()))?,
            bus: Cable::lay(CableEnd::Address(bus.address()))?,
            // Where it leads is known once the node listens.
            way: Cable::lay(CableEnd::Address(bus.address()))?,
        })
    }

    fn seat(&self, database: &str, bus: &Nats) -> Result<Seat> {
        let [database_port, bus_port, way] =
            [&self.database, &self.bus, &self.way].map(Cable::port);
        Ok(Seat {
            database: format!("postgres://baton:unused@127.0.0.1:{database_port}/{database}")
                .parse()?,
            internal_url: format!("http://127.0.0.1:{way}").parse()?,
            bus: format!("nats://127.0.0.1:{bus_port}").parse()?,
            credentials: bus.credentials(),
        })
    }

    fn of(&self, line: Line) -> &Cable {
        match line {
            Line::Database => &self.database,
            Line::Bus => &self.bus,
            Line::Way => &self.way,
        }
    }
}

/// The nodes, and what they stand on.
pub struct Cluster<M> {
    pub(crate) machines: M,
    /// The database, past all cables.
    pub(crate) store: Store,
    lines: Vec<Lines>,
    server: Server,
    bus: Nats,
}

impl<M: Machines> Cluster<M> {
    /// Three nodes that know each other, with the program of NATS. It needs a runtime of several threads.
    pub async fn start(nats: PathBuf, of: &M::Of) -> Result<Self> {
        let server = spawn_blocking(Server::start).await??;
        let bus = Nats::start(nats, None).await?;
        let url = block_in_place(|| server.create_database())?;
        let name = url.rsplit_once('/').and_then(|(_, rest)| rest.split_once('?'));
        let (name, _) = name.context("expected the name of a database")?;
        let lines: Vec<Lines> =
            (0..NODES).map(|_| Lines::lay(&server, &bus)).collect::<Result<_>>()?;
        let seats = lines.iter().map(|lines| lines.seat(name, &bus)).collect::<Result<_>>()?;
        let machines = M::start(of, seats).await?;
        for (at, lines) in lines.iter().enumerate() {
            lines.way.lead_to(CableEnd::Address(machines.address(at)?));
        }
        let (database, key) = (url.parse()?, MasterKey::from_base64(MASTER_KEY)?);
        let limits = Limits::default();
        let store = Store::open(baton_store::Config { database, key, limits }).await?;
        Ok(Self { machines, store, lines, server, bus })
    }

    /// A client of a node, whether or not it runs.
    pub(crate) fn client(&self, at: usize) -> Result<Client> {
        self.machines.client(at)
    }

    /// Cuts a line of a node.
    pub(crate) fn cut(&self, at: usize, line: Line, how: Cut) {
        self.lines[at].of(line).set(how);
    }

    /// Joins all lines of a node, and waits until they are.
    pub(crate) async fn join(&self, at: usize) {
        for line in [Line::Database, Line::Bus, Line::Way] {
            let cable = self.lines[at].of(line);
            cable.set(Cut::Whole);
            cable.settled().await;
        }
    }

    /// Starts a node, with all its lines whole.
    pub(crate) async fn start_node(&mut self, at: usize, rehydrates: bool) -> Result<()> {
        self.join(at).await;
        self.machines.start_node(at, rehydrates).await
    }

    /// Lets the database end as in a crash, and start again.
    pub(crate) fn restart_database(&mut self) -> Result<()> {
        block_in_place(|| {
            self.server.stop()?;
            self.server.restart()
        })
    }

    /// Ends the bus.
    pub(crate) async fn kill_bus(&mut self) -> Result<()> {
        self.bus.kill().await
    }

    /// Starts the bus anew, where it was.
    pub(crate) async fn start_bus(&mut self) -> Result<()> {
        self.bus.restart().await
    }

    /// Mends everything: what stands still goes on, what is cut is joined, what is down starts.
    pub(crate) async fn mend(&mut self, is_bus_away: bool) -> Result<()> {
        self.machines.thaw();
        for at in 0..NODES {
            self.join(at).await;
        }
        if is_bus_away {
            self.start_bus().await?;
        }
        for at in 0..NODES {
            if !self.machines.is_up(at) {
                self.start_node(at, true).await?;
            }
        }
        Ok(())
    }
}
