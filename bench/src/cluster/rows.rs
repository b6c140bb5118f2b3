//! A million sessions in the database of a cluster, against ten thousand.
//!
//! The one idea: what a node is asked should cost what is asked for, and not what lies in the database. The rows are
//! written there directly, as many owners' whom the node serves elsewhere, or all as the caller's own.

use crate::report::{Comparison, Ratio, Section, median};
use anyhow::{Context as _, Result, ensure};
use baton_api::{Client, FileText, ImportSession, ListSessions};
use baton_playground::TestNode;
use serde_json::json;
use std::path::Path;
use std::time::Instant;

const MANY: u32 = 1_000_000;
const FEW: u32 = 10_000;
/// Sessions that the caller has beside those, made as clients make them.
const OWN: u32 = 20;
/// Pairs of starts, and how often each thing is asked for after a start, for a median.
const STARTS: usize = 12;
const ASKS: usize = 11;
/// A million may cost as much as ten thousand, but for chance.
const AIM: f64 = 1.2;

/// What is measured after each start, in milliseconds.
const WHAT: [&str; 5] = [
    "start until ready",
    "a session by its name",
    "list of the newest 50",
    "make a session",
    "begin to follow what changes",
];

/// The median of each, after one start.
type RowMedians = [f64; WHAT.len()];

/// Whose the rows are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    /// A hundred times as few owners have them, and another node.
    Others,
    /// The caller has them, at the node that is asked.
    Own,
}

/// Asks nodes on a large database and on a small one, in turn.
pub async fn measure(baton: &Path) -> Result<Vec<Section>> {
    Ok(vec![compare(baton, Whose::Others).await?, compare(baton, Whose::Own).await?])
}

async fn compare(baton: &Path, whose: Whose) -> Result<Section> {
    let mut nodes = [fill(baton, whose, MANY).await?, fill(baton, whose, FEW).await?];
    let mut pairs = Vec::new();
    for pair in 0..STARTS {
        let mut found = [[0.0; WHAT.len()]; 2];
        for side in if pair.is_multiple_of(2) { [0, 1] } else { [1, 0] } {
            found[side][0] = start(&mut nodes[side]).await?;
        }
        let mut times = [Vec::new(), Vec::new()];
        for ask in 0..ASKS {
            for side in if ask.is_multiple_of(2) { [0, 1] } else { [1, 0] } {
                times[side].push(ask_all(nodes[side].client()?).await?);
            }
        }
        for side in [0, 1] {
            for what in 1..WHAT.len() {
                found[side][what] = median(times[side].iter().map(|times| times[what]));
            }
            nodes[side].stop_node().await?;
        }
        let [many, few] = found;
        println!("pair {} of {STARTS}: {many:.2?} and {few:.2?} ms", pair + 1);
        pairs.push((many, few));
    }
    for node in nodes {
        node.clear().await?;
    }
    Ok(section(whose, &pairs))
}

fn section(whose: Whose, pairs: &[(RowMedians, RowMedians)]) -> Section {
    let of = |what: usize| pairs.iter().map(move |(many, few)| (many[what], few[what]));
    let (title, owners) = match whose {
        Whose::Others => {
            ("A million sessions of others", "of other owners, 100 each, at another node")
        }
        Whose::Own => {
            ("A million sessions of one owner", "of the caller, at the node that is asked")
        }
    };
    Section {
        title,
        method: format!(
            "A node on a PostgreSQL with {MANY} rows of sessions {owners}, half of them closed, and one with {FEW}; \
             each has {OWN} of the caller's beside them. {STARTS} starts of both in turn, after each of which both \
             are asked {ASKS} times for each thing, for a median. The ratio is that of {MANY} to {FEW}."
        ),
        comparisons: WHAT
            .iter()
            .enumerate()
            .map(|(what, name)| Comparison {
                what: name,
                ratio: Ratio::of(&of(what).collect::<Vec<_>>()),
                aim: AIM,
                aim_is_for_the_bound: false,
            })
            .collect(),
        figures: Vec::new(),
        medians: WHAT
            .iter()
            .enumerate()
            .map(|(what, name)| {
                let (many, few) =
                    (median(of(what).map(|it| it.0)), median(of(what).map(|it| it.1)));
                ((*name).to_owned(), format!("{many:.2} ms with {MANY}, {few:.2} ms with {FEW}"))
            })
            .collect(),
        tables: Vec::new(),
    }
}

/// The milliseconds until the node says that it is ready.
async fn start(node: &mut TestNode) -> Result<f64> {
    let begun = Instant::now();
    node.start_node().await?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// The milliseconds of each thing that a client asks for; the first place is that of the start.
async fn ask_all(client: &Client) -> Result<RowMedians> {
    let mut times = [0.0; WHAT.len()];
    let clock = |begun: Instant| begun.elapsed().as_secs_f64() * 1e3;
    let begun = Instant::now();
    let found = client.fetch_session("mine-7").await?;
    times[1] = clock(begun);
    ensure!(found.session.name.as_str() == "mine-7", "expected mine-7, found {found:?}");
    let begun = Instant::now();
    let list = client.list_sessions(&ListSessions::default()).await?;
    times[2] = clock(begun);
    ensure!(list.items.len() >= OWN as usize, "expected sessions, found {}", list.items.len());
    let begun = Instant::now();
    let made = import(client, "made").await?;
    times[3] = clock(begun);
    client.delete_session(&made).await?;
    // The last one: reading many rows for it leaves the database's caches without what the others need.
    let begun = Instant::now();
    let events = client.follow_changes().await?;
    times[4] = clock(begun);
    drop(events);
    Ok(times)
}

async fn import(client: &Client, name: &str) -> Result<String> {
    let file = FileText::new(json!({"cookies": [], "origins": []}).to_string())?;
    let request = ImportSession { name: Some(name.parse()?), description: None, file };
    Ok(client.import_session(&request).await?.session.session.id.to_string())
}

/// A node that has run once, on a database with so many rows.
async fn fill(baton: &Path, whose: Whose, rows: u32) -> Result<TestNode> {
    let database = tokio::task::spawn_blocking(baton_postgres::create_database).await??;
    let mut node = TestNode::build(baton)?
        .with("BATON_MASTER_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
        .with("BATON_DATABASE_URL", &database)
        .with("BATON_REQUESTS_PER_MINUTE", "1000000");
    node.start_node().await?;
    for number in 0..OWN {
        import(node.client()?, &format!("mine-{number}")).await?;
    }
    node.stop_node().await?;
    let id = node.data().node_id()?.context("expected a node that has run to have an id")?;
    let sql = rows_of(whose, rows, &id.to_string());
    let begun = Instant::now();
    tokio::task::spawn_blocking(move || {
        baton_postgres::ask(&database, &sql)?;
        baton_postgres::ask(&database, "vacuum analyze")
    })
    .await??;
    println!("{rows} rows were written in {:.0?}", begun.elapsed());
    Ok(node)
}

/// What writes the rows; their ids are older than those of all that clients make.
fn rows_of(whose: Whose, rows: u32, node: &str) -> String {
    let (owner, node) = match whose {
        Whose::Others => (format!("'owner-' || n % {}", rows / 100), "another-node"),
        Whose::Own => ("'local'".to_owned(), node),
    };
    format!(
        "insert into sessions (id, owner, name, description, node, headed, debug, lifecycle, created_at, updated_at)
         select substr(at, 1, 8) || '-' || substr(at, 9, 4) || '-7000-8000-' || lpad(to_hex(n), 12, '0'), {owner},
             'session-' || n, 'one of many', '{node}', 0, 0,
             case when n % 2 = 0 then 'closed' else 'recoverable' end, 1700000000000 + n, 1700000000000 + n
         from (select n, lpad(to_hex(1700000000000 + n), 12, '0') as at
               from generate_series(1, {rows}) as n) as numbered"
    )
}
