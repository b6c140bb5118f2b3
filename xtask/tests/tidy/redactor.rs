//! The WebAssembly of the redactor that is kept is of the sources that are here.

#[path = "../../src/redactor/sources.rs"]
mod sources;

use std::fs;
use std::path::Path;

/// How large it may be, in bytes: a browser loads it each time the extension's worker wakes.
const LARGEST: usize = 300_000;

#[test]
fn the_redactor_that_is_kept_is_of_its_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let kept = fs::read_to_string(root.join(sources::KEPT_HASH)).unwrap();
    let root = root.canonicalize().unwrap();
    assert_eq!(
        kept.trim(),
        sources::hash(&root).unwrap(),
        "crates/redaction has changed: run `cargo xtask redactor`, and commit what it made"
    );
    let wasm = fs::read(root.join(sources::KEPT)).unwrap();
    assert!(wasm.starts_with(b"\0asm"), "{} is no WebAssembly", sources::KEPT);
    assert!(wasm.len() <= LARGEST, "expected at most {LARGEST} bytes, found {}", wasm.len());
}
