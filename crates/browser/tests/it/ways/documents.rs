//! Pages of the listed host that lead elsewhere by themselves, each in a tab of its own: redirects, links, forms,
//! windows, headers.

/// A page: the way that it is, its status with further headers, and its body. It stands at `/document/NAME`.
pub(super) const DOCUMENTS: &[(&str, &str, &str)] = &[
    ("redirect-301", "301 Moved Permanently\r\nLocation: $URL", ""),
    ("redirect-302", "302 Found\r\nLocation: $URL", ""),
    ("redirect-303", "303 See Other\r\nLocation: $URL", ""),
    ("redirect-307", "307 Temporary Redirect\r\nLocation: $URL", ""),
    ("redirect-308", "308 Permanent Redirect\r\nLocation: $URL", ""),
    ("redirect-tls", "302 Found\r\nLocation: $TLS", ""),
    ("redirect-schemeless", "302 Found\r\nLocation: //$HOST/", ""),
    ("redirect-download", "302 Found\r\nLocation: $URL\r\nContent-Disposition: attachment", ""),
    ("header-refresh", "200 OK\r\nRefresh: 0; url=$URL", ""),
    ("header-preload", "200 OK\r\nLink: <$URL>; rel=preload; as=image", ""),
    ("header-preconnect", "200 OK\r\nLink: <$URL>; rel=preconnect", ""),
    ("header-prefetch", "200 OK\r\nLink: <$URL>; rel=prefetch", ""),
    ("header-dns-prefetch", "200 OK\r\nLink: <$URL>; rel=dns-prefetch", ""),
    ("header-module-preload", "200 OK\r\nLink: <$URL>; rel=modulepreload", ""),
    ("header-stylesheet", "200 OK\r\nLink: <$URL>; rel=stylesheet", ""),
    ("header-speculation", "200 OK\r\nSpeculation-Rules: \"$URL\"", "a"),
    (
        "csp-report",
        "200 OK\r\nContent-Security-Policy: img-src 'none'; report-uri $URL",
        r#"<img src="/a">"#,
    ),
    (
        "csp-report-only",
        "200 OK\r\nContent-Security-Policy-Report-Only: img-src 'none'; report-uri $URL",
        r#"<img src="/a">"#,
    ),
    (
        "report-to",
        "200 OK\r\nReporting-Endpoints: way=\"$TLS\"\r\nContent-Security-Policy: img-src 'none'; report-to way",
        r#"<img src="/a">"#,
    ),
    ("meta-refresh", "", r#"<meta http-equiv="refresh" content="0; url=$URL">"#),
    ("location", "", "<script>location = '$URL'</script>"),
    ("location-assign", "", "<script>location.assign('$URL')</script>"),
    ("location-replace", "", "<script>location.replace('$URL')</script>"),
    ("location-tls", "", "<script>location = '$TLS'</script>"),
    ("location-of-top", "", r#"<iframe srcdoc="<script>top.location = '$URL'</script>"></iframe>"#),
    ("navigation-api", "", "<script>navigation.navigate('$URL')</script>"),
    ("window-open", "", "<script>open('$URL')</script>"),
    ("window-open-noopener", "", "<script>open('$URL', '_blank', 'noopener')</script>"),
    ("window-popup", "", "<script>open('$URL', '_blank', 'popup,width=200,height=200')</script>"),
    ("window-later", "", "<script>const w = open('about:blank'); w.location = '$URL'</script>"),
    (
        "window-written",
        "",
        "<script>const w = open(''); w.document.write(`<img src='$URL'>`)</script>",
    ),
    (
        "window-opener",
        "",
        "<script>const w = open('about:blank'); w.eval(`opener.location = '$URL'`)</script>",
    ),
    ("link", "", "<a id=a href='$URL'>a</a><script>a.click()</script>"),
    ("link-blank", "", "<a id=a target=_blank href='$URL'>a</a><script>a.click()</script>"),
    ("link-download", "", "<a id=a download href='$URL'>a</a><script>a.click()</script>"),
    (
        "link-javascript",
        "",
        "<a id=a href='javascript:void(location = `$URL`)'>a</a><script>a.click()</script>",
    ),
    (
        "link-svg",
        "",
        "<svg><a id=a href='$URL'><text>a</text></a></svg><script>a.dispatchEvent(new MouseEvent('click'))</script>",
    ),
    (
        "link-area",
        "",
        "<map name=m><area id=a href='$URL'></map><img usemap='#m'><script>a.click()</script>",
    ),
    ("form-get", "", "<form id=f action='$URL'></form><script>f.submit()</script>"),
    (
        "form-post",
        "",
        "<form id=f method=post action='$URL'><input name=way value=1></form><script>f.submit()</script>",
    ),
    (
        "form-upload",
        "",
        "<form id=f method=post enctype='multipart/form-data' action='$URL'></form><script>f.submit()</script>",
    ),
    ("form-blank", "", "<form id=f target=_blank action='$URL'></form><script>f.submit()</script>"),
    (
        "form-action",
        "",
        "<form><button id=b formaction='$URL'></button></form><script>b.click()</script>",
    ),
    (
        "form-redirected",
        "",
        "<form id=f method=post action='/go/307/form-redirected'></form><script>f.submit()</script>",
    ),
    ("frameset", "", "<frameset><frame src='$URL'></frameset>"),
    ("favicon", "", "<link rel=icon href='$URL'>a"),
    ("touch-icon", "", "<link rel=apple-touch-icon href='$URL'>a"),
    ("manifest", "", "<link rel=manifest href='$URL'>a"),
    (
        "speculation-prefetch",
        "",
        r#"<script type=speculationrules>{"prefetch": [{"urls": ["$URL"], "eagerness": "immediate"}]}</script>"#,
    ),
    (
        "speculation-prerender",
        "",
        r#"<script type=speculationrules>{"prerender": [{"urls": ["/go/302/speculation-prerender"], "eagerness": "immediate"}]}</script>"#,
    ),
    (
        "beacon-at-the-end",
        "",
        "<script>onpagehide = () => navigator.sendBeacon('$URL', 'way'); location = '/a'</script>",
    ),
    (
        "fetch-at-the-end",
        "",
        "<script>onpagehide = () => fetch('$URL', {mode: 'no-cors', keepalive: true}); location = '/a'</script>",
    ),
    (
        "custom-element",
        "",
        "<script>customElements.define('a-b', class extends HTMLElement { connectedCallback() { this.attachShadow({mode: 'open'}).innerHTML = `<img src='$URL'>` } })</script><a-b></a-b>",
    ),
];

/// Pages that others have in frames, as the pages are.
pub(super) const FRAMED: &[(&str, &str, &str)] = &[
    (
        "svg-in-object",
        "200 OK\r\nContent-Type: image/svg+xml",
        r#"<svg xmlns="http://www.w3.org/2000/svg"><image width="9" height="9" href="$URL"/></svg>"#,
    ),
    (
        "iframe-refused-by-csp",
        "200 OK\r\nContent-Security-Policy: default-src 'none'; report-uri $URL",
        r#"<img src="/a">"#,
    ),
    (
        "iframe-xml",
        "200 OK\r\nContent-Type: text/xml",
        "<?xml version='1.0'?><?xml-stylesheet href='$URL'?><a/>",
    ),
];
