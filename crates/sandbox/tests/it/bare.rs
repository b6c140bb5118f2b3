//! Sandboxes that isolate nothing: the same words, and nothing left of them either.

use super::fixture::{label, removed, run, says, sh, spec};
use baton_sandbox::local::bare::BareProvider;
use baton_sandbox::{
    Command, Ended, InitCommand, Mount, Network, Provider as _, Sandbox, SandboxError, SandboxSpec,
};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn provider_of(label: &str) -> BareProvider {
    let program = env!("CARGO_BIN_EXE_baton-sandbox-guest").into();
    BareProvider::new(InitCommand { program, args: Vec::new() }, std::env::temp_dir(), label)
}

async fn made(name: &str, spec: &SandboxSpec) -> Box<dyn Sandbox> {
    provider_of(&format!("{}{name}", label())).create(spec).await.unwrap()
}

fn folder(sandbox: &dyn Sandbox) -> PathBuf {
    sandbox.workspace().into()
}

fn is_running(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

#[tokio::test]
async fn a_folder_that_is_nobody_elses_is_the_workspace_by_either_name() {
    let mut spec = spec();
    spec.env.insert("OF_ALL".into(), "yes".into());
    spec.files.insert("NOTE".into(), "a/note".into());
    let sandbox = made("folder", &spec).await;
    let folder = folder(&*sandbox);
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    let write = sandbox.tool("write", "/workspace/a/note");
    assert_eq!(run(&*sandbox, &write, b"hello").await.ended, Ended::Code(0));
    assert_eq!(says(&*sandbox, "cat a/note $NOTE; echo $OF_ALL").await, "hellohelloyes");
    let read = sandbox.tool("read", folder.join("a/note").to_str().unwrap());
    assert_eq!(run(&*sandbox, &read, b"").await.output, "hello");
    let below = Command { directory: "/workspace/a".into(), ..Command::shell("pwd") };
    let said = run(&*sandbox, &below, b"").await.output;
    assert_eq!(Path::new(said.trim_end()), folder.join("a"));
    assert_eq!(says(&*sandbox, "dirname \"$TMPDIR\"; echo $HOME").await, {
        let folder = folder.display();
        format!("{folder}\n{folder}")
    });
    assert_eq!(sh(&*sandbox, "kill -9 $$").await.ended, Ended::Signal(9));
    removed(sandbox).await.unwrap();
}

#[tokio::test]
async fn whatever_was_started_ends_with_it_wherever_it_went() {
    let sandbox = made("ends", &spec()).await;
    let folder = folder(&*sandbox);
    // One that waits, one that left its group, and one that was left by its parent.
    let line = "sleep 1000 & echo $!; setsid sh -c 'echo $$; exec sleep 1000' & \
                (setsid sh -c 'echo $$; trap : TERM INT HUP; while :; do sleep 1; done' &); \
                until [ -s done ]; do sleep 0.01; done";
    let mut waiting = sandbox.start(&Command::shell(line)).await.unwrap();
    let mut said = String::new();
    while said.lines().count() < 3 || !said.ends_with('\n') {
        let mut bytes = [0; 64];
        let read = tokio::io::AsyncReadExt::read(&mut waiting.output, &mut bytes).await.unwrap();
        said.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
    }
    assert!(said.lines().all(is_running), "{said}");
    sandbox.remove().await.unwrap();
    let left: Vec<&str> = said.lines().filter(|pid| is_running(pid)).collect();
    assert_eq!((left, folder.exists()), (vec![], false));
    assert_eq!(waiting.ended().await, Ended::Gone);
}

#[tokio::test]
async fn only_what_it_started_is_asked_to_end() {
    let mut other = tokio::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let sandbox = made("settles", &spec()).await;
    let mut own = sandbox.start(&Command::new(["sleep", "1000"])).await.unwrap();
    sandbox.settle().await.unwrap();
    assert_eq!(own.ended().await, Ended::Signal(15));
    assert!(other.try_wait().unwrap().is_none(), "a process of nobody's sandbox was ended");
    other.kill().await.unwrap();
    removed(sandbox).await.unwrap();
}

#[tokio::test]
async fn nothing_is_shown_where_it_is_not() {
    let mount = |target: &str| Mount { source: "/usr/share".into(), target: target.into() };
    let same = SandboxSpec { mounts: vec![mount("/usr/share")], ..spec() };
    removed(made("shown", &same).await).await.unwrap();
    let other = SandboxSpec { mounts: vec![mount("/opt/tools")], ..spec() };
    let error = provider_of(&format!("{}other", label())).create(&other).await.unwrap_err();
    insta::assert_snapshot!(error, @"/usr/share cannot be shown at /opt/tools: without bubblewrap everything is where it is on this machine");
}

#[tokio::test]
async fn there_is_none_whose_only_way_out_would_be_its_own() {
    for ports in [vec![3128], vec![3128, 8080]] {
        let fenced = SandboxSpec { network: Network::Handed(ports), ..spec() };
        let label = format!("{}fenced", label());
        let error = provider_of(&label).create(&fenced).await.unwrap_err();
        assert!(matches!(error, SandboxError::NotApart), "{error}");
        let prefix = format!("baton-{label}-");
        let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let mut left = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        assert_eq!(left.find(|name| name.starts_with(&prefix)), None);
    }
}

#[tokio::test]
async fn what_a_machine_left_that_went_down_is_removed() {
    let label = format!("{}swept", label());
    let left = std::env::temp_dir().join(format!("baton-{label}-x"));
    std::fs::create_dir_all(left.join("deep")).unwrap();
    std::os::unix::fs::symlink("/usr", left.join("deep/link")).unwrap();
    provider_of(&label);
    assert!(!left.exists() && Path::new("/usr/bin").exists());
}
