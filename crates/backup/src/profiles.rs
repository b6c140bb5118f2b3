//! The profiles that go into a backup: those that no browser is writing to.

use super::SESSIONS;
use super::archive::Archive;
use super::error::BackupError;
use super::manifest::LeftOut;
use baton_browser::launch::lock;
use baton_session::SessionId;
use baton_store::data::DataFolder;
use std::fs;
use std::path::Path;

/// Folders of a profile that Chromium makes again by itself.
const CACHES: [&str; 10] = [
    "Cache",
    "Code Cache",
    "Crashpad",
    "DawnGraphiteCache",
    "DawnWebGPUCache",
    "GPUCache",
    "GraphiteDawnCache",
    "GrShaderCache",
    "ShaderCache",
    "component_crx_cache",
];

/// The log of keeper and browser is no part of a session.
const LOG: &str = "keeper.log";

/// Adds the profile of every session, and says which are in, and which are not and why.
pub(super) fn add(
    archive: &mut Archive,
    data: &DataFolder,
) -> Result<(Vec<SessionId>, Vec<LeftOut>), BackupError> {
    let (mut profiles, mut left_out) = (Vec::new(), Vec::new());
    for session in data.session_folders() {
        let kept = match in_use(data, session) {
            None => {
                let name = format!("{SESSIONS}/{session}");
                add_folder(archive, &data.session(session), &name)?;
                // A browser that came meanwhile may have left us half of each.
                in_use(data, session)
            }
            used => used,
        };
        match kept {
            None => profiles.push(session),
            Some(why) => left_out.push(LeftOut { session, why }),
        }
    }
    Ok((profiles, left_out))
}

fn in_use(data: &DataFolder, session: SessionId) -> Option<String> {
    match lock::holder(&data.profile(session)) {
        Ok(None) => None,
        Ok(Some(_)) => Some("its browser runs".to_owned()),
        Err(error) => Some(error.to_string()),
    }
}

/// Links and sockets belong to a running browser, not to its state.
fn add_folder(archive: &mut Archive, folder: &Path, name: &str) -> Result<(), BackupError> {
    let failed = |source| BackupError::File { path: folder.to_owned(), source };
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, file) = (entry.file_type().map_err(failed)?, entry.file_name());
        let Some(file) = file.to_str() else {
            return Err(failed(std::io::Error::other("expected names of files in UTF-8")));
        };
        let inside = format!("{name}/{file}");
        if kind.is_dir() && !CACHES.contains(&file) {
            add_folder(archive, &entry.path(), &inside)?;
        } else if kind.is_file() && file != LOG {
            archive.add_file(&entry.path(), &inside)?;
        }
    }
    Ok(())
}
