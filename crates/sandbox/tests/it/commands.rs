//! What runs in a sandbox, how it is told what to do, and how it ends.

use super::fixture::{finish, made, removed, run, sandbox, says, sh, spec};
use baton_sandbox::{Command, Ended, SandboxError};
use tokio::io::AsyncReadExt;

#[tokio::test]
async fn a_command_runs_with_its_own_environment_and_tells_how_it_ended() {
    let mut spec = spec();
    spec.name = "of-agent".into();
    spec.env.insert("OF_ALL".into(), "yes".into());
    let sandbox = made(&spec).await;
    let command =
        Command::shell("echo $OF_ALL $OF_ONE; pwd; echo no >&2; exit 7").env("OF_ONE", "1");
    let done = run(&*sandbox, &command, b"").await;
    assert_eq!((done.output.as_str(), done.errors.as_str()), ("yes 1\n/workspace\n", "no\n"));
    assert_eq!(done.ended, Ended::Code(7));
    assert_eq!(sh(&*sandbox, "kill -9 $$").await.ended, Ended::Signal(9));
    assert_eq!(
        says(&*sandbox, "id -un; hostname; env | cut -d= -f1 | sort").await,
        "agent\nof-agent\nHOME\nLANG\nOF_ALL\nPATH\nPWD\nTMPDIR\nUSER"
    );
    removed(sandbox).await.unwrap();
}

#[tokio::test]
async fn a_command_reads_while_it_writes() {
    let sandbox = sandbox().await;
    let text = "a line\n".repeat(100_000);
    let done = run(&*sandbox, &Command::new(["cat"]), text.as_bytes()).await;
    assert!(done.output == text, "{} bytes came back", done.output.len());
}

#[tokio::test]
async fn a_command_that_cannot_start_says_why() {
    let sandbox = sandbox().await;
    let error = sandbox.start(&Command::new(["no-such-program"])).await.unwrap_err();
    insta::assert_snapshot!(error, @"no-such-program could not be started in the sandbox: No such file or directory (os error 2)");
    let error = sandbox.start(&Command::new([""; 0])).await.unwrap_err();
    insta::assert_snapshot!(error, @" could not be started in the sandbox: expected a program");
    let long = Command::new(["echo".to_owned(), "x".repeat(1 << 20)]);
    let error = sandbox.start(&long).await.unwrap_err();
    assert!(matches!(error, SandboxError::TooLong { .. }), "{error}");
    assert_eq!(says(&*sandbox, "echo still here").await, "still here");
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_any_more_is_ended_with_what_it_started() {
    let sandbox = sandbox().await;
    let mut endless = sandbox.start(&Command::shell("sleep 1000 & echo on; wait")).await.unwrap();
    let mut word = [0; 3];
    endless.output.read_exact(&mut word).await.unwrap();
    drop(endless);
    says(&*sandbox, "while pgrep sleep; do sleep 0.01; done").await;
}

#[tokio::test]
async fn commands_run_side_by_side_within_a_bound() {
    let sandbox = sandbox().await;
    let mut running = Vec::new();
    let error = loop {
        match sandbox.start(&Command::new(["cat"])).await {
            Ok(process) => running.push(process),
            Err(error) => break error,
        }
    };
    assert_eq!(running.len(), 64);
    insta::assert_snapshot!(error, @"64 commands run in the sandbox; wait for one to end");
    let done = finish(running.swap_remove(10), b"one of many").await;
    assert_eq!(done.output, "one of many");
    assert_eq!(says(&*sandbox, "echo room again").await, "room again");
}

#[tokio::test]
async fn what_is_left_behind_by_a_command_is_reaped() {
    let sandbox = sandbox().await;
    // Its parent ends first, so it becomes a child of the first process.
    says(&*sandbox, "(setsid sh -c 'sleep 0.05' &)").await;
    says(&*sandbox, "while ps -eo stat,comm | grep -E '^Z|sleep$'; do sleep 0.01; done").await;
}

#[tokio::test]
async fn a_browser_may_end_before_whoever_drives_it() {
    let sandbox = sandbox().await;
    let write =
        "trap 'sleep 0.1; echo written > note; exit 0' INT; echo on; while :; do sleep 0.01; done";
    let browser = Command::new(["/bin/sh", "-c", write, "chromium", "--user-data-dir=/tmp/p"]);
    let kill =
        "trap 'pkill -9 -f user-data-dir; exit 0' TERM; echo on; while :; do sleep 0.01; done";
    let mut running = Vec::new();
    for command in [browser, Command::shell(kill)] {
        let mut process = sandbox.start(&command).await.unwrap();
        process.output.read_exact(&mut [0; 3]).await.unwrap();
        running.push(process);
    }
    sandbox.settle().await.unwrap();
    assert_eq!(says(&*sandbox, "cat note").await, "written");
}

#[test]
fn what_runs_hears_signals_that_whoever_started_the_node_had_it_ignore() {
    // As a script does that starts a node in the background, with `nohup`.
    let story = "commands::a_browser_may_end_before_whoever_drives_it";
    let ignoring = "trap '' HUP INT QUIT TERM; exec \"$0\" --exact \"$1\"";
    let mut again = std::process::Command::new("/bin/sh");
    again.args(["-c", ignoring]).arg(std::env::current_exe().unwrap()).arg(story);
    let told = again.output().unwrap();
    let told = String::from_utf8_lossy(&told.stdout);
    assert!(told.contains("1 passed"), "{told}");
}

#[tokio::test]
async fn nobody_disturbs_a_browser_that_writes_down_what_it_holds() {
    let sandbox = sandbox().await;
    // As drivers do: the browser hangs up first and writes then, and who drives it kills what hung up.
    let write = "trap 'rm open; sleep 0.3; echo written > note; exit 0' INT; touch open; echo on; while :; do sleep 0.01; done";
    let browser = Command::new(["/bin/sh", "-c", write, "chromium", "--user-data-dir=/tmp/p"]);
    let drive = "echo on; while [ -e open ]; do sleep 0.01; done; pkill -9 -f user-data-dir";
    let mut running = Vec::new();
    for command in [browser, Command::shell(drive)] {
        let mut process = sandbox.start(&command).await.unwrap();
        process.output.read_exact(&mut [0; 3]).await.unwrap();
        running.push(process);
    }
    sandbox.settle().await.unwrap();
    assert_eq!(says(&*sandbox, "cat note").await, "written");
}

#[tokio::test]
async fn commands_are_asked_to_end_before_a_sandbox_is_removed() {
    let sandbox = sandbox().await;
    let tidy =
        "trap 'echo tidied > /workspace/note; exit 0' TERM; echo on; while :; do sleep 0.01; done";
    let mut process = sandbox.start(&Command::shell(tidy)).await.unwrap();
    let mut word = [0; 3];
    process.output.read_exact(&mut word).await.unwrap();
    sandbox.settle().await.unwrap();
    assert_eq!(process.ended().await, Ended::Code(0));
    assert_eq!(says(&*sandbox, "cat note").await, "tidied");
}

/// What the first program inherited of the node's is read by nobody who waits for it: who filled it would stop it.
#[tokio::test]
async fn nobody_speaks_in_the_place_of_the_first_program() {
    let sandbox = sandbox().await;
    for descriptor in 0..3 {
        let done = sh(&*sandbox, &format!("echo said > /proc/1/fd/{descriptor}")).await;
        assert_ne!(done.ended, Ended::Code(0), "{descriptor}");
        assert!(done.errors.contains("Permission denied"), "{descriptor}: {}", done.errors);
    }
    removed(sandbox).await.unwrap();
}
