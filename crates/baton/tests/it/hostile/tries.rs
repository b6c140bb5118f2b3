//! All ways to one file, tried one behind the other. A file that the browser may read is the control: what
//! gives that one proves something when it gives no other.

use super::machine::{LIMIT, Machine, Page, SHOWN, ask, shown_by};
use super::{pdf, ways};
use crate::notes::eventually;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use tokio::time::timeout;

/// What one browser is asked to give.
pub(super) struct Tries<'a> {
    pub(super) machine: &'a Machine,
    /// The file.
    pub(super) path: &'a Path,
    /// Whether the browser may read it.
    pub(super) is_shown: bool,
    /// The id of the extension whose page tries as well, if there is one.
    pub(super) extension: Option<&'a str>,
}

impl Tries<'_> {
    /// Tries all of them; answers how many there were that gave the file that is shown.
    pub(super) async fn all(&self) -> usize {
        let kept = self.machine.pages().await;
        let mut gave = self.by_scripts(&kept).await;
        self.machine.close_pages(&kept).await;
        for (method, url, reads) in ways::GO_TO {
            gave += self.goes_to(method, &self.fill(url), *reads, &kept).await;
        }
        let [link, of_profile] = self.machine.link(self.path);
        gave +=
            self.goes_to("Page.navigate", &format!("file://{}", link.display()), true, &kept).await;
        // Of its profile a client is given nothing; the browser has what is there.
        let of_profile = format!("file://{}", of_profile.display());
        gave += self.goes_to("Page.navigate", &of_profile, self.extension.is_some(), &kept).await;
        self.judge("a page that was led there", false, async || self.machine.all_pages().await)
            .await;
        self.machine.close_pages(&kept).await;
        gave += self.uploads(self.path).await + self.uploads(&link).await + self.drags().await;
        gave += self.frames().await + self.context().await;
        self.machine.close_pages(&kept).await;
        if let Some(extension) = self.extension {
            gave += self.by_extension(extension).await;
            self.machine.close_pages(&kept).await;
        }
        gave
    }

    /// By scripts, each in a page of its own of the session's files.
    async fn by_scripts(&self, kept: &BTreeSet<String>) -> usize {
        let mut gave = 0;
        for (way, script, reads) in ways::SCRIPTS {
            if self.is_shown && !reads {
                continue;
            }
            let page = self.machine.own_page().await;
            page.evaluate(&self.fill(ways::FRAMED)).await;
            let told = page.evaluate(&self.fill(script)).await;
            gave += self.shows(way, *reads, &told).await;
            self.forget(kept).await;
        }
        // By now each of them shows what it will.
        self.judge("a page of scripts", false, async || self.machine.all_pages().await).await;
        gave
    }

    /// By the page of an extension.
    async fn by_extension(&self, extension: &str) -> usize {
        let url = format!("chrome-extension://{extension}/page.html");
        let page = self.machine.page_at(&url).await.unwrap();
        page.until("document.title === 'extension'").await;
        let mut gave = 0;
        for (way, script) in ways::EXTENSION {
            let told = async || pdf::joined(&page.evaluate(&self.fill(script)).await);
            gave += self.judge(way, true, told).await;
        }
        gave
    }

    fn fill(&self, text: &str) -> String {
        let path = self.path.to_str().unwrap();
        text.replace("$URL", &format!("file://{path}")).replace("$PATH", path)
    }

    /// Looks at what a way gives: of the file that is shown it is waited for.
    async fn judge(&self, way: &str, reads: bool, gives: impl AsyncFn() -> String) -> usize {
        if !self.is_shown {
            let of = format!("{way} of {}", self.path.display());
            self.machine.expect_nothing(&of, &gives().await);
            return 0;
        }
        if !reads {
            return 0;
        }
        let what = format!("{way} gives what is shown");
        eventually(&what, async || gives().await.contains(SHOWN)).await;
        1
    }

    /// Looks at what was told, and, for the file that is shown, at what pages show until it is there.
    async fn shows(&self, way: &str, reads: bool, told: &str) -> usize {
        if !self.is_shown || told.contains(SHOWN) {
            return self.judge(way, reads, async || told.to_owned()).await;
        }
        self.judge(way, reads, async || format!("{told}{}", self.machine.all_pages().await)).await
    }

    /// Closes what shows the file already, so that the next way to what is shown proves itself.
    async fn forget(&self, kept: &BTreeSet<String>) {
        if self.is_shown {
            self.machine.close_pages(kept).await;
        }
    }

    async fn goes_to(
        &self,
        method: &'static str,
        url: &str,
        reads: bool,
        kept: &BTreeSet<String>,
    ) -> usize {
        let page = self.machine.own_page().await;
        let session = match method.split_once('.') {
            Some(("Target", _)) => &self.machine.connection.browser(),
            _ => &page.session,
        };
        let params = json!({
            "url": url, "frameId": page.target,
            "options": { "disableCache": true, "includeCredentials": false },
        });
        let told = ask(session, method, params).await;
        let gave = self.shows(&format!("{method} to {url}"), reads, &told).await;
        self.forget(kept).await;
        gave
    }

    /// What a page reads of a file that it is given, and a client of the object that the page has.
    async fn uploads(&self, path: &Path) -> usize {
        let page = self.machine.page().await;
        page.evaluate(INPUT).await;
        let input = page.object("document.getElementById('i')").await;
        let params = json!({ "files": [path], "objectId": input });
        let told = ask(&page.session, "DOM.setFileInputFiles", params).await;
        let mut gave = self.judge("DOM.setFileInputFiles", false, async || told.clone()).await;
        for (way, script) in ways::OF_FILE {
            gave += self.judge(way, true, async || page.evaluate(script).await).await;
        }
        let file = page.object("globalThis.file()").await;
        if !file.is_null() {
            let params = json!({ "objectId": file });
            let told = ask(&page.session, "DOM.getFileInfo", params.clone()).await;
            if self.is_shown {
                // A client is led to where a link leads.
                let named = [path, self.path].map(|path| path.to_str().unwrap());
                assert!(named.iter().any(|named| told.contains(named)), "{told}");
            }
            self.judge("DOM.getFileInfo", false, async || told.clone()).await;
            let blob = page.session.call("IO.resolveBlob", params).await.unwrap();
            let handle = format!("blob:{}", blob["uuid"].as_str().unwrap());
            let read =
                async || String::from_utf8_lossy(&read_whole(&page, &handle).await).into_owned();
            gave += self.judge("IO.read of a file", true, read).await;
        }
        page.evaluate("globalThis.input.webkitdirectory = true").await;
        if self.is_listed() {
            let params = json!({ "files": [path.parent().unwrap()], "objectId": input });
            ask(&page.session, "DOM.setFileInputFiles", params).await;
            let reads = path == self.path;
            let read = async || page.evaluate(ways::ALL_FILES).await;
            gave += self.judge("an upload of its folder", reads, read).await;
        }
        gave
    }

    /// Whether its folder is one that ends, so that it can be given as a whole.
    fn is_listed(&self) -> bool {
        self.is_shown || self.path.starts_with(self.machine.elsewhere.path())
    }

    /// What a page reads of a file that is dropped on it, and of its folder.
    async fn drags(&self) -> usize {
        let page = self.machine.page().await;
        page.evaluate(ways::DROPPED).await;
        let mut gave = 0;
        for (path, ways) in [
            (self.path, ways::OF_DROPPED_FILE),
            (self.path.parent().unwrap(), ways::OF_DROPPED_FOLDER),
        ] {
            if path != self.path && !self.is_listed() {
                continue;
            }
            for kind in ["dragEnter", "dragOver", "drop"] {
                let data = json!({ "items": [], "files": [path], "dragOperationsMask": 1 });
                let params = json!({ "type": kind, "x": 50, "y": 50, "data": data });
                ask(&page.session, "Input.dispatchDragEvent", params).await;
            }
            for (way, script) in ways {
                gave += self.judge(way, true, async || page.evaluate(script).await).await;
            }
        }
        gave
    }

    /// What is told of a page with a frame that shows the file: as a document, as paper, as a resource.
    async fn frames(&self) -> usize {
        let page = self.machine.own_page().await;
        let frame = "document.body.innerHTML = `<iframe src='$URL'></iframe>`, 'made'";
        page.evaluate(&self.fill(frame)).await;
        let shows = async || shown_by(&page.session).await;
        let mut gave = self.judge("a frame", true, shows).await;
        let saved = async || {
            let told = ask(&page.session, "Page.captureSnapshot", json!({})).await;
            pdf::joined(&told)
        };
        gave += self.judge("Page.captureSnapshot", true, saved).await;
        let printed = async || {
            let params = json!({ "transferMode": "ReturnAsStream" });
            let told = page.session.call("Page.printToPDF", params).await.unwrap();
            pdf::text(&read_whole(&page, told["stream"].as_str().unwrap()).await)
        };
        gave += self.judge("Page.printToPDF", true, printed).await;
        let headed = async || {
            let header = self.fill("<iframe src='$URL'></iframe>");
            let params = json!({ "headerTemplate": header, "displayHeaderFooter": true });
            let told = page.session.call("Page.printToPDF", params).await.unwrap();
            pdf::text(&BASE64_STANDARD.decode(told["data"].as_str().unwrap()).unwrap())
        };
        gave += self.judge("the header of Page.printToPDF", false, headed).await;
        let tree = page.session.call("Page.getResourceTree", json!({})).await.unwrap();
        let inner = tree["frameTree"]["childFrames"][0]["frame"]["id"].clone();
        let resource = async || {
            let params = json!({ "frameId": inner, "url": self.fill("$URL") });
            ask(&page.session, "Page.getResourceContent", params).await
        };
        gave += self.judge("Page.getResourceContent", true, resource).await;
        for method in ["DOMSnapshot.captureSnapshot", "Accessibility.getFullAXTree"] {
            let params = json!({ "computedStyles": [], "frameId": inner });
            let told = async || ask(&page.session, method, params.clone()).await;
            gave += self.judge(method, true, told).await;
        }
        let params =
            json!({ "frameId": page.target, "html": self.fill("<iframe src='$URL'></iframe>") });
        ask(&page.session, "Page.setDocumentContent", params).await;
        gave + self
            .judge("Page.setDocumentContent", true, async || shown_by(&page.session).await)
            .await
    }

    /// What a page of a context of its own shows.
    async fn context(&self) -> usize {
        let browser = self.machine.connection.browser();
        let made = browser.call("Target.createBrowserContext", json!({})).await.unwrap();
        let context = &made["browserContextId"];
        let page = self.machine.page_in(Some(context), &self.fill("$URL")).await;
        let shows = async || match &page {
            Some(page) => shown_by(&page.session).await,
            None => "refused".to_owned(),
        };
        let gave = self.judge("a context of its own", true, shows).await;
        let params = json!({ "browserContextId": context });
        browser.call("Target.disposeBrowserContext", params).await.unwrap();
        gave
    }
}

/// A place for files in a page.
const INPUT: &str = "document.body.append(globalThis.input = Object.assign(\
    document.createElement('input'), { type: 'file', id: 'i', multiple: true })); \
    globalThis.file = () => globalThis.input.files[0]; 'made'";

/// All bytes of a stream.
pub(super) async fn read_whole(page: &Page, handle: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let read = async {
        loop {
            let params = json!({ "handle": handle });
            let Ok(part) = page.session.call("IO.read", params).await else { return };
            let data = part["data"].as_str().unwrap_or_default();
            if part["base64Encoded"] == Value::Bool(true) {
                bytes.extend(BASE64_STANDARD.decode(data).unwrap());
            } else {
                bytes.extend(data.as_bytes());
            }
            if part["eof"] == Value::Bool(true) {
                return;
            }
        }
    };
    let _ = timeout(LIMIT, read).await;
    bytes
}
