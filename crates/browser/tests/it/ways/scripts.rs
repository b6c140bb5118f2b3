//! What a page asks for by its scripts: requests, sockets, workers of every kind, worklets, what they load.

/// Bodies of functions of one page; each has `url` and `tls` of its way, its `host` and `address`, and ends when
/// the page knows what became of it.
pub(super) const SCRIPTS: &[(&str, &str)] = &[
    ("fetch", "return fetch(url)"),
    ("fetch-no-cors", "return fetch(url, {mode: 'no-cors'})"),
    ("fetch-post", "return fetch(url, {method: 'POST', mode: 'no-cors', body: 'way'})"),
    ("fetch-preflight", "return fetch(url, {method: 'PUT', headers: {'x-way': '1'}})"),
    ("fetch-keepalive", "return fetch(url, {mode: 'no-cors', keepalive: true})"),
    ("fetch-with-cookies", "return fetch(url, {mode: 'no-cors', credentials: 'include'})"),
    ("fetch-tls", "return fetch(tls, {mode: 'no-cors'})"),
    ("fetch-address", "return fetch(`http://${address}/`, {mode: 'no-cors'})"),
    ("fetch-port", "return fetch(`http://${host}:8080/`, {mode: 'no-cors'})"),
    ("fetch-user", "return fetch(new Request(`http://${host}/`, {mode: 'no-cors', referrer: ''}))"),
    ("fetch-301", "return fetch('/go/301/fetch-301', {mode: 'no-cors'})"),
    (
        "fetch-303",
        "return fetch('/go/303/fetch-303', {mode: 'no-cors', method: 'POST', body: 'way'})",
    ),
    (
        "fetch-307",
        "return fetch('/go/307/fetch-307', {mode: 'no-cors', method: 'POST', body: 'way'})",
    ),
    ("fetch-308", "return fetch('/go/308/fetch-308', {mode: 'no-cors'})"),
    ("fetch-later", "return fetchLater(tls, {activateAfter: 0}) && new Promise(() => {})"),
    ("xhr", "return request(url, true)"),
    ("xhr-sync", "return request(url, false)"),
    ("xhr-redirected", "return request('/go/302/xhr-redirected', true)"),
    ("event-source", "return heard(new EventSource(url))"),
    ("beacon", "return navigator.sendBeacon(url, 'way')"),
    ("socket", "return heard(new WebSocket(`ws://${host}/`))"),
    ("socket-tls", "return heard(new WebSocket(`wss://${host}/`))"),
    ("socket-address", "return heard(new WebSocket(`ws://${address}/`))"),
    ("socket-stream", "return new WebSocketStream(`ws://${host}/`).opened"),
    ("web-transport", "return new WebTransport(`https://${host}/`).ready"),
    ("image", "return heard(Object.assign(new Image(), {src: url}))"),
    (
        "image-redirected",
        "return heard(Object.assign(new Image(), {src: '/go/302/image-redirected'}))",
    ),
    (
        "image-redirected-twice",
        "return heard(Object.assign(new Image(), {src: '/again/image-redirected-twice'}))",
    ),
    ("audio-object", "return heard(new Audio(url))"),
    ("font-face", "return new FontFace('way', `url(${url})`).load()"),
    ("import", "return import(url)"),
    ("import-json", "return import(url, {with: {type: 'json'}})"),
    (
        "written-script",
        "const frame = framed(); frame.contentDocument.write(`<script src='${url}'></${''}script>`)",
    ),
    ("frame-location", "framed().contentWindow.location = url"),
    ("frame-blob", "framed().src = blob(`<img src='${url}'>`, 'text/html')"),
    (
        "frame-blob-refresh",
        "framed().src = blob(`<meta http-equiv=refresh content='0; url=${url}'>`, 'text/html')",
    ),
    ("frame-target", "const frame = framed(); frame.name = 'way-target'; open(url, 'way-target')"),
    (
        "frame-form",
        "const frame = framed(); frame.name = 'way-form'; form(url, 'POST', 'way-form').submit()",
    ),
    (
        "link-added",
        "document.head.append(Object.assign(document.createElement('link'), {rel: 'stylesheet', href: url}))",
    ),
    (
        "preconnect-added",
        "document.head.append(Object.assign(document.createElement('link'), {rel: 'preconnect', href: url}))",
    ),
    (
        "style-sheet",
        "const sheet = new CSSStyleSheet(); sheet.replaceSync(`p { background: url(${url}) }`); document.adoptedStyleSheets.push(sheet)",
    ),
    ("link-ping", "const link = anchor('#'); link.ping = url; link.click()"),
    ("notification", "const it = new Notification('way', {icon: url}); return heard(it)"),
    (
        "media-session",
        "navigator.mediaSession.metadata = new MediaMetadata({title: 'way', artwork: [{src: url}]})",
    ),
    (
        "payment",
        "return new PaymentRequest([{supportedMethods: tls}], {total: {label: 'way', amount: {currency: 'EUR', value: '1'}}}).canMakePayment()",
    ),
    (
        "fedcm",
        "return navigator.credentials.get({identity: {providers: [{configURL: `${tls}config.json`, clientId: 'way'}]}})",
    ),
    (
        "webauthn",
        "return navigator.credentials.get({publicKey: {challenge: new Uint8Array(16), rpId: host}})",
    ),
    ("shared-storage", "return sharedStorage.createWorklet(url)"),
    ("paint-worklet", "return CSS.paintWorklet.addModule(url)"),
    ("audio-worklet", "return new AudioContext().audioWorklet.addModule(url)"),
    ("worker-fetch", "return works(`await fetch('${url}', {mode: 'no-cors'})`)"),
    (
        "worker-xhr",
        "return works(`const asked = new XMLHttpRequest(); asked.open('GET', '${url}', false); asked.send()`)",
    ),
    ("worker-import", "return works(`importScripts('${url}')`)"),
    (
        "worker-socket",
        "return works(`await new Promise((r) => new WebSocket('ws://${host}/').onerror = r)`)",
    ),
    (
        "worker-event-source",
        "return works(`await new Promise((r) => new EventSource('${url}').onerror = r)`)",
    ),
    ("worker-transport", "return works(`await new WebTransport('https://${host}/').ready`)"),
    (
        "worker-in-worker",
        "return works(`await new Promise((r) => new Worker(URL.createObjectURL(new Blob([\"fetch('${url}', {mode: 'no-cors'}).finally(() => postMessage(1))\"]))).onmessage = r)`)",
    ),
    (
        "worker-module",
        "return heard(new Worker(blob(`import '${url}'`, 'text/javascript'), {type: 'module'}))",
    ),
    ("worker-redirected", "return heard(new Worker('/go/302/worker-redirected'))"),
    ("shared-worker-fetch", "return shares('shared-worker-fetch')"),
    ("shared-worker-socket", "return shares('shared-worker-socket')"),
    ("shared-worker-import", "return shares('shared-worker-import')"),
    ("service-worker-fetch", "return serves('service-worker-fetch')"),
    ("service-worker-import", "return serves('service-worker-import')"),
    ("service-worker-module", "return serves('service-worker-module', 'module')"),
    ("service-worker-socket", "return serves('service-worker-socket')"),
    ("service-worker-cache", "return serves('service-worker-cache')"),
    (
        "service-worker-redirects",
        "await serves('service-worker-redirects'); framed().src = '/scope/service-worker-redirects/'",
    ),
    (
        "service-worker-answers",
        "await serves('service-worker-answers'); framed().src = '/scope/service-worker-answers/'",
    ),
];

/// The scripts of workers that have an address, which is `/serve/NAME.js`.
pub(super) const SERVED: &[(&str, &str)] = &[
    (
        "shared-worker-fetch",
        "onconnect = (e) => fetch('$URL', {mode: 'no-cors'}).finally(() => e.ports[0].postMessage(1))",
    ),
    (
        "shared-worker-socket",
        "onconnect = (e) => { new WebSocket('ws://$HOST/').onerror = () => e.ports[0].postMessage(1) }",
    ),
    (
        "shared-worker-import",
        "onconnect = (e) => { try { importScripts('$URL') } finally { e.ports[0].postMessage(1) } }",
    ),
    ("service-worker-fetch", "oninstall = (e) => e.waitUntil(fetch('$URL', {mode: 'no-cors'}))"),
    ("service-worker-import", "importScripts('$URL')"),
    ("service-worker-module", "import '$URL'"),
    (
        "service-worker-socket",
        "oninstall = (e) => e.waitUntil(new Promise((r) => new WebSocket('ws://$HOST/').onerror = r))",
    ),
    (
        "service-worker-cache",
        "oninstall = (e) => e.waitUntil(caches.open('way').then((c) => c.add(new Request('$URL', {mode: 'no-cors'}))))",
    ),
    ("service-worker-redirects", "onfetch = (e) => e.respondWith(Response.redirect('$URL'))"),
    ("service-worker-answers", "onfetch = (e) => e.respondWith(fetch('$URL', {mode: 'no-cors'}))"),
];

/// What the scripts have in common.
pub(super) const COMMON: &str = r"
const heard = (it) => new Promise((resolve, reject) => {
    it.onload = it.onopen = it.onmessage = it.oncanplay = it.onshow = resolve;
    it.onerror = it.onclose = () => reject('failed');
    window.kept = [...(window.kept ?? []), it];
});
const request = (url, later) => new Promise((resolve, reject) => {
    const asked = new XMLHttpRequest();
    asked.onload = resolve; asked.onerror = () => reject('failed');
    asked.open('GET', url, later); asked.send();
});
const blob = (text, type) => URL.createObjectURL(new Blob([text], {type}));
const framed = () => document.body.appendChild(document.createElement('iframe'));
const anchor = (href) => document.body.appendChild(Object.assign(document.createElement('a'), {href}));
const form = (action, method, target) => document.body.appendChild(
    Object.assign(document.createElement('form'), {action, method, target}));
const works = (text) => heard(new Worker(blob(
    `(async () => { ${text} })().finally(() => postMessage(1)).catch(() => 0)`, 'text/javascript')));
const shares = (name) => heard(new SharedWorker(`/serve/${name}.js`).port);
const serves = async (name, type = 'classic') => {
    const scope = `/scope/${name}/`;
    const made = await navigator.serviceWorker.register(`/serve/${name}.js`, {scope, type});
    const worker = made.installing ?? made.waiting ?? made.active;
    while (!['activated', 'redundant'].includes(worker.state))
        await new Promise((changed) => worker.addEventListener('statechange', changed, {once: true}));
};
";
