//! A machine that lets nobody make control groups: sandboxes are made all the same, and everybody is told.

use super::scene::{Scene, reference};
use baton_api::sandbox::{CreateSandbox, Enforcement, WantedLimits};
use baton_playground::TestNode;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Hides the control groups from the node and from whatever it starts.
const WITHOUT: &str = r#"#!/bin/sh
exec unshare --mount MAPPED sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec "$0" "$@"' BATON "$@"
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_control_groups_cannot_be_used_the_answer_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("baton");
    let baton = env!("CARGO_BIN_EXE_baton");
    let mapped = if rustix::process::geteuid().is_root() { "" } else { "--map-root-user" };
    fs::write(&program, WITHOUT.replace("MAPPED", mapped).replace("BATON", baton)).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let scene = Scene::set_in(TestNode::build(&program).unwrap(), "").await;
    scene.session("shop").await;
    let request = CreateSandbox {
        browser_session: Some(reference("shop")),
        limits: WantedLimits { disk: Some(4 << 20), ..WantedLimits::default() },
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    assert_eq!(sandbox.limits, Enforcement::NotEnforced);
    let why = sandbox.limits_reason.clone().unwrap();
    assert!(why.starts_with("control groups cannot be used here: "), "{why}");
    let id = sandbox.id.to_string();
    let shown = scene.client().fetch_sandbox(&id).await.unwrap();
    assert_eq!(
        (shown.limits, shown.limits_reason),
        (sandbox.limits, sandbox.limits_reason.clone())
    );
    let data = scene.test_node.data().path();
    let told = Command::new(baton).arg("--data").arg(data).args(["sandbox", "show", &id]).output();
    let told = String::from_utf8(told.unwrap().stdout).unwrap();
    assert!(told.contains(&format!("not enforced: {why}")), "{told}");
    // Files are limited there as everywhere.
    let full = scene.sh(&sandbox, "head -c 5000000 /dev/zero > big").await;
    assert!(full.errors.contains("No space left on device"), "{}", full.errors);
    scene.end(&sandbox).await;
    scene.strike().await;
}
