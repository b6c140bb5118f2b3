//! The ways to a file of the machine that CDP and pages offer, as tables.

/// By a script in a page: `$URL` is the file's address, `$PATH` its path; answers with what it read.
pub(super) const SCRIPTS: &[(&str, &str)] = &[
    ("fetch", "fetch('$URL').then(a => a.text())"),
    ("fetch without CORS", "fetch('$URL', { mode: 'no-cors' }).then(a => a.text())"),
    (
        "XMLHttpRequest",
        "new Promise(done => { const x = new XMLHttpRequest(); x.open('GET', '$URL'); x.onloadend = () => done(x.responseText); x.send() })",
    ),
    ("frame", "framed('iframe', 'src')"),
    ("object", "framed('object', 'data')"),
    ("embed", "framed('embed', 'src')"),
    (
        "frame in a document of its own",
        "framed('iframe', 'srcdoc', `<iframe src='$URL'></iframe>`)",
    ),
    ("window", "(window.open('$URL'), 'opened')"),
    ("window of source", "(window.open('view-source:$URL'), 'opened')"),
    ("address", "(setTimeout(() => location.href = '$URL'), 'went')"),
    (
        "link that is clicked",
        "(Object.assign(document.createElement('a'), { href: '$URL', target: '_blank' }).click(), 'clicked')",
    ),
    (
        "link that is downloaded",
        "(Object.assign(document.createElement('a'), { href: '$URL', download: 'got' }).click(), 'clicked')",
    ),
    (
        "form",
        "(() => { const f = document.createElement('form'); f.action = '$URL'; f.target = '_blank'; document.body.append(f); f.submit(); return 'sent' })()",
    ),
    ("refresh", "framed('iframe', 'srcdoc', `<meta http-equiv=refresh content=\"0;url=$URL\">`)"),
    ("style", "framed('link', 'href')"),
    (
        "import in a style",
        "(document.head.append(Object.assign(document.createElement('style'), { textContent: `@import url('$URL')` })), [...document.styleSheets].map(s => { try { return [...s.cssRules].map(r => r.cssText) } catch (e) { return e.name } }).join())",
    ),
    ("script", "framed('script', 'src')"),
    ("module", "import('$URL').then(m => JSON.stringify(m))"),
    (
        "worker",
        "new Promise(done => { try { const w = new Worker('$URL'); w.onerror = e => done('error'); w.onmessage = e => done(e.data); setTimeout(done, 300, 'nothing') } catch (e) { done(e.name) } })",
    ),
    (
        "import in a worker",
        "new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([`try { importScripts('$URL'); postMessage('imported') } catch (e) { postMessage(e.name) }`]))); w.onmessage = e => done(e.data); w.onerror = () => done('error') })",
    ),
    (
        "fetch in a worker",
        "new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([`fetch('$URL').then(a => a.text()).then(postMessage, e => postMessage(e.name))`]))); w.onmessage = e => done(e.data) })",
    ),
    (
        "shared worker",
        "new Promise(done => { try { const w = new SharedWorker('$URL'); w.onerror = () => done('error'); w.port.onmessage = e => done(e.data); setTimeout(done, 300, 'nothing') } catch (e) { done(e.name) } })",
    ),
    (
        "picture",
        "new Promise(done => { const i = new Image(); i.onload = () => done('shown ' + i.width); i.onerror = () => done('error'); i.src = '$URL' })",
    ),
    (
        "picture in a picture",
        "framed('iframe', 'srcdoc', `<svg xmlns='http://www.w3.org/2000/svg'><image href='$URL'/></svg>`)",
    ),
    (
        "video",
        "new Promise(done => { const v = document.createElement('video'); v.onerror = () => done('error'); v.onloadeddata = () => done('played'); v.src = '$URL' })",
    ),
    ("beacon", "String(navigator.sendBeacon('$URL', 'x'))"),
    (
        "web socket",
        "new Promise(done => { try { const w = new WebSocket('$URL'); w.onerror = () => done('error'); w.onopen = () => done('open') } catch (e) { done(e.name) } })",
    ),
    (
        "event source",
        "new Promise(done => { const e = new EventSource('$URL'); e.onerror = () => done('error'); e.onmessage = m => done(m.data) })",
    ),
    (
        "file picker",
        "Promise.race([showOpenFilePicker().then(([f]) => f.getFile()).then(f => f.text()), new Promise(done => setTimeout(done, 300, 'asks'))]).catch(e => e.name)",
    ),
    (
        "folder picker",
        "Promise.race([showDirectoryPicker({ startIn: 'documents' }).then(f => f.name), new Promise(done => setTimeout(done, 300, 'asks'))]).catch(e => e.name)",
    ),
    (
        "private files",
        "navigator.storage.getDirectory().then(f => f.getFileHandle('$PATH')).then(f => f.getFile()).then(f => f.text())",
    ),
    ("launched files", "String('launchQueue' in window && window.launchQueue)"),
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
pub(super) const GO_TO: &[(&str, &str)] = &[
    ("Page.navigate", "$URL"),
    ("Page.navigate", "view-source:$URL"),
    ("Page.navigate", "FILE:$PATH"),
    ("Page.navigate", " f\til\ne://$PATH"),
    ("Page.navigate", "file://localhost$PATH"),
    ("Page.navigate", "filesystem:$URL"),
    ("Page.navigate", "blob:$URL"),
    ("Target.createTarget", "$URL"),
    ("Target.createTarget", "view-source:$URL"),
    ("Target.createTarget", "file:/$PATH"),
    ("Network.loadNetworkResource", "$URL"),
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
    r#"["IO.resolveBlob", {"objectId": "$PATH"}]"#,
    r#"["DOM.getFileInfo", {"objectId": "$PATH"}]"#,
    r#"["Page.captureSnapshot", {"format": "mhtml"}]"#,
    r#"["Page.printToPDF", {"headerTemplate": "<iframe src='$URL'></iframe>", "displayHeaderFooter": true}]"#,
    r#"["Page.setDocumentContent", {"frameId": "$TARGET", "html": "<iframe src='$URL'></iframe>"}]"#,
    r#"["Page.getResourceContent", {"frameId": "$TARGET", "url": "$URL"}]"#,
    r#"["SystemInfo.getInfo", {}]"#,
    r#"["SystemInfo.getProcessInfo", {}]"#,
    r#"["Browser.getBrowserCommandLine", {}]"#,
    r#"["Storage.getCookies", {}]"#,
];
