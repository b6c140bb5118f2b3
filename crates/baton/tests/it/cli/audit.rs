//! The audit log from the command line.

use super::fixture::{Folder, stderr, stdout};
use regex::Captures;

#[test]
fn the_log_says_who_did_what_and_how_it_ended() {
    let folder = Folder::new();
    let made = folder.run(&["--quiet", "keys", "create", "--name", "ci", "--owner", "ada"]);
    let secret = stdout(&made.success(), &folder.data());
    folder.run(&["open", "--name", "shop"]).code(1);
    folder.run(&["keys", "revoke", "ci", "--owner", "ada"]).success();
    let run = folder.run(&["audit"]).success();
    let text = stdout(&run, &folder.data());
    assert!(!text.contains(secret.trim_end()));
    let (code, document) = folder.json(&["audit"]);
    assert_eq!((code, document["items"].as_array().unwrap().len()), (0, 4));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(tidy(&text), @"
    WHEN        OWNER  WHO          WHAT          SUBJECT        HOW IT ENDED
    2026-01-01  ada    local-admin  key.revoke    ci             done
    12:00:00Z                                     key_000000000
    2026-01-01  local  local-admin  session.open  shop           failed:
    12:00:00Z                                                    browser_unavailable
    2026-01-01  ada    local-admin  key.create    ci             done
    12:00:00Z                                     key_000000000
    2026-01-01  local  node         key.create    local-admin    done
    12:00:00Z                                     key_000000000
    ");

    let last = folder.run(&["audit", "--limit", "1"]).success();
    assert_eq!(stdout(&last, &folder.data()).matches("key.").count(), 1, "one entry");
    let note = stderr(&last, &folder.data());
    insta::assert_snapshot!(note, @"there are more entries than are shown; --limit shows more");
    let (_, of_ada) = folder.json(&["audit", "--owner", "ada"]);
    assert_eq!(of_ada["items"].as_array().unwrap().len(), 2);
    folder.run(&["audit", "--limit", "0"]).code(2);
    folder.stop_node();
}

/// The table without what differs between runs.
fn tidy(text: &str) -> String {
    let text =
        regex::Regex::new(r"key_[0-9a-f]+").unwrap().replace_all(text, |id: &Captures<'_>| {
            format!("key_{}", "0".repeat(id[0].len() - "key_".len()))
        });
    let text = regex::Regex::new(r"\d{4}-\d\d-\d\d").unwrap().replace_all(&text, "2026-01-01");
    let time = regex::Regex::new(r"\d\d:\d\d:\d\dZ").unwrap();
    time.replace_all(&text, "12:00:00Z").into_owned()
}
