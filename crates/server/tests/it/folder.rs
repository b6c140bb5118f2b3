//! The data folder: one node at a time, nobody else's hands, damaged files.

use crate::fixture::{Folder, Node};
use baton_server::{ServeError, serve};
use baton_store::StoreError;
use baton_store::data::{DataError, DataFolder, NodeFile};
use baton_testing::skip;
use std::os::unix::fs::PermissionsExt;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Starts a node that must not start.
async fn refused(folder: &Folder) -> ServeError {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    serve(folder.config(), listener, CancellationToken::new()).await.unwrap_err()
}

#[tokio::test]
async fn a_second_node_on_one_folder_names_the_first() {
    let node = Node::start().await;
    let error = Box::pin(refused(&node.folder)).await;
    let ServeError::Data(DataError::Locked { running: Some(running), .. }) = &error else {
        panic!("expected a locked folder, found {error}");
    };
    assert_eq!(**running, node.file);
    let text = error.to_string();
    assert!(text.contains(&format!("process id {} at {}", node.file.pid, node.file.url)), "{text}");
    assert!(node.admin().health().await.is_ok(), "the first one goes on");
    node.stop().await;
}

#[tokio::test]
async fn a_node_that_ends_leaves_no_address_behind() {
    let folder = Node::start().await.stop().await;
    assert_eq!(NodeFile::read(&folder.data).unwrap(), None);
    folder.start().await.stop().await;
}

#[tokio::test]
async fn a_node_is_the_same_one_after_a_restart() {
    let node = Node::start().await;
    let id = node.id();
    let node = node.stop().await.start().await;
    assert_eq!(node.id(), id);
    node.stop().await;
}

#[tokio::test]
async fn a_folder_that_others_can_write_to_is_refused() {
    let folder = Folder::new();
    let open = std::fs::Permissions::from_mode(0o770);
    std::fs::set_permissions(folder.data.path(), open).unwrap();
    let error = Box::pin(refused(&folder)).await;
    assert!(matches!(error, ServeError::Data(DataError::TooOpen { mode: 0o770, .. })), "{error}");
    assert!(error.to_string().contains("chmod go-w"), "{error}");
}

#[tokio::test]
async fn a_file_in_the_folders_place_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    assert!(DataFolder::at(&file).unwrap().create().is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
}

#[tokio::test]
async fn a_database_that_is_none_is_named_and_left_alone() {
    let folder = Folder::new();
    let path = folder.data.database();
    let letter = "Dear database,\n".repeat(500);
    std::fs::write(&path, &letter).unwrap();
    let error = Box::pin(refused(&folder)).await;
    assert!(matches!(error, ServeError::Store(StoreError::NotADatabase { .. })), "{error}");
    assert!(error.to_string().contains("baton.db"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
    assert_eq!(NodeFile::read(&folder.data).unwrap(), None, "no node is announced");
}

#[tokio::test]
async fn another_folders_key_does_not_open_the_database() {
    let folder = Node::start().await.stop().await;
    let other = Node::start().await.stop().await;
    std::fs::copy(other.data.key(), folder.data.key()).unwrap();
    let error = Box::pin(refused(&folder)).await;
    assert!(matches!(error, ServeError::Store(StoreError::WrongKey { .. })), "{error}");
}

#[tokio::test]
async fn a_listener_that_others_can_reach_is_refused() {
    let folder = Folder::new();
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let error = serve(folder.config(), listener, CancellationToken::new()).await.unwrap_err();
    insta::assert_snapshot!(error.to_string().replace(&port, "PORT"), @r"
    expected server.listen to be a loopback address such as 127.0.0.1:PORT, found 0.0.0.0:PORT
    other machines could read keys and cookies in clear text: set server.tls, or server.behind_proxy when a proxy in front of the node speaks TLS
    in a container, server.published names where its host shows it to itself alone
    ");
    assert!(!folder.data.database().exists(), "nothing was started");
}

#[test]
fn a_folder_whose_sockets_would_have_too_long_a_path_is_refused() {
    let fits = format!("/{}", "x".repeat(60));
    let longest = DataFolder::at(fits.as_ref()).unwrap();
    let socket = longest.socket(baton_session::SessionId::new(jiff::Timestamp::now(), [0; 10]));
    assert_eq!(socket.as_os_str().len(), 107, "what the system takes");
    let refused = DataFolder::at(format!("{fits}x").as_ref()).unwrap_err().to_string();
    let expected = format!(
        "expected a data folder whose path has at most 61 bytes, found 62: {fits}x\n\
         sockets live in it; choose a shorter one with --data"
    );
    assert_eq!(refused, expected);
}

/// Why a test of files of others tests nothing.
const NOT_ROOT: &str = "only root can give files away";

/// Only who may give files away can set the scene.
fn give_away(path: &std::path::Path) -> bool {
    let nobody = Some(65_534);
    rustix::process::geteuid().is_root() && std::os::unix::fs::lchown(path, nobody, nobody).is_ok()
}

#[tokio::test]
async fn a_folder_of_somebody_else_is_refused_and_nothing_is_made_in_it() {
    let folder = Folder::new();
    let _ = std::fs::remove_dir_all(folder.data.path());
    std::fs::create_dir(folder.data.path()).unwrap();
    std::fs::set_permissions(folder.data.path(), PermissionsExt::from_mode(0o700)).unwrap();
    if !give_away(folder.data.path()) {
        skip!("{NOT_ROOT}");
    }
    let error = folder.data.create().unwrap_err();
    let DataError::OtherOwner { owner: 65_534, expected: 0, .. } = &error else {
        panic!("expected another owner, found {error}");
    };
    assert!(error.to_string().contains("run this as that user"), "{error}");
    assert_eq!(std::fs::read_dir(folder.data.path()).unwrap().count(), 0, "nothing was made");
}

#[tokio::test]
async fn what_somebody_else_put_into_the_folder_is_refused() {
    let folder = Node::start().await.stop().await;
    let theirs = |path: &std::path::Path| {
        let error = folder.data.create().unwrap_err();
        let DataError::OtherOwner { path: found, .. } = &error else {
            panic!("expected another owner, found {error}");
        };
        assert_eq!(found, path);
    };
    let data = &folder.data;
    let socket = data.run().join("0197c0de-0000-7000-8000-000000000001.sock");
    for path in [data.key(), data.admin_key(), data.database(), data.settings(), data.run(), socket]
    {
        let was_there = path.exists();
        if !was_there {
            std::fs::write(&path, "").unwrap();
        }
        if !give_away(&path) {
            skip!("{NOT_ROOT}");
        }
        theirs(&path);
        let (user, group) = (Some(0), Some(0));
        std::os::unix::fs::lchown(&path, user, group).unwrap();
        if !was_there {
            std::fs::remove_file(&path).unwrap();
        }
        folder.data.create().unwrap();
    }
    let link = data.settings();
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    assert!(give_away(&link));
    theirs(&link);
}
