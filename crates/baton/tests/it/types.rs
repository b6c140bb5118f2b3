//! The types of the extensions are those of the API.

use baton_playground::tools::{Extension, Types, extension_types};
use std::fs::read_to_string;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_extensions_are_written_against_the_document_of_the_api() {
    let extensions = concat!(env!("CARGO_MANIFEST_DIR"), "/../../extensions");
    let file = |path: &str| read_to_string(format!("{extensions}/{path}")).unwrap();
    let found = Types { chrome: file("chrome/src/api.ts"), shared: file("shared/api.ts") };
    let made = extension_types().await.unwrap();
    assert!(found == made, "api.ts is old; `npm run build` in extensions/types writes it anew");
    let extension = Extension::unpack().await.unwrap();
    extension.check().await.unwrap();
    extension.clear().await.unwrap();
}
