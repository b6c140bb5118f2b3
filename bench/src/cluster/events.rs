//! Changes at one node, and whoever follows them there and at another one.
//!
//! The one idea: a change has arrived when its session was named, or when the follower was told that too much came
//! and has looked at the list, as clients do. What arrives in neither way was lost.

use super::nodes::Nodes;
use super::{Pairs, Side};
use crate::report::{Comparison, Figure, Ratio, Section, median, percentile};
use anyhow::{Context as _, Result, ensure};
use baton_api::{Client, FileText, ImportSession, ListSessions};
use baton_session::SessionId;
use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::Response;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Sessions that are made in a round, and over how many connections.
const CHANGES: usize = 400;
const CONNECTIONS: usize = 8;
/// Pairs of rounds.
const ROUNDS: usize = 20;
/// How long the last change may be on its way.
const LIMIT: Duration = Duration::from_secs(10);
/// 0.6 of the changes have to arrive in the same time.
const AIM: f64 = 1.0 / 0.6;

/// Makes sessions at one node, with a follower there or at another one, in turn.
pub async fn measure(nodes: &Nodes) -> Result<Section> {
    let before = nodes.bus(Side::Other).await?.gaps;
    let mut rounds = Vec::new();
    // The first round is not counted.
    for round in 0..=ROUNDS {
        let mut found = [Round::default(), Round::default()];
        for side in Side::order(round) {
            found[usize::from(side == Side::Own)] = follow_round(nodes, side, round).await?;
        }
        if round > 0 {
            let [other, own] = &found;
            println!(
                "round {} of {ROUNDS}: {:.2} and {:.2} ms",
                rounds.len() + 1,
                other.each,
                own.each
            );
            rounds.push(found);
        }
    }
    let gaps = nodes.bus(Side::Other).await?.gaps - before;
    Ok(section(&rounds, gaps))
}

/// What a follower got.
#[derive(Debug, Default)]
struct Round {
    /// Milliseconds for each change, from the first request until the last one has arrived.
    each: f64,
    /// Milliseconds of each change from its answer until it has arrived.
    delays: Vec<f64>,
    /// How many were found in a list, because too much came at once.
    looked_up: usize,
    /// How many did not arrive.
    lost: usize,
}

#[expect(clippy::cast_precision_loss, reason = "some thousand changes")]
fn section(rounds: &[[Round; 2]], gaps: u64) -> Section {
    let pairs = Pairs(rounds.iter().map(|[other, own]| (other.each, own.each)).collect());
    let lost = rounds.iter().flatten().map(|round| round.lost).sum::<usize>();
    let figure = |what: &str, found, aim, unit| Figure { what: what.to_owned(), found, aim, unit };
    let delays = |side: usize| {
        rounds.iter().flat_map(|pair| pair[side].delays.iter().copied()).collect::<Vec<_>>()
    };
    let rate = |values: Vec<f64>| format!("{:.0} a second", 1e3 / median(values));
    let delay = |values: Vec<f64>| {
        format!("{:.0} ms, p95 {:.0} ms", median(values.iter().copied()), percentile(&values, 95))
    };
    let looked_up =
        |side: usize| rounds.iter().map(|pair| pair[side].looked_up).sum::<usize>().to_string();
    Section {
        title: "Changes told at another node of the cluster",
        method: format!(
            "{CHANGES} sessions are made at one node over {CONNECTIONS} connections, as fast as it takes them, while \
             one follower has `GET /events?snapshots=true` open there, or at another node, which hears of them by the \
             bus; {ROUNDS} rounds in turn. A change has arrived when its session was named, or found in a list that was \
             asked for because a word named none. The ratio is that of the time from the first request until the last \
             change has arrived; 1.67 is 0.6 of the changes in the same time."
        ),
        comparisons: vec![Comparison {
            what: "a change until it is told, at another node",
            ratio: Ratio::of(&pairs.0),
            aim: AIM,
            aim_is_for_the_bound: false,
        }],
        figures: vec![
            figure("changes that were lost without a word", lost as f64, 0.0, "changes"),
            figure("gaps that were heard on the bus", gaps as f64, 0.0, "gaps"),
        ],
        medians: vec![
            ("arrived at the node itself".to_owned(), rate(pairs.owns())),
            ("arrived at another node".to_owned(), rate(pairs.others())),
            ("until it is told, at the node itself".to_owned(), delay(delays(1))),
            ("until it is told, at another node".to_owned(), delay(delays(0))),
            ("changes found in lists, at the node itself (all)".to_owned(), looked_up(1)),
            ("changes found in lists, at another node (all)".to_owned(), looked_up(0)),
        ],
        tables: Vec::new(),
    }
}

/// Makes sessions at the one node while a side is followed, and removes them again.
#[expect(clippy::cast_precision_loss, reason = "some hundred changes")]
async fn follow_round(nodes: &Nodes, side: Side, round: usize) -> Result<Round> {
    let (own, at) = (nodes.at(Side::Own)?, nodes.at(side)?);
    let mut follower = Follower::start(at).await?;
    let begun = Instant::now();
    let prefix = format!("{}-{round}", if side == Side::Own { "own" } else { "other" });
    let making = tokio::spawn(make(own.clone(), prefix));
    let mut arrived = Arrived::default();
    while !making.is_finished() {
        // A short wait, so that the end of the making is noticed.
        if let Ok(word) = timeout(Duration::from_millis(5), follower.next()).await {
            arrived.take(word?, at).await?;
        }
    }
    let made = making.await??;
    let end = Instant::now() + LIMIT;
    while !made.keys().all(|id| arrived.at.contains_key(id)) && Instant::now() < end {
        if let Ok(word) = timeout(end - Instant::now(), follower.next()).await {
            arrived.take(word?, at).await?;
        }
    }
    let last = made.keys().filter_map(|id| arrived.at.get(id)).max().copied();
    let took = last.context("expected a change that arrived")?.duration_since(begun);
    let delay = |(id, answered): (&SessionId, &Instant)| {
        Some(arrived.at.get(id)?.saturating_duration_since(*answered).as_secs_f64() * 1e3)
    };
    let delays: Vec<f64> = made.iter().filter_map(delay).collect();
    let listed = list(at).await?;
    ensure!(made.keys().all(|id| listed.contains(id)), "expected each session in the list");
    remove(own, made.keys().copied().collect()).await?;
    Ok(Round {
        each: took.as_secs_f64() * 1e3 / made.len() as f64,
        lost: made.len() - delays.len(),
        looked_up: made.keys().filter(|id| arrived.looked_up.contains(*id)).count(),
        delays,
    })
}

/// Which sessions a follower knows of, and since when.
#[derive(Default)]
struct Arrived {
    at: HashMap<SessionId, Instant>,
    /// Those of them that were found in a list.
    looked_up: HashSet<SessionId>,
}

impl Arrived {
    /// Takes a word about a session, or about some that it does not name.
    async fn take(&mut self, word: Word, at: &Client) -> Result<()> {
        let now = Instant::now();
        match word {
            Word::Session(id) => {
                self.at.entry(id).or_insert(now);
            }
            Word::Many => {
                for id in list(at).await? {
                    if let Entry::Vacant(unseen) = self.at.entry(id) {
                        unseen.insert(Instant::now());
                        self.looked_up.insert(id);
                    }
                }
            }
            Word::Other => {}
        }
        Ok(())
    }
}

/// What is told.
enum Word {
    /// Of this session something was written.
    Session(SessionId),
    /// Of many.
    Many,
    /// Something else.
    Other,
}

/// Follows a node.
struct Follower {
    answer: Response,
    read: Vec<u8>,
}

impl Follower {
    async fn start(at: &Client) -> Result<Self> {
        let http = reqwest::Client::builder().no_proxy().build()?;
        let url = at.base().join("events?snapshots=true")?;
        let request = http.get(url).bearer_auth(at.key().expose_secret());
        let answer = request.send().await?.error_for_status()?;
        Ok(Self { answer, read: Vec::new() })
    }

    /// The next word. Nothing is lost when this is not waited for to the end.
    async fn next(&mut self) -> Result<Word> {
        loop {
            if let Some(end) = self.read.windows(2).position(|pair| pair == b"\n\n") {
                let event: Vec<u8> = self.read.drain(..end + 2).collect();
                return word(&String::from_utf8(event)?);
            }
            let more = self.answer.chunk().await?;
            self.read.extend_from_slice(&more.context("expected the node to tell on")?);
        }
    }
}

fn word(event: &str) -> Result<Word> {
    if !event.lines().any(|line| line == "event: snapshots") {
        return Ok(Word::Other);
    }
    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
    let data: Value = serde_json::from_str(data.context("expected data of an event")?)?;
    Ok(match data["id"].as_str() {
        Some(id) => Word::Session(id.parse()?),
        None => Word::Many,
    })
}

/// Makes sessions, over several connections; when each was answered.
async fn make(client: Client, prefix: String) -> Result<HashMap<SessionId, Instant>> {
    let file = FileText::new(json!({"cookies": [], "origins": []}).to_string())?;
    let made = stream::iter(0..CHANGES).map(|number| {
        let (client, file) = (client.clone(), file.clone());
        let name = format!("{prefix}-{number}");
        async move {
            let request = ImportSession { name: Some(name.parse()?), description: None, file };
            let made = client.import_session(&request).await?;
            anyhow::Ok((made.session.session.id, Instant::now()))
        }
    });
    made.buffer_unordered(CONNECTIONS).try_collect().await
}

/// Removes sessions, so that each round has the same database.
async fn remove(client: &Client, sessions: Vec<SessionId>) -> Result<()> {
    let removed = stream::iter(sessions).map(async |id| {
        client.delete_session(&id.to_string()).await?;
        anyhow::Ok(())
    });
    removed.buffer_unordered(CONNECTIONS).try_collect().await
}

/// All sessions that a node lists.
async fn list(client: &Client) -> Result<HashSet<SessionId>> {
    let mut found = HashSet::new();
    let mut query = ListSessions { limit: Some(200), ..ListSessions::default() };
    loop {
        let page = client.list_sessions(&query).await?;
        found.extend(page.items.iter().map(|session| session.id));
        let Some(after) = page.next else { return Ok(found) };
        query.after = Some(after);
    }
}
