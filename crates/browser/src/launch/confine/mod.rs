//! Takes the files of the machine away from a browser.
//!
//! Whoever speaks CDP to a browser has the files that the browser has: it uploads them, opens them,
//! downloads over them, and each version brings a new way. So no way is closed; the files are taken
//! away, by rules of the kernel that the browser and all that it starts inherit and cannot leave.
//! [`View`] is the one list of what is left; Landlock and bubblewrap enforce the same one.
//!
//! The rules are set on a thread of their own, which starts the browser and ends: its process inherits
//! them, and the keeper, which has files to look after, does not.

mod bubblewrap;
mod home;
mod landlock;
mod view;

use super::error::LaunchError;
use super::options::{Confine, LaunchOptions};
use baton_session::Confinement;
use home::Home;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
pub use view::{Access, Seen, View};

/// By which rules browsers can be confined on this machine, best first. `path_var` is the caller's
/// `PATH`.
pub fn available(path_var: Option<&str>) -> Vec<Confinement> {
    let landlock = landlock::is_supported().then_some(Confinement::Landlock);
    let bubblewrap = bubblewrap::find(path_var).map(|_| Confinement::Bubblewrap);
    landlock.into_iter().chain(bubblewrap).collect()
}

/// The rules for one browser, ready to be set.
pub(super) enum Confined {
    /// None: it has every file of its user.
    Off,
    /// Landlock, with what it lets through.
    Landlock { home: Home, view: View },
    /// Bubblewrap, with its program.
    Bubblewrap { home: Home, view: View, program: PathBuf },
}

/// A command line.
pub(super) struct Words {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
}

impl Confined {
    /// The rules that the settings and this machine come to, and the files that they need.
    pub(super) fn prepare(options: &LaunchOptions, as_root: bool) -> Result<Self, LaunchError> {
        let bubblewrap = bubblewrap::find(options.inherited.get("PATH").map(String::as_str));
        let wants = |rules| match options.confine {
            Confine::Auto => true,
            Confine::Landlock => rules == Confinement::Landlock,
            Confine::Bubblewrap => rules == Confinement::Bubblewrap,
            Confine::Off => false,
        };
        let files = || -> Result<_, LaunchError> {
            let home = Home::prepare(options)?;
            let view = View::of(options, &home, as_root);
            Ok((home, view))
        };
        if wants(Confinement::Landlock) && landlock::is_supported() {
            let (home, view) = files()?;
            return Ok(Self::Landlock { home, view });
        }
        if let Some(program) = bubblewrap.filter(|_| wants(Confinement::Bubblewrap)) {
            let (home, view) = files()?;
            return Ok(Self::Bubblewrap { home, view, program });
        }
        let lacks = |wanted, found| Err(LaunchError::NotConfined { wanted, found });
        match options.confine {
            Confine::Landlock => lacks(Confinement::Landlock, "a kernel without it"),
            Confine::Bubblewrap => lacks(Confinement::Bubblewrap, "no program bwrap"),
            Confine::Auto => {
                tracing::warn!(
                    "expected Landlock or bubblewrap, found neither: whoever drives this browser has \
                     every file of its user"
                );
                Ok(Self::Off)
            }
            Confine::Off => Ok(Self::Off),
        }
    }

    /// Which rules they are.
    pub(super) fn rules(&self) -> Confinement {
        match self {
            Self::Off => Confinement::Off,
            Self::Landlock { .. } => Confinement::Landlock,
            Self::Bubblewrap { .. } => Confinement::Bubblewrap,
        }
    }

    /// What is to be executed for a program with its arguments.
    pub(super) fn words(&self, program: &Path, arguments: Vec<OsString>) -> Words {
        match self {
            Self::Bubblewrap { view, program: bubblewrap, .. } => Words {
                program: bubblewrap.clone(),
                arguments: bubblewrap::arguments(view, program, arguments),
            },
            _ => Words { program: program.to_owned(), arguments },
        }
    }

    /// The current folder of the browser; none is that of whoever starts it.
    pub(super) fn folder<'a>(&self, options: &'a LaunchOptions) -> Option<&'a Path> {
        (self.rules() != Confinement::Off).then_some(options.files.as_path())
    }

    /// The environment variables of the browser; `passed` are those that it has without rules.
    pub(super) fn variables(&self, passed: BTreeMap<String, String>) -> BTreeMap<String, String> {
        match self {
            Self::Off => passed,
            Self::Landlock { home, .. } | Self::Bubblewrap { home, .. } => home.variables(passed),
        }
    }

    /// Starts `command`, made of [`Self::words`], under the rules. `program` is named in errors.
    pub(super) fn spawn(&self, mut command: Command, program: &Path) -> Result<Child, LaunchError> {
        let runtime = Handle::current();
        let start = move || {
            let _runtime = runtime.enter();
            self.restrict()?;
            command.spawn().map_err(|error| LaunchError::NotRunnable {
                path: program.to_owned(),
                found: error.to_string(),
            })
        };
        let started = thread::scope(|scope| scope.spawn(start).join());
        started.unwrap_or_else(|_| {
            let source = io::Error::other("the thread that starts it panicked");
            Err(LaunchError::File { what: "start", path: program.to_owned(), source })
        })
    }

    /// Takes from the calling thread, for good, what no browser needs.
    fn restrict(&self) -> Result<(), LaunchError> {
        let refused = |source| LaunchError::Rules { rules: self.rules(), source };
        match self {
            Self::Off => return Ok(()),
            Self::Landlock { view, .. } => {
                leave_keyring();
                landlock::restrict(view).map_err(refused)?;
                // Root is more than its files: with its capabilities it reads the kernel's memory.
                baton_confine::capabilities::drop_all().map_err(refused)?;
            }
            // It needs them to make its namespaces, and drops them itself.
            Self::Bubblewrap { .. } => leave_keyring(),
        }
        baton_confine::calls::refuse().map_err(|error| refused(io::Error::other(error)))
    }
}

/// Without it the browser is in the keyring of its user, but the calls to use that are refused as well.
fn leave_keyring() {
    if let Err(error) = baton_confine::keyring::join() {
        tracing::warn!(%error, "the browser stays in its user's keyring");
    }
}
