//! What is shared, in a database that was copied.

use crate::fixture::{Engine, Fixture, config, cookies, next_instant};
use crate::peers::{limits, peer};
use crate::shared::commit;
use crate::written_by::Writer;
use baton_store::{
    CommitShared, DatabaseUrl, MasterKey, Peer, RevisionContent, Store, copy_database,
};
use rstest::rstest;
use secrecy::ExposeSecret;

/// What is sealed opens where it was carried to, for its place is part of no seal.
#[rstest]
#[tokio::test]
async fn what_is_shared_opens_in_a_copy(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    let laptop = Peer { limits: limits(), ..peer("laptop", 1) };
    store.create_peer(&laptop).await.unwrap();
    let snapshot = fixture.snapshot(&made, &[cookies("a.example", b"1")]).await;
    let mut writer = Writer::new(&made);
    let (revision, shared) = (writer.edit("first").id(), writer.shared());
    let snapshots = vec![(revision, RevisionContent::Existing(snapshot.id))];
    let change = CommitShared { snapshots, ..commit(&made, None, &shared) };
    let generation = store.commit_shared(change).await.unwrap();
    let at = next_instant();
    store.note_ack(&made.owner, laptop.node, made.id, revision, at).await.unwrap();
    let coming = cookies("b.example", b"2");
    crate::staged::stage(&fixture, &made, std::slice::from_ref(&coming)).await;

    let file = fixture.folder.path().join("copy.db");
    copy_database(&fixture.database, &MasterKey::from_bytes([7; 32]), &file).await.unwrap();
    let server: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
    store.copy_to(&server).await.unwrap();
    for database in [DatabaseUrl::Sqlite(file), server] {
        let copy = Store::open(config(&database)).await.unwrap();
        let held = copy.fetch_shared(&made.owner, made.id).await.unwrap();
        assert_eq!(held, Some((generation, shared.clone())));
        assert_eq!(copy.list_entries(&made.owner).await.unwrap().1.len(), 1);
        let content = copy.fetch_content(&made.owner, made.id, revision).await.unwrap().unwrap();
        assert!(content.id == snapshot.id && content.saved);
        let peer = copy.find_peer(&made.owner, "laptop").await.unwrap();
        assert_eq!(peer.limits, limits());
        let credential = peer.credential.unwrap();
        assert_eq!(credential.expose_secret(), "the-credential-of-laptop");
        let acks = copy.list_acks(&made.owner, made.id).await.unwrap();
        assert_eq!(acks, [(laptop.node, revision, at)]);
        assert_eq!(copy.collect_parts().await.unwrap(), 0);
        let staged = copy.fetch_part(&made.owner, &coming.reference()).await.unwrap();
        assert_eq!(staged, coming);
        copy.close().await;
    }
}
