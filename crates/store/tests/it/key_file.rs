//! The key file: made once, private, and never guessed.

use baton_store::{Config, DatabaseUrl, KeyError, Limits, MasterKey, Store, StoreError};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[tokio::test]
async fn a_key_file_is_made_once_and_opens_what_it_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.key");
    open(folder.path(), MasterKey::load_or_create(&path).unwrap()).await.unwrap().close().await;
    let first = std::fs::read(&path).unwrap();
    assert_eq!(first.len(), 32);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let key = MasterKey::load_or_create(&path).unwrap();
    assert_eq!(format!("{key:?}"), "MasterKey(***)");
    open(folder.path(), key).await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), first);
    let mut names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.retain(|name| name.to_string_lossy().starts_with("node.key"));
    assert_eq!(names, ["node.key"], "no draft is left behind");
}

#[test]
fn of_many_who_make_the_file_all_have_one_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.key");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| MasterKey::load_or_create(&path).unwrap());
        }
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_of_the_wrong_length_or_one_that_others_can_read_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("node.key");
    for length in [0, 31, 33] {
        std::fs::write(&path, vec![1; length]).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        let error = MasterKey::load_or_create(&path).unwrap_err();
        assert!(matches!(error, KeyError::Length { found, .. } if found == length), "{error}");
        assert_eq!(std::fs::read(&path).unwrap().len(), length);
    }
    std::fs::write(&path, [1; 32]).unwrap();
    for mode in [0o640, 0o604, 0o620] {
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let error = MasterKey::load_or_create(&path).unwrap_err().to_string();
        assert!(error.contains(&format!("found mode {mode:04o}\nrun: chmod 600 ")), "{error}");
    }
    let nowhere = MasterKey::load_or_create(&folder.path().join("no/such.key"));
    assert!(matches!(nowhere, Err(KeyError::File { .. })));
}

#[tokio::test]
async fn a_key_in_base64_is_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), MasterKey::from_bytes([0; 32])).await.unwrap().close().await;
    let text = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    open(folder.path(), MasterKey::from_base64(&format!("{text}\n")).unwrap()).await.unwrap();
    let error = MasterKey::from_base64("c2hvcnQ=").unwrap_err().to_string();
    insta::assert_snapshot!(error, @"expected a key of 32 bytes in base64, found 5 bytes");
    let error = MasterKey::from_base64("not base64!").unwrap_err().to_string();
    insta::assert_snapshot!(error, @"expected a key of 32 bytes in base64, found something else");
}

async fn open(folder: &Path, key: MasterKey) -> Result<Store, StoreError> {
    let database = DatabaseUrl::Sqlite(folder.join("baton.db"));
    Store::open(Config { database, key, limits: Limits::default() }).await
}
