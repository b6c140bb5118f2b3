//! What can go wrong before a browser speaks.

use baton_session::Confinement;
use std::io;
use std::path::PathBuf;

/// Why no browser was started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No Chromium was found where one usually is.
    #[error(
        "expected Chromium, found none of {tried}\n\
         install it with `apt-get install chromium`, or name a Chrome or Chromium program"
    )]
    NotFound {
        /// The names and paths that were tried, with commas.
        tried: String,
    },
    /// The program that was named cannot be run.
    #[error("expected a Chromium program at {}, found {found}", path.display())]
    NotRunnable {
        /// The path that was named.
        path: PathBuf,
        /// What was there instead.
        found: String,
    },
    /// A living browser uses the profile.
    #[error(
        "expected a free profile at {}, found it in use by process {pid}\n\
         close that browser first",
        profile.display()
    )]
    InUse {
        /// The profile.
        profile: PathBuf,
        /// The process that uses it.
        pid: u32,
    },
    /// The profile was last used on another machine, and no person said that it is dead.
    #[error(
        "expected a free profile at {}, found it locked by process {pid} on host {host:?}",
        profile.display()
    )]
    OtherHost {
        /// The profile.
        profile: PathBuf,
        /// The host named in the lock.
        host: String,
        /// The process named in the lock.
        pid: u32,
    },
    /// A browser that Baton started has the profile, where its processes are not seen from here.
    #[error(
        "expected a free profile at {}, found a browser on it that another container or machine runs\n\
         end that one first",
        profile.display()
    )]
    Claimed {
        /// The profile.
        profile: PathBuf,
    },
    /// The files of the machine cannot be taken away from the browser as the settings want it.
    #[error(
        "expected a browser confined by {wanted}, found {found}\n\
         browser.confinement = \"auto\" takes what there is"
    )]
    NotConfined {
        /// What the settings want.
        wanted: Confinement,
        /// What is there instead.
        found: &'static str,
    },
    /// The kernel did not take the rules that take the files of the machine away.
    #[error("could not confine the browser by {rules}: {source}")]
    Rules {
        /// The rules.
        rules: Confinement,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the profile or of the log could not be read or written.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried, such as `create`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl LaunchError {
    /// A closure for `map_err` that names the file.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
