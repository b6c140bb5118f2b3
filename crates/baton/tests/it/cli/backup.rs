//! Backups and restores: whole or not at all, and nothing is overwritten by surprise.

use super::fixture::{Folder, stderr, stdout};
use assert_cmd::cargo::cargo_bin;
use baton_testing::rounds;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

pub(super) const SEALED: [(&str, &str); 1] = [("BATON_BACKUP_PASSPHRASE", "four words that fit")];

/// A folder with a node that has run, and an API key that tells its database from others.
pub(super) fn with_key(name: &str) -> Folder {
    let folder = Folder::new();
    folder.run(&["--quiet", "keys", "create", "--name", name]).success();
    folder
}

/// A backup of the folder, sealed with the passphrase.
pub(super) fn back_up(folder: &Folder) -> PathBuf {
    let file = folder.data().with_file_name("baton.backup");
    folder.run_with(&["backup", text(&file)], &SEALED).success();
    file
}

pub(super) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The names of the API keys in a folder's database.
pub(super) fn keys(folder: &Folder) -> String {
    let (code, list) = folder.json(&["keys", "list"]);
    assert_eq!(code, 0, "{list}");
    folder.stop_node();
    let items = list["items"].as_array().unwrap().clone();
    let live = items.iter().filter(|key| key["revoked_at"].is_null());
    let mut names: Vec<_> = live.map(|key| key["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.join(" ")
}

/// What stands beside the data folder, apart from the backup.
pub(super) fn beside(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.data().parent().unwrap()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name != "baton.backup");
    names.sort_unstable();
    names
}

fn node_id(data: &Path) -> String {
    std::fs::read_to_string(data.join("node.id")).unwrap()
}

#[test]
fn a_backup_of_a_running_node_brings_its_database_back() {
    let first = with_key("ci");
    let file = back_up(&first);
    assert!(first.node_pid().is_some(), "the node runs on");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!first.data().join("backup.db").exists());
    first.run(&["--quiet", "keys", "create", "--name", "later"]).success();

    let second = Folder::new();
    let run = second.run_with(&["restore", text(&file)], &SEALED).success();
    let told = stdout(&run, &second.data());
    assert!(told.starts_with("DATA: 0 sessions, 0 snapshots, 0 profiles, as they were at "));
    assert_eq!(node_id(&second.data()), node_id(&first.data()), "its peers know it still");
    assert_eq!(keys(&second), "ci local-admin");
    let doctor = stdout(&second.run(&["doctor"]), &second.data());
    assert!(doctor.contains("ok       database"), "{doctor}");
    assert_eq!(beside(&second), ["data"]);
    assert_eq!(keys(&first), "ci later local-admin");
}

#[test]
fn an_older_backup_is_replaced_and_other_files_are_left_alone() {
    let folder = with_key("ci");
    let file = back_up(&folder);
    let first = std::fs::read(&file).unwrap();
    back_up(&folder);
    assert_ne!(std::fs::read(&file).unwrap(), first);
    let letter = file.with_file_name("letter.txt");
    std::fs::write(&letter, "dear Ada").unwrap();
    let run = folder.run_with(&["backup", text(&letter)], &SEALED).code(4);
    let told = stderr(&run, folder.data().parent().unwrap());
    insta::assert_snapshot!(told, @r"
    error: expected a place for a backup at DATA/letter.txt, found another file there
      it was left alone; name another place
    ");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "dear Ada");
    folder.stop_node();
}

#[test]
fn without_a_passphrase_only_the_master_key_opens_it() {
    let first = with_key("ci");
    let file = first.data().with_file_name("baton.backup");
    let run = first.run(&["backup", text(&file)]).success();
    insta::assert_snapshot!(stderr(&run, &first.data()), @"the master key is not in it: without DATA/key it cannot be opened; keep a copy of that elsewhere");
    let second = with_key("other");
    second.stop_node();
    let third = Folder::new();
    let none = third.run(&["restore", text(&file)]).code(2);
    let key = second.data().join("key");
    let other = third.run(&["restore", "--key-file", text(&key), text(&file)]).code(5);
    for run in [none, other] {
        let told = stderr(&run, first.data().parent().unwrap());
        assert!(told.contains("key"), "{told}");
        assert_eq!(beside(&third), Vec::<String>::new(), "nothing was made");
    }
    let key = first.data().join("key");
    third.run(&["restore", "--key-file", text(&key), text(&file)]).success();
    assert_eq!(keys(&third), "ci local-admin");
    first.stop_node();
}

#[test]
fn a_backup_that_does_not_open_changes_nothing() {
    let first = with_key("ci");
    let whole = std::fs::read(back_up(&first)).unwrap();
    first.stop_node();
    let second = Folder::new();
    let file = second.data().with_file_name("baton.backup");
    let mut told = Vec::new();
    let mut try_restore = |bytes: &[u8], passphrase: &str, code: i32| {
        std::fs::write(&file, bytes).unwrap();
        let sealed = [("BATON_BACKUP_PASSPHRASE", passphrase)];
        let run = second.run_with(&["restore", text(&file)], &sealed).code(code);
        told.push(stderr(&run, second.data().parent().unwrap()));
        assert_eq!(beside(&second), Vec::<String>::new(), "nothing was made");
    };
    try_restore(&whole, "four other words", 5);
    try_restore(&whole[..whole.len() - 1], SEALED[0].1, 1);
    try_restore(&whole[..30], SEALED[0].1, 1);
    let flipped = |at: usize, bits: u8| {
        let mut bytes = whole.clone();
        bytes[at] ^= bits;
        bytes
    };
    try_restore(&flipped(whole.len() / 2, 1), SEALED[0].1, 1);
    try_restore(&flipped(7, 3), SEALED[0].1, 1);
    try_restore(b"dear Ada", SEALED[0].1, 1);
    insta::assert_snapshot!(told.concat(), @r"
    error: DATA/baton.backup: the passphrase does not open the file, or the file's beginning is damaged
    error: expected a whole backup in DATA/baton.backup, found that it cannot be read: the file is damaged or cut off, at byte 57
      nothing was restored; take another backup
    error: DATA/baton.backup: expected a file that Baton sealed, found something else
    error: expected a whole backup in DATA/baton.backup, found that it cannot be read: the file is damaged or cut off, at byte 57
      nothing was restored; take another backup
    error: DATA/baton.backup: expected a sealed file of version 1, found version 2
      install the version of Baton that made it, or a newer one
    error: DATA/baton.backup: expected a file that Baton sealed, found something else
    ");
}

#[test]
fn a_folder_in_use_or_with_files_is_left_alone() {
    let first = with_key("ci");
    let file = back_up(&first);
    let running = first.run_with(&["restore", "--force", text(&file)], &SEALED).code(4);
    assert!(stderr(&running, &first.data()).contains("expected no other node on DATA"));
    first.run(&["--quiet", "keys", "create", "--name", "later"]).success();
    first.stop_node();
    let id = node_id(&first.data());
    let full = first.run_with(&["restore", text(&file)], &SEALED).code(4);
    insta::assert_snapshot!(stderr(&full, &first.data()), @r"
    error: expected an empty or missing data folder, found files in DATA
      name another with --data, or give --force: the old folder is then kept beside it
    ");
    assert_eq!(node_id(&first.data()), id);

    let (code, answer) = {
        let run = first.run_with(&["--json", "restore", "--force", text(&file)], &SEALED);
        let output = run.get_output();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), answer)
    };
    assert_eq!(code, 0, "{answer}");
    let old = PathBuf::from(answer["old_folder"].as_str().unwrap());
    assert_eq!(node_id(&old), id);
    assert_eq!(node_id(&first.data()), id);
    assert_eq!(keys(&first), "ci local-admin", "without the one that came later");
    assert_eq!(beside(&first).len(), 2, "{:?}", beside(&first));
}

#[test]
fn a_folder_of_something_else_is_left_alone_even_by_force() {
    let first = with_key("ci");
    let file = back_up(&first);
    first.stop_node();
    let second = Folder::new();
    std::fs::create_dir(second.data()).unwrap();
    std::fs::write(second.data().join("letter.txt"), "dear Ada").unwrap();
    let run = second.run_with(&["restore", "--force", text(&file)], &SEALED).code(4);
    insta::assert_snapshot!(stderr(&run, &second.data()), @r"
    error: expected a data folder of Baton, or an empty or missing folder, found other files in DATA
      they were left alone; name another folder with --data
    ");
    assert_eq!(std::fs::read_dir(second.data()).unwrap().count(), 1);
    assert_eq!(beside(&second), ["data"]);
}

#[test]
fn what_cannot_be_backed_up_is_named() {
    let folder = Folder::new();
    let file = folder.data().with_file_name("baton.backup");
    let nothing = folder.run_with(&["backup", text(&file)], &SEALED).code(3);
    let short = [("BATON_BACKUP_PASSPHRASE", "hunter2")];
    let short = folder.run_with(&["backup", text(&file)], &short).code(2);
    let server = baton_postgres::create_database().unwrap();
    let empty = folder.run_with(&["backup", text(&file), "--database-url", &server], &SEALED);
    let told = [nothing, short, empty.code(3)].map(|run| stderr(&run, &folder.data()));
    let database = server.split_once('?').unwrap().0.rsplit_once('/').unwrap().1;
    insta::assert_snapshot!(told.concat().replace(database, "DATABASE"), @r"
    error: expected a database at DATA/baton.db, found none: there is nothing to back up
    error: expected a passphrase of at least 12 characters, found 7
      a few words that nobody would put together do well
    error: expected a database at postgres://localhost/DATABASE, found none: there is nothing to back up
    ");
    assert_eq!(beside(&folder), Vec::<String>::new(), "nothing was made");
}

/// Whenever it dies, there is no data folder or a whole one, and the next attempt succeeds.
#[test]
fn a_restore_that_is_killed_leaves_nothing_half() {
    let first = with_key("ci");
    let file = back_up(&first);
    first.stop_node();
    let mut whole = 0;
    for round in 0..rounds(10) {
        let second = Folder::new();
        let mut child = Command::new(cargo_bin("baton"))
            .args(["--data", text(&second.data()), "restore", text(&file)])
            .env(SEALED[0].0, SEALED[0].1)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The moment of death is the point of the story; whatever it is, the story holds.
        std::thread::sleep(Duration::from_millis(round % 10 * 40));
        child.kill().unwrap();
        child.wait().unwrap();
        if second.data().exists() {
            whole += 1;
        } else {
            second.run_with(&["restore", text(&file)], &SEALED).success();
        }
        assert_eq!(keys(&second), "ci local-admin", "round {round}");
        assert_eq!(beside(&second), ["data"], "round {round}");
    }
    assert!(whole < rounds(10), "some died before the end");
}

/// By force the two folders change places: whenever it dies, one of them is there, and whole.
#[test]
fn a_restore_by_force_that_is_killed_leaves_the_old_folder_or_the_new_one() {
    let backups = ["ci", "laptop"].map(|key| {
        let folder = with_key(key);
        let file = back_up(&folder);
        folder.stop_node();
        (folder, file, format!("{key} local-admin"))
    });
    let second = with_key("old");
    second.stop_node();
    let (mut stayed, mut before) = (0, keys(&second));
    for (round, (_, file, wanted)) in (0..rounds(8)).zip(backups.iter().cycle()) {
        let mut child = Command::new(cargo_bin("baton"))
            .args(["--data", text(&second.data()), "restore", "--force", text(file)])
            .env(SEALED[0].0, SEALED[0].1)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(round % 8 * 50));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = keys(&second);
        assert!([&before, wanted].contains(&&found), "round {round}: {found}");
        stayed += u32::from(found == before);
        before = found;
    }
    assert!(stayed > 0, "some died before the end");
    let (_, file, wanted) = &backups[0];
    second.run_with(&["restore", "--force", text(file)], &SEALED).success();
    assert_eq!(&keys(&second), wanted);
    let kept = beside(&second);
    let named = |name: &String| name == "data" || name.starts_with("data.before-");
    assert!(kept.iter().all(named), "{kept:?}");
}

#[test]
fn a_backup_that_is_killed_leaves_the_older_one() {
    let first = with_key("ci");
    let file = back_up(&first);
    let before = std::fs::read(&file).unwrap();
    let mut left = 0;
    for round in 0..rounds(5) {
        let mut child = Command::new(cargo_bin("baton"))
            .args(["--data", text(&first.data()), "backup", text(&file)])
            .env(SEALED[0].0, SEALED[0].1)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(round % 10 * 30));
        child.kill().unwrap();
        child.wait().unwrap();
        left += u32::from(std::fs::read(&file).unwrap() == before);
        let second = Folder::new();
        second.run_with(&["restore", text(&file)], &SEALED).success();
    }
    assert!(left > 0, "some died before the end");
    back_up(&first);
    assert_eq!(beside(&first), ["data"], "the next one clears up");
    first.stop_node();
}
