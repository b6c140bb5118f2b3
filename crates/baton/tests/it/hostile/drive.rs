//! Whoever drives a browser over CDP, and wants the files of the machine that it runs on.
//!
//! With a ticket or a key that may drive and nothing else, of another owner than the node's user; as root
//! and as an ordinary user with Chromium's sandbox on; under Landlock and under bubblewrap. Then all of it
//! once more as the node, to whom nothing is refused, so that what holds are the rules of the kernel alone.

use super::machine::{Machine, NOBODY, Page, Pass, SHOWN, WRITTEN, ask, plant};
use super::tries::{Tries, read_whole};
use super::ways;
use crate::notes::eventually;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use baton_session::Confinement;
use baton_testing::{asked_rounds, skip};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// How many ways give a file that may be read, at least: to a client, and to the node.
const GIVE: usize = 40;

/// The method of a call that stands in a table.
fn call(text: &str, page: &Page, path: &Path) -> (&'static str, Value) {
    let path = path.to_str().unwrap();
    let text = text.replace("$TARGET", &page.target);
    let text = text.replace("$URL", &format!("file://{path}")).replace("$PATH", path);
    let call: Value = serde_json::from_str(&text).unwrap();
    (call[0].as_str().unwrap().to_owned().leak(), call[1].clone())
}

async fn nothing_is_read_and_nothing_written(rules: Confinement, user: Option<u32>, pass: Pass) {
    let mut machine = Machine::new(rules, user, pass).await;
    let before = machine.others();
    let mut secrets = machine.secrets().await;
    // All corners in a long run; in a quick one each story has one of its own.
    if asked_rounds().is_none() {
        let story = usize::from(user.is_some()) * 2 + usize::from(pass == Pass::Key);
        secrets = vec![secrets.swap_remove(story)];
    }
    as_a_client(&mut machine, &secrets).await;
    machine.come_as_the_node().await;
    as_the_node(&mut machine, &secrets, user).await;
    machine.expect_nothing_copied();
    machine.expect_untouched(&before);
    machine.test_node.clear().await.unwrap();
}

/// What whoever drives tries.
async fn as_a_client(machine: &mut Machine, secrets: &[PathBuf]) {
    let shown = machine.shown();
    let gave = tries(machine, &shown, true, None).all().await;
    assert!(gave >= GIVE, "only {gave} ways give what a client may read");
    for secret in secrets {
        let path = secret.to_str().unwrap();
        let url = format!("file://{path}");
        let fill = |text: &str| text.replace("$URL", &url).replace("$PATH", path);
        let page = machine.page().await;
        for (way, script, _) in ways::SCRIPTS {
            page.evaluate(&fill(ways::FRAMED)).await;
            let read = page.evaluate(&fill(script)).await;
            machine.expect_nothing(&format!("{way} of {path}"), &read);
        }
        for text in ways::ANSWERS {
            let (method, params) = call(text, &page, secret);
            let told = ask(&page.session, method, params).await;
            if method != "Storage.getCookies" {
                machine.expect_nothing(&format!("{method} of {path}"), &told);
            }
        }
        uploads(machine, secret).await;
        machine.expect_nothing(&format!("a page after {path}"), &machine.all_pages().await);
        tries(machine, secret, false, None).all().await;
    }
    let key = machine.test_node.data().admin_key();
    let page = machine.page().await;
    for text in ways::REFUSED {
        let (method, params) = call(text, &page, &key);
        let told = ask(&machine.connection.browser(), method, params).await;
        assert!(told.contains("is not for clients"), "{method}: {told}");
    }
    for address in ways::PAGES {
        let told = ask(&page.session, "Page.navigate", json!({ "url": address })).await;
        assert!(told.contains("expected an address of the web"), "{address}: {told}");
    }
    swapped(machine, &key).await;
    pickers(machine).await;
    redirects(machine).await;
    downloads(machine).await;
}

/// What the rules of the kernel hold by themselves.
async fn as_the_node(machine: &mut Machine, secrets: &[PathBuf], user: Option<u32>) {
    let folder = machine.own().join("extension");
    fs::create_dir(&folder).unwrap();
    plant(&folder.join("manifest.json"), ways::MANIFEST, user);
    plant(&folder.join("page.html"), "<!doctype html><title>extension</title>", user);
    let browser = machine.connection.browser();
    let loaded = browser.call("Extensions.loadUnpacked", json!({ "path": folder })).await;
    let said = machine.test_node.keeper_log_tail(machine.id);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}; its keeper said: {said}"));
    let extension = loaded["id"].as_str().unwrap().to_owned();
    let shown = machine.shown();
    let gave = tries(machine, &shown, true, Some(&extension)).all().await;
    assert!(gave >= GIVE, "only {gave} ways give what the node may read");
    for secret in secrets {
        tries(machine, secret, false, Some(&extension)).all().await;
    }
    by_extension(machine, &extension, secrets).await;
    traced(machine, secrets).await;
    downloads(machine).await;
    crashed(machine, &secrets[0]).await;
}

fn tries<'a>(
    machine: &'a Machine,
    path: &'a Path,
    is_shown: bool,
    extension: Option<&'a str>,
) -> Tries<'a> {
    Tries { machine, path, is_shown, extension }
}

/// Every way in which a page is given a file: by node, by object, by a chooser that is caught, by a drag,
/// by links among the session's own files and in the profile.
async fn uploads(machine: &Machine, secret: &Path) {
    let page = machine.page().await;
    let input = "document.body.append(Object.assign(document.createElement('input'), \
                 { type: 'file', id: 'i', multiple: true, onchange() {} })); 'made'";
    page.evaluate(input).await;
    let params = json!({ "expression": "document.getElementById('i')" });
    let object = page.session.call("Runtime.evaluate", params).await.unwrap();
    let object = object["result"]["objectId"].clone();
    let params = json!({ "objectId": object });
    let node = page.session.call("DOM.describeNode", params).await.unwrap();
    let backend = node["node"]["backendNodeId"].clone();
    page.session.call("DOM.getDocument", json!({})).await.unwrap();
    let node = page.session.call("DOM.requestNode", json!({ "objectId": object })).await.unwrap();
    let own = machine.own();
    let [link, profile] = machine.link(secret);
    let around = own.join("..").join("..").join(secret.strip_prefix("/").unwrap());
    for path in [secret, &link, &profile, &around] {
        for by in [
            json!({ "objectId": object }),
            json!({ "backendNodeId": backend }),
            json!({ "nodeId": node["nodeId"] }),
        ] {
            let mut params = by;
            params["files"] = json!([path]);
            let told = ask(&page.session, "DOM.setFileInputFiles", params).await;
            assert!(told.contains("baton sessions files put"), "{}: {told}", path.display());
            let read = "Promise.all([...document.getElementById('i').files].map(f => f.text())) \
                        .then(texts => texts.join())";
            machine.expect_nothing("an upload", &page.evaluate(read).await);
        }
        let dragged = "document.body.ondragover = e => e.preventDefault(); \
                       document.body.ondrop = e => { e.preventDefault(); globalThis.dropped = \
                       Promise.all([...e.dataTransfer.files].map(f => f.text())) }; 'listens'";
        page.evaluate(dragged).await;
        for kind in ["dragEnter", "dragOver", "drop"] {
            let data = json!({ "items": [], "files": [path], "dragOperationsMask": 1 });
            let params = json!({ "type": kind, "x": 50, "y": 50, "data": data });
            let told = ask(&page.session, "Input.dispatchDragEvent", params).await;
            assert!(told.contains("baton sessions files put"), "{}: {told}", path.display());
        }
        machine.expect_nothing("a drag", &page.evaluate("globalThis.dropped").await);
    }
    let caught = json!({ "enabled": true });
    page.session.call("Page.setInterceptFileChooserDialog", caught).await.unwrap();
    page.evaluate("document.getElementById('i').click()").await;
    let params = json!({ "files": [secret], "backendNodeId": backend });
    let told = ask(&page.session, "DOM.setFileInputFiles", params).await;
    assert!(told.contains("baton sessions files put"), "{told}");
}

/// A request that is led to a file: by its site, and by a client that changes it.
async fn redirects(machine: &Machine) {
    let secret = machine.test_node.data().admin_key();
    let page = machine.page().await;
    let led = format!("{}led{}", machine.page_url, secret.display());
    let told = ask(&page.session, "Page.navigate", json!({ "url": led })).await;
    machine.expect_nothing("a site that leads on", &told);
    let fetched = page.evaluate(&format!("fetch('{led}').then(a => a.text())")).await;
    machine.expect_nothing("a request that is led on", &fetched);
    let params = json!({ "requestId": "1", "url": format!("file://{}", secret.display()) });
    let told = ask(&page.session, "Fetch.continueRequest", params).await;
    assert!(told.contains("baton sessions files put"), "{told}");
    machine.expect_nothing("a page that was led on", &machine.all_pages().await);
}

/// Downloads to wherever a client wants them, under names of its choice.
async fn downloads(machine: &Machine) {
    let data = machine.test_node.data();
    let browser = machine.connection.browser();
    let made = browser.call("Target.createBrowserContext", json!({})).await.unwrap();
    let context = made["browserContextId"].clone();
    let folders = [
        data.path().to_owned(),
        data.sessions(),
        data.profile(machine.victim),
        data.files_of(machine.victim),
        machine.test_node.folder().join("home"),
        machine.elsewhere.path().to_owned(),
        "/tmp".into(),
    ];
    for folder in &folders {
        for params in [
            json!({ "behavior": "allow", "downloadPath": folder }),
            json!({ "behavior": "allowAndName", "downloadPath": folder }),
            json!({ "behavior": "allow", "downloadPath": folder, "browserContextId": context }),
        ] {
            browser.call("Browser.setDownloadBehavior", params).await.unwrap();
            let page = machine.page().await;
            let params = json!({ "behavior": "allow", "downloadPath": folder });
            ask(&page.session, "Page.setDownloadBehavior", params).await;
            for name in ["baton.toml", "../baton.toml", "..\\\\baton.toml", "/tmp/secret", "secret"]
            {
                let click = format!(
                    "(Object.assign(document.createElement('a'), {{ download: '{name}', \
                     href: URL.createObjectURL(new Blob(['{WRITTEN}'])) }}).click(), 'clicked')"
                );
                page.evaluate(&click).await;
            }
        }
    }
    // The last one of all is there: so are those before it.
    let path = machine.own().join("last.txt");
    let _ = fs::remove_file(&path);
    let behavior = json!({ "behavior": "allow", "downloadPath": machine.own() });
    browser.call("Browser.setDownloadBehavior", behavior).await.unwrap();
    let page = machine.page().await;
    let last = "(Object.assign(document.createElement('a'), { download: 'last.txt', \
                href: 'data:text/plain,hello' }).click(), 'clicked')";
    page.evaluate(last).await;
    eventually("a download is among the session's files", async || {
        fs::read_to_string(&path).is_ok_and(|text| text == "hello")
    })
    .await;
}

/// A page has a file of the session's own, in the place of which there is a link by the time it is read.
async fn swapped(machine: &Machine, secret: &Path) {
    let page = machine.page().await;
    let own = machine.own().join("mine");
    for is_link in [false, true] {
        if !is_link {
            fs::write(&own, SHOWN).unwrap();
        }
        let made = "document.body.append(globalThis.input = Object.assign(\
                    document.createElement('input'), { type: 'file' })), 'made'";
        page.evaluate(made).await;
        let object = page.object("globalThis.input").await;
        fs::write(&own, SHOWN).unwrap();
        let params = json!({ "files": [own], "objectId": object });
        page.session.call("DOM.setFileInputFiles", params).await.unwrap();
        let file = page.object("globalThis.input.files[0]").await;
        let params = json!({ "objectId": file });
        let told = page.session.call("DOM.getFileInfo", params.clone()).await.unwrap();
        assert_eq!(told["path"], own.to_str().unwrap());
        let blob = page.session.call("IO.resolveBlob", params).await.unwrap();
        let handle = format!("blob:{}", blob["uuid"].as_str().unwrap());
        if is_link {
            fs::remove_file(&own).unwrap();
            symlink(secret, &own).unwrap();
        }
        let text = "globalThis.input.files[0].text().catch(error => error.name)";
        let read = page.evaluate(text).await;
        let bytes = read_whole(&page, &handle).await;
        let streamed = String::from_utf8_lossy(&bytes);
        if is_link {
            machine.expect_nothing("a file that became a link", &format!("{read}{streamed}"));
        } else {
            assert!(read.contains(SHOWN) && streamed.contains(SHOWN), "{read} {streamed}");
        }
    }
    fs::remove_file(&own).unwrap();
}

/// Pickers of a page that a client catches: it hears of them, and has no way to answer.
async fn pickers(machine: &mut Machine) {
    let page = machine.page().await;
    let caught = json!({ "enabled": true });
    page.session.call("Page.setInterceptFileChooserDialog", caught).await.unwrap();
    for script in ways::PICKERS {
        let told = page.evaluate(&script.replace("$WRITTEN", WRITTEN)).await;
        machine.hears("Page.fileChooserOpened").await;
        assert!(told.contains("Intercepted"), "{script}: {told}");
    }
}

/// What an extension downloads lies among the session's files, and nothing of others does.
async fn by_extension(machine: &Machine, extension: &str, secrets: &[PathBuf]) {
    let url = format!("chrome-extension://{extension}/page.html");
    let page = machine.page_at(&url).await.unwrap();
    page.until("document.title === 'extension'").await;
    let behavior = json!({ "behavior": "allow", "downloadPath": machine.own() });
    let browser = machine.connection.browser();
    browser.call("Browser.setDownloadBehavior", behavior).await.unwrap();
    let download = async |path: &Path| {
        let url = format!("file://{}", path.display());
        page.evaluate(&ways::DOWNLOADED.replace("$URL", &url)).await
    };
    let told = download(&machine.shown()).await;
    assert!(told.contains("complete"), "{told}");
    let copied = || {
        let files = fs::read_dir(machine.own()).unwrap().flatten();
        let mut texts = files.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        texts.any(|text| text == SHOWN)
    };
    assert!(copied(), "what is downloaded lies among the session's files");
    for secret in secrets {
        let told = download(secret).await;
        assert!(told.contains("interrupted"), "{}: {told}", secret.display());
    }
}

/// What the browser notes of itself while pages are led to files; and where it writes that.
async fn traced(machine: &mut Machine, secrets: &[PathBuf]) {
    let browser = machine.connection.browser();
    let page = machine.own_page().await;
    let outside = machine.elsewhere.path().join("traced");
    for (config, is_plain) in [
        (json!({ "transferMode": "ReturnAsStream" }), true),
        (
            json!({ "transferMode": "ReturnAsStream", "perfettoConfig": perfetto_to(&outside) }),
            false,
        ),
    ] {
        let began = ask(&browser, "Tracing.start", config).await;
        for secret in secrets {
            let url = format!("file://{}", secret.display());
            ask(&page.session, "Page.navigate", json!({ "url": url })).await;
        }
        let ended = ask(&browser, "Tracing.end", json!({})).await;
        // One that names a file is refused by the browser itself, sooner or later.
        if !is_plain && ended != "{}" {
            continue;
        }
        assert_eq!((began.as_str(), ended.as_str()), ("{}", "{}"));
        let told = machine.hears("Tracing.tracingComplete").await;
        let of_browser = Page { target: String::new(), session: browser.clone() };
        let bytes = read_whole(&of_browser, told["stream"].as_str().unwrap_or_default()).await;
        assert!(!bytes.is_empty() || !is_plain, "a trace");
        machine.expect_nothing("a trace", &String::from_utf8_lossy(&bytes));
    }
    assert!(!outside.exists());
}

/// A configuration of Perfetto's that names a file for what is traced (`protos/perfetto/config`, fields
/// `buffers`, `data_sources`, `write_into_file` and `output_path` of `TraceConfig`), in base64.
fn perfetto_to(path: &Path) -> String {
    let of_length =
        |field: &[u8], bytes: &[u8]| [field, &[u8::try_from(bytes.len()).unwrap()], bytes].concat();
    let name = of_length(&[0x0a], b"track_event");
    let source = of_length(&[0x0a], &name);
    let path = path.to_str().unwrap().as_bytes();
    let config = [
        of_length(&[0x0a], &[0x08, 0x80, 0x08]),
        of_length(&[0x12], &source),
        vec![0x40, 0x01],
        of_length(&[0xea, 0x01], path),
    ];
    BASE64_STANDARD.encode(config.concat())
}

/// A page that crashes while it has a file before it leaves nothing of others in a dump.
async fn crashed(machine: &Machine, secret: &Path) {
    let page = machine.own_page().await;
    let frame =
        format!("document.body.innerHTML = `<iframe src='file://{}'></iframe>`", secret.display());
    page.evaluate(&frame).await;
    ask(&page.session, "Page.crash", json!({})).await;
    let mut folders = vec![machine.test_node.data().profile(machine.id)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if path.extension().is_some_and(|name| name == "dmp") {
                let bytes = fs::read(&path).unwrap_or_default();
                machine.expect_nothing("a dump", &String::from_utf8_lossy(&bytes));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_the_machine_by_landlock() {
    nothing_is_read_and_nothing_written(Confinement::Landlock, None, Pass::Ticket).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_the_machine_by_bubblewrap() {
    nothing_is_read_and_nothing_written(Confinement::Bubblewrap, None, Pass::Key).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_an_ordinary_user_by_landlock() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can start a node as somebody else");
    }
    nothing_is_read_and_nothing_written(Confinement::Landlock, Some(NOBODY), Pass::Key).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_drives_has_no_file_of_an_ordinary_user_by_bubblewrap() {
    if !rustix::process::geteuid().is_root() {
        skip!("only root can start a node as somebody else");
    }
    nothing_is_read_and_nothing_written(Confinement::Bubblewrap, Some(NOBODY), Pass::Ticket).await;
}
