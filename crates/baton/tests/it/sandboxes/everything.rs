//! Every kind of state in a sandbox: what goes in, what a page changes there, and what is back on the node.

use super::agent::tools;
use super::scene::{Scene, reference};
use crate::test_nodes::build;
use baton_api::sandbox::{CreateSandbox, SandboxView};
use baton_api::{ExportFormat, ExportSession, ImportSession};
use baton_playground::kinds::{Kept, NOT_PORTABLE};
use baton_playground::tools::Npm;
use baton_playground::{Kinds, Page};
use baton_session::SessionId;
use baton_session::receipt::{ItemKind, Outcome, Receipt};
use url::Url;

/// How many kinds the pages know, so that none gets lost on the way: in the first tab, in the second, and where the
/// third was before.
const COUNTS: [usize; 3] = [49, 1, 2];

/// Of tabs of one origin a sandbox hands over the sessionStorage of one: no page there gets that of the other.
const OF_ANOTHER_TAB: &str = "sessionStorage: of a second tab";

/// Changes one of each kind that a page writes by itself; which worker serves it is for its site to say.
const CHANGE: &str = r#"(async () => {
    document.cookie = `persistent=changed; expires=${later}`;
    localStorage.setItem("plain", "changed");
    sessionStorage.setItem("tab", "changed");
    await write("date", "values", (store) => store.put("changed", "key"));
    await (await caches.open("shell")).put("/kept", new Response("changed"));
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("notes");
    const file = await (await folder.getFileHandle("żółć.txt")).createWritable();
    await file.write("changed");
    await file.close();
    return "changed";
})()"#;

/// Says what they are now, of which the page's own check says only that they are not as they were filled.
const READ: &str = r#"(async () => {
    const kept = await caches.match("/kept", { cacheName: "shell" });
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle("notes");
    const file = await (await folder.getFileHandle("żółć.txt")).getFile();
    return [
        (await cookieStore.get("persistent")).value,
        localStorage.getItem("plain"),
        sessionStorage.getItem("tab"),
        await read("date", "values", "key"),
        await kept.text(),
        await file.text(),
    ].join(" ");
})()"#;

/// Those kinds, in the order of their names.
const CHANGED: [&str; 6] = [
    "IndexedDB: Date",
    "cache",
    "cookie: persistent",
    "file (OPFS)",
    "localStorage: plain",
    "sessionStorage",
];

/// The kinds that are not there.
fn missing(kept: &Kept) -> Vec<&str> {
    kept.iter().filter(|(_, kept)| !**kept).map(|(name, _)| name.as_str()).collect()
}

/// Of all that a page sees, what is lost is the key that no script can read.
fn expect_sealed_alone(receipt: &Receipt) {
    let losses = receipt.losses().filter(|item| item.kind != ItemKind::Environment);
    let losses: Vec<_> = losses.collect();
    let [loss] = losses[..] else { panic!("expected one loss, found {losses:#?}") };
    assert_eq!((loss.kind, loss.outcome), (ItemKind::IndexedDb, Outcome::NotPortable));
    assert!(loss.place.contains("sealed key"), "{loss:?}");
}

/// What the page finds that an agent's browser shows.
async fn check(scene: &Scene, sandbox: &SandboxView) -> Kept {
    let said = scene.says(sandbox, "$AB eval 'check().then(JSON.stringify)'").await;
    // agent-browser shows a text as JSON.
    let text: String = serde_json::from_str(&said).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The same in a tab of its own.
async fn check_in_another_tab(scene: &Scene, sandbox: &SandboxView, url: &Url) -> Kept {
    scene.says(sandbox, &format!("$AB tab new >&2 && $AB open {url} >&2")).await;
    check(scene, sandbox).await
}

/// A page of the session's own browser.
async fn page(scene: &Scene, id: SessionId, url: &Url) -> Page {
    let page = Page::attach(&scene.test_node.keeper_socket(id), url.as_str()).await.unwrap();
    page.wait_for("document.readyState === 'complete'").await.unwrap();
    page
}

/// What the first page of the session's own browser finds, in which all that was changed in the sandbox is so.
async fn changed(scene: &Scene, id: SessionId, first: &Url) -> Kept {
    let shown = page(scene, id, first).await;
    assert_eq!(shown.evaluate::<String>(READ).await.unwrap(), ["changed"; CHANGED.len()].join(" "));
    shown.evaluate("check()").await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_state_goes_into_a_sandbox_and_what_changes_there_is_back() {
    let npm = Npm::install().await.unwrap();
    let kinds = Kinds::start().await.unwrap();
    let [first, second, _] = kinds.tabs().unwrap();
    let [.., earlier] = kinds.tabs_to_fill().unwrap();
    // The site has one address here and in sandboxes.
    let port = first.port().unwrap();
    let settings =
        format!("[sandboxes]\nnetwork = \"listed\"\nallow = [\"host:{port}\"]\n{}", tools(&npm));
    let scene = Scene::set_in(build(), &settings).await;
    let to_fill = kinds.tabs_to_fill().unwrap();
    let id = scene.test_node.open("everything", to_fill).await.unwrap();
    kinds.fill(&scene.test_node.keeper_socket(id)).await.unwrap();
    scene.client().close_session("everything").await.unwrap();

    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("everything")),
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let receipt = &sandbox.browser_session.as_ref().unwrap().receipt;
    expect_sealed_alone(receipt);

    scene.says(&sandbox, &format!("$AB open {first} >&2")).await;
    let of_first = check(&scene, &sandbox).await;
    assert_eq!(missing(&of_first), [NOT_PORTABLE]);
    assert_eq!(scene.says(&sandbox, &format!("$AB eval '{CHANGE}'")).await, "\"changed\"");
    let of_second = check_in_another_tab(&scene, &sandbox, &second).await;
    assert_eq!(missing(&of_second), [OF_ANOTHER_TAB]);
    let of_earlier = check_in_another_tab(&scene, &sandbox, &earlier).await;
    assert_eq!(missing(&of_earlier), [""; 0]);
    assert_eq!([of_first.len(), of_second.len(), of_earlier.len()], COUNTS);

    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    assert!(ended.left_out.items.is_empty(), "{:#?}", ended.left_out);
    // In a file, it is all that its snapshot has: no disk of its own still has something.
    let export = ExportSession { format: ExportFormat::Session, deep: false };
    let file = scene.client().export_session("everything", &export).await.unwrap().file;
    let name = Some("elsewhere".parse().unwrap());
    let import = ImportSession { name, description: None, file };
    scene.client().import_session(&import).await.unwrap();
    let elsewhere = scene.client().resume_session("elsewhere").await.unwrap().session;
    expect_sealed_alone(&elsewhere.receipt.unwrap());
    let of_first = changed(&scene, elsewhere.session.id, &first).await;
    let mut expected: Vec<&str> = CHANGED.into_iter().chain([NOT_PORTABLE]).collect();
    expected.sort_unstable();
    assert_eq!(missing(&of_first), expected);
    scene.client().close_session("elsewhere").await.unwrap();

    scene.client().resume_session("everything").await.unwrap();
    let of_first = changed(&scene, id, &first).await;
    // What could not go in was not deleted there: the session has it as before.
    assert_eq!(missing(&of_first), CHANGED);
    let of_earlier: Kept = page(&scene, id, &earlier).await.evaluate("check()").await.unwrap();
    assert_eq!(missing(&of_earlier), [""; 0]);
    assert_eq!([of_first.len(), of_earlier.len()], [COUNTS[0], COUNTS[2]]);
    scene.client().close_session("everything").await.unwrap();
    scene.strike().await;
}
