//! Nothing is left of a sandbox, however it ends.

use super::fixture::{label, made, provider, removed, says, spec};
use baton_sandbox::{Allowed, Command, Network, Provider as _, SandboxSpec};
use baton_testing::rounds;
use std::path::Path;

/// How many sandboxes come and go; more in a soak.
const ROUNDS: u64 = 20;

fn networked(name: &str) -> SandboxSpec {
    let allowed: Allowed = "host:9".parse().unwrap();
    SandboxSpec { name: name.into(), network: Network::Public(vec![allowed]), ..spec() }
}

/// Processes and groups of a sandbox of ours.
fn left(name: &str) -> Vec<String> {
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let read = |file| std::fs::read_to_string(entry.path().join(file)).unwrap_or_default();
        let (line, env) = (read("cmdline").replace('\0', " "), read("environ"));
        let is_network = env.contains(&format!("BATON_SANDBOX={name}\0"));
        if is_network || line.contains(&format!("--hostname {name} ")) {
            left.push(line);
        }
    }
    left.extend(groups(Path::new("/sys/fs/cgroup"), &format!("baton-{}-{name}", label()), 3));
    left
}

fn groups(folder: &Path, name: &str, depth: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with(name) {
            found.push(path.display().to_string());
        } else if depth > 0 && path.is_dir() && !path.is_symlink() {
            found.extend(groups(&path, name, depth - 1));
        }
    }
    found
}

#[tokio::test]
async fn many_sandboxes_come_and_go_and_leave_nothing() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let provider = provider();
    let mut before = None;
    let rounds = rounds(ROUNDS);
    for round in 0..rounds {
        let sandbox = provider.create(&networked(&format!("come{round}"))).await.unwrap();
        assert_ne!(left(&format!("come{round}")), [""; 0]);
        let _running = sandbox.start(&Command::new(["sleep", "1000"])).await.unwrap();
        removed(sandbox).await.unwrap();
        assert_eq!(left(&format!("come{round}")), [""; 0]);
        // The first one opens what the runtime keeps.
        before.get_or_insert_with(open);
    }
    // Other tests of this process have files open, too; what leaked would be several a round.
    let grown = open().saturating_sub(before.unwrap());
    assert!(grown < 2 * usize::try_from(rounds).unwrap(), "{grown} descriptors more");
}

#[tokio::test]
async fn twenty_are_made_at_once() {
    let provider = provider();
    let specs: Vec<_> = (0..20).map(|number| networked(&format!("twenty{number}"))).collect();
    let making = specs.iter().map(|spec| provider.create(spec));
    let made = futures_util::future::join_all(making).await;
    let sandboxes: Vec<_> = made.into_iter().map(Result::unwrap).collect();
    for (number, sandbox) in sandboxes.iter().enumerate() {
        assert_eq!(says(&**sandbox, &format!("echo {number}")).await, number.to_string());
    }
    let removing = sandboxes.into_iter().map(removed);
    futures_util::future::join_all(removing).await.into_iter().for_each(Result::unwrap);
}

#[tokio::test]
async fn a_sandbox_whose_first_process_dies_is_gone_for_whoever_waits() {
    let sandbox = made(&networked("dies")).await;
    let mut waiting = sandbox.start(&Command::new(["sleep", "1000"])).await.unwrap();
    // Its own processes cannot end it; what holds it from outside can.
    sandbox.remove().await.unwrap();
    sandbox.ended().await;
    assert_eq!(waiting.ended().await, baton_sandbox::Ended::Gone);
    let error = sandbox.start(&Command::new(["true"])).await.unwrap_err();
    insta::assert_snapshot!(error, @"the sandbox has ended");
    sandbox.remove().await.unwrap();
}
