//! Houses full of sessions that nobody ever opened: written into the database directly.

use anyhow::Result;
use baton_playground::House;
use baton_session::{
    Lifecycle, NodeId, Owner, Part, PartKind, Session, SessionId, SnapshotId, SnapshotReason,
};
use baton_store::{Config, DatabaseUrl, Limits, MasterKey, NewSnapshot, Store};
use jiff::Timestamp;

/// How many sessions are active, however many there are.
pub(super) const ACTIVE: u32 = 10;
/// How many snapshots each has.
pub(super) const SNAPSHOTS: u32 = 10;

/// Fills the database of an empty house. `ACTIVE` sessions, evenly spread, can be woken; of the
/// others half are stale and half are closed.
pub(super) async fn fill(house: House, sessions: u32) -> Result<House> {
    println!("storing {sessions} sessions with {SNAPSHOTS} snapshots each");
    house.data().create()?;
    let node = node(&house)?;
    let store = open(&house).await?;
    for number in 0..sessions {
        let lifecycle = match number {
            number if number % (sessions / ACTIVE) == 0 => Lifecycle::Recoverable,
            number if number % 2 == 0 => Lifecycle::Stale,
            _ => Lifecycle::Closed,
        };
        let session = session(number, node, lifecycle)?;
        store.create_session(&session).await?;
        for snapshot in 0..SNAPSHOTS {
            store.create_snapshot(new_snapshot(&session, snapshot)).await?;
        }
    }
    store.close().await;
    Ok(house)
}

/// Makes those sessions active that can be woken, as if their node had died with their browsers.
pub(super) async fn wake(house: &House) -> Result<()> {
    let node = node(house)?;
    let store = open(house).await?;
    let asleep =
        store.list_sessions(&Owner::local(), Some(Lifecycle::Recoverable), None, ACTIVE).await?;
    for session in asleep {
        let (from, to) = (Lifecycle::Recoverable, Lifecycle::Active);
        store.update_lifecycle(session.id, node, from, to, Timestamp::now()).await?;
    }
    store.close().await;
    Ok(())
}

/// The node of a house; one that never started gets an id, which its key remembers later.
fn node(house: &House) -> Result<NodeId> {
    if let Some(node) = house.data().node_id()? {
        return Ok(node);
    }
    let node = NodeId::new(Timestamp::now(), [7; 10]);
    house.data().write_node_id(node)?;
    Ok(node)
}

async fn open(house: &House) -> Result<Store> {
    let (database, limits) = (DatabaseUrl::Sqlite(house.data().database()), Limits::default());
    let key = MasterKey::load_or_create(&house.data().key())?;
    Ok(Store::open(Config { database, key, limits }).await?)
}

fn session(number: u32, node: NodeId, lifecycle: Lifecycle) -> Result<Session> {
    let at = Timestamp::now();
    Ok(Session {
        id: SessionId::new(at, random(number, 0)),
        name: format!("session-{number}").parse()?,
        description: "one of many".to_owned(),
        owner: Owner::local(),
        node,
        headed: false,
        debug: false,
        lifecycle,
        created_at: at,
        updated_at: at,
    })
}

/// What a small session holds: between two snapshots only its tab changes.
fn new_snapshot(session: &Session, number: u32) -> NewSnapshot {
    let part = |kind, name: &str, text: String| Part {
        kind,
        name: name.to_owned(),
        bytes: text.repeat(10).into_bytes(),
    };
    let taken_at = Timestamp::now();
    let random = random(number, 1);
    NewSnapshot {
        id: SnapshotId::new(taken_at, random),
        session: session.id,
        owner: session.owner.clone(),
        taken_at,
        reason: SnapshotReason::Interval,
        term: None,
        shrunk: false,
        sibling: false,
        saved: false,
        parts: vec![
            part(PartKind::Cookies, "example.org", session.name.to_string()),
            part(PartKind::Tab, "0000", format!("{} at {number}", session.name)),
        ],
        carried: Vec::new(),
        keep: None,
    }
}

/// Not random at all: no two ids are made for the same number.
fn random(number: u32, kind: u8) -> [u8; 10] {
    let [a, b, c, d] = number.to_be_bytes();
    [kind, 0, 0, 0, 0, 0, a, b, c, d]
}
