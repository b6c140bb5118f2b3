//! A session is carried to another data folder by a backup, profile and all, or without it.

use crate::notes::{Notes, state_of};
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::House;
use baton_session::Lifecycle;
use std::path::Path;

fn baton(house: &House, args: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = cargo_bin_cmd!("baton");
    command.env("BATON_BACKUP_PASSPHRASE", "four words that fit");
    command.arg("--data").arg(house.data().path()).args(args).write_stdin("").assert()
}

fn house() -> House {
    House::build(env!("CARGO_BIN_EXE_baton")).unwrap()
}

fn has_profile(house: &House, id: baton_session::SessionId) -> bool {
    house.data().profile(id).join("Default/Cookies").exists()
        || house.data().profile(id).join("Default/Network/Cookies").exists()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_come_back_in_another_folder() {
    let notes = Notes::start().await;
    let mut first = house();
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

    let mut second = house();
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
