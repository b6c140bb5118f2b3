//! The doctor says what is wrong and what to do, and changes nothing.

use super::fixture::{Folder, stdout};
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
