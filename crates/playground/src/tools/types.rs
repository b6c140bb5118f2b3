//! The types of the extensions, as they are made from the document of the API.

use super::install::Shelf;
use super::npm::Npm;
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What makes them.
const MAKER: Shelf = Shelf {
    name: "types",
    files: &[
        ("package.json", include_str!("../../../../extensions/types/package.json")),
        ("package-lock.json", include_str!("../../../../extensions/types/package-lock.json")),
        (".npmrc", include_str!("../../../../extensions/types/.npmrc")),
    ],
};
const LIMIT: Duration = Duration::from_mins(1);

/// The types of the API, as each extension has them.
#[derive(Debug, PartialEq)]
pub struct Types {
    /// Those that the Chrome extension names.
    pub chrome: String,
    /// All of them, with the addresses, for VS Code.
    pub vscode: String,
}

/// Makes the types of the extensions from the document of this checkout.
pub async fn extension_types() -> Result<Types> {
    let room = Npm::of_this_node(&MAKER).await?.room()?;
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    for file in ["types/build.mjs", "chrome/schemas.json"] {
        let copy = room.path().join(file);
        fs::create_dir_all(copy.parent().context("expected a folder")?)?;
        fs::copy(checkout.join("extensions").join(file), copy)?;
    }
    for user in ["chrome", "vscode"] {
        fs::create_dir_all(room.path().join(user).join("src"))?;
    }
    let mut make = room.command("node")?;
    make.arg("types/build.mjs").arg(checkout.join("docs/reference/openapi.json"));
    room.run(make, LIMIT).await?;
    let types_of = |user: &str| fs::read_to_string(room.path().join(user).join("src/api.ts"));
    let types = Types { chrome: types_of("chrome")?, vscode: types_of("vscode")? };
    room.clear().await?;
    Ok(types)
}
