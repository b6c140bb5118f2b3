//! Keepers that hold a browser for nobody are found, by their sockets and by their processes.

use crate::notes::Notes;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::House;
use std::path::Path;

fn doctor(house: &House, database: &Path) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let run = command
        .arg("--data")
        .arg(house.data().path())
        .args(["doctor", "--database-url"])
        .arg(database)
        .write_stdin("")
        .assert();
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orphaned_keepers_are_explained() {
    let notes = Notes::start().await;
    let mut house = House::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    house.start_node().await.unwrap();
    let id = notes.open(&house, "mine", "kept").await;
    let [(_, keeper), _] = house.holders(id).await.unwrap();
    house.kill_node().await.unwrap();
    let usual = house.data().database();
    let told = doctor(&house, &usual);
    let held = format!("process {keeper} holds Chrome/");
    assert!(told.lines().any(|line| line.starts_with("ok") && line.contains(&held)), "{told}");

    let elsewhere = house.data().path().join("other.db");
    let mut house = house.with("BATON_DATABASE_URL", &elsewhere);
    house.start_node().await.unwrap();
    house.kill_node().await.unwrap();
    let told = doctor(&house, &elsewhere);
    assert!(told.contains("which this database does not know"), "{told}");
    assert!(told.contains(&format!("end it with its browser: kill {keeper}")), "{told}");

    let (socket, hidden) = (house.keeper_socket(id), house.data().path().join("hidden"));
    std::fs::rename(&socket, &hidden).unwrap();
    let told = doctor(&house, &usual);
    let lost = format!("process {keeper} is a keeper of this folder, and no socket leads to it");
    assert!(told.contains(&lost), "{told}");
    std::fs::rename(&hidden, &socket).unwrap();
    house.clear().await.unwrap();
}
