//! A browser for a machine that has none: Chrome for Testing, by its published index or out of a ZIP file.
//!
//! The one idea: a browser is there, whole and tried, or it is not there. What is loaded and unpacked has names
//! that the finder does not take; a rename makes a browser of it, when all is on disk and its program has said
//! its version. Whatever a command that was killed has left, the next one removes, or goes on with.

mod checksums;
mod download;
mod error;
mod index;
mod libraries;
mod space;
mod unpack;

pub use checksums::{FileHash, NotFileHash};
pub use error::{Bytes, InstallError};
pub use index::{INDEX, NotWanted, WantedVersion, may_ask};
pub use libraries::MissingLibraries;

use crate::launch::{self, BrowserVersion};
use download::Download;
use index::Release;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use unpack::{PROGRAM, STAGE, unpack};
use url::Url;

/// What is being done, for who waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallStep {
    /// The index is asked.
    Asking,
    /// The file comes.
    Downloading {
        /// How many bytes are there.
        done: u64,
        /// Of how many, where that is known.
        total: Option<u64>,
    },
    /// Its checksums are compared.
    Checking,
    /// It is unpacked.
    Unpacking {
        /// How many bytes are written.
        done: u64,
        /// Of how many.
        total: u64,
    },
    /// Its program is asked for its version.
    Trying,
}

/// A browser that is there now.
#[derive(Debug)]
pub struct InstalledBrowser {
    /// What it is.
    pub version: BrowserVersion,
    /// Its program.
    pub program: PathBuf,
    /// Whether it was there before.
    pub was_there: bool,
    /// What it lacks here to start.
    pub missing: Option<MissingLibraries>,
}

/// What is to be installed from elsewhere.
#[derive(Debug, Clone)]
pub struct PublishedBrowser<'b> {
    /// Asks, and goes where [`may_ask`] says and nowhere else.
    pub client: &'b reqwest::Client,
    /// Where the index is: [`INDEX`], or a copy of it.
    pub index: &'b Url,
    /// Which version.
    pub version: &'b WantedVersion,
    /// What the file must be, where somebody said so.
    pub sha256: Option<FileHash>,
}

/// The folder in which browsers are installed, while nobody else installs one.
pub struct Installer {
    folder: PathBuf,
    #[expect(dead_code, reason = "the lock lasts as long as the file is open")]
    lock: File,
}

impl Installer {
    /// Makes the folder where it is missing, and keeps others from installing there. What a command that was
    /// killed has unpacked is removed.
    pub fn open(folder: &Path) -> Result<Self, InstallError> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(folder).map_err(InstallError::file("create", folder))?;
        let path = folder.join(".lock");
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
        let lock = lock.map_err(InstallError::file("open", &path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(InstallError::UnderWay(folder.to_owned())),
            Err(TryLockError::Error(error)) => return Err(InstallError::file("lock", path)(error)),
        }
        let installer = Self { folder: folder.to_owned(), lock };
        installer.sweep(|name| name.starts_with(STAGE))?;
        Ok(installer)
    }

    /// Installs what the index has. What has come of a download that is cut off stays, and the next call goes
    /// on with it.
    pub async fn install(
        &self,
        wanted: PublishedBrowser<'_>,
        progress: &(dyn Fn(InstallStep) + Sync),
    ) -> Result<InstalledBrowser, InstallError> {
        progress(InstallStep::Asking);
        let platform = platform(std::env::consts::OS, std::env::consts::ARCH)?;
        let Release { version, url } =
            index::find(wanted.client, wanted.index, wanted.version, platform).await?;
        if version.is_too_old() {
            return Err(InstallError::TooOld(version));
        }
        if let Some(found) = self.found(version).await {
            return Ok(found);
        }
        let zip = self.folder.join(format!(".chrome-{version}.part"));
        let begins = format!(".chrome-{version}.");
        self.sweep(|name| is_of_download(name) && !name.starts_with(&begins))?;
        let download = Download::new(wanted.client, &url, zip.clone(), progress);
        download.run().await?;
        let made = self.make(&zip, Some(version), wanted.sha256, progress).await;
        // What was damaged must not be gone on with; for want of room, it need not be loaded again.
        if !matches!(made, Err(InstallError::NoSpace { .. } | InstallError::File { .. })) {
            download.discard()?;
        }
        made
    }

    /// Installs a ZIP that is here. Its program says which version it is; where it cannot, `version` does.
    pub async fn install_file(
        &self,
        zip: &Path,
        version: Option<BrowserVersion>,
        sha256: Option<FileHash>,
        progress: &(dyn Fn(InstallStep) + Sync),
    ) -> Result<InstalledBrowser, InstallError> {
        if let Some(version) = version.filter(|version| version.is_too_old()) {
            return Err(InstallError::TooOld(version));
        }
        self.make(zip, version, sha256, progress).await
    }

    /// Makes a browser of a ZIP.
    async fn make(
        &self,
        zip: &Path,
        version: Option<BrowserVersion>,
        sha256: Option<FileHash>,
        progress: &(dyn Fn(InstallStep) + Sync),
    ) -> Result<InstalledBrowser, InstallError> {
        if let Some(expected) = sha256 {
            progress(InstallStep::Checking);
            let mut file = File::open(zip).map_err(InstallError::file("open", zip))?;
            expected.check(&mut file, zip)?;
        }
        let stage = unpack(zip, &self.folder, progress)?;
        progress(InstallStep::Trying);
        let (version, missing) = try_program(&stage.path().join(PROGRAM), version).await?;
        if version.is_too_old() {
            return Err(InstallError::TooOld(version));
        }
        if let Some(found) = self.found(version).await {
            return Ok(found);
        }
        let program = self.put(stage, version)?;
        Ok(InstalledBrowser { version, program, was_there: false, missing })
    }

    /// Puts what was unpacked in its place, where the finder takes it.
    fn put(&self, stage: TempDir, version: BrowserVersion) -> Result<PathBuf, InstallError> {
        let place = self.place(version);
        // What is there has no program that says this version, or it would have been found.
        if place.exists() {
            fs::remove_dir_all(&place).map_err(InstallError::file("remove", &place))?;
        }
        fs::rename(stage.path(), &place).map_err(InstallError::file("create", &place))?;
        // It is not there any more to be removed.
        let _ = stage.keep();
        File::open(&self.folder)
            .and_then(|folder| folder.sync_all())
            .map_err(InstallError::file("write", &self.folder))?;
        Ok(place.join(PROGRAM))
    }

    fn place(&self, version: BrowserVersion) -> PathBuf {
        self.folder.join(format!("chrome-{version}"))
    }

    /// The browser of a version that is there already, and says so or what it lacks; a broken one is none, and is
    /// installed anew.
    async fn found(&self, version: BrowserVersion) -> Option<InstalledBrowser> {
        let program = self.place(version).join(PROGRAM);
        if !launch::is_program(&program) {
            return None;
        }
        let (version, missing) = try_program(&program, Some(version)).await.ok()?;
        Some(InstalledBrowser { version, program, was_there: true, missing })
    }

    /// Removes what is called so.
    fn sweep(&self, is_left: impl Fn(&str) -> bool) -> Result<(), InstallError> {
        let entries =
            fs::read_dir(&self.folder).map_err(InstallError::file("read", &self.folder))?;
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_some_and(&is_left) {
                let path = entry.path();
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                let removed =
                    if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
                removed.map_err(InstallError::file("remove", path))?;
            }
        }
        Ok(())
    }
}

/// Whether a file is a part of a download, or its note.
fn is_of_download(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    name.starts_with(".chrome-") && matches!(ending, Some("part" | "note"))
}

/// What the index calls this machine.
fn platform(os: &'static str, arch: &'static str) -> Result<&'static str, InstallError> {
    match (os, arch) {
        ("linux", "x86_64") => Ok("linux64"),
        _ => Err(InstallError::NoBuild { os, arch }),
    }
}

/// Asks a program for its version, which must be `expected`, and says what it lacks where it cannot answer.
async fn try_program(
    program: &Path,
    expected: Option<BrowserVersion>,
) -> Result<(BrowserVersion, Option<MissingLibraries>), InstallError> {
    match (launch::version(program).await, expected) {
        (Ok(text), expected) => match (BrowserVersion::in_text(&text), expected) {
            (Some(found), None) => Ok((found, None)),
            (Some(found), Some(expected)) if found == expected => Ok((found, None)),
            (_, Some(expected)) => Err(InstallError::OtherVersion { expected, found: text }),
            (None, None) => Err(InstallError::NoProgram(format!("a program that says {text:?}"))),
        },
        (Err(error), expected) => match (MissingLibraries::of(program).await, expected) {
            (Some(missing), Some(version)) => Ok((version, Some(missing))),
            (Some(missing), None) => Err(InstallError::NotStarted(missing)),
            (None, _) => Err(InstallError::NotRunnable(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_without_a_build_is_told_what_to_type_instead() {
        assert_eq!(platform("linux", "x86_64").unwrap(), "linux64");
        insta::assert_snapshot!(platform("linux", "aarch64").unwrap_err(), @r"
        expected Linux on x86-64, found linux on aarch64: Chrome for Testing has no build for it
        on Debian: apt-get install chromium; elsewhere a Chromium of the system, or one in browser.program
        ");
    }
}
