//! Backups of PostgreSQL and restores to it: as with a file, and nothing on a server is overwritten.

use super::backup::{self, SEALED, back_up, beside, text, with_key};
use super::fixture::{Folder, stderr, stdout};
use assert_cmd::cargo::cargo_bin;
use baton_testing::rounds;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn server() -> String {
    baton_postgres::create_database().unwrap()
}

/// What the guide says to do before a node starts.
fn name_server(folder: &Folder, server: &str) {
    let settings = format!("[storage]\ndatabase_url = \"{server}\"\n");
    std::fs::write(folder.data().join("baton.toml"), settings).unwrap();
}

/// The names of the API keys; a node on a server puts its id behind that of its own.
fn keys(folder: &Folder) -> String {
    let found = backup::keys(folder);
    let names = found.split(' ').map(|name| match name.split_once("local-admin-") {
        Some(("", _)) => "local-admin",
        _ => name,
    });
    names.collect::<Vec<_>>().join(" ")
}

/// The name of the database in an address.
fn name(server: &str) -> &str {
    server.split_once('?').unwrap().0.rsplit_once('/').unwrap().1
}

/// A folder with a node on a server, and an API key that tells its database from others.
fn with_key_on(server: &str) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir(folder.data()).unwrap();
    name_server(&folder, server);
    folder.run(&["--quiet", "keys", "create", "--name", "ci"]).success();
    folder
}

#[test]
fn a_database_moves_to_postgres_and_back() {
    let (first, server) = (with_key("ci"), server());
    let file = back_up(&first);
    first.stop_node();
    let second = Folder::new();
    let args = ["restore", "--database-url", &server, text(&file)];
    let run = second.run_with(&args, &SEALED).success();
    let told = stdout(&run, &second.data()).replace(name(&server), "DATABASE");
    let (_, database) = told.split_once('\n').unwrap();
    insta::assert_snapshot!(database, @"the database is postgres://localhost/DATABASE: name it in baton.toml before a node starts on this folder");
    assert!(!second.data().join("baton.db").exists());
    name_server(&second, &server);
    assert_eq!(keys(&second), "ci local-admin");
    let doctor =
        stdout(&second.run(&["doctor"]), &second.data()).replace(name(&server), "DATABASE");
    assert!(doctor.contains("ok       database     postgres://localhost/DATABASE\n"), "{doctor}");
    assert!(!second.data().join("baton.db").exists());

    second.run(&["--quiet", "keys", "create", "--name", "later"]).success();
    let file = back_up(&second);
    assert!(second.node_pid().is_some(), "the node runs on");
    second.stop_node();
    let third = Folder::new();
    third.run_with(&["restore", text(&file)], &SEALED).success();
    assert!(third.data().join("baton.db").exists());
    assert_eq!(keys(&third), "ci later local-admin");
    assert_eq!(beside(&third), ["data"]);
}

#[test]
fn a_server_that_holds_something_is_left_alone_even_by_force() {
    let (first, server) = (with_key("later"), server());
    let file = back_up(&first);
    first.stop_node();
    let theirs = with_key_on(&server);
    theirs.stop_node();
    let second = Folder::new();
    let variables = [SEALED[0], ("BATON_DATABASE_URL", server.as_str())];
    let run = second.run_with(&["restore", "--force", text(&file)], &variables).code(4);
    let told = stderr(&run, &second.data()).replace(name(&server), "DATABASE");
    insta::assert_snapshot!(told, @r"
    error: expected an empty database in postgres://localhost/DATABASE, found rows of Baton in its table data_keys; it was left alone
      name another one: createdb makes it
    ");
    let other = ["restore", "--database-url", "/nowhere/baton.db", text(&file)];
    let run = second.run_with(&other, &SEALED).code(2);
    insta::assert_snapshot!(stderr(&run, &second.data()), @r"
    error: expected a postgres:// address to restore to, found /nowhere/baton.db
      without one the database becomes baton.db in the data folder: leave the setting out, or move the file there yourself
    ");
    assert_eq!(beside(&second), Vec::<String>::new(), "nothing was made");
    assert_eq!(keys(&theirs), "ci local-admin");
}

fn kill_after(folder: &Path, args: &[&str], wait: Duration) {
    let mut child = Command::new(cargo_bin("baton"))
        .args(["--data", text(folder)])
        .args(args)
        .env(SEALED[0].0, SEALED[0].1)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The moment of death is the point of the story; whatever it is, the story holds.
    std::thread::sleep(wait);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_backup_of_postgres_that_is_killed_leaves_the_older_one() {
    let first = with_key_on(&server());
    let file = back_up(&first);
    let before = std::fs::read(&file).unwrap();
    let mut left = 0;
    for round in 0..rounds(5) {
        let wait = Duration::from_millis(round % 10 * 30);
        kill_after(&first.data(), &["backup", text(&file)], wait);
        left += u32::from(std::fs::read(&file).unwrap() == before);
        let second = Folder::new();
        second.run_with(&["restore", text(&file)], &SEALED).success();
    }
    assert!(left > 0, "some died before the end");
    back_up(&first);
    assert_eq!(beside(&first), ["data"], "the next one clears up");
    assert!(!first.data().join("backup.db").exists());
    first.stop_node();
}

/// Whenever it dies, the server is empty or has every row, and a folder that is there is whole.
#[test]
fn a_restore_to_postgres_that_is_killed_leaves_nothing_half() {
    let first = with_key("ci");
    let file = back_up(&first);
    first.stop_node();
    let mut whole = 0;
    for round in 0..rounds(6) {
        let (second, server) = (Folder::new(), server());
        let args = ["restore", "--database-url", &server, text(&file)];
        kill_after(&second.data(), &args, Duration::from_millis(round % 10 * 60));
        if second.data().exists() {
            whole += 1;
        } else if second.run_with(&args, &SEALED).get_output().status.code() != Some(0) {
            // It died between the server's commit and the folder's change of place.
            second.run_with(&args, &SEALED).code(4);
            continue;
        }
        name_server(&second, &server);
        assert_eq!(keys(&second), "ci local-admin", "round {round}");
        assert_eq!(beside(&second), ["data"], "round {round}");
    }
    assert!(whole < rounds(6), "some died before the end");
}
