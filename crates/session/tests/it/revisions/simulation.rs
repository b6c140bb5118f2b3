//! Whatever happens to nodes, in whatever order: when they have met, they agree, and nothing that
//! anybody saved is gone.

use super::step::{Step, steps};
use super::world::World;
use baton_session::{RevisionId, Signed, Vector};
use baton_testing::{asked_rounds, cases};
use proptest::collection::vec;
use proptest::prelude::*;

/// What a node shows.
#[derive(Debug, PartialEq)]
struct View {
    current: Option<RevisionId>,
    heads: Vec<RevisionId>,
    siblings: Vec<RevisionId>,
}

fn view(world: &World, at: usize) -> View {
    let replica = &world.nodes[at].folder.replica;
    View {
        current: replica.current().map(Signed::id),
        heads: replica.heads().map(Signed::id).collect(),
        siblings: replica.siblings().into_iter().map(Signed::id).collect(),
    }
}

/// What every node shows, and how far it knows everyone to have counted.
fn views(world: &World) -> Vec<(View, Vector)> {
    let counted = |at: usize| {
        let known = world.nodes[at].folder.replica.known();
        known.fold(Vector::default(), |counted, signed| counted.join(&signed.vector))
    };
    (0..world.nodes.len()).map(|at| (view(world, at), counted(at))).collect()
}

/// All that happens, and then everyone meets everyone, twice.
fn play(merges: &[bool], steps: &[Step]) {
    let mut world = World::new(merges);
    for step in steps {
        world.step(step);
    }
    world.step(&Step::Unite);
    world.round();
    world.round();
    expect_agreement(&world);
    let before = views(&world);
    world.round();
    world.round();
    assert_eq!(before, views(&world), "nodes that agree go on changing");
}

fn expect_agreement(world: &World) {
    for at in 1..world.nodes.len() {
        assert_eq!(view(world, at), view(world, 0), "nodes {at} and 0 do not agree");
    }
    if world.may_have_forgotten() {
        return;
    }
    let replica = &world.nodes[0].folder.replica;
    for one in replica.heads() {
        for other in replica.heads().filter(|other| other.id() != one.id()) {
            let [seen, other] = [one, other].map(|head| world.oracle.accounted(head, replica));
            assert_ne!(
                seen & !other,
                0,
                "{} stands beside what has seen it\n{}",
                one.id(),
                world.tell(0)
            );
        }
    }
}

/// How many schedules: the usual number, or many for each round that `cargo xtask soak` asks for.
pub(super) fn rounds() -> u32 {
    asked_rounds().map_or(256, |rounds| u32::try_from(rounds.saturating_mul(32)).unwrap())
}

proptest! {
    #![proptest_config(cases(rounds()))]

    #[test]
    fn nodes_that_have_met_agree_and_nothing_is_lost(
        merges in vec(any::<bool>(), 2..=6), steps in steps()
    ) {
        play(&merges, &steps);
    }
}
