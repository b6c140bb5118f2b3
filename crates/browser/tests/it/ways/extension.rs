//! What an extension does: requests of its worker and its page, tabs, downloads, rules for requests, and settings of
//! the browser which are the way out itself.

/// What its worker does as soon as it runs, a line each.
pub(super) const OF_WORKER: &[(&str, &str)] = &[
    ("extension-worker-fetch", "fetch('$URL');\n"),
    ("extension-worker-socket", "new WebSocket('ws://$HOST/');\n"),
    ("extension-worker-tab", "chrome.tabs.create({url: '$URL'});\n"),
];

/// Bodies of functions of its page, one behind the other, as the scripts of a page are written.
pub(super) const SCRIPTS: &[(&str, &str)] = &[
    ("extension-fetch", "return fetch(url)"),
    ("extension-fetch-tls", "return fetch(tls)"),
    ("extension-socket", "return new Promise((r) => new WebSocket(`ws://${host}/`).onerror = r)"),
    ("extension-tab", "return chrome.tabs.create({url})"),
    ("extension-window", "return chrome.windows.create({url})"),
    ("extension-download", "return chrome.downloads.download({url})"),
    ("extension-tab-script", "await inTab(`new Image().src = '${url}'`)"),
    (
        "extension-offscreen",
        "await chrome.offscreen.createDocument({url: `image.html?${url}`, reasons: ['BLOBS'], justification: 'way'})",
    ),
    (
        "extension-rule",
        "await redirects('extension-rule', url); return fetch('http://listed.test/ruled/extension-rule')",
    ),
    ("extension-proxy-direct", "return by({mode: 'direct'}, url)"),
    ("extension-proxy-direct-address", "return by({mode: 'direct'}, `http://${address}/`)"),
    ("extension-proxy-direct-loopback", "return by({mode: 'direct'}, `http://127.0.0.1:${port}/`)"),
    (
        "extension-proxy-direct-socket",
        "return by({mode: 'direct'}, url, () => new Promise((r) => new WebSocket(`ws://${host}/`).onerror = r))",
    ),
    ("extension-proxy-system", "return by({mode: 'system'}, url)"),
    ("extension-proxy-detected", "return by({mode: 'auto_detect'}, url)"),
    (
        "extension-proxy-other",
        "return by({mode: 'fixed_servers', rules: {singleProxy: {host: address, port: 8080}}}, url)",
    ),
    (
        "extension-proxy-other-name",
        "return by({mode: 'fixed_servers', rules: {singleProxy: {host, port: 8080}}}, url)",
    ),
    (
        "extension-proxy-other-socks",
        "return by({mode: 'fixed_servers', rules: {singleProxy: {scheme: 'socks5', host: address, port: 1080}}}, url)",
    ),
    (
        "extension-proxy-bypass",
        "return by({mode: 'fixed_servers', rules: {singleProxy: {host: '127.0.0.1', port: 1}, bypassList: ['*']}}, url)",
    ),
    (
        "extension-pac-direct",
        "return by({mode: 'pac_script', pacScript: {data: 'function FindProxyForURL() { return \"DIRECT\" }'}}, url)",
    ),
    (
        "extension-pac-proxy",
        "return by({mode: 'pac_script', pacScript: {data: `function FindProxyForURL() { return 'PROXY ${address}:8080' }`}}, url)",
    ),
    (
        "extension-pac-resolves",
        "return by({mode: 'pac_script', pacScript: {data: `function FindProxyForURL() { dnsResolve('${host}'); return 'PROXY 127.0.0.1:1' }`}}, 'http://listed.test/')",
    ),
    (
        "extension-pac-address",
        "return by({mode: 'pac_script', pacScript: {url: url + 'pac', mandatory: false}}, 'http://listed.test/')",
    ),
    (
        "extension-pac-by-address",
        "return by({mode: 'pac_script', pacScript: {url: `http://${address}/pac`, mandatory: false}}, 'http://listed.test/')",
    ),
    ("extension-webrtc", "return freed(host, `stun:${host}`)"),
    ("extension-webrtc-address", "return freed(host, `stun:${address}`)"),
    (
        "extension-prediction",
        "await set(chrome.privacy.network.networkPredictionEnabled, true); await inTab(`document.head.append(Object.assign(document.createElement('link'), {rel: 'prefetch', href: '${url}'}))`)",
    ),
];

/// What it may.
pub(super) const MANIFEST: &str = r#"{
    "manifest_version": 3, "name": "ways", "version": "1",
    "permissions": ["declarativeNetRequest", "downloads", "offscreen", "privacy", "proxy", "scripting", "tabs"],
    "host_permissions": ["<all_urls>"],
    "background": {"service_worker": "worker.js"}
}"#;

/// Its page: what the scripts have in common. Those that change a setting take it back, for what comes next.
pub(super) const COMMON: &str = r"
globalThis.set = (setting, value) => setting.set({value, scope: 'regular'});
globalThis.listed = async () => (await chrome.tabs.query({url: 'http://listed.test/*'}))[0].id;
globalThis.inTab = async (text) => chrome.scripting.executeScript({
    target: {tabId: await listed()}, world: 'MAIN', args: [text], func: (text) => eval(text),
});
globalThis.by = async (proxy, url, asks = () => fetch(url, {cache: 'no-store'})) => {
    await set(chrome.proxy.settings, proxy);
    try { return await asks() } finally { await chrome.proxy.settings.clear({}) }
};
globalThis.redirects = (name, url) => chrome.declarativeNetRequest.updateSessionRules({addRules: [{
    id: 1, action: {type: 'redirect', redirect: {url}}, condition: {urlFilter: `/ruled/${name}`},
}]});
globalThis.freed = async (host, urls) => {
    await set(chrome.privacy.network.webRTCIPHandlingPolicy, 'default');
    await inTab(`(async () => {
        const one = new RTCPeerConnection({iceServers: [{urls: '${urls}'}]});
        window.kept = [...(window.kept ?? []), one];
        one.createDataChannel('way');
        await one.setLocalDescription(await one.createOffer());
        while (one.iceGatheringState !== 'complete')
            await new Promise((changed) => one.onicegatheringstatechange = changed);
    })()`);
    await chrome.privacy.network.webRTCIPHandlingPolicy.clear({});
};
";

/// Its pages: one for the scripts, one that loads what its address says.
pub(super) const PAGE: &str = "<!doctype html><title>ways</title><script src='page.js'></script>";
pub(super) const IMAGE: &str = "<!doctype html><body><script src='image.js'></script>";
pub(super) const IMAGE_SCRIPT: &str =
    "document.body.append(Object.assign(new Image(), {src: location.search.slice(1)}))";
