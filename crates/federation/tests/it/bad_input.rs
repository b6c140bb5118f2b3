//! What can be wrong with a folder: a clear word, and nothing overwritten.

use crate::fixture::{Place, add, at, claim, update};
use baton_federation::{FederationError, Kind, Operation, Options, Source};
use baton_testing::skip;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The names of copies are hashes, sessions and times differ.
fn tidy(place: &Place, error: &FederationError) -> String {
    let text = place.tidy(error);
    let session = place.board.read().ok().flatten().map(|board| board.session_id);
    let text = session.map_or(text.clone(), |session| text.replace(&session, "SESSION"));
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        words.push(match (word.find("unreadable-"), word.starts_with("sess-")) {
            (Some(index), _) => format!("{}unreadable-HASH.json;", &word[..index]),
            (None, true) => "SESSION".to_owned(),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

#[test]
fn a_board_that_cannot_be_read_is_told_and_left_alone() {
    let place = Place::new();
    place.add("one");
    let good = fs::read_to_string(place.file()).unwrap();
    let wrong = [
        String::new(),
        "{ \"session_id\": \"sess-1\",\n  \"agents\": [] }".to_owned(),
        good[..good.len() / 2].to_owned(),
        "{}".to_owned(),
        "[1, 2]".to_owned(),
        "null".to_owned(),
        good.replace("\"rev\": 2", "\"rev\": 18446744073709551615"),
        good.replace("\"description\": \"one\"", "\"description\": 1"),
    ];
    let mut said = Vec::new();
    for text in &wrong {
        fs::write(place.file(), text).unwrap();
        let read = place.board.read().unwrap_err();
        let write = place.board.write(&add("two")).unwrap_err();
        assert_eq!((read.to_string(), read.kind()), (write.to_string(), Kind::Failed));
        assert_eq!(fs::read_to_string(place.file()).unwrap(), *text, "nothing was overwritten");
        said.push(tidy(&place, &read).lines().next().unwrap().to_owned());
    }
    let said = said.join("\n").replace(
        "expected a board in FOLDER/federation/sessions/active-session.json, which cannot be read: ",
        "",
    );
    insta::assert_snapshot!(said, @r"
    it is empty
    invalid type: sequence, expected a map at line 2 column 12
    EOF while parsing a value at line 11 column 12
    missing field `session_id` at line 1 column 2
    invalid type: sequence, expected struct Board at line 1 column 0
    invalid type: null, expected struct Board at line 1 column 4
    expected a number up to 9007199254740992, found 18446744073709551615 at line 6 column 29
    invalid type: integer `1`, expected a string at line 12 column 22
    ");
    let whole = tidy(&place, &place.board.read().unwrap_err());
    insta::assert_snapshot!(whole, @"
    expected a board in FOLDER/federation/sessions/active-session.json, which cannot be read: invalid type: integer `1`, expected a string at line 12 column 22
    nothing was overwritten, and a copy is FOLDER/federation/sessions/unreadable-HASH.json; baton federation recover puts back SESSION as it was acknowledged last, rev 2
    ");
    let copies = fs::read_dir(place.path("sessions")).unwrap().filter(|entry| {
        entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with("unreadable-")
    });
    assert_eq!(copies.count(), wrong.len(), "each is kept once");
}

#[test]
fn the_last_good_board_is_put_back() {
    let place = Place::new();
    let ids = [place.add("one"), place.add("two"), place.add("three")];
    let fence = place.claim("kimi", &ids[1]);
    fs::write(place.file(), "{ \"session_id\"").unwrap();
    let (board, source) = place.board.recover().unwrap();
    assert_eq!((source, board.tasks.len()), (Source::Copy, 3));
    assert_eq!(board.task(&ids[1]).unwrap().fence(), Some(fence), "up to the last operation");
    assert_eq!(place.board.read().unwrap().unwrap(), board);
    let error = place.board.recover().unwrap_err();
    insta::assert_snapshot!(place.tidy(&error), @"
    expected a board that cannot be read, but FOLDER/federation/sessions/active-session.json can
    there is nothing to recover
    ");
    // Twice in a row, without anything in between.
    fs::write(place.file(), "").unwrap();
    assert_eq!(place.board.recover().unwrap().0.tasks, board.tasks);
}

#[test]
fn without_a_copy_the_newest_of_the_history_is_put_back() {
    let place = Place::new();
    let id = place.add("one");
    place.done(&Operation::Close { agent: None });
    fs::write(place.file(), "no board").unwrap();
    let error = place.board.read().unwrap_err();
    insta::assert_snapshot!(tidy(&place, &error).split(" of 2").next().unwrap(), @"
    expected a board in FOLDER/federation/sessions/active-session.json, which cannot be read: expected ident at line 1 column 2
    nothing was overwritten, and a copy is FOLDER/federation/sessions/unreadable-HASH.json; baton federation recover puts back the archived session SESSION
    ");
    let (board, source) = place.board.recover().unwrap();
    assert_eq!(source, Source::History);
    assert!(board.task(&id).is_some() && !board.is_closed());
    place.claim("kimi", &id);
    assert_eq!(place.board.history(9).unwrap().len(), 1, "the old one stays in the history");

    let nothing = Place::new();
    fs::create_dir_all(nothing.path("sessions")).unwrap();
    fs::write(nothing.file(), "no board").unwrap();
    let said = [nothing.board.read().unwrap_err(), nothing.board.recover().unwrap_err()];
    let said = said.map(|error| tidy(&nothing, &error)).join("\n");
    insta::assert_snapshot!(said, @"
    expected a board in FOLDER/federation/sessions/active-session.json, which cannot be read: expected ident at line 1 column 2
    nothing was overwritten, and a copy is FOLDER/federation/sessions/unreadable-HASH.json; there is no older one to put back
    expected a board that can be put back, found none in FOLDER/federation
    ");
}

#[test]
fn a_file_that_is_just_being_written_is_read_a_moment_later() {
    let place = Place::new();
    place.add("one");
    let whole = fs::read(place.file()).unwrap();
    for part in [0, whole.len() / 2, whole.len() - 3] {
        fs::write(place.file(), &whole[..part]).unwrap();
        let board = std::thread::scope(|scope| {
            let reader = scope.spawn(|| place.board.read());
            // So slow is a program that writes in place.
            std::thread::sleep(Duration::from_millis(20));
            fs::write(place.file(), &whole).unwrap();
            reader.join().unwrap()
        });
        assert_eq!(board.unwrap().unwrap().tasks.len(), 1);
    }
    assert_eq!(fs::read(place.file()).unwrap(), whole);
}

#[test]
fn a_file_in_the_place_of_the_folder_is_told() {
    let place = Place::new();
    fs::write(place.board.folder(), "").unwrap();
    let said = [place.board.read().unwrap_err(), place.board.write(&add("one")).unwrap_err()];
    insta::assert_snapshot!(said.map(|error| place.tidy(&error)).join("\n"), @"
    could not read FOLDER/federation/sessions/active-session.json: Not a directory (os error 20)
    could not use the folder FOLDER/federation: found a file there
    ");
}

#[test]
fn a_lock_that_somebody_holds_is_waited_for_and_told() {
    let place = Place::with(|options| options.lock_limit = Duration::from_secs(1));
    place.add("one");
    let before = place.files();
    let lock = fs::File::open(place.path(".baton-lock")).unwrap();
    lock.lock().unwrap();
    let error = place.board.write(&add("two")).unwrap_err();
    let own = std::process::id().to_string();
    insta::assert_snapshot!(place.tidy(&error).replace(&own, "PID"), @"
    expected the board to be free within 1 s, but process PID holds FOLDER/federation/.baton-lock
    look what it does; the lock goes with it
    ");
    assert_eq!(error.kind(), Kind::Conflict);
    assert_eq!(place.board.read().unwrap().unwrap().tasks.len(), 1, "readers wait for nobody");
    assert_eq!(place.files(), before);
}

#[test]
fn counters_that_another_program_drove_up_are_told() {
    let place = Place::new();
    place.add("one");
    let mut raw = place.raw();
    raw["fence"] = json!((1_u64 << 53) - 16);
    place.write_raw(&raw);
    insta::assert_snapshot!(
        place.refused(&claim("kimi", None)),
        @"expected a counter below 9007199254740976 in fence, found 9007199254740977: another program wrote it"
    );
    assert_eq!(place.raw(), raw);
}

#[test]
fn a_board_that_grows_too_large_is_refused() {
    let place = Place::in_memory();
    place.add("one");
    let mut raw = place.raw();
    raw["junk"] = json!("x".repeat((16 << 20) - 1_500));
    place.write_raw(&raw);
    let error = place.board.write(&update("kimi", &"y".repeat(4_000))).unwrap_err();
    let found = error.to_string();
    assert!(found.starts_with("expected a board of at most 16777216 bytes, but it would have 167"));
    assert_eq!(place.raw(), raw);
    let left = place.files().len();
    assert_eq!(left, 2, "{:?}", place.files().iter().map(|(path, _)| path).collect::<Vec<_>>());
}

/// Why a test of a disk tests nothing.
const NO_DISK: &str = "no disk could be mounted";

/// A small disk in the place of a folder, or none where that is not allowed. It goes with this.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn mount(place: &'a Path, options: &str) -> Option<Self> {
        fs::create_dir_all(place).unwrap();
        let arguments = ["-t", "tmpfs", "-o", options, "tmpfs"];
        let mounted = Command::new("mount").args(arguments).arg(place).output();
        mounted.is_ok_and(|mounted| mounted.status.success()).then_some(Self(place))
    }

    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.0).output();
    }
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let place = Place::new();
    let folder = place.board.folder().to_owned();
    let Some(_disk) = Disk::mount(&folder, "size=256k,mode=700") else { skip!("{NO_DISK}") };
    place.add("one");
    fs::write(place.path("filler"), "").unwrap();
    let mut size = 0;
    while fs::write(place.path("filler"), vec![1; size + 4096]).is_ok() {
        size += 4096;
    }
    fs::write(place.path("filler"), vec![1; size]).unwrap();
    let before = (place.raw(), fs::read(place.path("agents/.baton-log.jsonl")).unwrap());
    let error = (0..200).find_map(|_| place.board.write(&add(&"x".repeat(4_000))).err()).unwrap();
    let text = place.tidy(&error);
    assert!(
        text.starts_with("could not write FOLDER/federation/sessions/.active-session."),
        "{text}"
    );
    assert!(text.ends_with("No space left on device (os error 28)"), "{text}");
    let now = place.raw();
    assert!(now["tasks"].as_array().unwrap().len() >= before.0["tasks"].as_array().unwrap().len());
    fs::remove_file(place.path("filler")).unwrap();
    let count = place.board.read().unwrap().unwrap().tasks.len();
    place.add("there is room again");
    assert_eq!(place.board.read().unwrap().unwrap().tasks.len(), count + 1);
    let names = fs::read_dir(place.path("sessions")).unwrap();
    let left = names.filter(|entry| {
        entry.as_ref().unwrap().file_name().to_str().unwrap().starts_with(".active-session.")
    });
    assert_eq!(left.count(), 0, "no draft is left");
}

#[test]
fn a_folder_that_takes_no_writes_is_read_and_shown_repaired() {
    let place = Place::new();
    let folder = place.board.folder().to_owned();
    let Some(disk) = Disk::mount(&folder, "size=4m,mode=700") else { skip!("{NO_DISK}") };
    place.add("one");
    let old = place.raw();
    let id = place.add("two");
    place.write_raw(&old);
    disk.remount("ro");
    let error = place.board.write(&add("three")).unwrap_err();
    assert_eq!(error.kind(), Kind::Denied);
    insta::assert_snapshot!(
        place.tidy(&error),
        @"could not open the lock FOLDER/federation/.baton-lock: Read-only file system (os error 30)"
    );
    assert!(place.board.read().unwrap().unwrap().task(&id).is_some(), "shown repaired");
    disk.remount("rw");
    assert_eq!(place.raw(), old, "and left as it was");
}

#[test]
fn options_of_one_board_are_its_own() {
    let place = Place::new();
    assert_eq!(place.board.options().lock_limit, Options::default().lock_limit);
    assert_eq!(at(place.board.folder()).folder(), place.board.folder());
}
