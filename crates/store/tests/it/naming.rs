//! Whatever is captured and pruned in whatever order: the parts that are there are those that the
//! snapshots name, no more and no less.

use crate::fixture::{Engine, Fixture, cookies};
use baton_session::{Part, Session};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config as Cases, RngAlgorithm, TestRng, TestRunner};
use rstest::rstest;
use std::collections::BTreeSet;

/// What happens to one of two sessions.
#[derive(Debug, Clone)]
enum Step {
    /// A snapshot of what three places hold, if they do. Few values, so that they come back and meet.
    Snapshot(Vec<Option<u8>>),
    /// The newest snapshot is kept for good.
    Save,
    Prune(u32),
}

fn steps() -> impl Strategy<Value = Vec<(usize, Step)>> {
    let held = proptest::collection::vec(proptest::option::of(0..3_u8), 3);
    let step = prop_oneof![
        6 => held.prop_map(Step::Snapshot),
        1 => Just(Step::Save),
        3 => (1..4_u32).prop_map(Step::Prune),
    ];
    proptest::collection::vec((0..2_usize, step), 40)
}

#[rstest]
#[tokio::test]
async fn the_parts_that_are_there_are_those_that_snapshots_name(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let sessions = [fixture.session("mail").await, fixture.session("shop").await];
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Cases::default(), rng);
    for _ in 0..2 {
        for (at, step) in steps().new_tree(&mut runner).unwrap().current() {
            // One of them holds so much that its lists of parts are shared.
            let more = if at == 0 { 0 } else { 40 };
            take(&fixture, &sessions[at], &step, more).await;
            expect_named(&fixture, &sessions, &step).await;
        }
    }
}

async fn take(fixture: &Fixture, session: &Session, step: &Step, more: usize) {
    match step {
        Step::Snapshot(held) => {
            let part = |(place, value): (usize, &Option<u8>)| {
                value.map(|value| cookies(&format!("{place}.example"), &[value]))
            };
            let more = (0..more).map(|number| cookies(&format!("more-{number}.example"), b""));
            let parts: Vec<Part> = held.iter().enumerate().filter_map(part).chain(more).collect();
            fixture.snapshot(session, &parts).await;
        }
        Step::Save => {
            let newest = format!(
                "update snapshots set saved = 1 where session = '{0}' and ordinal =
                 (select max(ordinal) from snapshots where session = '{0}')",
                session.id
            );
            fixture.execute(&newest).await;
        }
        Step::Prune(keep) => {
            fixture.store.prune_snapshots(session.id, *keep).await.unwrap();
        }
    }
}

async fn expect_named(fixture: &Fixture, sessions: &[Session], step: &Step) {
    let mut named = BTreeSet::new();
    for session in sessions {
        for snapshot in fixture.store.list_snapshots(session.id, None, 1000).await.unwrap() {
            let found = fixture.store.fetch_parts(&session.owner, &snapshot.parts).await.unwrap();
            assert!(found.iter().all(Result::is_ok), "after {step:?}");
            named.extend(snapshot.parts.iter().map(|part| part.hash));
        }
    }
    let lists = "(select distinct part from part_spans where place = 'list') as lists";
    let there = fixture.count("parts").await - fixture.count(lists).await;
    assert_eq!(usize::try_from(there).unwrap(), named.len(), "after {step:?}");
}
