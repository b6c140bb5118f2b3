//! Which files a client may name to a confined browser.
//!
//! The kernel decides what the browser reads; this says it in words before the browser is asked, for
//! a file that it may not read comes to a page empty, without an error. It is the one thing here that
//! looks at a disk, and it looks only below the folders that the browser sees.

use crate::launch::{Folder, LaunchOptions};
use baton_session::SessionId;
use std::path::{Component, Path, PathBuf};

/// The folders of one browser.
#[derive(Debug, Clone)]
pub(in crate::keeper) struct Files {
    session: SessionId,
    /// The session's own files.
    own: PathBuf,
    folders: Vec<Folder>,
}

impl Files {
    /// Those of the browser that `options` started.
    pub(in crate::keeper) fn of(session: SessionId, options: &LaunchOptions) -> Self {
        Self { session, own: options.files.clone(), folders: options.folders.clone() }
    }

    /// The session's own files.
    pub(super) fn own(&self) -> &Path {
        &self.own
    }

    /// Where a file or folder really is that the browser reads; else what to tell the client.
    pub(super) fn readable(&self, path: &Path) -> Result<PathBuf, String> {
        self.below(path, self.folders.iter()).ok_or_else(|| self.refusal(path))
    }

    /// Where a folder really is to which the browser writes.
    pub(super) fn writable(&self, path: &Path) -> Option<PathBuf> {
        self.below(path, self.folders.iter().filter(|folder| folder.writable))
    }

    /// Where `path` leads, over whatever links, if that is into one of `folders` or the session's own.
    fn below<'a>(&self, path: &Path, folders: impl Iterator<Item = &'a Folder>) -> Option<PathBuf> {
        let folders: Vec<&Path> =
            folders.map(|folder| folder.path.as_path()).chain([self.own.as_path()]).collect();
        let plain =
            path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        // Nothing else is looked at: whether other files exist is nobody's business. The folder of all
        // sessions' files is, because tools have links there that lead to those of one.
        let mut places = folders.iter().copied().chain(self.own.parent());
        if !plain || !places.any(|place| path.starts_with(place)) {
            return None;
        }
        let real = path.canonicalize().ok()?;
        let mut real_folders = folders.iter().filter_map(|folder| folder.canonicalize().ok());
        real_folders.any(|folder| real.starts_with(folder)).then_some(real)
    }

    fn refusal(&self, path: &Path) -> String {
        format!(
            "expected a file that the browser of session {id} may read, found {path}: `baton sessions \
             files put {id} {path}` takes it there and says by which path",
            id = self.session,
            path = path.display(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_is_below_a_folder_is_readable_whatever_its_name_says() {
        let machine = tempfile::tempdir().unwrap();
        let own = machine.path().join("own");
        let shown = machine.path().join("shown");
        for folder in [&own, &shown] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("a"), "a").unwrap();
        }
        fs::write(machine.path().join("secret"), "s").unwrap();
        symlink(machine.path().join("secret"), own.join("link")).unwrap();
        let options = LaunchOptions {
            files: own.clone(),
            folders: vec![Folder { path: shown.clone(), writable: false }],
            ..LaunchOptions::new("/usr/bin/chromium".into(), machine.path().join("profile"))
        };
        let files = Files::of(SessionId::new(jiff::Timestamp::UNIX_EPOCH, [7; 10]), &options);
        for readable in [own.join("a"), shown.join("a"), own.clone(), own.join("./a")] {
            files.readable(&readable).unwrap();
        }
        for not in [own.join("link"), own.join("../secret"), own.join("none"), "a".into()] {
            files.readable(&not).unwrap_err();
        }
        let told = files.readable("/etc/passwd".as_ref()).unwrap_err();
        insta::assert_snapshot!(told, @"expected a file that the browser of session 00000000-0000-7707-8707-070707070707 may read, found /etc/passwd: `baton sessions files put 00000000-0000-7707-8707-070707070707 /etc/passwd` takes it there and says by which path");
        assert_eq!(files.writable(&own), own.canonicalize().ok());
        assert_eq!(files.writable(&shown), None);
        // As a tool's folder for what is there for a moment is.
        symlink(&own, machine.path().join("of-a-tool")).unwrap();
        assert!(files.readable(&machine.path().join("of-a-tool/a")).is_ok());
    }
}
