//! Wrong usage ends with 2, says why, and starts nothing.

use super::fixture::{Folder, stderr};

#[test]
fn wrong_command_lines_end_with_2() {
    let folder = Folder::new();
    let wrong: [&[&str]; 22] = [
        &[],
        &["fly"],
        &["open", "https://shop.test"],
        &["open", "--name", "a shop"],
        &["open", "no address", "--name", "shop"],
        &["open", "--name", "shop", "--viewport", "wide"],
        &["open", "--name", "shop", "--geolocation", "here"],
        &["sessions", "list", "--state", "asleep"],
        &["serve", "--idle-exit", "soon"],
        &["mcp", "--with", "npx @playwright/mcp"],
        &["mcp", "--with", "{cdp_url}"],
        &["mcp", "--with", "npx 'unended {cdp_url}"],
        &["save", "shop", "--name", "a shop"],
        &["peers", "add", "no address", "--name", "server"],
        &["peers", "add", "https://server.test", "--name", "server", "--auth", "charm"],
        &["sync", "run", "--direction", "sideways"],
        &["sync", "resolve", "shop"],
        &["federation", "update", "../kimi", "active"],
        &["federation", "task", "claim"],
        &["federation", "task", "add", "work", "--priority", "soon"],
        &["federation", "sprint"],
        &["federation", "--gone-after", "later", "status"],
    ];
    for args in wrong {
        let run = folder.run(args).code(2);
        assert!(run.get_output().stdout.is_empty(), "{args:?}: nothing on standard output");
        assert!(!run.get_output().stderr.is_empty(), "{args:?}: the reason on standard error");
    }
    assert!(!folder.data().exists(), "nothing was made or started");
}

#[test]
fn settings_that_make_no_sense_end_with_2_and_name_their_place() {
    let folder = Folder::new();
    std::fs::create_dir(folder.data()).unwrap();
    std::fs::write(folder.data().join("baton.toml"), "[recovery]\nmax_session_age = 0\n").unwrap();
    let settings = ["serve", "--listen", "127.0.0.1:0"];
    let mut texts = vec![stderr(&folder.run(&settings).code(2), &folder.data())];
    std::fs::remove_file(folder.data().join("baton.toml")).unwrap();
    let runs = [
        folder.run(&["serve", "--listen", "0.0.0.0:0"]),
        folder.run(
            &[
                &["serve", "--listen", "127.0.0.1:0"],
                &["--tls-certificate", "/nowhere/tls.crt", "--tls-key", "/nowhere/tls.key"][..],
            ]
            .concat(),
        ),
        folder.run(&["serve", "--session-snapshot-interval", "-1"]),
        folder.run_with(&["serve"], &[("BATON_MAX_SESSION_SNAPSHOTS", "0")]),
        folder.run(&["serve", "--config", "/nowhere/baton.toml"]),
    ];
    texts.extend(runs.into_iter().map(|run| stderr(&run.code(2), &folder.data())));
    insta::assert_snapshot!(texts.concat(), @r"
    error: the file DATA/baton.toml: expected recovery.max_session_age to be a number from 1 to 316224000, found 0
    error: expected server.listen to be a loopback address such as 127.0.0.1:0, found 0.0.0.0:0
      other machines could read keys and cookies in clear text: set server.tls, or server.behind_proxy when a proxy in front of the node speaks TLS
      in a container, server.published names where its host shows it to itself alone
    error: expected a certificate (PEM) at /nowhere/tls.crt, found: No such file or directory (os error 2)
    error: the flags and BATON_* variables: expected recovery.session_snapshot_interval to be a number from 1 to 316224000, found -1
    error: the flags and BATON_* variables: expected recovery.max_session_snapshots to be a number from 1 to 100000, found 0
    error: expected a settings file at /nowhere/baton.toml, found: No such file or directory (os error 2)
    ");
}

#[test]
fn a_proxy_that_other_machines_reach_starts_with_protection_and_keys_only() {
    let folder = Folder::new();
    std::fs::create_dir(folder.data()).unwrap();
    let shop = "[[cocoons]]\nid = \"shop\"\nupstream = \"http://127.0.0.1:9\"\n";
    let mut texts = Vec::new();
    for more in ["", "[server]\nbehind_proxy = true\n"] {
        std::fs::write(folder.data().join("baton.toml"), format!("{more}{shop}")).unwrap();
        let run = folder.run(&["proxy", "--listen", "0.0.0.0:0"]);
        texts.push(stderr(&run.code(2), &folder.data()));
    }
    insta::assert_snapshot!(texts.concat(), @r#"
    error: expected proxy.listen to be a loopback address such as 127.0.0.1:0, found 0.0.0.0:0
      other machines could read keys and cookies in clear text: set server.tls, or server.behind_proxy when a proxy in front of the node speaks TLS
    error: expected every cocoon to want a key, because other machines reach proxy.listen, 0.0.0.0:0; found that shop wants none
      set its access to "key", or let the proxy listen at a loopback address
    "#);
}

#[test]
fn a_program_gets_usage_errors_as_a_document() {
    let folder = Folder::new();
    let (code, document) = folder.json(&["open", "--name", "a shop"]);
    assert_eq!((code, document["error"]["code"].as_str()), (2, Some("usage")));
    let message = document["error"]["message"].as_str().unwrap();
    assert!(message.contains("expected a name of 1 to 64 letters"), "{message}");
}
