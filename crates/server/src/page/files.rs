//! The files of the page, compiled in, and what a browser is told to keep them to.
//!
//! They are built by `npm run build` in `extensions/web`; a test builds them anew and compares.

use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};

/// A file of the page.
pub(crate) struct PageFile {
    /// What it is.
    pub(crate) kind: &'static str,
    /// What it holds.
    pub(crate) bytes: &'static [u8],
}

/// The file at a path below `/page/`; an empty one is the page itself.
pub(crate) fn file(name: &str) -> Option<PageFile> {
    let (kind, bytes): (_, &[u8]) = match name {
        "" => ("text/html; charset=utf-8", include_bytes!("built/index.html")),
        "page.js" => ("text/javascript; charset=utf-8", include_bytes!("built/page.js")),
        "display.js" => ("text/javascript; charset=utf-8", include_bytes!("built/display.js")),
        "page.css" => ("text/css; charset=utf-8", include_bytes!("built/page.css")),
        "icon.svg" => ("image/svg+xml", include_bytes!("built/icon.svg")),
        _ => return None,
    };
    Some(PageFile { kind, bytes })
}

/// What the page may do: run and show what is its own, ask this node, and show pictures that it fetched.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; \
     connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; \
     require-trusted-types-for 'script'";

/// What goes with each of its files.
pub(crate) fn security() -> [(HeaderName, &'static str); 7] {
    let isolated = HeaderName::from_static("cross-origin-opener-policy");
    let own = HeaderName::from_static("cross-origin-resource-policy");
    [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        (isolated, "same-origin"),
        (own, "same-origin"),
        // Another node may be at this address tomorrow, or another version of this one.
        (CACHE_CONTROL, "no-store"),
    ]
}
