//! Baton's extension for Chrome, in a room with what builds it, and the types of the extensions, as they are
//! made from the document of the API.

use super::packages::Npm;
use super::room::{Room, Shelf};
use anyhow::{Context as _, Result};
use baton_browser::launch;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What builds the extension.
const BUILDER: Shelf = Shelf {
    name: "chrome",
    files: &[
        ("package.json", include_str!("../../../../extensions/chrome/package.json")),
        ("package-lock.json", include_str!("../../../../extensions/chrome/package-lock.json")),
        (".npmrc", include_str!("../../../../extensions/chrome/.npmrc")),
    ],
};
/// What of its folder is brought into the room.
const SOURCES: [&str; 8] = [
    "icons",
    "manifest.json",
    "package.json",
    "redactor",
    "scripts",
    "src",
    "test",
    "tsconfig.json",
];
/// How long a build may take.
const BUILD_LIMIT: Duration = Duration::from_mins(2);

/// The extension's sources, in a room where they can be built.
pub struct Extension(Room);

impl Extension {
    /// Brings the sources of this checkout into a room, with their tools.
    pub async fn unpack() -> Result<Self> {
        let npm = Npm::of_this_node(&BUILDER).await?;
        let path = std::env::var_os("PATH");
        let chromium =
            launch::find_browser(None, &launch::BrowserPlaces::on_path(path.as_deref()))?;
        let room = npm.room()?.with("CHROMIUM", chromium);
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extensions/chrome");
        for name in SOURCES {
            copy(&sources.join(name), &room.path().join(name))
                .with_context(|| format!("expected {name} in {}", sources.display()))?;
        }
        Ok(Self(room))
    }

    /// The room: its folder is the extension's.
    pub fn room(&self) -> &Room {
        &self.0
    }

    /// Builds it; the folder that a browser loads.
    pub async fn build(&self) -> Result<PathBuf> {
        let mut build = self.0.command("node")?;
        build.arg("scripts/build.mjs");
        self.0.run(build, BUILD_LIMIT).await?;
        Ok(self.0.path().join("dist"))
    }

    /// Checks its types.
    pub async fn check(&self) -> Result<()> {
        let mut check = self.0.command("node")?;
        check.args(["node_modules/typescript/bin/tsc", "--noEmit"]);
        self.0.run(check, BUILD_LIMIT).await?;
        Ok(())
    }

    /// Ends every process that still lives in the room, and removes it.
    pub async fn clear(self) -> Result<()> {
        self.0.clear().await
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

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

/// The types of the API, as the extensions have them.
#[derive(Debug, PartialEq)]
pub struct Types {
    /// Those that the Chrome extension names.
    pub chrome: String,
    /// All of them, with the addresses, for the extension for VS Code and the page.
    pub shared: String,
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
    let files = ["chrome/src/api.ts", "shared/api.ts"].map(|file| room.path().join(file));
    for folder in files.iter().filter_map(|file| file.parent()) {
        fs::create_dir_all(folder)?;
    }
    let mut make = room.command("node")?;
    make.arg("types/build.mjs").arg(checkout.join("docs/reference/openapi.json"));
    room.run(make, LIMIT).await?;
    let [chrome, shared] = files.map(fs::read_to_string);
    let types = Types { chrome: chrome?, shared: shared? };
    room.clear().await?;
    Ok(types)
}
