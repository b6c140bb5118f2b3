//! The origin private file system of one origin: `opfs` of a `storageState` file.
//!
//! A list of folders and files, each with its `path` from the root, names with `/` between them, and each
//! folder before what is in it (playwright-core 1.65, `_collectOPFS`).

use super::{Ignored, Lost};
use crate::file::{FileContent, FileEntry};
use crate::json_tree::Json;
use crate::receipt::ItemKind;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::collections::BTreeMap;

const NO_BYTES: &str = "expected the bytes of a file in base64";

/// Folders and files by their paths.
type Tree = BTreeMap<Vec<String>, FileContent>;

/// Reads the files of the origin `name`. Folders that only the path of something tells of are there, too.
pub(super) fn read(list: &[Json], name: &str, ignored: &mut Vec<Ignored>) -> Vec<FileEntry> {
    let mut tree = Tree::new();
    for (position, item) in list.iter().enumerate() {
        let added = entry(item).and_then(|(path, content)| add(&mut tree, path, content));
        if let Err(reason) = added {
            let place = format!("{name} opfs[{position}]");
            ignored.push(Ignored::new(ItemKind::Files, place, reason));
        }
    }
    tree.into_iter().map(|(path, content)| FileEntry { path, content }).collect()
}

/// What one entry says.
fn entry(item: &Json) -> Result<(Vec<String>, FileContent), &'static str> {
    let path = item.get_str("path").unwrap_or_default().split('/').map(str::to_owned).collect();
    match (item.get_str("type"), item.get_str("base64")) {
        (Some("directory"), _) => Ok((path, FileContent::Folder)),
        (Some("file"), Some(bytes)) => Ok((path, FileContent::File { bytes: bytes.to_owned() })),
        (Some("file"), None) => Err(NO_BYTES),
        _ => Err("expected a type of directory or file"),
    }
}

/// Adds one, if there is room where it shall be, and the folders above it.
fn add(tree: &mut Tree, path: Vec<String>, content: FileContent) -> Result<(), &'static str> {
    let is_name = |name: &String| !matches!(&**name, "" | "." | "..") && !name.contains('/');
    if path.is_empty() || !path.iter().all(is_name) {
        return Err("expected a path of names with '/' between them");
    }
    if let FileContent::File { bytes } = &content {
        STANDARD.decode(bytes).map_err(|_| NO_BYTES)?;
    }
    let above = || (1..path.len()).map(|end| &path[..end]);
    if above().any(|folder| matches!(tree.get(folder), Some(FileContent::File { .. }))) {
        return Err("expected a folder above it, found a file");
    }
    match (tree.get(&path), &content) {
        (Some(FileContent::Folder), FileContent::Folder) => return Ok(()),
        (Some(_), _) => return Err("expected nothing else with the same path"),
        (None, _) => {}
    }
    for folder in above() {
        if !tree.contains_key(folder) {
            tree.insert(folder.to_vec(), FileContent::Folder);
        }
    }
    tree.insert(path, content);
    Ok(())
}

/// Writes the files of the origin `name`.
pub(super) fn write(files: &[FileEntry], name: &str, lost: &mut Vec<Lost>) -> Vec<Json> {
    let mut tree = Tree::new();
    for FileEntry { path, content } in files {
        if let Err(reason) = add(&mut tree, path.clone(), content.clone()) {
            let place = format!("{name} files {}", path.join("/"));
            lost.push(Lost::new(ItemKind::Files, place, format!("left out: {reason}")));
        }
    }
    let written = tree.into_iter().map(|(path, content)| {
        let path = Json::text(&path.join("/"));
        match content {
            FileContent::Folder => {
                Json::object([("path", path), ("type", Json::text("directory"))])
            }
            FileContent::File { bytes } => {
                let bytes = Json::text(&bytes);
                Json::object([("path", path), ("type", Json::text("file")), ("base64", bytes)])
            }
        }
    });
    written.collect()
}
