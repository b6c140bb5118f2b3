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

    /// Whether the browser reads this file or folder; else what to tell the client.
    pub(super) fn expect_readable(&self, path: &Path) -> Result<(), String> {
        let all = self.folders.iter().map(|folder| folder.path.as_path());
        if is_below(path, all.chain([self.own.as_path()])) {
            return Ok(());
        }
        Err(format!(
            "expected a file that the browser of session {id} may read, found {path}: `baton sessions \
             files put {id} {path}` takes it there and says by which path",
            id = self.session,
            path = path.display(),
        ))
    }

    /// Whether the browser writes to this folder.
    pub(super) fn is_writable(&self, path: &Path) -> bool {
        let all = self.folders.iter().filter(|folder| folder.writable);
        is_below(path, all.map(|folder| folder.path.as_path()).chain([self.own.as_path()]))
    }
}

/// Whether `path` exists and leads, over whatever links, into one of `folders`.
fn is_below<'a>(path: &Path, folders: impl Iterator<Item = &'a Path>) -> bool {
    let plain = path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
    // Nothing else is looked at: whether other files exist is nobody's business.
    let mut folders = folders.filter(|folder| plain && path.starts_with(folder));
    folders.any(|folder| match (path.canonicalize(), folder.canonicalize()) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    })
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
            files.expect_readable(&readable).unwrap();
        }
        for not in [own.join("link"), own.join("../secret"), own.join("none"), "a".into()] {
            files.expect_readable(&not).unwrap_err();
        }
        let told = files.expect_readable("/etc/passwd".as_ref()).unwrap_err();
        insta::assert_snapshot!(told, @"expected a file that the browser of session 00000000-0000-7707-8707-070707070707 may read, found /etc/passwd: `baton sessions files put 00000000-0000-7707-8707-070707070707 /etc/passwd` takes it there and says by which path");
        assert!(files.is_writable(&own));
        assert!(!files.is_writable(&shown));
    }
}
