//! Walks that once found something, step by step.

use baton_walk::standin::Pair;
use baton_walk::{Call, Followed, Step, Verb, Who, follow};
use tokio::runtime::Handle;

fn one(at: usize, verb: Verb) -> Step {
    Step::One(Call { at, verb, by: Who::Driver })
}

/// At nodes with a database each, it holds; what happened, in lines.
async fn peers(steps: &[Step]) -> String {
    expect(follow(Pair::start(false, &Handle::current()).await.unwrap(), steps).await)
}

/// At nodes that share a database, it holds.
async fn shared(steps: &[Step]) {
    expect(follow(Pair::start(true, &Handle::current()).await.unwrap(), steps).await);
}

fn expect(Followed { told, finding }: Followed) -> String {
    let told = told.join("\n  ");
    assert!(finding.is_none(), "{finding:?}\n  {told}");
    told
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_returns_does_not_run_what_a_peer_took_over() {
    let steps = [
        one(0, Verb::Save { to_peers: true }),
        Step::KillNode { at: 0 },
        Step::KillBrowser { at: 0 },
        one(1, Verb::Resume),
        Step::Start { at: 0, rehydrates: true },
        one(0, Verb::Capture),
    ];
    peers(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_peer_saved_is_not_hidden_by_a_node_that_returns() {
    let steps = [
        Step::Mark { at: 0 },
        one(0, Verb::Save { to_peers: true }),
        Step::KillNode { at: 0 },
        Step::KillBrowser { at: 0 },
        one(1, Verb::Resume),
        Step::Mark { at: 1 },
        one(1, Verb::Save { to_peers: false }),
        one(1, Verb::Close),
        Step::Start { at: 0, rehydrates: true },
        one(0, Verb::Pull),
        Step::Mark { at: 0 },
        one(0, Verb::Save { to_peers: false }),
    ];
    for _ in 0..10 {
        peers(&steps).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollback_beside_a_resume_at_the_start_changes_all_or_nothing() {
    let steps = [
        one(0, Verb::Capture),
        Step::Mark { at: 0 },
        one(0, Verb::Capture),
        Step::KillNode { at: 0 },
        Step::KillBrowser { at: 0 },
        Step::Start { at: 0, rehydrates: true },
        one(0, Verb::Rollback { to: Some(1) }),
    ];
    for _ in 0..10 {
        shared(&steps).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_without_its_login_costs_no_peer_its_browser() {
    let steps = [
        Step::Mark { at: 0 },
        one(0, Verb::Save { to_peers: true }),
        one(1, Verb::Resume),
        one(0, Verb::HandIn { has_login: false }),
    ];
    let told = peers(&steps).await;
    // For nothing else.
    let refusal = "HandIn { has_login: false } : login_missing: expected a login for nowhere.test";
    assert!(told.contains(refusal), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_handed_in_comes_back() {
    let steps = [
        Step::Mark { at: 0 },
        one(0, Verb::Close),
        one(0, Verb::HandIn { has_login: true }),
        one(0, Verb::Resume),
        one(0, Verb::End),
        one(0, Verb::Resume),
    ];
    peers(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollback_to_nowhere_costs_no_peer_its_browser() {
    let steps = [
        one(0, Verb::Save { to_peers: true }),
        one(1, Verb::Resume),
        one(0, Verb::Rollback { to: None }),
    ];
    peers(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_without_a_browser_costs_no_peer_its_own() {
    let steps = [
        one(0, Verb::Save { to_peers: true }),
        one(1, Verb::Resume),
        Step::LoseProgram { at: 0 },
        one(0, Verb::Resume),
    ];
    peers(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_whose_name_is_taken_costs_no_peer_its_browser() {
    let steps = [
        one(0, Verb::Save { to_peers: true }),
        one(1, Verb::Resume),
        one(0, Verb::Close),
        one(0, Verb::TakeName),
        one(0, Verb::Resume),
    ];
    peers(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_that_is_refused_moves_no_home() {
    let steps = [one(0, Verb::Close), one(0, Verb::TakeName), one(1, Verb::Resume)];
    shared(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rollback_that_is_refused_holds_no_lease() {
    let steps = [
        one(0, Verb::Save { to_peers: true }),
        one(0, Verb::Close),
        one(1, Verb::Rollback { to: None }),
    ];
    peers(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keeper_that_stands_still_costs_no_other_browser() {
    let steps = [Step::FreezeKeeper { at: 0 }, Step::Wait, Step::Wait, Step::Thaw];
    shared(&steps).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_capture_is_in_the_audit_log() {
    shared(&[one(0, Verb::Capture)]).await;
}
