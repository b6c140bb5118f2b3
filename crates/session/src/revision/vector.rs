//! Version vectors: who counts revisions, and how far each actor had come when one was written; and trails,
//! which revision bore which counter, in short, of many more than are remembered whole.
//!
//! The one idea: a counter counts one actor's own revisions of one session and is never reused, so one
//! vector covers another exactly when its writer had seen all that the other one had ([why an integer
//! will not do](https://en.wikipedia.org/wiki/Version_vector)).
//!
//! Two revisions that bear one counter show that a copy of a node has written, however long
//! ago. A node that has forgotten one of the two would miss it. So four bytes of the name of each revision
//! are remembered beside its counter, and nodes tell each other what they remember.

use super::{RevisionId, Signed};
use crate::id::NodeId;
use crate::text_form::{InvalidText, parse_hex, text_form};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fmt::Write as _;
use std::str::FromStr;

/// The largest counter: what every JSON number holds exactly (RFC 7493, section 2.2).
pub const COUNTER_MAX: u64 = (1 << 53) - 1;

/// How far each actor had come. An actor that has written nothing is not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Actor, u64>", into = "BTreeMap<Actor, u64>")]
pub struct Vector(BTreeMap<Actor, u64>);

/// A vector with a counter that no actor counts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected counters from 1 to {COUNTER_MAX}, found {0}")]
pub struct InvalidCounter(u64);

/// How two vectors stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// They are the same.
    Equal,
    /// The first is covered by the second.
    Before,
    /// The first covers the second.
    After,
    /// Each has something that the other has not.
    Concurrent,
}

impl Vector {
    /// How far `actor` had come; 0 when it has written nothing.
    pub fn get(&self, actor: &Actor) -> u64 {
        self.0.get(actor).copied().unwrap_or(0)
    }

    /// Moves `actor` on to `counter`.
    pub(super) fn advance(&mut self, actor: Actor, counter: u64) {
        self.0.insert(actor, counter);
    }

    /// Leaves actors out.
    #[must_use]
    pub(super) fn without(mut self, is_out: impl Fn(&Actor) -> bool) -> Self {
        self.0.retain(|actor, _| !is_out(actor));
        self
    }

    /// The actors, each with how far it had come.
    pub fn iter(&self) -> impl Iterator<Item = (&Actor, u64)> {
        self.0.iter().map(|(actor, counter)| (actor, *counter))
    }

    /// How many actors it knows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has at least all that `other` has.
    pub fn covers(&self, other: &Self) -> bool {
        other.iter().all(|(actor, counter)| self.get(actor) >= counter)
    }

    /// How it compares to another.
    pub fn compare(&self, other: &Self) -> Order {
        match (self.covers(other), other.covers(self)) {
            (true, true) => Order::Equal,
            (true, false) => Order::After,
            (false, true) => Order::Before,
            (false, false) => Order::Concurrent,
        }
    }

    /// The least vector that covers both.
    #[must_use]
    pub fn join(mut self, other: &Self) -> Self {
        for (actor, counter) in other.iter() {
            let own = self.0.entry(*actor).or_default();
            *own = (*own).max(counter);
        }
        self
    }

    /// The greatest vector that both cover.
    #[must_use]
    pub fn meet(&self, other: &Self) -> Self {
        let both = self.iter().map(|(actor, counter)| (*actor, counter.min(other.get(actor))));
        Self(both.filter(|(_, counter)| *counter > 0).collect())
    }
}

impl TryFrom<BTreeMap<Actor, u64>> for Vector {
    type Error = InvalidCounter;

    fn try_from(entries: BTreeMap<Actor, u64>) -> Result<Self, InvalidCounter> {
        let is_wrong = |counter: &&u64| !(1..=COUNTER_MAX).contains(*counter);
        match entries.values().find(is_wrong) {
            Some(counter) => Err(InvalidCounter(*counter)),
            None => Ok(Self(entries)),
        }
    }
}

impl From<Vector> for BTreeMap<Actor, u64> {
    fn from(vector: Vector) -> Self {
        vector.0
    }
}

/// A stretch of a node's life in which its counters go on: random, and another one after a data
/// folder was copied or restored. In text 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Epoch([u8; 8]);

/// Who advances a counter: a node in one of its epochs, in text `<node>#<epoch>`. An edit that had
/// not seen the newest one of its own node counts on a line of its own, `<node>#<epoch>.<line>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Actor {
    /// The node.
    pub node: NodeId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Which line of edits; 0 is the first.
    pub line: u32,
}

impl Epoch {
    /// An epoch of random bytes.
    pub fn new(random: [u8; 8]) -> Self {
        Self(random)
    }
}

impl Actor {
    /// A node in one of its epochs, on its first line.
    pub fn new(node: NodeId, epoch: Epoch) -> Self {
        Self { node, epoch, line: 0 }
    }

    /// The same node in the same epoch, on another line.
    pub(super) fn on_line(self, line: u32) -> Self {
        Self { line, ..self }
    }

    /// Whether both are of one epoch of one node.
    pub(super) fn is_kin(&self, other: &Self) -> bool {
        (self.node, self.epoch) == (other.node, other.epoch)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Epoch {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        parse_hex(text).map(Self).ok_or(InvalidText("an epoch: 16 hexadecimal digits"))
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.node, self.epoch)?;
        if self.line == 0 { Ok(()) } else { write!(f, ".{}", self.line) }
    }
}

impl FromStr for Actor {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let invalid = InvalidText("an actor: a node's id, '#' and an epoch");
        let (node, rest) = text.split_once('#').ok_or(invalid)?;
        let (epoch, line) = rest.split_once('.').unwrap_or((rest, "0"));
        let actor = Self {
            node: node.parse().map_err(|_| invalid)?,
            epoch: epoch.parse()?,
            line: line.parse().map_err(|_| invalid)?,
        };
        // Ids and numbers can be written in other ways too; an actor has one.
        if actor.to_string() == text { Ok(actor) } else { Err(invalid) }
    }
}

text_form!(Epoch, Actor);

/// How many counters are remembered of a session.
pub const TRAIL_MAX: usize = 2048;

/// The first bytes of a revision's hash: enough to see that two differ, and no proof that they are one.
type Mark = [u8; 4];

/// Which revision bore which counter of which actor. In JSON an object: for each actor a list of
/// texts `<first counter>:<marks of it and of the following ones, 8 hexadecimal digits each>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Actor, Vec<String>>", into = "BTreeMap<Actor, Vec<String>>")]
pub struct Trail(BTreeMap<Actor, BTreeSet<(u64, Mark)>>);

fn mark(id: RevisionId) -> Mark {
    let [a, b, c, d, ..] = id.hash.0;
    [a, b, c, d]
}

impl Trail {
    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many counters it remembers.
    pub fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Remembers the counter of a revision.
    pub(super) fn note(&mut self, signed: &Signed) {
        if let Some((actor, counter)) = signed.dot() {
            self.0.entry(actor).or_default().insert((counter, mark(signed.id())));
        }
    }

    /// Remembers what another one does, as far as the actors are known to have come.
    pub(super) fn join(&mut self, other: &Self, vouched: impl Fn(&Actor) -> u64) {
        for (actor, marks) in &other.0 {
            let known = vouched(actor);
            let marks = marks.iter().filter(|(counter, _)| *counter <= known).copied();
            let mut marks = marks.peekable();
            if marks.peek().is_some() {
                self.0.entry(*actor).or_default().extend(marks);
            }
        }
    }

    /// Whether it remembers another revision with the counter of this one, and not this one.
    pub(super) fn contradicts(&self, signed: &Signed) -> bool {
        let Some((actor, counter)) = signed.dot() else { return false };
        let Some(marks) = self.0.get(&actor) else { return false };
        let mut same = marks.range((counter, Mark::default())..=(counter, [u8::MAX; 4])).peekable();
        same.peek().is_some() && same.all(|(_, known)| *known != mark(signed.id()))
    }

    /// The actors of which two revisions bear one counter, each with the first such counter.
    pub(super) fn forks(&self) -> impl Iterator<Item = (Actor, u64)> {
        self.0.iter().filter_map(|(actor, marks)| Some((*actor, first_fork(marks)?)))
    }

    /// Forgets the oldest of the actor that has counted most, but not where an actor forked.
    pub(super) fn shorten(&mut self) {
        while self.len() > TRAIL_MAX {
            let Some(longest) = self.0.values_mut().max_by_key(|marks| marks.len()) else { return };
            let forked = first_fork(longest);
            let oldest = longest.iter().find(|(counter, _)| Some(*counter) != forked).copied();
            match oldest {
                Some(oldest) => longest.remove(&oldest),
                None => longest.pop_first().is_some(),
            };
            self.0.retain(|_, marks| !marks.is_empty());
        }
    }
}

/// The first counter that two revisions bear.
fn first_fork(marks: &BTreeSet<(u64, Mark)>) -> Option<u64> {
    let pairs = marks.iter().zip(marks.iter().skip(1));
    pairs.into_iter().find(|(one, next)| one.0 == next.0).map(|(one, _)| one.0)
}

impl From<Trail> for BTreeMap<Actor, Vec<String>> {
    fn from(trail: Trail) -> Self {
        trail.0.into_iter().map(|(actor, marks)| (actor, runs(&marks))).collect()
    }
}

/// The texts of an actor: one for each run of counters without a gap and without a fork.
fn runs(marks: &BTreeSet<(u64, Mark)>) -> Vec<String> {
    let mut runs: Vec<String> = Vec::new();
    let mut before = None;
    for (counter, mark) in marks {
        match runs.last_mut() {
            Some(run) if before == counter.checked_sub(1) => push(run, *mark),
            _ => {
                let mut run = format!("{counter}:");
                push(&mut run, *mark);
                runs.push(run);
            }
        }
        before = Some(*counter);
    }
    runs
}

fn push(run: &mut String, mark: Mark) {
    // Writing to a text cannot fail.
    let _ = write!(run, "{:08x}", u32::from_be_bytes(mark));
}

impl TryFrom<BTreeMap<Actor, Vec<String>>> for Trail {
    type Error = InvalidText;

    fn try_from(told: BTreeMap<Actor, Vec<String>>) -> Result<Self, InvalidText> {
        let mut trail = Self::default();
        for (actor, runs) in told {
            for run in runs {
                let marks = parse_run(&run).ok_or(InvalidText(
                    "counters of an actor: a number from 1, ':' and 8 hexadecimal digits for each",
                ))?;
                trail.0.entry(actor).or_default().extend(marks);
            }
        }
        // A peer may remember more than is kept here: then the oldest go.
        trail.shorten();
        Ok(trail)
    }
}

fn parse_run(run: &str) -> Option<Vec<(u64, Mark)>> {
    let (first, marks) = run.split_once(':')?;
    let first: u64 = first.parse().ok().filter(|first| *first > 0)?;
    let (marks, rest) = marks.as_bytes().as_chunks::<8>();
    let digits = marks.iter().map(|digits| parse_hex(std::str::from_utf8(digits).ok()?));
    let marks: Vec<Mark> = digits.collect::<Option<_>>()?;
    let counters = (0..).map_while(|number| first.checked_add(number));
    (rest.is_empty() && !marks.is_empty()).then(|| counters.zip(marks).collect())
}
