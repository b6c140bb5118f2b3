//! What a browser has of its machine's files: under the kernel's rules alone, as the node drives it,
//! and what clients are told.

use crate::fixture::{Kept, attach, evaluate, eventually, open_page, options, site, spec};
use baton_browser::cdp::{CdpError, CdpSession};
use baton_browser::keeper::{BrowserSpec, EgressSpec, KeeperSpec, KnownProxies, Role};
use baton_browser::launch::{Confine, Folder, LaunchOptions};
use baton_session::Confinement;
use baton_session::egress::Egress;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) const SECRET: &str = "the-secret-of-another";
pub(crate) const SHOWN: &str = "what-was-shown";

/// A machine with a secret in it, and a browser that was given one folder of it to read.
pub(crate) struct Machine {
    pub(crate) kept: Kept,
    pub(crate) secret: PathBuf,
    pub(crate) shown: PathBuf,
    pub(crate) files: PathBuf,
    forbidden: PathBuf,
}

impl Machine {
    async fn new(confine: Confine) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = LaunchOptions { confine, ..options(&folder.path().join("profile")) };
        Self::with(folder, options).await.unwrap()
    }

    /// The same with a browser of these options, or why there is none.
    pub(crate) async fn with(folder: TempDir, options: LaunchOptions) -> Result<Self, String> {
        let at = |name: &str| folder.path().join(name);
        for name in ["shown", "forbidden"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("forbidden/key"), SECRET).unwrap();
        fs::write(at("shown/page.html"), SHOWN).unwrap();
        std::os::unix::fs::symlink(at("forbidden/key"), at("shown/link")).unwrap();
        let (secret, forbidden, shown) = (at("forbidden/key"), at("forbidden"), at("shown"));
        let folders = vec![Folder { path: shown.clone(), writable: false }];
        let options = LaunchOptions { folders, ..options };
        let files = options.files.clone();
        let kept = Self::start(folder, options).await?;
        Ok(Self { kept, secret, shown, files, forbidden })
    }

    async fn start(folder: TempDir, options: LaunchOptions) -> Result<Kept, String> {
        let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options)));
        Kept::start(folder, spec).await
    }
}

pub(crate) fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// What a page at this address shows.
pub(crate) async fn shows(browser: &CdpSession, url: &str) -> String {
    let page = goes_to(browser, url).await;
    let loaded = "document.readyState === 'complete' && location.href !== 'about:blank'";
    eventually("the page is there", async || evaluate(&page, loaded).await == json!(true)).await;
    text(&page).await
}

/// What two pages show that list these folders, the second of which the browser may read. It is the
/// second one that is waited for: of a folder that it may not read Chromium now and then ends the page
/// never, since a refusal that comes after the page's head was sent is told to nobody
/// (`FileURLDirectoryLoader::OnListDone`, `content/browser/loader/file_url_loader_factory.cc`).
async fn lists(browser: &CdpSession, forbidden: &Path, allowed: &Path) -> [String; 2] {
    let page = goes_to(browser, &url(forbidden)).await;
    let begun = "location.href !== 'about:blank' && (document.readyState === 'complete' \
                 || document.title.startsWith('Index of'))";
    eventually("the page has begun", async || evaluate(&page, begun).await == json!(true)).await;
    let allowed = shows(browser, &url(allowed)).await;
    [text(&page).await, allowed]
}

async fn goes_to(browser: &CdpSession, url: &str) -> CdpSession {
    let made = browser.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    let page = attach(browser, made["targetId"].as_str().unwrap()).await;
    page.call("Page.enable", ()).await.unwrap();
    page.call("Page.navigate", json!({ "url": url })).await.unwrap();
    page
}

/// The text of a page, none of one between two documents.
async fn text(page: &CdpSession) -> String {
    evaluate(page, "document.documentElement?.textContent").await.to_string()
}

/// What a page reads of a file that it is given.
async fn uploads(browser: &CdpSession, site: &str, path: &Path) -> Result<Value, CdpError> {
    let (_, page) = open_page(browser, site).await;
    let input = "document.body.append(Object.assign(document.createElement('input'), \
                 { type: 'file', id: 'i' }))";
    evaluate(&page, input).await;
    let object = json!({ "expression": "document.getElementById('i')" });
    let object = page.call("Runtime.evaluate", object).await.unwrap();
    let id = object["result"]["objectId"].clone();
    page.call("DOM.setFileInputFiles", json!({ "files": [path], "objectId": id })).await?;
    let read = "document.getElementById('i').files[0].text().catch(error => error.name)";
    Ok(evaluate(&page, read).await)
}

/// Has a page download a file with this text, which a client wants in `folder`, and waits until it is
/// complete or refused.
async fn downloads(browser: &CdpSession, site: &str, folder: &Path) {
    let behavior = json!({ "behavior": "allow", "downloadPath": folder, "eventsEnabled": true });
    browser.call("Browser.setDownloadBehavior", behavior).await.unwrap();
    let (_, page) = open_page(browser, site).await;
    let click = "const a = document.createElement('a'); a.download = 'got.txt'; \
                 a.href = 'data:text/plain,hello'; a.click()";
    evaluate(&page, click).await;
}

#[tokio::test]
async fn a_browser_has_nothing_of_the_machine_but_what_it_was_given() {
    let site = site("<title>a</title><p>a</p>").await;
    for (confine, rules) in
        [(Confine::Landlock, Confinement::Landlock), (Confine::Bubblewrap, Confinement::Bubblewrap)]
    {
        let machine = Machine::new(confine).await;
        assert_eq!(machine.kept.ready.confinement, rules);
        // The node is told nothing of what it may name: these are the rules of the kernel alone.
        let node = machine.kept.connect(Role::Node).await;
        assert_eq!(node.welcome.confinement, Some(rules));
        let browser = node.connection.browser();
        for hidden in [
            machine.secret.clone(),
            machine.shown.join("link"),
            "/etc/passwd".into(),
            format!("/proc/{}/environ", std::process::id()).into(),
            format!("/proc/{}/root{}", std::process::id(), machine.secret.display()).into(),
        ] {
            let shown = shows(&browser, &url(&hidden)).await;
            let empty =
                !shown.contains(SECRET) && !shown.contains("root:") && !shown.contains("PATH=");
            assert!(empty, "{rules}: {} shows {shown}", hidden.display());
            let read = uploads(&browser, &site, &hidden).await.unwrap();
            assert!(read == "" || read == "NotReadableError" || read == "NotFoundError", "{read}");
        }
        let [forbidden, allowed] = lists(&browser, &machine.forbidden, &machine.shown).await;
        assert!(allowed.contains("addRow(\\\"page.html"), "{rules}: {allowed}");
        assert!(!forbidden.contains("addRow(\\\"key"), "{rules}: {forbidden}");
        let page = machine.shown.join("page.html");
        assert!(shows(&browser, &url(&page)).await.contains(SHOWN));
        assert_eq!(uploads(&browser, &site, &page).await.unwrap(), SHOWN);

        downloads(&browser, &site, &machine.shown).await;
        downloads(&browser, &site, &machine.forbidden).await;
        downloads(&browser, &site, &machine.files).await;
        let got = machine.files.join("got.txt");
        eventually("the last one is complete", async || {
            fs::read_to_string(&got).is_ok_and(|text| text == "hello")
        })
        .await;
        for folder in [&machine.shown, &machine.forbidden] {
            assert!(!folder.join("got.txt").exists(), "{rules}: {}", folder.display());
        }
        machine.kept.close().await;
    }
}

#[tokio::test]
async fn clients_are_told_what_is_not_for_them_and_how_it_is_done() {
    let site = site("<title>a</title><p>a</p>").await;
    let machine = Machine::new(Confine::Auto).await;
    let client = machine.kept.connect(Role::Client).await;
    let browser = client.connection.browser();
    let refused = uploads(&browser, &site, &machine.secret).await.unwrap_err().to_string();
    let refused = refused.replace(machine.secret.to_str().unwrap(), "/secret");
    insta::assert_snapshot!(refused, @r#"DOM.setFileInputFiles: the browser answered "expected a file that the browser of session 00000000-0000-7707-8707-070707070707 may read, found /secret: `baton sessions files put 00000000-0000-7707-8707-070707070707 /secret` takes it there and says by which path" (code -32000)"#);
    for (method, params) in [
        ("Target.createTarget", json!({ "url": url(&machine.secret) })),
        ("Target.createTarget", json!({ "url": "chrome://settings/" })),
        ("Target.createTarget", json!({ "url": "view-source:file:///etc/passwd" })),
        ("Target.exposeDevToolsProtocol", json!({ "targetId": "a" })),
        ("Target.sendMessageToTarget", json!({ "message": "{}" })),
        ("Browser.crash", json!({})),
        ("Tethering.bind", json!({ "port": 1 })),
        ("Extensions.loadUnpacked", json!({ "path": machine.shown })),
        ("PWA.install", json!({ "manifestId": "https://a.test/" })),
    ] {
        browser.call(method, params).await.unwrap_err();
    }
    // What it was given it uploads and opens, and a folder of its own machine, which every Playwright
    // names, is answered with success: what is downloaded lies among the session's files.
    let page = machine.shown.join("page.html");
    assert_eq!(uploads(&browser, &site, &page).await.unwrap(), SHOWN);
    assert!(shows(&browser, &url(&page)).await.contains(SHOWN));
    downloads(&browser, &site, &machine.forbidden).await;
    let got = machine.files.join("got.txt");
    eventually("it is among the session's files", async || {
        fs::read_to_string(&got).is_ok_and(|text| text == "hello")
    })
    .await;
    assert!(!machine.forbidden.join("got.txt").exists());
    machine.kept.close().await;
}

#[tokio::test]
async fn a_data_folder_may_have_a_long_path() {
    for confine in [Confine::Landlock, Confine::Bubblewrap] {
        let folder = tempfile::tempdir().unwrap();
        let long = folder.path().join("x".repeat(100));
        let options = LaunchOptions { confine, ..options(&long.join("profile")) };
        let kept = Machine::start(folder, options).await.unwrap();
        kept.close().await;
    }
}

#[tokio::test]
async fn a_home_that_the_browser_made_a_link_of_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let options = options(&folder.path().join("profile"));
    fs::create_dir(&options.files).unwrap();
    for name in [".home", ".tmp"] {
        std::os::unix::fs::symlink(&elsewhere, options.files.join(name)).unwrap();
    }
    let home = options.files.join(".home");
    let kept = Machine::start(folder, options).await.unwrap();
    assert!(fs::symlink_metadata(&home).unwrap().is_dir());
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    kept.close().await;
}

/// What a browser left in its profile may lead anywhere, where it may not go itself; its keeper may.
#[tokio::test]
async fn links_that_a_browser_left_in_its_profile_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let secret = format!(r#"{{"secret":"{SECRET}"}}"#);
    for name in ["locked", "read", "written"] {
        fs::write(at(name), &secret).unwrap();
    }
    fs::create_dir(at("profile")).unwrap();
    for (name, leads) in
        [("baton.lock", "locked"), ("Local State", "read"), ("Local State.new", "written")]
    {
        std::os::unix::fs::symlink(at(leads), at("profile").join(name)).unwrap();
    }
    let (profile, others) = (at("profile"), ["locked", "read", "written"].map(at));
    let options = options(&profile);
    // One that has a way out is told of it in its profile.
    let only = Egress { only: vec!["listed.test".to_owned()], ..Egress::default() };
    let egress = Some(EgressSpec::of(&only, &KnownProxies::default()).unwrap());
    let spec = spec(folder.path(), BrowserSpec::Launch(Box::new(options)));
    let kept = Kept::start(folder, KeeperSpec { egress, ..spec }).await.unwrap();
    let pid = kept.ready.browser_pid.unwrap();
    let opened = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let opened: Vec<_> = opened.filter_map(|one| one.path().read_link().ok()).collect();
    for other in &others {
        assert_eq!(fs::read_to_string(other).unwrap(), secret, "{}", other.display());
        assert!(!opened.contains(other), "the browser has {} open", other.display());
    }
    assert!(opened.contains(&profile.join("baton.lock")), "{opened:?}");
    let settings = profile.join("Local State");
    assert!(fs::symlink_metadata(&settings).unwrap().is_file());
    assert!(!fs::read_to_string(settings).unwrap().contains(SECRET));
    kept.close().await;
}
