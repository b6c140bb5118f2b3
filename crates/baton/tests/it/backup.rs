//! A session is carried to another data folder by a backup, profile and all, or without it.

use crate::notes::{Notes, state_of};
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::TestNode;
use baton_session::{Lifecycle, SessionId};
use std::path::Path;

fn baton(test_node: &TestNode, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = cargo_bin_cmd!("baton");
    command.env("BATON_BACKUP_PASSPHRASE", "four words that fit");
    command.arg("--data").arg(test_node.data().path()).args(args).write_stdin("").assert()
}

fn test_node() -> TestNode {
    TestNode::build(env!("CARGO_BIN_EXE_baton")).unwrap()
}

fn has_profile(test_node: &TestNode, id: SessionId) -> bool {
    test_node.data().profile(id).join("Default/Cookies").exists()
        || test_node.data().profile(id).join("Default/Network/Cookies").exists()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_come_back_in_another_folder() {
    let notes = Notes::start().await;
    let mut first = test_node();
    first.start_node().await.unwrap();
    let running = notes.open(&first, "running", "of running").await;
    let closed = notes.open(&first, "closed", "of closed").await;
    first.client().unwrap().capture_session("running").await.unwrap();
    first.client().unwrap().close_session("closed").await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("baton.backup");
    let file: &Path = file.as_ref();
    let path = file.to_str().unwrap();
    // A running browser's profile cannot be copied: it is left out, and the exit code says so.
    let told = baton(&first, &["backup", "--with-profiles", path]).code(6);
    let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
    let line = format!("without the profile of {running}: its browser runs");
    assert!(told.contains(&line) && told.contains("2 sessions"), "{told}");
    first.clear().await.unwrap();

    let mut second = test_node();
    baton(&second, &["restore", path]).success();
    assert_eq!((has_profile(&second, closed), has_profile(&second, running)), (true, false));
    second.start_node().await.unwrap();
    assert_eq!(state_of(&second, "running").await, Lifecycle::Recoverable);
    for (name, id, note) in [("running", running, "of running"), ("closed", closed, "of closed")] {
        second.client().unwrap().resume_session(name).await.unwrap();
        assert_eq!(notes.read(&second, id).await, note);
    }
    second.clear().await.unwrap();
}

/// What the page of a session shows of itself: its note and its cookies.
async fn read(notes: &Notes, test_node: &TestNode, id: SessionId) -> (String, String) {
    let page = notes.page(test_node, id).await;
    (notes.read(test_node, id).await, page.evaluate("document.cookie").await.unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_moves_from_one_engine_to_the_other() {
    let notes = Notes::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("baton.backup");
    let path = file.to_str().unwrap();
    let server = || baton_postgres::create_database().unwrap();
    let on_server = |server: &str| test_node().with("BATON_DATABASE_URL", server);
    let [one, two] = [server(), server()];

    let mut first = on_server(&one);
    first.start_node().await.unwrap();
    let id = notes.open(&first, "mail", "moved").await;
    let login = "document.cookie = 'login=ada; max-age=86400'; true";
    assert!(notes.page(&first, id).await.evaluate::<bool>(login).await.unwrap());
    first.client().unwrap().capture_session("mail").await.unwrap();
    let kept = ("moved".to_owned(), "login=ada".to_owned());
    assert_eq!(read(&notes, &first, id).await, kept);
    baton(&first, &["backup", "--database-url", &one, path]).success();
    assert_eq!(state_of(&first, "mail").await, Lifecycle::Active, "the node runs on");
    first.clear().await.unwrap();

    let mut second = test_node();
    baton(&second, &["restore", path]).success();
    second.start_node().await.unwrap();
    assert_eq!(state_of(&second, "mail").await, Lifecycle::Recoverable);
    second.client().unwrap().resume_session("mail").await.unwrap();
    assert_eq!(read(&notes, &second, id).await, kept);
    second.client().unwrap().close_session("mail").await.unwrap();
    baton(&second, &["backup", path]).success();
    second.clear().await.unwrap();

    let mut third = on_server(&two);
    baton(&third, &["restore", "--database-url", &two, path]).success();
    third.start_node().await.unwrap();
    third.client().unwrap().resume_session("mail").await.unwrap();
    assert_eq!(read(&notes, &third, id).await, kept);
    third.clear().await.unwrap();
}
