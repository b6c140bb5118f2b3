//! What holds of a cluster, whatever is asked of its nodes and whatever breaks around them.

use baton_playground::Nats;
use baton_testing::skip;
use baton_walk::Plan;
use baton_walk::cluster::{StandInMachines, run_schedules};
use std::time::Instant;

/// How many clusters there are at once: most of a schedule's time it waits for leases.
const AT_ONCE: usize = 5;

/// How many schedules: in the tests, and in each round of a soak.
const SCHEDULES: (u64, u64) = (50, 4);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_of_a_cluster_keep_what_they_promise() {
    let Some(nats) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let (usual, a_round) = SCHEDULES;
    let Some(plan) = Plan::of_environment("cluster", usual, a_round, AT_ONCE) else { return };
    println!("{plan}");
    let begun = Instant::now();
    let tally = run_schedules::<StandInMachines>(&plan, &nats, &()).await.unwrap();
    println!("{} schedules, {} events in {:?}", tally.walked, tally.steps, begun.elapsed());
    assert!(tally.found.is_empty(), "{:?}\n{}", tally.kinds, tally.found.join("\n"));
}
