//! Nodes of which some see a part of the session only: whatever they do, and in whatever order they
//! meet, nobody removes what they do not see, nothing that anybody saved is gone, and they come to rest.

use super::node::{Node, content, log_in, start};
use baton_session::revision::merge::{Side, merge_views, seen_by};
use baton_session::revision::{Content, Knowledge, merge};
use baton_session::{Epoch, PartHash, RevisionId, Signed, Site, State, StateKind, View};
use baton_testing::cases;
use jiff::{SignedDuration, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

const SITES: u8 = 4;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Step {
    /// The user of a node logs in at a site.
    Edit { at: u8, site: u8 },
    /// The user of a node goes on from what counts there.
    Reopen { at: u8 },
    /// One node gives another what it is let have.
    Give { from: u8, to: u8 },
    /// What goes between two nodes is limited anew; both ways, or from the one to the other.
    Limit { from: u8, to: u8, sites: u8, is_both_ways: bool },
}

/// Nodes with what each of them gives to each other one.
struct World {
    nodes: Vec<Node>,
    limits: HashMap<(usize, usize), View>,
    states: HashMap<PartHash, State>,
    /// What was written over what, by somebody who had seen that.
    over: HashMap<String, HashSet<String>>,
    /// What was saved or taken at each node.
    saved: Vec<HashSet<String>>,
    /// How many edits there were.
    count: u32,
    time: Timestamp,
}

fn domain(site: u8) -> String {
    format!("site{site}.test")
}

fn view(sites: u8) -> View {
    let sites = (0..SITES).filter(|site| sites >> site & 1 == 1);
    View { sites: Some(sites.map(|site| Site::of_host(&domain(site))).collect()), kinds: None }
}

/// What a state says of each site.
fn values(state: &State) -> BTreeMap<String, String> {
    state.cookies.iter().map(|one| (one.domain.clone(), one.value.clone())).collect()
}

impl World {
    fn new(count: usize, merges: bool) -> Self {
        let node = |number: usize| {
            let number = u8::try_from(number).unwrap();
            Node::new(number, Epoch::new([number; 8]), merges)
        };
        let mut world = Self {
            nodes: (0..count).map(node).collect(),
            limits: HashMap::new(),
            states: HashMap::new(),
            over: HashMap::new(),
            saved: vec![HashSet::new(); count],
            count: 0,
            time: start(),
        };
        let mut state = State::default();
        for site in 0..SITES {
            log_in(&mut state, site, format!("first {site}"));
        }
        world.save(0, None, &state);
        world
    }

    fn step(&mut self, step: &Step) {
        self.time += SignedDuration::from_secs(60);
        let pick = |at: u8| usize::from(at) % self.nodes.len();
        match *step {
            Step::Edit { at, site } => self.edit(pick(at), site % SITES),
            Step::Reopen { at } => self.reopen(pick(at)),
            Step::Give { from, to } if pick(from) != pick(to) => self.give(pick(from), pick(to)),
            Step::Give { .. } => {}
            Step::Limit { from, to, sites, is_both_ways } => {
                let (from, to) = (pick(from), pick(to));
                self.limits.insert((from, to), view(sites));
                if is_both_ways {
                    self.limits.insert((to, from), view(sites));
                }
            }
        }
    }

    fn reopen(&mut self, at: usize) {
        let folder = &mut self.nodes[at].folder;
        folder.base = folder.replica.current().cloned();
    }

    fn state(&self, signed: &Signed) -> State {
        self.states.get(&signed.checksum).cloned().unwrap()
    }

    fn hold(&mut self, state: &State) -> Content {
        let says = content(state);
        self.states.insert(says.checksum, state.clone());
        says
    }

    fn save(&mut self, at: usize, base: Option<&Signed>, state: &State) {
        let says = self.hold(state);
        let author = self.nodes[at].author(self.time);
        let saved = self.nodes[at].folder.replica.edit(base, says, &author);
        self.nodes[at].folder.base = Some(saved);
        self.saved[at].extend(values(state).into_values());
        self.reconcile(at);
    }

    /// A user changes what they see.
    fn edit(&mut self, at: usize, site: u8) {
        let Some(base) = self.nodes[at].folder.base.clone() else { return };
        let mut state = self.state(&base);
        let place = (Some(&Site::of_host(&domain(site))), StateKind::Cookies);
        if base.knowledge().at(place).is_none() {
            // Nobody asks them about it.
            return;
        }
        self.count += 1;
        let new = format!("edit {} at node {at}", self.count);
        if let Some(old) = values(&state).remove(&domain(site)) {
            self.over.entry(old).or_default().insert(new.clone());
        }
        log_in(&mut state, site, new);
        self.save(at, Some(&base), &state);
    }

    fn give(&mut self, from: usize, to: usize) {
        let view = self.limits.get(&(from, to)).cloned().unwrap_or_default();
        let replica = self.nodes[from].folder.replica.clone();
        let secret = self.nodes[from].secret.clone();
        let mut seen: BTreeMap<RevisionId, Option<Signed>> = BTreeMap::new();
        let kept = replica.whole().filter(|one| replica.heads().all(|head| head.id() != one.id()));
        for signed in kept.chain(replica.heads()).filter(|one| !one.is_within(&view)) {
            let shown = signed.is_seen(&view).then(|| {
                let says = self.hold(&view.of(&self.state(signed)));
                let conflicts = signed.conflicts.iter().filter_map(|id| match seen.get(id) {
                    None => Some(*id),
                    Some(seen) => seen.as_ref().map(Signed::id),
                });
                signed.seen_through(&view, says, conflicts.collect(), &secret)
            });
            seen.insert(signed.id(), shown);
        }
        let offer = replica.offer_seen(&seen);
        if offer.heads.is_empty() {
            return;
        }
        let author = self.nodes[to].author(self.time);
        let change = self.nodes[to].folder.replica.receive(&offer, &author).unwrap();
        for id in change.gained {
            let gained = self.nodes[to].folder.replica.find(id).unwrap().clone();
            let state = self.state(&gained);
            assert_eq!(
                seen_by(&gained.knowledge(), &state),
                state,
                "{id} says what it does not see"
            );
            self.saved[to].extend(values(&state).into_values());
        }
        self.reconcile(to);
        self.expect_nothing_lost(to);
    }

    /// Merges what can be merged.
    fn reconcile(&mut self, at: usize) {
        let next = |node: &Node| {
            let replica = &node.folder.replica;
            if node.merges { replica.merge_plan() } else { replica.settled_plan() }
        };
        while let Some(plan) = next(&self.nodes[at]) {
            let [winner, loser] = [&plan.winner, &plan.loser].map(|one| self.state(one));
            let base = plan.bases.first().map(|base| self.state(base));
            let knows = [&plan.winner, &plan.loser].map(|one| one.knowledge());
            let merged = if knows.iter().all(Knowledge::is_plain) {
                merge(&base.unwrap(), &winner, &loser)
            } else {
                let [one, other] = [(&knows[0], &winner), (&knows[1], &loser)]
                    .map(|(knowledge, state)| Side { knowledge, state });
                merge_views(base.as_ref(), one, other)
            };
            let says = self.hold(&merged.state);
            let author = self.nodes[at].author(self.time);
            let node = &mut self.nodes[at];
            node.folder.replica.merge(&plan, says, &merged.decisions, &author);
        }
    }

    /// Whether everything that was saved or taken at a node is there, or something that was written over
    /// it by somebody who had seen it.
    fn expect_nothing_lost(&self, at: usize) {
        let replica = &self.nodes[at].folder.replica;
        let states: Vec<State> = replica.whole().map(|signed| self.state(signed)).collect();
        let there: HashSet<String> =
            states.iter().flat_map(|state| values(state).into_values()).collect();
        for saved in &self.saved[at] {
            let mut open = vec![saved.clone()];
            let mut done = HashSet::new();
            let mut is_there = false;
            while let Some(next) = open.pop() {
                is_there |= there.contains(&next);
                if done.insert(next.clone()) {
                    open.extend(self.over.get(&next).into_iter().flatten().cloned());
                }
            }
            assert!(is_there, "node {at} has lost {saved:?}: it has {there:?}");
        }
    }

    fn heads(&self) -> Vec<BTreeSet<RevisionId>> {
        let heads = |node: &Node| node.folder.replica.heads().map(Signed::id).collect();
        self.nodes.iter().map(heads).collect()
    }

    /// Everyone gives everyone what they may have.
    fn round(&mut self) {
        for from in 0..self.nodes.len() {
            for to in (0..self.nodes.len()).filter(|to| *to != from) {
                self.give(from, to);
            }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..4u8;
    prop_oneof![
        6 => (at(), 0..SITES).prop_map(|(at, site)| Step::Edit { at, site }),
        4 => at().prop_map(|at| Step::Reopen { at }),
        8 => (at(), at()).prop_map(|(from, to)| Step::Give { from, to }),
        2 => (at(), at(), 0..1u8 << SITES, any::<bool>()).prop_map(
            |(from, to, sites, is_both_ways)| Step::Limit { from, to, sites, is_both_ways }),
    ]
}

/// Node 2 sees site 0 at a later time than node 0 does, and both say the same of site 2: what node 2 made
/// of both is not what nodes 0 and 1 come from, though neither of those tells site 0 from others.
#[test]
fn what_has_seen_more_of_a_site_that_nobody_names_is_no_base() {
    let steps = [
        Step::Give { from: 0, to: 1 },
        Step::Give { from: 0, to: 2 },
        Step::Limit { from: 1, to: 2, sites: 0b1101, is_both_ways: false },
        Step::Limit { from: 2, to: 0, sites: 0b0110, is_both_ways: true },
        Step::Reopen { at: 1 },
        Step::Edit { at: 1, site: 0 },
        Step::Give { from: 1, to: 2 },
        Step::Give { from: 2, to: 0 },
        Step::Edit { at: 1, site: 1 },
        Step::Edit { at: 0, site: 2 },
    ];
    play(3, true, &steps);
}

/// Node 1 shows node 0 its login at site 2 alone, which loses there against that of node 0. What node 0 made
/// of both names the loser as node 0 saw it, and what node 1 makes of that names it whole: a later login of
/// node 1 at site 1 decides about site 1, and not about what was left out of site 2.
#[test]
fn what_is_left_out_of_a_view_stays_left_out_where_the_loser_is_named_whole() {
    let steps = [
        Step::Give { from: 0, to: 1 },
        Step::Limit { from: 1, to: 0, sites: 0b0100, is_both_ways: false },
        Step::Reopen { at: 1 },
        Step::Edit { at: 0, site: 2 },
        Step::Edit { at: 1, site: 1 },
        Step::Edit { at: 1, site: 2 },
        Step::Edit { at: 0, site: 0 },
        Step::Edit { at: 0, site: 1 },
        Step::Give { from: 1, to: 0 },
        Step::Give { from: 0, to: 1 },
        Step::Edit { at: 1, site: 0 },
        Step::Edit { at: 1, site: 1 },
    ];
    play(2, true, &steps);
}

fn play(count: usize, merges: bool, steps: &[Step]) {
    let mut world = World::new(count, merges);
    for step in steps {
        world.step(step);
        for at in 0..count {
            world.expect_nothing_lost(at);
        }
    }
    for _ in 0..4 {
        world.round();
    }
    let before = world.heads();
    world.round();
    assert_eq!(before, world.heads(), "nodes that have met go on changing");
}

proptest! {
    #![proptest_config(cases(super::simulation::rounds()))]

    #[test]
    fn nodes_that_see_a_part_remove_nothing_else(
        count in 2..=4usize, merges in any::<bool>(), steps in vec(step(), 4..60)
    ) {
        play(count, merges, &steps);
    }
}
