//! The types of the extension are those of the API.

use baton_playground::tools::{Extension, chrome_types};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_extension_is_written_against_the_document_of_the_api() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../extensions/chrome/src/api.ts");
    let found = std::fs::read_to_string(file).unwrap();
    let made = chrome_types().await.unwrap();
    assert!(found == made, "api.ts is old; `npm run build` in extensions/types writes it anew");
    let extension = Extension::unpack().await.unwrap();
    extension.check().await.unwrap();
    extension.clear().await.unwrap();
}
