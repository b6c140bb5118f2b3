//! Playwright MCP on a session's browser.

use super::scene::{LIMIT, Scene, done, text};
use baton_playground::tools::{Npm, Python};
use serde_json::json;

/// How the documentation starts it.
pub(super) const PLAYWRIGHT: &str = "playwright-mcp --cdp-endpoint {cdp_url}";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwrights_tools_stand_beside_ours_and_work_on_the_session() {
    let scene = Scene::with_npm().await;
    let bridge = scene.bridge(PLAYWRIGHT, &[]).await;
    let tools = bridge.list_tools().await.unwrap();
    let named = |name: &str| tools.iter().find(|tool| tool["name"] == name);
    assert!(named("session_open").is_some(), "ours are there");
    let navigate = named("browser_navigate").expect("so are Playwright's");
    assert_eq!(navigate["inputSchema"]["properties"]["url"]["type"], "string");
    assert!(navigate["annotations"].is_object(), "{navigate}");

    let early = bridge.call("browser_snapshot", json!({})).await.unwrap();
    assert_eq!(early["isError"], true);
    insta::assert_snapshot!(text(&early), @"
    expected one active session, found none
    Next: session_open opens one; session_resume brings one back
    ");

    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    let before = scene.newest("shop").await;
    let url = scene.address("/");
    done(&bridge.call("browser_navigate", json!({"url": url})).await.unwrap());
    scene.wait_for_a_snapshot_after("shop", &before).await;
    let page = done(&bridge.call("browser_snapshot", json!({})).await.unwrap());
    assert!(page.contains("Sign in"), "{page}");
    bridge.close().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_follows_to_another_session_and_over_a_resume() {
    let scene = Scene::with_npm().await;
    let bridge = scene.bridge(PLAYWRIGHT, &[]).await;
    let url = scene.address("/");
    let open = async |name: &str| {
        done(&bridge.call("session_open", json!({"name": name, "urls": [url]})).await.unwrap())
    };
    let tabs =
        async || done(&bridge.call("browser_tabs", json!({"action": "list"})).await.unwrap());
    open("one").await;
    done(&bridge.call("browser_navigate", json!({"url": format!("{url}?one")})).await.unwrap());
    assert!(tabs().await.contains("?one"));
    open("two").await;
    let found = tabs().await;
    assert!(!found.contains("?one"), "another browser: {found}");
    let back = bridge.call("session_resume", json!({"sessionId": "one"})).await.unwrap();
    assert_eq!(back["structuredContent"]["code"], "wrong_state", "{back}");
    assert!(tabs().await.contains("?one"), "the one that is active already is meant");
    done(&bridge.call("session_close", json!({"sessionId": "one"})).await.unwrap());
    done(&bridge.call("session_resume", json!({"sessionId": "one"})).await.unwrap());
    assert!(tabs().await.contains("?one"), "the browser is a new one");
    bridge.close().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn playwright_uploads_from_its_folder_and_downloads_into_it() {
    let scene = Scene::with_npm().await;
    let bridge = scene.bridge(PLAYWRIGHT, &[]).await;
    let page = "data:text/html,<title>none</title><input type=file id=i aria-label=File \
        onchange=\"i.files[0].text().then(t => document.title = 'got ' + t)\">\
        <a id=d download=a.txt href=data:text/plain,hello>Get</a>";
    done(&bridge.call("session_open", json!({"name": "shop"})).await.unwrap());
    done(&bridge.call("browser_navigate", json!({"url": page})).await.unwrap());
    let client = scene.test_node.client().unwrap();
    // Of the machine's files this server takes those below its own folder, and it sends them as bytes.
    let own = scene.room.path().join("own.txt");
    std::fs::write(&own, "mine").unwrap();
    let shown = done(&bridge.call("browser_snapshot", json!({})).await.unwrap());
    let of = |name: &str| {
        let line = shown.lines().find(|line| line.contains(name)).unwrap();
        line.split_once("[ref=").unwrap().1.split_once(']').unwrap().0.to_owned()
    };
    let (file, get) = (of("\"File\""), of("\"Get\""));
    let click = json!({"element": "File", "target": file});
    done(&bridge.call("browser_click", click).await.unwrap());
    let upload = json!({"paths": [own]});
    let told = done(&bridge.call("browser_file_upload", upload).await.unwrap());
    let title = json!({"function": "() => document.title"});
    let title = done(&bridge.call("browser_evaluate", title).await.unwrap());
    assert!(title.contains("got mine"), "{told}\n{title}");
    let click = json!({"element": "Get", "target": get});
    done(&bridge.call("browser_click", click).await.unwrap());
    let there = async {
        let hidden =
            scene.test_node.data().files_of(client.fetch_session("shop").await.unwrap().session.id);
        while !has_file(&hidden, "hello") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(super::scene::LIMIT, there).await.expect("what was downloaded");
    bridge.close().await.unwrap();
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sdk_calls_playwrights_tools_in_the_newest_protocol() {
    let (npm, python) = (Npm::install().await.unwrap(), Python::install().await.unwrap());
    let scene = Scene::set(python.beside(npm.room().unwrap())).await;
    std::fs::write(scene.room.path().join("newest.py"), include_str!("newest.py")).unwrap();
    let mut program = scene.room.command("python").unwrap();
    let bridge = scene.command(PLAYWRIGHT, &[]);
    program.arg("newest.py").arg(bridge.as_std().get_program()).args(bridge.as_std().get_args());
    program.arg(scene.address("/"));
    let said = scene.room.run(program, LIMIT).await.unwrap();
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("2026-07-28"));
    assert_eq!(lines.next(), Some("error: expected one active session, found none"), "{said}");
    let rest: Vec<&str> =
        lines.filter(|line| line.contains(": ###") || line.contains("Sign")).collect();
    assert!(rest.iter().any(|line| line.contains("button \"Sign in\"")), "{said}");
    assert!(rest.last().unwrap().starts_with("error:"), "{said}");
    scene.strike().await;
}

/// Whether a file with this text is anywhere below a folder.
fn has_file(folder: &std::path::Path, text: &str) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths = entries.map(|entry| entry.path());
    paths.any(|path| {
        has_file(&path, text) || std::fs::read_to_string(&path).is_ok_and(|found| found == text)
    })
}
