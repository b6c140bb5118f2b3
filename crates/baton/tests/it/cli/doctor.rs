//! The doctor says what is wrong and what to do, and changes nothing.

use super::fixture::{Folder, stderr, stdout};
use std::os::unix::fs::PermissionsExt;

/// The line of one check, with what to do.
fn check(text: &str, name: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.contains(name));
    let first = lines.next().unwrap_or_else(|| panic!("expected a line {name:?}, found {text}"));
    let rest = lines.take_while(|line| line.trim_start().starts_with('→'));
    std::iter::once(first).chain(rest).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_missing_browser_is_broken_and_nothing_is_made() {
    let folder = Folder::new();
    let run = folder.run(&["doctor"]).code(1);
    let text = stdout(&run, &folder.data());
    insta::assert_snapshot!(check(&text, " browser "), @"broken   browser      expected a Chromium program at /nowhere/chromium, found nothing");
    insta::assert_snapshot!(check(&text, " data folder "), @"ok       data folder  DATA, made at the first start");
    insta::assert_snapshot!(check(&text, " database "), @"ok       database     DATA/baton.db, made at the first start");
    assert!(!folder.data().exists());
}

#[test]
fn what_sandboxes_need_is_named() {
    let folder = Folder::new();
    let here = stdout(&folder.run(&["doctor"]), &folder.data());
    insta::assert_snapshot!(check(&here, " sandboxes "), @"ok       sandboxes    one starts, with bubblewrap, slirp4netns and nftables; Xtigervnc is here for displays");
    let run = folder.run_with(&["doctor"], &[("PATH", "/nowhere")]);
    insta::assert_snapshot!(check(&stdout(&run, &folder.data()), " sandboxes "), @r"
    warning  sandboxes    sandboxes need bwrap, which is not installed
    → install it: the package bubblewrap
    ");
}

#[test]
fn a_sandbox_without_its_network_is_told_where_sandboxes_are_to_have_one() {
    let folder = Folder::new();
    folder.run(&["sessions", "list"]).success();
    folder.stop_node();
    let programs = folder.data().with_file_name("programs");
    std::fs::create_dir(&programs).unwrap();
    let slirp = programs.join("slirp4netns");
    let fails = |why: &str| {
        let fails = format!("#!/bin/sh\necho WARNING\necho '{why}' >&2\nexit 1\n");
        std::fs::write(&slirp, fails).unwrap();
        std::fs::set_permissions(&slirp, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    fails(r#"open("/dev/net/tun")"#);
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let told = || {
        let run = folder.run_with(&["doctor"], &[("PATH", &path)]);
        check(&stdout(&run, &folder.data()), " sandboxes ")
    };
    insta::assert_snapshot!(told(), @r#"
    warning  sandboxes    bubblewrap, slirp4netns and nftables are here, and no sandbox starts: no network: open("/dev/net/tun")
    → let this user open /dev/net/tun, in a container with --device /dev/net/tun; or have sandboxes.network = "none" in the settings; what containers can do: docs/guide/container.md
    "#);
    fails("setns(CLONE_NEWNET): Operation not permitted");
    insta::assert_snapshot!(told(), @r#"
    warning  sandboxes    bubblewrap, slirp4netns and nftables are here, and no sandbox starts: no network: setns(CLONE_NEWNET): Operation not permitted
    → let slirp4netns do what it says, or have sandboxes.network = "none" in the settings; what containers can do: docs/guide/container.md
    "#);
    let settings = folder.data().join("baton.toml");
    std::fs::write(settings, "[sandboxes]\nnetwork = \"none\"\n").unwrap();
    assert!(told().starts_with("ok "), "{}", told());
}

#[test]
fn a_server_that_is_empty_or_away_is_told_from_one_in_use() {
    let server = baton_postgres::create_database().unwrap();
    let folder = Folder::new();
    let looked = |server: &str| {
        let run = folder.run(&["doctor", "--database-url", server]).code(1);
        check(&stdout(&run, &folder.data()), " database ")
    };
    let empty = looked(&server);
    assert!(empty.starts_with("ok       database     postgres://localhost/"), "{empty}");
    assert!(empty.ends_with(", filled at the first start"), "{empty}");
    let away = looked("postgres://localhost/baton?host=%2Fnowhere");
    assert!(away.starts_with("broken   database     cannot reach postgres://localhost/"), "{away}");
    let used = ("BATON_DATABASE_URL", server.as_str());
    folder.run_with(&["--quiet", "keys", "list"], &[used]).success();
    let found = looked(&server);
    folder.stop_node();
    assert!(found.starts_with("ok ") && !found.contains("first start"), "{found}");
}

#[test]
fn permissions_damage_and_leftovers_are_found() {
    let folder = Folder::new();
    folder.run(&["sessions", "list"]).success();
    let running = stdout(&folder.run(&["doctor"]), &folder.data());
    assert!(
        check(&running, " node ").starts_with("ok       node         runs at http://127.0.0.1:")
    );
    folder.stop_node();
    let open = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(folder.data().join("admin.key"), open).unwrap();
    let socket = folder.data().join("run/01890000-0000-7000-8000-000000000000.sock");
    drop(std::os::unix::net::UnixListener::bind(socket).unwrap());
    std::fs::write(folder.data().join("baton.db"), "no database".repeat(1000)).unwrap();
    let run = folder.run(&["doctor"]).code(1);
    let text = stdout(&run, &folder.data());
    let found = [" admin key ", " node ", " database ", " keeper "].map(|name| check(&text, name));
    insta::assert_snapshot!(found.join("\n"), @r"
    broken   admin key    others can use DATA/admin.key: mode 644
    → run: chmod 600 DATA/admin.key
    ok       node         none runs; the first command that needs one starts it
    broken   database     expected a SQLite database in DATA/baton.db, found a file of another kind; it was left alone
    warning  keeper       stale socket DATA/run/01890000-0000-7000-8000-000000000000.sock
    → nothing: the next start of a node clears it
    ");
    let (code, document) = folder.json(&["doctor"]);
    assert_eq!((code, document["ok"].as_bool()), (1, Some(false)));
}

#[test]
fn a_certificate_that_cannot_be_used_is_broken() {
    let folder = Folder::new();
    let files = [("BATON_TLS_CERTIFICATE", "/nowhere/tls.crt"), ("BATON_TLS_KEY", "/nowhere/key")];
    let text = stdout(&folder.run_with(&["doctor"], &files).code(1), &folder.data());
    insta::assert_snapshot!(check(&text, " certificate "), @"broken   certificate  expected a certificate (PEM) at /nowhere/tls.crt, found: No such file or directory (os error 2)");
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let folder = Folder::new();
    let run = folder.run_with(&["doctor"], &[("BATON_MAX_SESSION_AGE", "0")]).code(1);
    let text = stdout(&run, &folder.data());
    insta::assert_snapshot!(check(&text, " settings "), @"broken   settings     the flags and BATON_* variables: expected recovery.max_session_age to be a number from 1 to 316224000, found 0");
}

#[test]
fn what_does_not_fit_together_is_explained() {
    let folder = Folder::new();
    folder.run(&["sessions", "list"]).success();
    let running = stdout(&folder.run(&["doctor"]), &folder.data());
    insta::assert_snapshot!(check(&running, " database "), @"ok       database     DATA/baton.db");
    insta::assert_snapshot!(check(&running, " contents "), @"ok       contents     0 sessions, 0 snapshots, 0 parts");
    folder.stop_node();

    let lost = "01890000-0000-7000-8000-000000000000";
    std::fs::create_dir(folder.data().join("sessions").join(lost)).unwrap();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.data().join("run"), open).unwrap();
    let key = folder.data().join("key");
    std::fs::hard_link(&key, key.with_file_name("key.link")).unwrap();
    let text = stdout(&folder.run(&["doctor"]).code(1), &folder.data());
    insta::assert_snapshot!(check(&text, " profile "), @r"
    warning  profile      DATA/sessions/01890000-0000-7000-8000-000000000000 belongs to no session
    → remove the folder, unless a node uses this data folder with another database
    ");
    insta::assert_snapshot!(check(&text, "others can look"), @r"
    broken   data folder  others can look into DATA/run
    → run: chmod 700 DATA/run
    ");
    insta::assert_snapshot!(check(&text, " master key "), @r"
    warning  master key   DATA/key is a link: another folder may share it
    → give each folder a key of its own, unless you meant to share it
    ");

    std::fs::remove_file(&key).unwrap();
    let text = stdout(&folder.run(&["doctor"]).code(1), &folder.data());
    insta::assert_snapshot!(check(&text, " database "), @r"
    broken   database     expected the key file DATA/key, which opens the database, found none
    → put it back; without it, what is sealed stays sealed
    ");
    let serve = folder.run(&["serve", "--listen", "127.0.0.1:0"]).code(1);
    assert!(stderr(&serve, &folder.data()).contains("expected the key file DATA/key"));
    assert!(!key.exists(), "no other key is made in its place");

    std::fs::write(&key, [1; 32]).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    let text = stdout(&folder.run(&["doctor"]).code(1), &folder.data());
    assert!(check(&text, " database ").contains("sealed for another key file"), "{text}");
    assert!(check(&text, " database ").contains("→ put the key file"), "{text}");
}

/// The copy's `node.json` leads to the original: no command may mistake the one for the other.
#[test]
fn a_copy_of_a_folder_whose_node_runs_is_told_from_it() {
    let first = Folder::new();
    first.run(&["sessions", "list"]).success();
    let second = Folder::new();
    std::fs::create_dir(second.data()).unwrap();
    for name in ["node.json", "node.id", "key", "admin.key", "node.lock"] {
        std::fs::copy(first.data().join(name), second.data().join(name)).unwrap();
    }
    let run = second.run(&["sessions", "list"]).code(4);
    let told = stderr(&run, &second.data());
    assert!(told.contains("works on another folder: one of the two is a copy"), "{told}");
    let text = stdout(&second.run(&["doctor"]).code(1), &second.data());
    assert!(check(&text, " node ").starts_with("broken   node"), "{text}");
    std::fs::remove_file(second.data().join("node.json")).unwrap();
    first.stop_node();
}
