//! The recipe of the guide for curl, as it is typed.

use super::scene::Scene;
use baton_api::sandbox::SandboxView;
use std::path::Path;
use tokio::process::Command;

/// What the guide has typed where it makes a sandbox with curl.
fn typed() -> String {
    let guide = include_str!("../../../../../docs/guide/hand-in.md");
    let blocks = guide.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next());
    let recipe = blocks.into_iter().find(|block| block.contains("curl -s -X POST")).unwrap();
    recipe
        .lines()
        .map(|line| line.strip_prefix("$ ").unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Types commands at a node, in a shell that ends at the first one that fails.
async fn types(scene: &Scene, commands: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_baton"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(program.parent().unwrap().to_owned());
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell
        .args(["-ec", commands])
        .env("PATH", path)
        .env("BATON_DATA", scene.test_node.data().path());
    let done = shell.output().await.unwrap();
    let (said, why) =
        [done.stdout, done.stderr].map(|said| String::from_utf8(said).unwrap()).into();
    assert!(done.status.success(), "{said}{why}");
    said
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_state_comes_with_the_request_of_a_tool_that_says_no_type() {
    let scene = Scene::set().await;
    let made = types(&scene, &typed()).await;
    let sandbox: SandboxView = serde_json::from_str(&made).expect(&made);
    let handed = sandbox.browser_session.as_ref().unwrap();
    let [login] = &handed.logins[..] else { panic!("{handed:?}") };
    assert_eq!(
        (login.domain.as_str(), login.address.as_str()),
        ("example.org", "https://example.org")
    );
    // A cookie without a path counts for the whole site.
    let kept = scene.says(&sandbox, "test -s .browser-profile/Default/Cookies && echo kept").await;
    assert_eq!(kept, "kept");
    scene.end(&sandbox).await;

    // What is wrong with a file is told as an import tells it.
    let broken = typed().replace("--name curl", "--name again").replace(
        "[{\"name\": \"session\", \"value\": \"abc\", \"domain\": \".example.org\"}]",
        "7",
    );
    let refused = types(&scene, &broken).await;
    assert!(
        refused
            .contains("this is a storageState file; expected cookies as an array, found a number"),
        "{refused}"
    );
    scene.strike().await;
}
