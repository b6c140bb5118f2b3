//! Starting a keeper as a process. The shell plays the keeper here: what matters is what is heard.

use crate::fixture::{eventually, options, spec};
use baton_browser::keeper::{
    self, Beats, BootInstant, BrowserSpec, KeeperCommand, KeeperError, KeeperSpec, Ready,
};
use baton_session::Confinement;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::watch;

/// What a keeper says that is ready.
const READY: &str =
    r#"{"ready":{"pid":7,"browser_pid":8,"browser_version":"Chrome/1","confinement":"landlock"}}"#;

fn told() -> (TempDir, KeeperSpec) {
    let folder = tempfile::tempdir().unwrap();
    let browser = BrowserSpec::Launch(Box::new(options(&folder.path().join("profile"))));
    let spec = spec(folder.path(), browser);
    (folder, spec)
}

fn shell(script: &str) -> KeeperCommand {
    let args = vec!["-c".into(), script.into()];
    KeeperCommand { program: "/bin/sh".into(), args, environment: BTreeMap::new() }
}

#[tokio::test]
async fn a_keeper_gets_its_spec_and_is_believed_when_it_is_ready() {
    let (folder, spec) = told();
    let heard = folder.path().join("heard");
    let command = shell(&format!("cat > {}; echo '{READY}'", heard.display()));
    let ready = keeper::spawn(&command, &spec, None).await.unwrap().ready;
    let expected = Ready {
        pid: 7,
        browser_pid: Some(8),
        browser_version: "Chrome/1".to_owned(),
        confinement: Confinement::Landlock,
    };
    assert_eq!(ready, expected);
    let heard: KeeperSpec = serde_json::from_slice(&fs::read(heard).unwrap()).unwrap();
    assert_eq!(heard, spec);
}

#[tokio::test]
async fn a_keeper_hears_of_every_beat_from_its_start_until_its_node_needs_it_no_more() {
    let (folder, spec) = told();
    let (heard, all) = (folder.path().join("heard"), folder.path().join("all"));
    // It is ready when it has heard a beat, and listens to the end.
    let script = format!(
        "read -r spec; read -r beat; echo \"$beat\" > {0}; echo '{READY}'; cat >> {0}; mv {0} {1}",
        heard.display(),
        all.display()
    );
    let (now, time) = (BootInstant::now(), Duration::from_mins(1));
    let beat = |number| now.after(Duration::from_secs(number));
    let renewed = watch::Sender::new(now);
    let beats = Beats::new(renewed.subscribe(), time);
    renewed.send_replace(beat(1));
    let started = keeper::spawn(&shell(&script), &spec, Some(beats)).await.unwrap();
    renewed.send_replace(beat(2));
    let heard = async || fs::read_to_string(&heard).unwrap_or_default().lines().count();
    eventually("the second beat was heard", async || heard().await == 2).await;
    drop(started);
    eventually("its input ended", async || all.exists()).await;
    let all = fs::read_to_string(all).unwrap();
    let all: Vec<BootInstant> =
        all.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all, [beat(1).after(time), beat(2).after(time)]);
}

#[tokio::test]
async fn a_keeper_that_cannot_start_says_why() {
    let (_folder, spec) = told();
    let cases = [
        (r#"echo '{"error":"the disk is full"}'"#, "the keeper did not start: the disk is full"),
        (
            "echo 'out of luck' >&2",
            "the keeper did not start: expected a report, found none; its last word: out of luck",
        ),
    ];
    for (script, expected) in cases {
        let error = keeper::spawn(&shell(script), &spec, None).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let missing = KeeperCommand {
        program: "/nowhere/baton".into(),
        args: vec![],
        environment: BTreeMap::new(),
    };
    let error = keeper::spawn(&missing, &spec, None).await.unwrap_err();
    assert!(matches!(error, KeeperError::File { what: "start", .. }), "{error}");
}
