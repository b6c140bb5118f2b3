//! What holds of any session, whatever is asked and whatever breaks: with real nodes, keepers and browsers.

#![expect(clippy::print_stdout, reason = "whoever walks again needs the seed")]

use baton_playground::Nats;
use baton_testing::skip;
use baton_walk::cluster::{RealMachines, run_schedules};
use baton_walk::{Call, Plan, Step, TestNodes, Verb, Who, follow, run};
use std::path::PathBuf;

/// How many walks of each kind: in the tests, and in each round of a soak.
const WALKS: (u64, u64) = (4, 1);

async fn walks(name: &str, is_shared: bool) {
    let (usual, a_round) = WALKS;
    let Some(plan) = Plan::of_environment(name, usual, a_round, 1) else { return };
    println!("{plan}");
    let tally =
        run(&plan, || TestNodes::start(env!("CARGO_BIN_EXE_baton"), is_shared)).await.unwrap();
    println!("{} walks, {} steps", tally.walked, tally.steps);
    assert!(tally.found.is_empty(), "{:?}\n{}", tally.kinds, tally.found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_nodes_with_a_database_each_keep_what_they_promise() {
    walks("real-peers", false).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_nodes_that_share_a_database_keep_what_they_promise() {
    walks("real-shared", true).await;
}

/// How many schedules of a cluster: in the tests, and in each round of a soak.
const SCHEDULES: (u64, u64) = (5, 1);

async fn schedules(nats: PathBuf) {
    let (usual, a_round) = SCHEDULES;
    let Some(plan) = Plan::of_environment("real-cluster", usual, a_round, 2) else { return };
    println!("{plan}");
    let program = env!("CARGO_BIN_EXE_baton").into();
    let tally = run_schedules::<RealMachines>(&plan, &nats, &program).await.unwrap();
    println!("{} schedules, {} events", tally.walked, tally.steps);
    assert!(tally.found.is_empty(), "{:?}\n{}", tally.kinds, tally.found.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn real_nodes_of_a_cluster_keep_what_they_promise() {
    let Some(nats) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    schedules(nats).await;
}

fn one(at: usize, verb: Verb) -> Step {
    Step::One(Call { at, verb, by: Who::Driver })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_session_that_is_handed_in_comes_back() {
    let nodes = TestNodes::start(env!("CARGO_BIN_EXE_baton"), false).await.unwrap();
    let steps = [
        Step::Mark { at: 0 },
        one(0, Verb::Save { to_peers: true }),
        one(0, Verb::HandIn { has_login: true }),
        one(0, Verb::Resume),
        one(1, Verb::Resume),
        one(0, Verb::End),
        Step::LoseProgram { at: 0 },
        one(0, Verb::Resume),
        Step::FindProgram { at: 0 },
        one(0, Verb::Resume),
    ];
    let followed = follow(nodes, &steps).await;
    let told = followed.told.join("\n  ");
    assert!(followed.finding.is_none(), "{:?}\n  {told}", followed.finding);
    println!("{told}");
}
