//! Whatever happens to real nodes, in whatever order: when they have met, they agree, and nothing that
//! anybody saved is gone.
//!
//! The simulation of the model says so of revisions alone; here each node is a whole one, with its
//! database, its HTTP server and its client, and what it is asked goes over loopback.

mod copies;
mod edits;
mod meeting;
mod member;
mod step;
mod users;
mod world;

use baton_session::RevisionId;
use baton_testing::cases;
use member::Member;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::Config;
use step::{Step, conflict_resolution, steps};
use world::World;

/// What a node shows of the session: the revision that counts, all heads, and what waits for a choice.
#[derive(Debug, PartialEq)]
struct View {
    current: Option<RevisionId>,
    heads: Vec<RevisionId>,
    siblings: Vec<RevisionId>,
}

async fn view(member: &Member, world: &World) -> View {
    let replica = member.replica(world.session).await;
    View {
        current: replica.current().map(baton_session::Signed::id),
        heads: replica.heads().map(baton_session::Signed::id).collect(),
        siblings: replica.siblings().into_iter().map(baton_session::Signed::id).collect(),
    }
}

async fn views(world: &World) -> Vec<View> {
    let mut views = Vec::new();
    for member in &world.members {
        views.push(view(member, world).await);
    }
    views
}

/// All that happens; then everyone saves, and everyone meets everyone, twice.
async fn play(resolutions: &[baton_sync::ConflictResolution], steps: &[Step]) {
    let mut world = World::new(resolutions).await;
    for step in steps {
        world.step(step).await;
    }
    world.save_everywhere().await;
    world.round().await;
    world.round().await;
    let agreed = views(&world).await;
    for (at, view) in agreed.iter().enumerate() {
        assert_eq!(view, &agreed[0], "nodes {at} and 0 do not agree\n{}", world.tell().await);
    }
    world.expect_no_false_conflict().await;
    world.expect_nothing_resurrected().await;
    world.round().await;
    assert_eq!(agreed, views(&world).await, "nodes that agree go on changing");
    world.stop().await;
}

/// How many schedules: a few, or as many as `cargo xtask soak` asks for.
fn rounds() -> u32 {
    u32::try_from(baton_testing::rounds(2)).unwrap()
}

proptest! {
    #![proptest_config(Config {
        max_shrink_iters: 60,
        ..cases(rounds())
    })]

    #[test]
    fn real_nodes_that_have_met_agree_and_nothing_is_lost(
        resolutions in vec(conflict_resolution(), 2..=4), steps in steps()
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(play(&resolutions, &steps));
    }
}
