//! A login is carried from one test node to another by a file, with the program as people run it.

use crate::login::{SHOWN, log_in};
use age::secrecy::ExposeSecret;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::response::Html;
use axum::routing::get;
use baton_api::OpenSession;
use baton_playground::{Page, Site, TestNode};
use baton_session::state::{Environment, Viewport};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use tempfile::TempDir;
use url::Url;

/// Half of a letter, which is no Unicode.
const TOKEN: &str = r"l\ud800";

struct Story {
    site: Site,
    folder: TempDir,
}

impl Story {
    async fn begin() -> Self {
        let page = || async { Html("<title>shop</title>") };
        let pages = crate::login::site().route("/shop", get(page)).route("/other", get(page));
        let site = Site::start(pages).await.unwrap();
        Self { site, folder: tempfile::tempdir().unwrap() }
    }

    fn url(&self) -> Url {
        self.site.url("/shop").unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A test node in which somebody is logged in, with two tabs.
    async fn logged_in(&self) -> TestNode {
        let test_node = crate::test_nodes::test_node().await;
        let viewport = Some(Viewport { width: 900, height: 700 });
        let urls = [self.url(), self.site.url("/other").unwrap()];
        let request = OpenSession {
            environment: Environment { viewport, ..Environment::default() },
            ..OpenSession::new("shop".parse().unwrap(), urls)
        };
        test_node.client().unwrap().open_session(&request).await.unwrap();
        assert!(
            self.page(&test_node, "shop").await.evaluate::<bool>(&log_in(TOKEN)).await.unwrap()
        );
        test_node
    }

    async fn page(&self, test_node: &TestNode, name: &str) -> Page {
        let id = test_node.client().unwrap().fetch_session(name).await.unwrap().session.id;
        Page::attach(&test_node.keeper_socket(id), self.url().as_str()).await.unwrap()
    }
}

fn baton(test_node: &TestNode, args: &[&str]) -> Assert {
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(test_node.data().path()).args(args).write_stdin("").assert()
}

fn text(path: &std::path::Path) -> &str {
    path.to_str().unwrap()
}

/// What a run answered with `--json`.
fn answer(run: &Assert) -> Value {
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

const WHOLE: &str = r#"theme=dark; sid=ada | "l\ud800" | 2 | 3 | 5 | one"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_file_carries_everything_to_another_house() {
    let story = Story::begin().await;
    let first = story.logged_in().await;
    let plain = story.file("shop.json");
    baton(&first, &["export", "shop", "-o", text(&plain)]).success();
    assert_eq!(plain.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let mine = age::x25519::Identity::generate();
    let (sealed, identity) = (story.file("shop.baton"), story.file("identity"));
    std::fs::write(&identity, mine.to_string().expose_secret()).unwrap();
    let other = story.file("other");
    std::fs::write(&other, age::x25519::Identity::generate().to_string().expose_secret()).unwrap();
    let to = mine.to_public().to_string();
    baton(&first, &["export", "shop", "--to", &to, "-o", text(&sealed)]).success();
    baton(&first, &["export", "shop"]).success();
    baton(&first, &["--json", "export", "shop"]).code(2);
    baton(&first, &["export", "shop", "--to", "age1ada", "-o", text(&other)]).code(2);
    // Whatever is no recipient is the name of a peer.
    baton(&first, &["export", "shop", "--to", "ada", "-o", text(&other)]).code(3);
    first.clear().await.unwrap();

    let second = crate::test_nodes::test_node().await;
    baton(&second, &["import", text(&plain)]).success();
    baton(&second, &["import", text(&plain)]).code(4);
    baton(&second, &["import", text(&sealed), "--name", "sealed"]).code(2);
    baton(&second, &["import", text(&sealed), "--identity", text(&other)]).code(5);
    let cut = story.file("cut");
    let bytes = std::fs::read(&sealed).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 9]).unwrap();
    baton(&second, &["import", text(&cut), "--identity", text(&identity)]).code(1);
    baton(&second, &["import", text(&story.file("nowhere"))]).code(3);
    let args = ["import", text(&sealed), "--identity", text(&identity), "--name", "sealed"];
    baton(&second, &args).success();
    for name in ["shop", "sealed"] {
        baton(&second, &["sessions", "resume", name]).success();
        let page = story.page(&second, name).await;
        assert_eq!(page.evaluate::<String>(SHOWN).await.unwrap(), WHOLE, "{name}");
        assert_eq!(page.evaluate::<u32>("innerWidth").await.unwrap(), 900, "{name}");
        let view = second.client().unwrap().fetch_session(name).await.unwrap();
        let tabs: Vec<&str> = view.tabs.iter().map(|tab| tab.url.as_str()).collect();
        assert_eq!(tabs, [story.url().as_str(), story.site.url("/other").unwrap().as_str()]);
    }
    second.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storage_state_carries_what_it_can_say() {
    let story = Story::begin().await;
    let first = story.logged_in().await;
    let file = story.file("state.json");
    let format = ["--format", "storage-state"];
    let args = [&["--json", "export", "shop", "-o", text(&file)], &format[..]].concat();
    let told = answer(&baton(&first, &args).success());
    assert_eq!(told["receipt"]["rejected"], 0);
    let lost = told["receipt"]["items"].as_array().unwrap();
    let kinds: Vec<&str> = lost.iter().map(|item| item["kind"].as_str().unwrap()).collect();
    for kind in ["tab", "session_storage", "environment"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    first.clear().await.unwrap();

    let second = crate::test_nodes::test_node().await;
    baton(&second, &["import", text(&file)]).code(2);
    baton(&second, &["import", text(&file), "--name", "shop"]).success();
    baton(&second, &["sessions", "resume", "shop"]).success();
    // Its tab is blank: whoever carries a storageState opens the pages himself.
    let id = second.client().unwrap().fetch_session("shop").await.unwrap().session.id;
    let blank = Page::attach(&second.keeper_socket(id), "about:blank").await.unwrap();
    let go = format!("location.href = {:?}; true", story.url().as_str());
    assert!(blank.evaluate::<bool>(&go).await.unwrap());
    let shown: String = story.page(&second, "shop").await.evaluate(SHOWN).await.unwrap();
    assert_eq!(shown, WHOLE.replace(" | 2 | ", " |  | "), "a storageState has no sessionStorage");
    second.clear().await.unwrap();
}

/// The file that Playwright 1.65 itself wrote; one of its cookies expired meanwhile or not, as the
/// clock says, so only what does not age is looked at.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_playwright_wrote_is_imported() {
    let file =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../session/tests/it/fixtures/storage_state.json");
    let test_node = crate::test_nodes::test_node().await;
    let run = baton(&test_node, &["--json", "import", file, "--name", "made-by-playwright"]);
    let told = answer(&run);
    assert_eq!((&told["holds"]["databases"], &told["state"]), (&1.into(), &"recoverable".into()));
    test_node.clear().await.unwrap();
}

/// A key that no script can read, and a secret that only it opens.
const SEAL: &str = "(async () => {
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false,
        ['encrypt', 'decrypt']);
    const iv = new Uint8Array(12);
    const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key,
        new TextEncoder().encode('open sesame'));
    const open = indexedDB.open('vault', 1);
    open.onupgradeneeded = () => open.result.createObjectStore('s');
    await new Promise((done) => open.onsuccess = done);
    const write = open.result.transaction('s', 'readwrite');
    write.objectStore('s').put({ key, iv, sealed }, 1);
    await new Promise((done) => write.oncomplete = done);
    open.result.close();
    return true;
})()";

const UNSEAL: &str = "(async () => {
    const open = indexedDB.open('vault');
    await new Promise((done) => open.onsuccess = done);
    const names = [...open.result.objectStoreNames];
    const read = names.length && open.result.transaction('s').objectStore('s').get(1);
    if (read) await new Promise((done) => read.onsuccess = done);
    const found = read?.result;
    open.result.close();
    if (!found?.key?.algorithm) return 'no key';
    const opened = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: found.iv }, found.key, found.sealed);
    return new TextDecoder().decode(opened);
})()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deep_export_carries_a_key_that_no_script_can_read() {
    let story = Story::begin().await;
    let first = story.logged_in().await;
    assert!(story.page(&first, "shop").await.evaluate::<bool>(SEAL).await.unwrap());
    let mine = age::x25519::Identity::generate();
    let (plain, sealed, identity) =
        (story.file("plain.baton"), story.file("deep.baton"), story.file("identity"));
    std::fs::write(&identity, mine.to_string().expose_secret()).unwrap();
    let to = mine.to_public().to_string();
    let deep = ["export", "shop", "--deep", "--to", &to, "-o", text(&sealed)];
    baton(&first, &["export", "shop", "--deep", "-o", text(&sealed)]).code(2);
    baton(&first, &deep).code(4);
    baton(&first, &["sessions", "close", "shop"]).success();
    baton(&first, &deep).success();
    baton(&first, &["export", "shop", "--to", &to, "-o", text(&plain)]).success();
    first.clear().await.unwrap();

    let second = crate::test_nodes::test_node().await;
    for (file, name, code, found) in
        [(&plain, "plain", 6, "no key"), (&sealed, "deep", 0, "open sesame")]
    {
        let args = ["import", text(file), "--identity", text(&identity), "--name", name];
        baton(&second, &args).success();
        baton(&second, &["sessions", "resume", name]).code(code);
        let unsealed: String = story.page(&second, name).await.evaluate(UNSEAL).await.unwrap();
        assert_eq!(unsealed, found, "{name}");
        // From then on the profile has what there is, and no snapshot the folders.
        baton(&second, &["sessions", "close", name]).success();
        baton(&second, &["sessions", "resume", name]).success();
        let unsealed: String = story.page(&second, name).await.evaluate(UNSEAL).await.unwrap();
        assert_eq!(unsealed, found, "{name}");
    }
    second.clear().await.unwrap();
}
