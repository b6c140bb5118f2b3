//! The help teaches.

use super::fixture::{Folder, stdout};

#[test]
fn the_first_page_says_what_there_is() {
    let folder = Folder::new();
    let run = folder.run(&["--help"]).success();
    insta::assert_snapshot!(stdout(&run, &folder.data()), @"
    Keeps a browser session alive across crashes, machines, sandboxes and agents

    Usage: baton [OPTIONS] <COMMAND>

    Commands:
      open         Open a session in a browser of its own
      attach       Keep the session of a browser that runs already
      sessions     List, show, capture, resume, roll back, drive, pass, ask, close, delete sessions
      export       Write a session to a file that another Baton, or Playwright, can read
      import       Make a session of a file, of a profile, or of your own browser
      save         Save a session as it is now, so that it can move to other nodes
      node         Show the nodes that are one: a cluster on a database that they share
      peers        Invite, join, add, confirm, limit, list, ping, remove nodes that exchange sessions
      sync         Move sessions between this node and its peers, and choose where both changed one
      profile      Make a browser's profile of a state, or read one, with no browser running
      browser      List the browsers of this machine, and install one
      dashboard    Open the page of the node in a browser: sessions, their history, what came back
      debug        Look in: network and console of tabs, with their secrets hidden
      mcp          Let agents use sessions: serve MCP on standard input and output
      skill        Write what teaches an agent to keep, resume and hand over logins
      federation   Take turns: one board that all agents of this machine share
      keys         Make, list and revoke API keys
      audit        Show what was done, by whom, and how it ended, newest first
      serve        Run a node: the service that keeps sessions
      stop         End the node of the data folder; browsers run on, and the next node finds them
      url          Print the address of the node; one is started where none runs
      proxy        Run a proxy in front of your services, so that their pages can be looked into
      cocoons      Name the services behind the node's proxy, list, open and remove them
      sandbox      Make sandboxes that are logged in, run commands in them, list, show and end them
      backup       Write the database, and what opens it, to one sealed file; the node may run
      restore      Make a data folder of a backup; no node may run on it
      doctor       Look for what is missing or wrong on this machine, and say what to do
      demo         See a session outlive its browser and its node, and go on elsewhere
      completions  Write the completions of a shell to standard output
      help         Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
          --data <DIR>  Folder of the node's files [default: the platform's data folder] [env:
                        BATON_DATA]
          --as <AGENT>  As which agent to ask: one at a time drives a session [env: BATON_AGENT]
          --json        Write one JSON document to standard output, and everything else to standard
                        error
      -q, --quiet       Write nothing but results and errors

    Examples:
      baton demo                                     see a session survive a crash
      baton open https://example.org --name shop     open a session in a browser
      baton sessions list                            what there is
      baton sessions resume shop                     bring it back after a crash
      baton export shop -o shop.json                 carry it elsewhere, logged in
      baton dashboard                                all of it, as a page
      baton sync run                                 exchange with other nodes
      baton doctor                                   what is missing on this machine

    An ID is an id, a unique prefix of one, or a name.

    Exit codes:
      0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 denied,
      6 done with losses
    ");
}

#[test]
fn every_command_has_help_without_a_node() {
    let folder = Folder::new();
    let commands: [&[&str]; 42] = [
        &["open"],
        &["export"],
        &["import"],
        &["save"],
        &["peers", "add"],
        &["peers", "list"],
        &["peers", "confirm"],
        &["peers", "ping"],
        &["sync", "run"],
        &["sync", "status"],
        &["sync", "conflicts"],
        &["sync", "resolve"],
        &["profile", "compile"],
        &["profile", "read"],
        &["mcp", "install"],
        &["mcp", "uninstall"],
        &["skill"],
        &["attach"],
        &["serve"],
        &["stop"],
        &["backup"],
        &["restore"],
        &["doctor"],
        &["demo"],
        &["completions"],
        &["sessions", "list"],
        &["sessions", "show"],
        &["sessions", "capture"],
        &["sessions", "resume"],
        &["sessions", "close"],
        &["sessions", "abandon"],
        &["sessions", "delete"],
        &["sessions", "history"],
        &["sessions", "rollback"],
        &["sessions", "diff"],
        &["keys", "create"],
        &["keys", "revoke"],
        &["audit"],
        &["federation", "status"],
        &["federation", "update"],
        &["federation", "task", "claim"],
        &["federation", "watch"],
    ];
    for command in commands {
        let run = folder.run(&[command, &["--help"]].concat()).success();
        let text = stdout(&run, &folder.data());
        let usage = format!("Usage: baton {}", command.join(" "));
        assert!(text.contains(&usage), "expected {usage:?}, found {text}");
    }
    assert!(!folder.data().exists(), "nothing was made or started");
}

#[test]
fn the_version_says_of_which_commit_it_is() {
    let folder = Folder::new();
    let said = stdout(&folder.run(&["--version"]).success(), &folder.data());
    // Sources without git are of none.
    let form =
        format!(r"^baton {}(?: \([0-9a-f]{{8}} \d{{4}}-\d\d-\d\d\))?$", env!("CARGO_PKG_VERSION"));
    assert!(regex::Regex::new(&form).unwrap().is_match(said.trim_end()), "{said}");
}

#[test]
fn the_manual_has_a_page_for_each_command_that_help_shows() {
    let folder = Folder::new();
    let pages = tempfile::tempdir().unwrap();
    folder.run(&["man", "--to", pages.path().to_str().unwrap()]).success();
    let has = |name: &str| pages.path().join(name).is_file();
    assert!(has("baton.1") && has("baton-open.1") && has("baton-sessions-resume.1"));
    assert!(!has("baton-keeper.1") && !has("baton-man.1"), "hidden commands are nobody's to type");
    assert!(!folder.data().exists(), "nothing was made or started");
}
