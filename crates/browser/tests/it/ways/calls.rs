//! What a client of the browser asks for over CDP, and the node, which is refused nothing.

/// Calls on a tab of its own, one behind the other; those whose domain is `Target` or `Browser` are the browser's.
/// `$FRAME` is the tab.
pub(super) const OF_CLIENTS: &[(&str, &[&str])] = &[
    ("call-navigate", &[r#"["Page.navigate", {"url": "$URL"}]"#]),
    ("call-navigate-tls", &[r#"["Page.navigate", {"url": "$TLS"}]"#]),
    ("call-navigate-address", &[r#"["Page.navigate", {"url": "http://$ADDRESS/"}]"#]),
    ("call-navigate-port", &[r#"["Page.navigate", {"url": "http://$HOST:8080/"}]"#]),
    ("call-navigate-source", &[r#"["Page.navigate", {"url": "view-source:$URL"}]"#]),
    ("call-navigate-data", &[r#"["Page.navigate", {"url": "data:text/html,<img src='$URL'>"}]"#]),
    ("call-create-target", &[r#"["Target.createTarget", {"url": "$URL"}]"#]),
    ("call-create-window", &[r#"["Target.createTarget", {"url": "$URL", "newWindow": true}]"#]),
    (
        "call-create-background",
        &[r#"["Target.createTarget", {"url": "$URL", "background": true}]"#],
    ),
    (
        "call-load-resource",
        &[
            r#"["Network.loadNetworkResource", {"frameId": "$FRAME", "url": "$URL", "options": {"disableCache": true, "includeCredentials": true}}]"#,
        ],
    ),
    (
        "call-load-resource-tls",
        &[
            r#"["Network.loadNetworkResource", {"frameId": "$FRAME", "url": "$TLS", "options": {"disableCache": true, "includeCredentials": true}}]"#,
        ],
    ),
    (
        "call-set-document",
        &[r#"["Page.setDocumentContent", {"frameId": "$FRAME", "html": "<img src='$URL'>"}]"#],
    ),
    (
        "call-outer-html",
        &[
            r#"["DOM.getDocument", {}]"#,
            r#"["DOM.setOuterHTML", {"nodeId": 1, "outerHTML": "<img src='$URL'>"}]"#,
        ],
    ),
    (
        "call-evaluate",
        &[r#"["Runtime.evaluate", {"expression": "fetch('$URL', {mode: 'no-cors'})"}]"#],
    ),
    (
        "call-evaluate-uncsp",
        &[
            r#"["Page.setBypassCSP", {"enabled": true}]"#,
            r#"["Runtime.evaluate", {"expression": "new Image().src = '$URL'"}]"#,
        ],
    ),
    (
        "call-new-document",
        &[
            r#"["Page.enable", {}]"#,
            r#"["Page.addScriptToEvaluateOnNewDocument", {"source": "fetch('$URL', {mode: 'no-cors'})"}]"#,
            r#"["Page.reload", {}]"#,
        ],
    ),
    (
        "call-reload",
        &[
            r#"["Page.enable", {}]"#,
            r#"["Page.reload", {"scriptToEvaluateOnLoad": "fetch('$URL', {mode: 'no-cors'})"}]"#,
        ],
    ),
    (
        "call-manifest",
        &[
            r#"["Runtime.evaluate", {"expression": "document.documentElement.append(Object.assign(document.createElement('link'), {rel: 'manifest', href: '$URL'}))"}]"#,
            r#"["Page.getAppManifest", {}]"#,
        ],
    ),
    (
        "call-print",
        &[
            r#"["Page.printToPDF", {"displayHeaderFooter": true, "headerTemplate": "<img src='$URL'>"}]"#,
        ],
    ),
    (
        "call-download",
        &[
            r#"["Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": "/tmp"}]"#,
            r#"["Page.navigate", {"url": "http://$LISTED/download/$NAME"}]"#,
        ],
    ),
    (
        "call-compile",
        &[
            r#"["Runtime.evaluate", {"expression": "0", "includeCommandLineAPI": true}]"#,
            r#"["Runtime.callFunctionOn", {"functionDeclaration": "function() { navigator.sendBeacon('$URL', 'way') }", "executionContextId": 1}]"#,
        ],
    ),
    (
        "call-history",
        &[
            r#"["Runtime.evaluate", {"expression": "location = '$URL'"}]"#,
            r#"["Page.navigateToHistoryEntry", {"entryId": 1}]"#,
        ],
    ),
    (
        "call-remote-targets",
        &[r#"["Target.setRemoteLocations", {"locations": [{"host": "$ADDRESS", "port": 8080}]}]"#],
    ),
    (
        "call-install",
        &[r#"["PWA.install", {"manifestId": "$TLS", "installUrlOrBundleUrl": "$TLS"}]"#],
    ),
];

/// What the node asks for: no client may.
pub(super) const OF_NODES: &[(&str, &[&str])] = &[
    (
        "node-remote-targets",
        &[r#"["Target.setRemoteLocations", {"locations": [{"host": "$ADDRESS", "port": 8080}]}]"#],
    ),
    (
        "node-remote-targets-name",
        &[r#"["Target.setRemoteLocations", {"locations": [{"host": "$HOST", "port": 8080}]}]"#],
    ),
    (
        "node-install",
        &[r#"["PWA.install", {"manifestId": "$TLS", "installUrlOrBundleUrl": "$TLS"}]"#],
    ),
    ("node-source", &[r#"["Page.navigate", {"url": "view-source:$URL"}]"#]),
    ("node-file", &[r#"["Page.navigate", {"url": "file://$SHOWN/$NAME.html"}]"#]),
    ("node-inspect", &[r#"["Page.navigate", {"url": "chrome://inspect/"}]"#]),
    (
        "node-own-page",
        &[
            r#"["Page.navigate", {"url": "chrome://version/"}]"#,
            r#"["Runtime.evaluate", {"expression": "open('$URL')"}]"#,
        ],
    ),
    (
        "node-favicon",
        &[
            r#"["Page.navigate", {"url": "chrome://version/"}]"#,
            r#"["Runtime.evaluate", {"expression": "new Image().src = 'chrome://favicon2/?allowGoogleServerFallback=1&pageUrl=$URL'"}]"#,
        ],
    ),
    (
        "node-image",
        &[
            r#"["Page.navigate", {"url": "chrome://settings/"}]"#,
            r#"["Runtime.evaluate", {"expression": "new Image().src = 'chrome://image/?$URL'"}]"#,
        ],
    ),
];

/// A browser context: the way, the proxy that it wants, the hosts that pass by it, and where its tab goes.
pub(super) const CONTEXTS: &[(&str, Option<&str>, &str, &str)] = &[
    ("context", None, "", "$URL"),
    ("context-direct", Some("direct://"), "", "$URL"),
    ("context-direct-tls", Some("direct://"), "", "$TLS"),
    ("context-direct-address", Some("direct://"), "", "http://$ADDRESS/"),
    ("context-direct-loopback", Some("direct://"), "", "http://127.0.0.1:$PORT/"),
    ("context-direct-localhost", Some("direct://"), "", "http://localhost:$PORT/"),
    ("context-proxy", Some("http://$ADDRESS:8080"), "", "http://$LISTED/"),
    ("context-proxy-name", Some("http://$HOST:8080"), "", "http://$LISTED/"),
    ("context-proxy-tls", Some("https://$ADDRESS:443"), "", "http://$LISTED/"),
    ("context-proxy-loopback", Some("http://127.0.0.1:$PORT"), "", "http://$LISTED/"),
    ("context-proxy-socks4", Some("socks4://$ADDRESS:1080"), "", "http://$LISTED/"),
    ("context-proxy-socks5", Some("socks5://$ADDRESS:1080"), "", "http://$LISTED/"),
    ("context-proxy-fails", Some("http://127.0.0.1:1,direct://"), "", "$URL"),
    ("context-proxy-of-others", Some("https=127.0.0.1:1"), "", "$URL"),
    ("context-bypass", Some("http://127.0.0.1:1"), "*", "$URL"),
    ("context-bypass-address", Some("http://127.0.0.1:1"), "*", "http://$ADDRESS/"),
];

/// What a blank tab of a context without a proxy evaluates, as the scripts of a page are written.
pub(super) const OF_DIRECT_CONTEXTS: &[(&str, &str)] = &[
    ("direct-fetch", "return fetch(url, {mode: 'no-cors'})"),
    ("direct-fetch-address", "return fetch(`http://${address}/`, {mode: 'no-cors'})"),
    ("direct-socket", "return heard(new WebSocket(`ws://${host}/`))"),
    ("direct-socket-address", "return heard(new WebSocket(`ws://${address}/`))"),
    (
        "direct-preconnect",
        "document.head.append(Object.assign(document.createElement('link'), {rel: 'preconnect', href: url}))",
    ),
    (
        "direct-dns-prefetch",
        "document.head.append(Object.assign(document.createElement('link'), {rel: 'dns-prefetch', href: url}))",
    ),
    ("direct-stun", "return gathers({urls: `stun:${host}`})"),
    ("direct-stun-address", "return gathers({urls: `stun:${address}`})"),
    ("direct-turn-tcp", "return gathers(turn(`turn:${address}?transport=tcp`))"),
    ("direct-candidate-udp", "return checks(`udp 2122260223 ${address} 3478 typ host`)"),
    (
        "direct-candidate-tcp",
        "return checks(`tcp 1518280447 ${address} 443 typ host tcptype passive`)",
    ),
];

/// What a client does with the requests of a page that it holds.
pub(super) const HELD: &[(&str, &str)] = &[
    ("held-continued", r#"["Fetch.continueRequest", {"requestId": "$REQUEST", "url": "$URL"}]"#),
    (
        "held-continued-tls",
        r#"["Fetch.continueRequest", {"requestId": "$REQUEST", "url": "$TLS"}]"#,
    ),
    (
        "held-redirected",
        r#"["Fetch.fulfillRequest", {"requestId": "$REQUEST", "responseCode": 302, "responseHeaders": [{"name": "Location", "value": "$URL"}]}]"#,
    ),
    (
        "held-answered",
        r#"["Fetch.fulfillRequest", {"requestId": "$REQUEST", "responseCode": 200, "responseHeaders": [{"name": "Content-Type", "value": "text/html"}, {"name": "Refresh", "value": "0; url=$URL"}]}]"#,
    ),
];

/// What one client does with a tab that another one made.
pub(super) const SECOND_CLIENT: &str = "call-of-another";

/// The names of all ways of this file.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let calls = OF_CLIENTS.iter().chain(OF_NODES).map(|(name, _)| *name);
    let contexts = CONTEXTS.iter().map(|(name, ..)| *name);
    let others = OF_DIRECT_CONTEXTS.iter().chain(HELD).map(|(name, _)| *name);
    calls.chain(contexts).chain(others).chain([SECOND_CLIENT])
}
