//! The files of the page, compiled in, and what a browser is told to keep them to.
//!
//! They are built by `npm run build` in `extensions/web`; a test builds them anew and compares.

use axum::body::Bytes;
use axum::http::HeaderName;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write as _};
use std::sync::OnceLock;

/// A file of the page.
pub(crate) struct PageFile {
    /// Its path below `/page/`; an empty one is the page itself.
    name: &'static str,
    /// What it is.
    pub(crate) kind: &'static str,
    /// What it holds.
    pub(crate) bytes: &'static [u8],
    /// The same as gzip, once it was asked for; none where that failed.
    packed: OnceLock<Option<Bytes>>,
}

static FILES: [PageFile; 5] = [
    PageFile::new("", "text/html; charset=utf-8", include_bytes!("built/index.html")),
    PageFile::new("page.js", "text/javascript; charset=utf-8", include_bytes!("built/page.js")),
    PageFile::new(
        "display.js",
        "text/javascript; charset=utf-8",
        include_bytes!("built/display.js"),
    ),
    PageFile::new("page.css", "text/css; charset=utf-8", include_bytes!("built/page.css")),
    PageFile::new("icon.svg", "image/svg+xml", include_bytes!("built/icon.svg")),
];

/// The file at a path below `/page/`; an empty one is the page itself.
pub(crate) fn file(name: &str) -> Option<&'static PageFile> {
    FILES.iter().find(|file| file.name == name)
}

impl PageFile {
    const fn new(name: &'static str, kind: &'static str, bytes: &'static [u8]) -> Self {
        Self { name, kind, bytes, packed: OnceLock::new() }
    }

    /// What it holds, as gzip: packed when the first browser asks for it, and kept, for it never changes. A packer
    /// for each answer would take a megabyte each time, and more time than the rest of the answer.
    pub(crate) fn packed(&self) -> Option<Bytes> {
        self.packed.get_or_init(|| gzip(self.bytes).ok().map(Bytes::from)).clone()
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes)?;
    packer.finish()
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

#[cfg(test)]
mod tests {
    use super::FILES;
    use flate2::read::GzDecoder;
    use std::io::Read as _;

    #[test]
    fn what_is_packed_is_the_file_and_smaller() {
        for file in FILES.iter().filter(|file| file.bytes.len() > 1000) {
            let packed = file.packed().unwrap();
            let mut unpacked = Vec::new();
            GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked == file.bytes, "{}", file.name);
            assert!(packed.len() < file.bytes.len() / 2, "{}", file.name);
        }
    }
}
