//! What a doctor finds by looking at the thing itself: keepers that hold a browser for nobody, by their sockets
//! and by their processes, and a browser that does not start, by starting one.

use crate::notes::Notes;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_playground::TestNode;
use serde_json::Value;
use std::path::Path;

fn doctor(test_node: &TestNode, database: &Path) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let run = command
        .arg("--data")
        .arg(test_node.data().path())
        .args(["doctor", "--database-url"])
        .arg(database)
        .write_stdin("")
        .assert();
    String::from_utf8(run.get_output().stdout.clone()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orphaned_keepers_are_explained() {
    let notes = Notes::start().await;
    let mut test_node = TestNode::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    test_node.start_node().await.unwrap();
    let id = notes.open(&test_node, "mine", "kept").await;
    let [(_, keeper), _] = test_node.holders(id).await.unwrap();
    test_node.kill_node().await.unwrap();
    let usual = test_node.data().database();
    let told = doctor(&test_node, &usual);
    let held = format!("process {keeper} holds Chrome/");
    assert!(told.lines().any(|line| line.starts_with("ok") && line.contains(&held)), "{told}");

    let elsewhere = test_node.data().path().join("other.db");
    let mut test_node = test_node.with("BATON_DATABASE_URL", &elsewhere);
    test_node.start_node().await.unwrap();
    test_node.kill_node().await.unwrap();
    let told = doctor(&test_node, &elsewhere);
    assert!(told.contains("which this database does not know"), "{told}");
    assert!(told.contains(&format!("end it with its browser: kill {keeper}")), "{told}");

    let (socket, hidden) = (test_node.keeper_socket(id), test_node.data().path().join("hidden"));
    std::fs::rename(&socket, &hidden).unwrap();
    let told = doctor(&test_node, &usual);
    let lost = format!("process {keeper} is a keeper of this folder, and no socket leads to it");
    assert!(told.contains(&lost), "{told}");
    std::fs::rename(&hidden, &socket).unwrap();
    test_node.clear().await.unwrap();
}

/// Runs the program as a user to whom the system gives no sandbox.
async fn without_namespaces(
    test_node: &TestNode,
    args: &[&str],
    sandbox: Option<&str>,
) -> std::process::Output {
    let forbid = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all \
        --ambient-caps=-all \"$@\"";
    let mut command = tokio::process::Command::new("unshare");
    command.args(["--user", "--map-user=1000", "--keep-caps", "sh", "-c", forbid, "sh"]);
    command.args([env!("CARGO_BIN_EXE_baton"), "--data"]).arg(test_node.data().path()).args(args);
    command.env("TMPDIR", test_node.folder()).kill_on_drop(true);
    command.envs(sandbox.map(|sandbox| ("BATON_BROWSER_SANDBOX", sandbox)));
    tokio::time::timeout(crate::notes::LIMIT, command.output()).await.unwrap().unwrap()
}

/// The lines of its doctor on the browser and the sandbox of that.
async fn doctor_without_namespaces(test_node: &TestNode, sandbox: Option<&str>) -> String {
    let run = without_namespaces(test_node, &["doctor"], sandbox).await;
    let told = String::from_utf8(run.stdout).unwrap();
    let errors = String::from_utf8_lossy(&run.stderr).into_owned();
    let mut lines = Vec::new();
    let mut is_ours = false;
    for line in told.lines() {
        if !line.trim_start().starts_with('→') {
            is_ours = [" browser ", " user ", " sandboxes "].iter().any(|name| line.contains(name));
        }
        if is_ours {
            lines.push(line.trim());
        }
    }
    assert!(!lines.is_empty(), "{told}{errors}");
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_chromium_can_make_no_sandbox_its_own_reason_is_told_and_what_to_do() {
    let test_node = TestNode::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    let told = doctor_without_namespaces(&test_node, None).await;
    assert!(told.contains("No usable sandbox!"), "{told}");
    assert!(told.contains("→ allow user namespaces to its user"), "{told}");
    assert!(told.contains("browser.sandbox = \"off\""), "{told}");
    let sandboxes = told.lines().find(|line| line.contains(" sandboxes ")).unwrap();
    assert!(sandboxes.starts_with("warning"), "{told}");
    assert!(sandboxes.contains("and no sandbox starts: "), "{told}");
    assert!(told.contains("→ allow this user namespaces of its own"), "{told}");

    let told = doctor_without_namespaces(&test_node, Some("off")).await;
    assert!(told.contains(", and it starts"), "{told}");
    assert!(told.contains("browser.sandbox is off: Chromium runs with --no-sandbox"), "{told}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_chromium_can_make_no_sandbox_who_opens_or_resumes_hears_why() {
    let test_node = TestNode::build(env!("CARGO_BIN_EXE_baton")).unwrap();
    let file = test_node.folder().join("jar.txt");
    std::fs::write(&file, "shop.test\tFALSE\t/\tTRUE\t0\tsid\tada\n").unwrap();
    let refused = async |args: &[&str]| {
        let run = without_namespaces(&test_node, &[&["--json"], args].concat(), None).await;
        let told: Value = serde_json::from_slice(&run.stdout).unwrap();
        assert_eq!(
            (run.status.code(), &told["error"]["code"]),
            (Some(1), &"browser_unavailable".into())
        );
        let message = told["error"]["message"].as_str().unwrap();
        assert!(message.contains("found it ended (exit status: 1): No usable sandbox!"), "{told}");
        told["error"]["hint"].as_str().unwrap().to_owned()
    };
    let what_to_do = "allow user namespaces to its user, or, where a container is the sandbox already, set \
        browser.sandbox = \"off\"";
    assert_eq!(refused(&["open", "--name", "shop"]).await, what_to_do);
    let import = ["import", file.to_str().unwrap(), "--name", "bank"];
    assert!(without_namespaces(&test_node, &import, None).await.status.success());
    assert_eq!(refused(&["sessions", "resume", "bank"]).await, what_to_do);
    assert!(without_namespaces(&test_node, &["stop"], None).await.status.success());
    test_node.clear().await.unwrap();
}
