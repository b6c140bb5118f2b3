//! Two machines whose clocks are too far apart, and what a person is told.

use super::fixture::{Folder, stderr};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A library that sets the clock of whatever loads it ten minutes ahead, made in this folder.
fn ahead(folder: &Folder) -> PathBuf {
    let library = folder.data().with_file_name("ahead.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/clocks.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source);
    assert!(
        compiler.status().unwrap().success(),
        "expected a compiler of C, which Rust links with"
    );
    library
}

#[test]
fn two_clocks_that_are_apart_are_told_of_with_what_to_do() {
    let (laptop, server) = (Folder::new(), Folder::new());
    let library = ahead(&server);
    // The node that this starts keeps the variable.
    server.run_with(&["sessions", "list"], &[("LD_PRELOAD", library.to_str().unwrap())]).success();
    let (_, here) = laptop.json(&["peers", "list"]);
    let here = here["fingerprint"].as_str().unwrap();
    let (_, there) = server.json(&["peers", "list"]);
    let key = ["keys", "create", "--name", "laptop", "--scope", "sync", "--for-node", here];
    let (_, key) = server.json(&key);
    let node = std::fs::read_to_string(server.data().join("node.json")).unwrap();
    let node: Value = serde_json::from_str(&node).unwrap();
    let add = ["peers", "add", node["url"].as_str().unwrap(), "--name", "server"];
    laptop.run_with(&add, &[("BATON_PEER_KEY", key["secret"].as_str().unwrap())]);
    let seen = there["fingerprint"].as_str().unwrap();
    laptop.run(&["peers", "confirm", "server", "--fingerprint", seen]);

    let refused = laptop.run(&["sync", "run", "server"]).failure();
    let refused = stderr(&refused, &laptop.data());
    let (_, ping) = laptop.json(&["peers", "ping", "server"]);
    let ping = ping["reason"].as_str().unwrap_or_default();
    let seen = laptop.run(&["peers", "ping", "server"]);
    let seen = String::from_utf8_lossy(&seen.get_output().stdout).into_owned();
    for told in [refused.as_str(), ping, &seen] {
        let apart = told.split_once("set the clocks of both machines: they are ").expect(told).1;
        let seconds: u32 = apart.split_once(" s apart").expect(told).0.parse().unwrap();
        assert!((590..660).contains(&seconds), "{told}");
    }
    laptop.stop_node();
    server.stop_node();
}
