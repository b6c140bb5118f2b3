//! Long lists of parts: a snapshot says how it differs from one that it shares with a few others.

use crate::fixture::{Engine, Fixture, cookies};
use baton_session::{Part, Session};
use baton_store::{Snapshot, StoreError};
use rstest::rstest;

/// How many snapshots differ from one list.
const SHARED_BY: usize = 8;

/// The cookies of many sites, of which one has changed so often.
fn many(count: u8, changed: u8) -> Vec<Part> {
    let changed = |number| if number == 7 { changed } else { 0 };
    let site = |number| cookies(&format!("{number:02}.example"), &[number, changed(number)]);
    (0..count).map(site).collect()
}

/// Snapshots of ever other cookies of one of many sites, newest first.
async fn fill(fixture: &Fixture, session: &Session, count: u8) -> Vec<Snapshot> {
    let mut stored = Vec::new();
    for changed in 0..count {
        stored.insert(0, fixture.snapshot(session, &many(40, changed)).await);
    }
    stored
}

async fn lists(fixture: &Fixture) -> i64 {
    fixture.count("(select distinct part from part_spans where place = 'list') as lists").await
}

#[rstest]
#[tokio::test]
async fn long_lists_are_read_as_they_were_written(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let mut stored = Vec::new();
    // Long and short, with a few that came and went, and with all others.
    for (count, changed) in [(32, 0), (33, 1), (31, 1), (40, 2), (38, 2), (40, 3), (90, 4), (2, 4)]
    {
        stored.insert(0, fixture.snapshot(&made, &many(count, changed)).await);
    }
    assert_eq!(fixture.store.list_snapshots(made.id, None, 100).await.unwrap(), stored);
    for snapshot in &stored {
        assert_eq!(
            &fixture.store.fetch_snapshot(&made.owner, snapshot.id).await.unwrap(),
            snapshot
        );
    }
    assert_eq!(lists(&fixture).await, 3, "one is shared, and each leap has its own");
}

#[rstest]
#[tokio::test]
async fn a_list_goes_with_the_last_snapshot_that_has_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let stored = fill(&fixture, &made, 20).await;
    assert_eq!(lists(&fixture).await, 3);
    assert_eq!(fixture.count("parts").await, 39 + 20 + 3);
    for keep in [13, 12, 5, 4, 1_u32] {
        fixture.store.prune_snapshots(made.id, keep).await.unwrap();
        let left = fixture.store.list_snapshots(made.id, None, 100).await.unwrap();
        assert_eq!(left, stored[..keep as usize]);
        let lists = lists(&fixture).await;
        assert_eq!(fixture.count("parts").await, 39 + i64::from(keep) + lists);
        assert_eq!(lists, 1 + i64::from(keep > 4) + i64::from(keep > 12), "{keep} are left");
    }
}

/// The sites' cookies can all be there: without its list a snapshot does not know their names.
#[rstest]
#[tokio::test]
async fn a_damaged_list_costs_the_few_that_share_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let stored = fill(&fixture, &made, 14).await;
    let damage = "update parts set sealed = (select sealed from parts where id <> (
            select part from part_spans where place = 'list' and until is null) limit 1)
        where id = (select part from part_spans where place = 'list' and until is null)";
    assert_eq!(fixture.execute(damage).await, 1);
    let error = fixture.store.latest_snapshot(made.id).await.unwrap_err();
    assert!(matches!(error, StoreError::SnapshotCorrupt { .. }), "{error}");
    let history = fixture.store.list_history(made.id, None, 100).await.unwrap();
    let lost = history.iter().filter(|snapshot| snapshot.is_err()).count();
    assert!(lost == 6 && lost < SHARED_BY, "{lost}");
    assert_eq!(fixture.store.list_snapshots(made.id, None, 100).await.unwrap(), stored[lost..]);
    // The next one has a list of its own.
    let next = fixture.snapshot(&made, &many(40, 99)).await;
    assert_eq!(fixture.store.latest_snapshot(made.id).await.unwrap(), Some(next));
}
