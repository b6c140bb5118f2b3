//! Starting a keeper as a process. The shell plays the keeper here: what matters is what is heard.

use crate::fixture::{options, spec};
use baton_browser::keeper::{self, BrowserSpec, KeeperCommand, KeeperError, KeeperSpec, Ready};
use baton_session::Confinement;
use std::collections::BTreeMap;
use tempfile::TempDir;

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
    let line = r#"{"ready":{"pid":7,"browser_pid":8,"browser_version":"Chrome/1","confinement":"landlock"}}"#;
    let command = shell(&format!("cat > {}; echo '{line}'", heard.display()));
    let ready = keeper::spawn(&command, &spec).await.unwrap();
    let expected = Ready {
        pid: 7,
        browser_pid: Some(8),
        browser_version: "Chrome/1".to_owned(),
        confinement: Confinement::Landlock,
    };
    assert_eq!(ready, expected);
    let heard: KeeperSpec = serde_json::from_slice(&std::fs::read(heard).unwrap()).unwrap();
    assert_eq!(heard, spec);
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
        let error = keeper::spawn(&shell(script), &spec).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    let missing = KeeperCommand {
        program: "/nowhere/baton".into(),
        args: vec![],
        environment: BTreeMap::new(),
    };
    let error = keeper::spawn(&missing, &spec).await.unwrap_err();
    assert!(matches!(error, KeeperError::File { what: "start", .. }), "{error}");
}
