//! The ways to a file of the machine that CDP and pages offer, as tables.

/// By a script in a page: `$URL` is the file's address, `$PATH` its path; answers with what it read. Those
/// that are true give a file that the browser may read, when a page of a file asks for it.
pub(super) const SCRIPTS: &[(&str, &str, bool)] = &[
    ("fetch", "fetch('$URL').then(a => a.text())", true),
    ("fetch without CORS", "fetch('$URL', { mode: 'no-cors' }).then(a => a.text())", true),
    (
        "XMLHttpRequest",
        "new Promise(done => { const x = new XMLHttpRequest(); x.open('GET', '$URL'); x.onloadend = () => done(x.responseText); x.send() })",
        true,
    ),
    ("frame", "framed('iframe', 'src')", true),
    ("object", "framed('object', 'data')", true),
    ("embed", "framed('embed', 'src')", true),
    (
        "frame in a document of its own",
        "framed('iframe', 'srcdoc', `<iframe src='$URL'></iframe>`)",
        true,
    ),
    ("window", "(window.open('$URL'), 'opened')", true),
    ("window of source", "(window.open('view-source:$URL'), 'opened')", false),
    ("address", "(setTimeout(() => location.href = '$URL'), 'went')", true),
    (
        "link that is clicked",
        "(Object.assign(document.createElement('a'), { href: '$URL', target: '_blank' }).click(), 'clicked')",
        true,
    ),
    (
        "link that is downloaded",
        "(Object.assign(document.createElement('a'), { href: '$URL', download: 'got' }).click(), 'clicked')",
        false,
    ),
    (
        "form",
        "(() => { const f = document.createElement('form'); f.action = '$URL'; f.target = '_blank'; document.body.append(f); f.submit(); return 'sent' })()",
        true,
    ),
    (
        "refresh",
        "framed('iframe', 'srcdoc', `<meta http-equiv=refresh content=\"0;url=$URL\">`)",
        true,
    ),
    ("style", "framed('link', 'href')", false),
    (
        "import in a style",
        "(document.head.append(Object.assign(document.createElement('style'), { textContent: `@import url('$URL')` })), [...document.styleSheets].map(s => { try { return [...s.cssRules].map(r => r.cssText) } catch (e) { return e.name } }).join())",
        false,
    ),
    ("script", "framed('script', 'src')", false),
    ("module", "import('$URL').then(m => JSON.stringify(m))", false),
    (
        "worker",
        "new Promise(done => { try { const w = new Worker('$URL'); w.onerror = e => done('error'); w.onmessage = e => done(e.data); setTimeout(done, 300, 'nothing') } catch (e) { done(e.name) } })",
        false,
    ),
    (
        "import in a worker",
        "new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([`try { importScripts('$URL'); postMessage('imported') } catch (e) { postMessage(e.name) }`]))); w.onmessage = e => done(e.data); w.onerror = () => done('error') })",
        false,
    ),
    (
        "fetch in a worker",
        "new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([`fetch('$URL').then(a => a.text()).then(postMessage, e => postMessage(e.name))`]))); w.onmessage = e => done(e.data) })",
        true,
    ),
    (
        "shared worker",
        "new Promise(done => { try { const w = new SharedWorker('$URL'); w.onerror = () => done('error'); w.port.onmessage = e => done(e.data); setTimeout(done, 300, 'nothing') } catch (e) { done(e.name) } })",
        false,
    ),
    (
        "picture",
        "new Promise(done => { const i = new Image(); i.onload = () => done('shown ' + i.width); i.onerror = () => done('error'); i.src = '$URL' })",
        false,
    ),
    (
        "picture in a picture",
        "framed('iframe', 'srcdoc', `<svg xmlns='http://www.w3.org/2000/svg'><image href='$URL'/></svg>`)",
        false,
    ),
    (
        "video",
        "new Promise(done => { const v = document.createElement('video'); v.onerror = () => done('error'); v.onloadeddata = () => done('played'); v.src = '$URL' })",
        false,
    ),
    ("beacon", "String(navigator.sendBeacon('$URL', 'x'))", false),
    (
        "web socket",
        "new Promise(done => { try { const w = new WebSocket('$URL'); w.onerror = () => done('error'); w.onopen = () => done('open') } catch (e) { done(e.name) } })",
        false,
    ),
    (
        "event source",
        "new Promise(done => { const e = new EventSource('$URL'); e.onerror = () => done('error'); e.onmessage = m => done(m.data) })",
        false,
    ),
    (
        "file picker",
        "Promise.race([showOpenFilePicker().then(([f]) => f.getFile()).then(f => f.text()), new Promise(done => setTimeout(done, 300, 'asks'))]).catch(e => e.name)",
        false,
    ),
    (
        "folder picker",
        "Promise.race([showDirectoryPicker({ startIn: 'documents' }).then(f => f.name), new Promise(done => setTimeout(done, 300, 'asks'))]).catch(e => e.name)",
        false,
    ),
    (
        "private files",
        "navigator.storage.getDirectory().then(f => f.getFileHandle('$PATH')).then(f => f.getFile()).then(f => f.text())",
        false,
    ),
    ("launched files", "String('launchQueue' in window && window.launchQueue)", false),
];

/// What the scripts use: an element that is to show the file, and the text in it.
pub(super) const FRAMED: &str = "globalThis.framed = (tag, name, value = '$URL') => new Promise(done => {
    const e = document.createElement(tag);
    const tell = () => { let text = ''; try { text = e.contentDocument.documentElement.textContent } catch (x) { text = x.name } done(String(text)) };
    e.onload = tell; e.onerror = tell; setTimeout(tell, 300);
    if (tag === 'link') e.rel = 'stylesheet';
    e[name] = value; document.body.append(e);
})";

/// By a method of CDP on the page or the browser, of which parameter `url` is the file's address.
pub(super) const GO_TO: &[(&str, &str, bool)] = &[
    ("Page.navigate", "$URL", true),
    ("Page.navigate", "view-source:$URL", true),
    ("Page.navigate", "FILE:$PATH", true),
    ("Page.navigate", " f\til\ne://$PATH", true),
    ("Page.navigate", "file://localhost$PATH", true),
    ("Page.navigate", "filesystem:$URL", false),
    ("Page.navigate", "blob:$URL", false),
    ("Target.createTarget", "$URL", true),
    ("Target.createTarget", "view-source:$URL", true),
    ("Target.createTarget", "file:$PATH", true),
    ("Network.loadNetworkResource", "$URL", false),
];

/// What a page reads of a file that it was given.
pub(super) const OF_FILE: &[(&str, &str)] = &[
    ("the text of an upload", "Promise.resolve(file()?.text()).catch(error => error.name)"),
    (
        "the address of an upload",
        "Promise.resolve(file() && fetch(URL.createObjectURL(file())).then(a => a.text())).catch(error => error.name)",
    ),
    (
        "an upload that is sent",
        "Promise.resolve(file() && fetch('/echo', { method: 'POST', body: file() }).then(a => a.text())).catch(error => error.name)",
    ),
    (
        "an upload in a form",
        "new Promise(done => { const f = document.createElement('form'); const i = document.createElement('iframe'); i.name = 'echoed'; Object.assign(f, { method: 'post', enctype: 'multipart/form-data', action: '/echo', target: 'echoed' }); document.body.append(i, f); const c = document.createElement('input'); Object.assign(c, { type: 'file', name: 'file' }); c.files = globalThis.input.files; f.append(c); setTimeout(done, 1000, 'nothing'); i.onload = () => { try { const text = i.contentDocument.body.textContent; if (text) done(text) } catch (error) { done(error.name) } }; f.submit() })",
    ),
];

/// All files of a folder that a page was given.
pub(super) const ALL_FILES: &str = "Promise.all([...globalThis.input.files].map(f => f.text())).then(texts => texts.join()).catch(error => error.name)";

/// What a page does with what is dropped on it.
pub(super) const DROPPED: &str = "document.body.style.height = '500px'; document.body.ondragover = e => e.preventDefault(); document.body.ondrop = e => { e.preventDefault(); const items = [...e.dataTransfer.items]; globalThis.dropped = { files: [...e.dataTransfer.files], entries: items.map(i => i.webkitGetAsEntry()), handles: Promise.all(items.map(i => i.getAsFileSystemHandle())) } }; globalThis.soon = p => Promise.race([Promise.resolve(p).catch(error => error.name), new Promise(done => setTimeout(done, 1000, 'nothing'))]); 'listens'";

/// What it reads of a file that was dropped.
pub(super) const OF_DROPPED_FILE: &[(&str, &str)] = &[
    (
        "a drop",
        "soon(Promise.all(globalThis.dropped?.files.map(f => f.text()) ?? []).then(texts => texts.join()))",
    ),
    (
        "the entry of a drop",
        "soon(new Promise((done, failed) => globalThis.dropped?.entries[0]?.file(f => f.text().then(done, failed), failed)))",
    ),
    (
        "the handle of a drop",
        "soon(globalThis.dropped?.handles.then(([h]) => h.getFile()).then(f => f.text()))",
    ),
];

/// What it reads of a folder that was dropped.
pub(super) const OF_DROPPED_FOLDER: &[(&str, &str)] = &[
    (
        "the entry of a folder that is dropped",
        "soon(new Promise((done, failed) => globalThis.dropped?.entries[0]?.createReader().readEntries(all => Promise.all(all.map(e => new Promise(read => e.file(read, failed)).then(f => f.text()))).then(texts => done(texts.join()), failed), failed)))",
    ),
    (
        "the handle of a folder that is dropped",
        "soon(globalThis.dropped?.handles.then(async ([h]) => { const texts = []; for await (const one of h.values()) texts.push(await (await one.getFile()).text()); return texts.join() }))",
    ),
];

/// What an extension may that only the node can load.
pub(super) const MANIFEST: &str = r#"{
    "manifest_version": 3, "name": "files", "version": "1",
    "permissions": ["downloads", "pageCapture", "scripting", "tabs"],
    "host_permissions": ["<all_urls>", "file:///*"]
}"#;

/// By a script in its page.
pub(super) const EXTENSION: &[(&str, &str)] = &[
    ("extension: fetch", "fetch('$URL').then(a => a.text()).catch(error => error.name)"),
    (
        "extension: tab",
        "chrome.tabs.create({ url: '$URL' }).then(async tab => (await chrome.scripting.executeScript({ target: { tabId: tab.id }, func: () => document.documentElement.textContent }))[0].result).catch(String)",
    ),
    (
        "extension: picture of a page",
        "chrome.tabs.create({ url: '$URL' }).then(async tab => { while ((await chrome.tabs.get(tab.id)).status !== 'complete') await new Promise(done => setTimeout(done, 20)); return (await chrome.pageCapture.saveAsMHTML({ tabId: tab.id })).text() }).catch(String)",
    ),
];

/// The same for what is downloaded: it lies among the session's own files.
pub(super) const DOWNLOADED: &str = "chrome.downloads.download({ url: '$URL', filename: 'got', conflictAction: 'overwrite' }).then(async id => { for (;;) { const [one] = await chrome.downloads.search({ id }); if (one.state !== 'in_progress') return one.state; await new Promise(done => setTimeout(done, 20)) } }).catch(String)";

/// By pickers of a page, which a client catches.
pub(super) const PICKERS: &[&str] = &[
    "showOpenFilePicker().then(([f]) => f.getFile()).then(f => f.text()).catch(error => error.message)",
    "showDirectoryPicker({ startIn: 'documents' }).then(f => f.name).catch(error => error.message)",
    "showSaveFilePicker({ suggestedName: 'written' }).then(f => f.createWritable()).then(async w => { await w.write('$WRITTEN'); await w.close(); return 'written' }).catch(error => error.message)",
];

/// Pages of the browser's own that show or take files, and what no client is given.
pub(super) const PAGES: &[&str] = &[
    "chrome://version/",
    "chrome://settings/",
    "chrome://net-export/",
    "chrome://tracing/",
    "chrome://inspect/",
    "chrome://extensions/",
    "chrome://downloads/",
    "chrome://crashes/",
    "chrome://policy/",
    "chrome://print/",
    "chrome://file-manager/",
    "about:version",
    "chrome-untrusted://print/",
    "devtools://devtools/bundled/inspector.html",
    "mailto:a@b.test",
];

/// Methods that lead out of the browser.
pub(super) const REFUSED: &[&str] = &[
    r#"["Target.exposeDevToolsProtocol", {"targetId": "$TARGET"}]"#,
    r#"["Target.sendMessageToTarget", {"targetId": "$TARGET", "message": "{}"}]"#,
    r#"["Target.setRemoteLocations", {"locations": [{"host": "127.0.0.1", "port": 1}]}]"#,
    r#"["Tethering.bind", {"port": 1}]"#,
    r#"["Extensions.loadUnpacked", {"path": "$PATH"}]"#,
    r#"["Extensions.uninstall", {"id": "a"}]"#,
    r#"["PWA.install", {"manifestId": "https://a.test/"}]"#,
    r#"["PWA.launchFilesInApp", {"manifestId": "https://a.test/", "files": ["$PATH"]}]"#,
    r#"["PWA.openCurrentPageInApp", {"manifestId": "https://a.test/"}]"#,
    r#"["Browser.crash", {}]"#,
    r#"["Browser.executeBrowserCommand", {"commandId": "openTabSearch"}]"#,
    r#"["Cast.startDesktopMirroring", {"sinkName": "a"}]"#,
];

/// Calls that answer with bytes or a description, which must not be of the file.
pub(super) const ANSWERS: &[&str] = &[
    r#"["IO.read", {"handle": "$PATH"}]"#,
    r#"["IO.read", {"handle": "blob:$URL"}]"#,
    r#"["Page.getResourceContent", {"frameId": "$TARGET", "url": "$URL"}]"#,
    r#"["SystemInfo.getInfo", {}]"#,
    r#"["SystemInfo.getProcessInfo", {}]"#,
    r#"["Browser.getBrowserCommandLine", {}]"#,
    r#"["Storage.getCookies", {}]"#,
];
