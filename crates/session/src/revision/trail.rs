//! Which revision bore which counter, in short, of many more than are remembered whole.
//!
//! The one idea: two revisions that bear one counter show that a copy of a node has written, however long
//! ago. A node that has forgotten one of the two would miss it. So four bytes of the name of each revision
//! are remembered beside its counter, and nodes tell each other what they remember.

use super::vector::Actor;
use super::{RevisionId, Signed};
use crate::text_form::{InvalidText, parse_hex};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

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
