//! What happens to a cluster, drawn ahead from a seed.
//!
//! A sketch of the nodes goes along, so that most of what is drawn can be; what cannot be changes nothing.

use super::ground::Line;
use super::machines::NODES;
use baton_playground::Cut;
use baton_testing::Dice;
use std::time::Duration;

/// How many sessions there are.
pub(crate) const SESSIONS: usize = 2;

/// What is asked of a node, about a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Opens it, where there is none of its name.
    Open,
    /// Takes a snapshot.
    Capture,
    /// Brings it back.
    Resume,
    /// Closes it.
    Close,
    /// Passes it to an agent; 0 is none.
    Pass(u8),
    /// Removes it.
    Delete,
}

/// What happens. Sessions and nodes are meant by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A caller asks node `at`.
    One {
        /// Which node.
        at: usize,
        /// About which session.
        session: usize,
        /// What for.
        ask: Ask,
    },
    /// Two callers ask about one session, the second a little later.
    Both {
        /// About which session.
        session: usize,
        /// The one, and of which node.
        one: (usize, Ask),
        /// The other.
        other: (usize, Ask),
        /// How much later.
        later: Duration,
    },
    /// The site sets a cookie in the session's browser, wherever that is.
    Mark(usize),
    /// The session's browser is killed, and its keeper.
    KillBrowser(usize),
    /// A node is killed.
    KillNode(usize),
    /// A node ends as it should.
    StopNode(usize),
    /// A node starts, and resumes what ran there, or does not.
    StartNode(usize, bool),
    /// A node stands still.
    FreezeNode(usize),
    /// All nodes that stand still go on.
    Thaw,
    /// A node is cut off.
    Cut(usize, Line, Cut),
    /// A node's lines are whole again.
    Join(usize),
    /// The database ends as in a crash, and starts.
    RestartDatabase,
    /// The bus ends.
    KillBus,
    /// The bus is there again.
    StartBus,
    /// A lease passes.
    Wait,
}

/// What is taken to be so.
struct ClusterSketch {
    up: [bool; NODES],
    frozen: [bool; NODES],
    cut: [bool; NODES],
    is_bus_away: bool,
}

/// The events of a schedule of about this length, after all sessions were opened.
pub(crate) fn draw(dice: &mut Dice, length: u64) -> Vec<Event> {
    let mut sketch = ClusterSketch {
        up: [true; NODES],
        frozen: [false; NODES],
        cut: [false; NODES],
        is_bus_away: false,
    };
    let mut events = Vec::new();
    while (events.len() as u64) < length {
        let next = if dice.chance(12) { lose_and_return(dice) } else { vec![one(dice, &sketch)] };
        for event in &next {
            sketch.follow(*event);
        }
        events.extend(next);
    }
    events
}

impl ClusterSketch {
    fn follow(&mut self, event: Event) {
        match event {
            Event::KillNode(at) | Event::StopNode(at) => {
                (self.up[at], self.frozen[at]) = (false, false);
            }
            Event::StartNode(at, _) => (self.up[at], self.cut[at]) = (true, false),
            Event::FreezeNode(at) => self.frozen[at] = true,
            Event::Thaw => self.frozen = [false; NODES],
            Event::Cut(at, ..) => self.cut[at] = true,
            Event::Join(at) => self.cut[at] = false,
            Event::KillBus => self.is_bus_away = true,
            Event::StartBus => self.is_bus_away = false,
            _ => {}
        }
    }

    /// A node that can be asked, if there is one.
    fn asked(&self, dice: &mut Dice) -> usize {
        let first = dice.index(NODES);
        let answers = |at: &usize| self.up[*at] && !self.frozen[*at];
        (0..NODES).map(|more| (first + more) % NODES).find(answers).unwrap_or(first)
    }

    fn healthy(&self) -> usize {
        (0..NODES).filter(|at| self.up[*at] && !self.frozen[*at] && !self.cut[*at]).count()
    }
}

fn ask(dice: &mut Dice) -> Ask {
    let asks = [
        (32, Ask::Capture),
        (28, Ask::Resume),
        (12, Ask::Close),
        (6, Ask::Pass(1)),
        (3, Ask::Pass(0)),
        (7, Ask::Delete),
        (12, Ask::Open),
    ];
    dice.weighed(&asks).unwrap_or(Ask::Capture)
}

fn a_cut(dice: &mut Dice, at: usize) -> Event {
    let line = dice.weighed(&[(50, Line::Database), (20, Line::Bus), (30, Line::Way)]);
    let how = if dice.chance(50) { Cut::Refused } else { Cut::Silent };
    Event::Cut(at, line.unwrap_or(Line::Database), how)
}

/// A node is lost in one way or another while it has something that was acknowledged; the others go on; it returns.
fn lose_and_return(dice: &mut Dice) -> Vec<Event> {
    let at = dice.index(NODES);
    let other = (at + 1 + dice.index(NODES - 1)) % NODES;
    let session = dice.index(SESSIONS);
    let one = |at: usize, ask: Ask| Event::One { at, session, ask };
    let (loss, back) = match dice.roll(4) {
        0 => (Event::KillNode(at), Event::StartNode(at, dice.chance(70))),
        1 => (Event::FreezeNode(at), Event::Thaw),
        2 => (Event::Cut(at, Line::Database, Cut::Silent), Event::Join(at)),
        _ => (Event::Cut(at, Line::Database, Cut::Refused), Event::Join(at)),
    };
    let mut events = vec![
        (90, Event::Mark(session)),
        (90, one(other, Ask::Capture)),
        (100, loss),
        (60, Event::Mark(session)),
        (85, Event::Wait),
        (70, one(other, Ask::Resume)),
        (70, Event::Mark(session)),
        (80, one(other, Ask::Capture)),
        (30, one(other, Ask::Close)),
        (90, back),
        (60, one(at, Ask::Capture)),
        (40, one(at, Ask::Resume)),
    ];
    events.retain(|(chance, _)| dice.chance(*chance));
    events.into_iter().map(|(_, event)| event).collect()
}

fn one(dice: &mut Dice, sketch: &ClusterSketch) -> Event {
    let at = dice.index(NODES);
    let session = dice.index(SESSIONS);
    if !sketch.up[at] && dice.chance(60) {
        return Event::StartNode(at, dice.chance(70));
    }
    if sketch.frozen[at] && dice.chance(60) {
        return Event::Thaw;
    }
    if sketch.cut[at] && dice.chance(50) {
        return Event::Join(at);
    }
    if sketch.is_bus_away && dice.chance(30) {
        return Event::StartBus;
    }
    // One of them stays well, or nothing would be heard of all this.
    let may_break = sketch.healthy() > 1 && sketch.up[at] && !sketch.frozen[at];
    match dice.roll(100) {
        0..=3 if may_break => Event::KillNode(at),
        4..=5 if may_break => Event::StopNode(at),
        6..=8 if may_break => Event::FreezeNode(at),
        9..=14 if may_break => a_cut(dice, at),
        15..=16 => Event::RestartDatabase,
        17 => Event::KillBus,
        18..=20 => Event::KillBrowser(session),
        21..=23 => Event::Wait,
        24..=42 => Event::Mark(session),
        43..=52 => {
            let one = (sketch.asked(dice), ask(dice));
            let other = (sketch.asked(dice), ask(dice));
            Event::Both { session, one, other, later: Duration::from_millis(dice.roll(60)) }
        }
        _ => Event::One { at: sketch.asked(dice), session, ask: ask(dice) },
    }
}
