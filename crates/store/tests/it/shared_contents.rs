//! Which snapshot holds what a revision says, and for how long it stays.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, next_instant, session};
use crate::shared::commit;
use crate::written_by::Writer;
use baton_session::{RevisionId, Session, SnapshotId, SnapshotReason};
use baton_store::{
    Base, CommitShared, Generation, NewSnapshot, RevisionContent, Shared, StoreError,
};
use rstest::rstest;

/// A session whose revisions are stored one after the other.
struct Story {
    fixture: Fixture,
    made: Session,
    writer: Writer,
    generation: Option<Generation>,
    base: Option<Base>,
}

impl Story {
    async fn begin(engine: Engine) -> Self {
        let fixture = Fixture::open(engine).await;
        let made = fixture.session("mail").await;
        let writer = Writer::new(&made);
        Self { fixture, made, writer, generation: None, base: None }
    }

    /// A snapshot of a cookie that no other one has.
    async fn snapshot(&self) -> SnapshotId {
        let part = cookies("a.example", next_instant().to_string().as_bytes());
        self.fixture.snapshot(&self.made, &[part]).await.id
    }

    /// Stores contents, and releases revisions.
    async fn commit(
        &mut self,
        snapshots: Vec<(RevisionId, RevisionContent)>,
        released: &[RevisionId],
    ) -> Result<(), StoreError> {
        let shared = Shared { base: self.base.clone(), ..self.writer.shared() };
        let change = CommitShared {
            snapshots,
            released: released.to_vec(),
            ..commit(&self.made, self.generation, &shared)
        };
        self.generation = Some(self.fixture.store.commit_shared(change).await?);
        Ok(())
    }

    /// Writes a revision of a new snapshot of its own.
    async fn revise(&mut self) -> (RevisionId, SnapshotId) {
        let revision = self.writer.edit(&next_instant().to_string()).id();
        let snapshot = self.snapshot().await;
        let content = RevisionContent::Existing(snapshot);
        self.commit(vec![(revision, content)], &[]).await.unwrap();
        (revision, snapshot)
    }

    async fn content(&self, revision: RevisionId) -> Option<SnapshotId> {
        let store = &self.fixture.store;
        let found = store.fetch_content(&self.made.owner, self.made.id, revision).await.unwrap();
        found.map(|snapshot| snapshot.id)
    }

    /// Lets go of all snapshots that may go, and says which are left, newest first.
    async fn prune(&self) -> Vec<(SnapshotId, bool)> {
        self.fixture.store.prune_snapshots(self.made.id, 1).await.unwrap();
        let left = self.fixture.store.list_snapshots(self.made.id, None, 100).await.unwrap();
        left.iter().map(|snapshot| (snapshot.id, snapshot.saved)).collect()
    }
}

#[rstest]
#[tokio::test]
async fn the_content_of_a_revision_is_saved_and_never_pruned(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let (revision, held) = story.revise().await;
    story.snapshot().await;
    let newest = story.snapshot().await;
    assert_eq!(story.prune().await, [(newest, false), (held, true)]);
    assert_eq!(story.content(revision).await, Some(held));
    let unknown = story.writer.edit("not stored").id();
    assert_eq!(story.content(unknown).await, None);
}

#[rstest]
#[tokio::test]
async fn the_newest_eight_that_were_released_stay_and_the_others_go(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let mut revisions = Vec::new();
    for _ in 0..10 {
        revisions.push(story.revise().await);
    }
    let newest = story.snapshot().await;
    // Nine of them, one at a time and from the last to the first: when counts, not which.
    for (revision, _) in revisions.iter().take(9).rev() {
        story.commit(vec![], &[*revision]).await.unwrap();
    }
    let mut expected = vec![(newest, false), (revisions[9].1, true)];
    expected.extend(revisions[..8].iter().rev().map(|(_, snapshot)| (*snapshot, false)));
    assert_eq!(story.prune().await, expected);
    assert_eq!(story.content(revisions[8].0).await, None);
    assert_eq!(story.content(revisions[0].0).await, Some(revisions[0].1));
}

#[rstest]
#[tokio::test]
async fn what_the_local_state_comes_from_stays_however_long_ago_it_was_released(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let revision = story.writer.edit("base");
    let snapshot = story.snapshot().await;
    story.commit(vec![(revision.id(), RevisionContent::Existing(snapshot))], &[]).await.unwrap();
    story.base = Some(Base { revision: revision.clone(), snapshot });
    let mut released = revision.id();
    for _ in 0..10 {
        story.commit(vec![], &[released]).await.unwrap();
        released = story.revise().await.0;
    }
    assert_eq!(story.content(revision.id()).await, Some(snapshot));
    assert!(story.prune().await.contains(&(snapshot, false)));
}

#[rstest]
#[tokio::test]
async fn a_snapshot_of_two_revisions_is_saved_until_both_are_released(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let (one, snapshot) = story.revise().await;
    let two = story.writer.edit("the same, adopted").id();
    story.commit(vec![(two, RevisionContent::Existing(snapshot))], &[one]).await.unwrap();
    assert_eq!(story.prune().await, [(snapshot, true)]);
    story.commit(vec![], &[two]).await.unwrap();
    assert_eq!(story.prune().await, [(snapshot, false)]);
    // One that is needed again is saved again.
    story.commit(vec![(one, RevisionContent::Existing(snapshot))], &[]).await.unwrap();
    assert_eq!(story.prune().await, [(snapshot, true)]);
}

#[rstest]
#[tokio::test]
async fn a_revision_that_gets_another_snapshot_lets_the_first_one_go(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let (revision, _) = story.revise().await;
    let other = story.snapshot().await;
    story.commit(vec![(revision, RevisionContent::Existing(other))], &[]).await.unwrap();
    assert_eq!(story.prune().await, [(other, true)]);
    assert_eq!(story.content(revision).await, Some(other));
}

#[rstest]
#[tokio::test]
async fn a_revision_that_came_becomes_the_newest_snapshot_or_stands_beside_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let own = story.snapshot().await;
    let (won, lost) = (story.writer.edit("won").id(), story.writer.edit("lost").id());
    let came = |bytes: &[u8], sibling| {
        let new = new_snapshot(&story.made, &[cookies("a.example", bytes)]);
        NewSnapshot { reason: SnapshotReason::Sync, sibling, keep: Some(1), ..new }
    };
    let (winner, loser) = (came(b"won", false), came(b"lost", true));
    let ids = [winner.id, loser.id];
    let contents = vec![(won, RevisionContent::New(winner)), (lost, RevisionContent::New(loser))];
    story.commit(contents, &[]).await.unwrap();

    let store = &story.fixture.store;
    let latest = store.latest_snapshot(story.made.id).await.unwrap().unwrap();
    assert_eq!((latest.id, latest.reason, latest.sibling), (ids[0], SnapshotReason::Sync, false));
    let beside = store.fetch_snapshot(&story.made.owner, ids[1]).await.unwrap();
    assert!(beside.sibling && beside.saved);
    let left = store.find_snapshot(story.made.id, &own.to_string()).await;
    assert!(matches!(left, Err(StoreError::SnapshotNotFound { .. })), "it made way");
}

#[rstest]
#[tokio::test]
async fn a_snapshot_that_is_not_the_sessions_holds_no_revision_of_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let mut story = Story::begin(engine).await;
    let other = story.fixture.session("other").await;
    let theirs = story.fixture.snapshot(&other, &[]).await.id;
    let unknown = SnapshotId::new(next_instant(), [1; 10]);
    let revision = story.writer.edit("first").id();
    for snapshot in [theirs, unknown] {
        let contents = vec![(revision, RevisionContent::Existing(snapshot))];
        let error = story.commit(contents, &[]).await.unwrap_err();
        assert!(matches!(error, StoreError::SnapshotNotFound { .. }), "{error}");
    }
    let nobodys = session("never-made");
    let contents = vec![(revision, RevisionContent::New(new_snapshot(&nobodys, &[])))];
    let error = story.commit(contents, &[]).await.unwrap_err();
    assert!(matches!(error, StoreError::SessionNotFound { .. }), "{error}");
    assert_eq!(story.fixture.count("shared_sessions").await, 0);
}
