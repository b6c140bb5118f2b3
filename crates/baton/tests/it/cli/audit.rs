//! The audit log from the command line.

use super::fixture::{Folder, stderr, stdout};

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
    insta::assert_snapshot!(tidy(&text), @r"
    WHEN OWNER WHO WHAT SUBJECT HOW IT ENDED
    INSTANT ada local-admin KEY key.revoke ci KEY done
    INSTANT local local-admin KEY session.open shop failed: browser_unavailable
    INSTANT ada local-admin KEY key.create ci KEY done
    INSTANT local node key.create local-admin KEY done
    ");

    let last = folder.run(&["audit", "--limit", "1"]).success();
    assert_eq!(stdout(&last, &folder.data()).lines().count(), 2, "headings and one entry");
    let note = stderr(&last, &folder.data());
    insta::assert_snapshot!(note, @"there are more entries than are shown; --limit shows more");
    let (_, of_ada) = folder.json(&["audit", "--owner", "ada"]);
    assert_eq!(of_ada["items"].as_array().unwrap().len(), 2);
    folder.run(&["audit", "--limit", "0"]).code(2);
    folder.stop_node();
}

/// The table without its padding, and without what differs between runs.
fn tidy(text: &str) -> String {
    let tidy = |word: &str| match word {
        id if id.contains("key_") => "KEY".to_owned(),
        instant if instant.ends_with('Z') => "INSTANT".to_owned(),
        word => word.to_owned(),
    };
    let line = |line: &str| line.split_whitespace().map(tidy).collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
