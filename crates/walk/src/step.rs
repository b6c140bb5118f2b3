//! What happens in a walk, drawn ahead from its seed.
//!
//! A sketch of the session goes along, which takes each verb for done, so that most verbs are drawn where
//! they can be; those that cannot be are refused, and have changed nothing.

use baton_testing::Dice;

/// What can be done with a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Takes a snapshot.
    Capture,
    /// Makes a revision, and gives it to the peers, or not.
    Save {
        /// Whether it is given.
        to_peers: bool,
    },
    /// Brings it back.
    Resume,
    /// Takes it back to one of its snapshots, counted from the newest, or to one that there never was.
    Rollback {
        /// To which.
        to: Option<u8>,
    },
    /// Closes it.
    Close,
    /// Passes it to an agent.
    Pass {
        /// To which; 0 is none.
        to: u8,
    },
    /// Brings what the other node has of it.
    Pull,
    /// Hands it in to a sandbox that needs its login, or one that it never had.
    HandIn {
        /// Whether it ever had the login.
        has_login: bool,
    },
    /// Ends that sandbox.
    End,
    /// Opens another session of the same name, which is refused unless this one is closed.
    TakeName,
    /// Closes that other one.
    FreeName,
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// The agent that drives the session, or none if none does.
    Driver,
    /// An agent, whether or not it drives.
    Agent(u8),
}

/// A verb that is asked of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Of which node.
    pub at: usize,
    /// What.
    pub verb: Verb,
    /// By whom.
    pub by: Who,
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A caller asks for something.
    One(Call),
    /// Two ask at once; the second one so many milliseconds later.
    Both(Call, Call, u8),
    /// A caller asks, and so many milliseconds later a node is killed.
    During(Call, usize, u8),
    /// The site sets a cookie in the browser that runs at this node.
    Mark {
        /// Which one, or where.
        at: usize,
    },
    /// The browser and its keeper are killed.
    KillBrowser {
        /// Which one, or where.
        at: usize,
    },
    /// The keeper stands still.
    FreezeKeeper {
        /// Which one, or where.
        at: usize,
    },
    /// All keepers and nodes that stand still go on.
    Thaw,
    /// The node is killed.
    KillNode {
        /// Which one, or where.
        at: usize,
    },
    /// The node ends as it should.
    Stop {
        /// Which one, or where.
        at: usize,
    },
    /// The node starts again, and resumes what was running, or does not.
    Start {
        /// Which one.
        at: usize,
        /// Whether it does.
        rehydrates: bool,
    },
    /// The node stands still.
    FreezeNode {
        /// Which one, or where.
        at: usize,
    },
    /// The machine has no browser any more.
    LoseProgram {
        /// Which one, or where.
        at: usize,
    },
    /// It has one.
    FindProgram {
        /// Which one, or where.
        at: usize,
    },
    /// A lease passes.
    Wait,
}

/// How often what costs seconds is drawn: of ten thousand steps.
#[derive(Debug, Clone, Copy)]
pub struct Rarities {
    /// A keeper that stands still.
    pub keeper: u64,
    /// A node that stands still.
    pub node: u64,
    /// A node that ends or starts.
    pub restart: u64,
    /// A lease that passes.
    pub wait: u64,
    /// How many steps a walk has at least.
    pub least: u64,
    /// And how many more, at most.
    pub more: u64,
}

impl Rarities {
    /// For walks by the thousand in a minute.
    pub fn short() -> Self {
        Self { keeper: 5, node: 30, restart: 100, wait: 10, least: 2, more: 6 }
    }

    /// For walks that have the time.
    pub fn long() -> Self {
        Self { keeper: 20, node: 60, restart: 400, wait: 40, least: 4, more: 24 }
    }
}

/// What is taken to be so.
struct Sketch {
    runs_at: Option<usize>,
    lent_at: Option<usize>,
    is_up: [bool; 2],
    is_frozen: bool,
    has_program: [bool; 2],
    name_taken: Option<usize>,
    /// Which node has just begun to resume what ran there.
    rehydrates: Option<usize>,
}

/// The steps of a walk after the session was opened at node 0.
pub fn draw(
    dice: &mut Dice,
    rarities: Rarities,
    is_shared: bool,
    has_sandboxes: bool,
) -> Vec<Step> {
    let mut sketch = Sketch {
        runs_at: Some(0),
        lent_at: None,
        is_up: [true; 2],
        is_frozen: false,
        has_program: [true; 2],
        name_taken: None,
        rehydrates: None,
    };
    // Most faults need few steps; some need many.
    let more = if dice.chance(20) { rarities.more } else { rarities.more / 5 };
    let length = rarities.least + dice.roll(more + 1);
    let mut steps = Vec::new();
    for _ in 0..length {
        let next = match sketch.runs_at {
            Some(at) if sketch.is_up == [true; 2] && dice.roll(6000) < rarities.restart => {
                leave_and_return(dice, at)
            }
            _ => vec![one(dice, &sketch, rarities, is_shared, has_sandboxes)],
        };
        for step in &next {
            sketch.try_step(*step);
        }
        steps.extend(next);
    }
    steps
}

/// A node ends, and mostly its browser with it; mostly the other one takes over, and does something; then the
/// node returns. By single steps that would hardly ever be drawn.
fn leave_and_return(dice: &mut Dice, at: usize) -> Vec<Step> {
    let ask = |at: usize, verb: Verb| Step::One(Call { at, verb, by: Who::Driver });
    let other = 1 - at;
    let mut steps = vec![
        (70, Step::Mark { at }),
        (85, ask(at, Verb::Save { to_peers: true })),
        (100, if dice.chance(60) { Step::KillNode { at } } else { Step::Stop { at } }),
        (80, Step::KillBrowser { at }),
        (85, ask(other, Verb::Resume)),
    ];
    if dice.chance(60) {
        steps.push((80, Step::Mark { at: other }));
        steps.push((80, ask(other, Verb::Save { to_peers: false })));
        steps.push((70, ask(other, Verb::Close)));
    }
    steps.push((100, Step::Start { at, rehydrates: dice.chance(75) }));
    if dice.chance(60) {
        steps.push((80, ask(at, Verb::Pull)));
        steps.push((80, Step::Mark { at }));
        steps.push((80, ask(at, Verb::Save { to_peers: false })));
    }
    steps.retain(|(chance, _)| dice.chance(*chance));
    steps.into_iter().map(|(_, step)| step).collect()
}

fn one(
    dice: &mut Dice,
    sketch: &Sketch,
    rarities: Rarities,
    is_shared: bool,
    has_sandboxes: bool,
) -> Step {
    if let Some(at) = [0, 1].into_iter().find(|at| !sketch.is_up[*at]) {
        // What follows the end of a node: its browser ends too, the other one takes over, it returns.
        match dice.roll(10) {
            0..=3 => return Step::Start { at, rehydrates: dice.chance(60) },
            4 | 5 if sketch.runs_at == Some(at) => return Step::KillBrowser { at },
            6..=8 if sketch.is_up[1 - at] && sketch.runs_at != Some(1 - at) => {
                return Step::One(Call { at: 1 - at, verb: Verb::Resume, by: Who::Driver });
            }
            _ => {}
        }
    }
    if let Some(at) = sketch.rehydrates
        && !is_shared
        && dice.chance(30)
    {
        return Step::One(Call { at, verb: Verb::Pull, by: Who::Driver });
    }
    if let Some(at) = [0, 1].into_iter().find(|at| !sketch.has_program[*at])
        && dice.chance(50)
    {
        return Step::FindProgram { at };
    }
    if sketch.is_frozen && dice.chance(30) {
        return Step::Thaw;
    }
    let runner = sketch.runs_at.unwrap_or_else(|| either(dice));
    let Rarities { keeper, node, restart, wait, .. } = rarities;
    let any = either(dice);
    let fault = [
        (restart / 2, Some(Step::KillNode { at: any })),
        (restart / 2, Some(Step::Stop { at: any })),
        (keeper, Some(Step::FreezeKeeper { at: runner })),
        (node, Some(Step::FreezeNode { at: any })),
        (if is_shared { wait } else { 0 }, Some(Step::Wait)),
        (200, Some(Step::LoseProgram { at: any })),
        (500, Some(Step::KillBrowser { at: runner })),
        (1800, Some(Step::Mark { at: runner })),
        (6500, None),
    ];
    if let Some(Some(step)) = dice.weighed(&fault) {
        return step;
    }
    let first = call(dice, sketch, is_shared, has_sandboxes);
    if sketch.runs_at.is_none() && dice.chance(8) {
        // Agent 2 gets the session while agent 1 waits for it.
        let resume = Call { at: first.at, verb: Verb::Resume, by: Who::Agent(1) };
        let pass = Call { at: first.at, verb: Verb::Pass { to: 2 }, by: Who::Driver };
        return Step::Both(resume, pass, small(dice, 12));
    }
    match dice.roll(10) {
        0 => {
            let second = call(dice, sketch, is_shared, has_sandboxes);
            Step::Both(first, second, small(dice, 12))
        }
        1 if dice.roll(500) < restart => Step::During(first, either(dice), small(dice, 25)),
        _ => Step::One(first),
    }
}

fn small(dice: &mut Dice, bound: u64) -> u8 {
    u8::try_from(dice.roll(bound)).unwrap_or_default()
}

fn call(dice: &mut Dice, sketch: &Sketch, is_shared: bool, has_sandboxes: bool) -> Call {
    let peers = u64::from(!is_shared);
    let sandboxes = u64::from(has_sandboxes);
    let bad = Verb::Rollback { to: None };
    let back = Verb::Rollback { to: Some(small(dice, 4)) };
    let to_peers = dice.chance(50);
    let pass = Verb::Pass { to: small(dice, 3) };
    let hand_in = Verb::HandIn { has_login: dice.chance(70) };
    let verb = if sketch.runs_at.is_some() {
        [
            (22, Verb::Capture),
            (16 * (1 + peers), Verb::Save { to_peers }),
            (10, Verb::Resume),
            (8, back),
            (5, bad),
            (14, Verb::Close),
            (8, pass),
            (8 * peers, Verb::Pull),
            (4 * sandboxes, hand_in),
            (2, Verb::TakeName),
        ]
    } else if sketch.lent_at.is_some() {
        [
            (30, Verb::End),
            (10, Verb::Resume),
            (4, Verb::Close),
            (4, back),
            (4, pass),
            (4 * peers, Verb::Pull),
            (4, hand_in),
            (2, Verb::Capture),
            (2, Verb::Save { to_peers }),
            (0, bad),
        ]
    } else {
        [
            (40, Verb::Resume),
            (10, back),
            (6, bad),
            (4, Verb::Close),
            (8, pass),
            (8, Verb::Save { to_peers }),
            (8 * peers, Verb::Pull),
            (14 * sandboxes, hand_in),
            (8, if sketch.name_taken.is_some() { Verb::FreeName } else { Verb::TakeName }),
            (2, Verb::Capture),
        ]
    };
    let verb = dice.weighed(&verb).unwrap_or(Verb::Resume);
    let is_home = matches!(verb, Verb::Capture | Verb::Close | Verb::Save { .. });
    let at = match (verb, sketch.runs_at.or(sketch.lent_at), sketch.name_taken) {
        (Verb::FreeName, _, Some(at)) | (Verb::End, Some(at), _) => at,
        // Where it runs, most of the time, and where it does not.
        (_, Some(at), _) if dice.chance(if is_home { 90 } else { 35 }) => at,
        (_, Some(at), _) => 1 - at,
        _ => either(dice),
    };
    let by = if dice.chance(85) { Who::Driver } else { Who::Agent(small(dice, 2) + 1) };
    Call { at, verb, by }
}

impl Sketch {
    fn try_step(&mut self, step: Step) {
        self.rehydrates = match step {
            Step::Start { at, rehydrates: true } => Some(at),
            _ => None,
        };
        match step {
            Step::One(call) | Step::During(call, ..) => self.call(call),
            Step::Both(one, other, _) => {
                self.call(one);
                self.call(other);
            }
            Step::KillBrowser { .. } => self.runs_at = None,
            Step::FreezeKeeper { .. } | Step::FreezeNode { .. } => self.is_frozen = true,
            Step::Thaw => self.is_frozen = false,
            Step::KillNode { at } | Step::Stop { at } => self.is_up[at] = false,
            Step::Start { at, .. } => self.is_up[at] = true,
            Step::LoseProgram { at } => self.has_program[at] = false,
            Step::FindProgram { at } => self.has_program[at] = true,
            Step::Mark { .. } | Step::Wait => {}
        }
        if let Step::During(_, at, _) = step {
            self.is_up[at] = false;
        }
    }

    fn call(&mut self, Call { at, verb, .. }: Call) {
        match verb {
            Verb::Resume | Verb::Rollback { to: Some(_) } if self.lent_at.is_none() => {
                self.runs_at = Some(at);
            }
            Verb::Close => self.runs_at = None,
            Verb::HandIn { has_login: true } if self.runs_at.is_none_or(|runs| runs == at) => {
                (self.runs_at, self.lent_at) = (None, Some(at));
            }
            Verb::End => self.lent_at = None,
            Verb::TakeName if self.runs_at.is_none() => self.name_taken = Some(at),
            Verb::FreeName => self.name_taken = None,
            _ => {}
        }
    }
}

/// One of the nodes.
fn either(dice: &mut Dice) -> usize {
    usize::from(dice.chance(50))
}
