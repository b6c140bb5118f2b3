//! Where a node listens that a command started: at the usual port where that is free, in a network of the
//! test's own.

use super::fixture::Folder;
use baton_testing::skip;
use std::process::Command;

/// Asks for the addresses of two nodes, the second while the first one has the usual port.
const ASK: &str = r#"
ip link set lo up
for data in "$2/one" "$2/two"; do "$1" --quiet --data "$data" url; done
"$1" --json --data "$2/one" url | tr -d ' \n'
echo
grep '"url"' "$2/one/node.json"
for data in "$2/one" "$2/two"; do "$1" --quiet --data "$data" stop > /dev/null; done
"#;

#[test]
fn a_node_that_a_command_started_is_where_the_docs_say_while_that_port_is_free() {
    let folder = Folder::new();
    let mut asked = Command::new("unshare");
    asked.args(["--user", "--map-root-user", "--net", "sh", "-ec", ASK, "sh"]);
    asked.arg(env!("CARGO_BIN_EXE_baton")).arg(folder.data()).env_remove("BATON_LISTEN");
    let Ok(done) = asked.output() else { skip!("no unshare") };
    let (said, why) =
        (String::from_utf8(done.stdout).unwrap(), String::from_utf8_lossy(&done.stderr));
    if why.contains("unshare") || why.contains("ip: not found") {
        skip!("no namespaces: {why}");
    }
    assert!(done.status.success(), "{said}{why}");
    let lines: Vec<&str> = said.lines().map(str::trim).collect();
    let [first, second, json, written] = lines[..] else { panic!("expected four lines: {said}") };
    assert_eq!(first, "http://127.0.0.1:7420");
    assert!(second.starts_with("http://127.0.0.1:") && second != first, "{second}");
    assert_eq!(json, r#"{"url":"http://127.0.0.1:7420"}"#);
    assert_eq!(written, r#""url": "http://127.0.0.1:7420","#);
}
