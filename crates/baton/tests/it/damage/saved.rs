//! Damaged parts of what is to be saved: no revision lacks anything, and none takes a session back.

use super::newest::Scene;
use baton_api::ErrorCode;
use baton_api::sync::SaveSession;

async fn what_is_saved_is_whole_and_never_older_than_what_was(scene: Scene) {
    let client = scene.test_node.client().unwrap().clone();
    let save = async || client.save_session("shop", &SaveSession::default()).await;
    scene.write("first").await;
    client.capture_session("shop").await.unwrap();
    scene.write("second").await;
    let newest = scene.close().await;
    let damaged = scene.database.parts(true);
    scene.database.flip(&damaged[0]);

    let saved = save().await.unwrap();
    assert_ne!(saved.snapshot, newest);
    let lost: Vec<_> = saved.left_out.losses().collect();
    assert_eq!(lost.len(), 1, "{lost:#?}");
    assert_eq!(lost[0].place, format!("snapshot {newest}"));
    let noted = scene.noted("session.save").await;
    assert_eq!((&noted["insteadOf"], &noted["lost"]), (&newest.to_string().into(), &1.into()));
    // Once it is whole again it is the next revision.
    scene.database.flip(&damaged[0]);
    let mended = save().await.unwrap();
    assert_eq!((mended.version, mended.snapshot), (saved.version + 1, newest));
    assert!(!mended.left_out.has_losses());

    // What came since is damaged, and so is what was saved: the first one is whole, but behind that.
    client.resume_session("shop").await.unwrap();
    scene.write("third").await;
    let latest = scene.close().await;
    assert_ne!(latest, newest);
    let whole = scene.database.parts_of(&saved.snapshot.to_string());
    let others = scene.database.parts(false);
    for part in others.iter().filter(|part| !whole.contains(part)) {
        scene.database.flip(part);
    }
    let refused = save().await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::StorageDamaged), "{refused}");
    assert!(refused.to_string().contains("newer than its last revision"), "{refused}");

    // That it is shared is in nobody's way who brings it back, and from there it is saved.
    let resumed = client.resume_session("shop").await.unwrap();
    assert!(resumed.session.receipt.unwrap().has_losses());
    assert_eq!(scene.token().await, "first");
    let again = save().await.unwrap();
    assert_eq!((again.version, again.left_out.has_losses()), (mended.version + 1, false));
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_saved_from_a_sqlite_file_is_whole() {
    what_is_saved_is_whole_and_never_older_than_what_was(Scene::in_sqlite().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_saved_from_postgresql_is_whole() {
    what_is_saved_is_whole_and_never_older_than_what_was(Scene::in_postgresql().await).await;
}
