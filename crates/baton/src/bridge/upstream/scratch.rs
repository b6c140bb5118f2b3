//! Where the other server puts files for a moment: among those of the session on whose browser it works.
//!
//! A browser sees the files of its session and no others, and a server names the files that it has the
//! browser upload, and the folder for what is downloaded. It is started before there is a session, and
//! may change to another one, so its `TMPDIR` is a link that leads to the right place at each moment.

use baton_session::SessionId;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Among a session's files; hidden, because they are nobody's business but the server's.
const OF_A_SESSION: &str = ".tools";

/// The folder of one server; gone when this is dropped.
pub(super) struct Scratch {
    files: PathBuf,
    own: PathBuf,
    /// Where the link leads.
    leads_to: Mutex<Option<SessionId>>,
}

impl Scratch {
    /// Makes it among the files of all sessions, in `files`.
    pub(super) fn make(files: &Path) -> io::Result<Self> {
        let own = files.join(format!(".with-{}", std::process::id()));
        let scratch = Self { files: files.to_owned(), own, leads_to: Mutex::default() };
        create(&scratch.own.join("none"))?;
        scratch.lead(&scratch.own.join("none"))?;
        Ok(scratch)
    }

    /// The link: what is written there is written among the files of the session.
    pub(super) fn path(&self) -> PathBuf {
        self.own.join("tmp")
    }

    /// Leads to the files of the session that is meant from now on.
    pub(super) fn lead_to(&self, id: SessionId) {
        let mut leads_to = self.leads_to.lock().unwrap_or_else(PoisonError::into_inner);
        if *leads_to == Some(id) {
            return;
        }
        let place = self.files.join(id.to_string()).join(OF_A_SESSION);
        match create(&place).and_then(|()| self.lead(&place)) {
            Ok(()) => *leads_to = Some(id),
            Err(error) => {
                tracing::warn!(%error, "the server's files are not among those of the session");
            }
        }
    }

    fn lead(&self, place: &Path) -> io::Result<()> {
        let next = self.own.join("next");
        match fs::remove_file(&next) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        symlink(place, &next)?;
        fs::rename(&next, self.path())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.own) {
            tracing::debug!(%error, "a folder of the other server stays");
        }
    }
}

fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
