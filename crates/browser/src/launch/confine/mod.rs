//! Takes the files of the machine away from a browser.
//!
//! A client that speaks CDP to a browser has the files that the browser has: it uploads them, opens them,
//! downloads over them, and each version brings a new way. So no way is closed; the files are taken away, by
//! rules of the kernel that the browser and all that it starts inherit and cannot leave. [`View`] is the one
//! list of what is left; Landlock and bubblewrap enforce the same one.
//!
//! The rules are set on a thread of their own, which starts the browser and ends: its process inherits
//! them, and the keeper, which has files to look after, does not.
//!
//! Rules of Landlock (<https://docs.kernel.org/userspace-api/landlock.html>) are about the files that the
//! paths lead to now, with what is below them. Older kernels enforce as much as they know; the first
//! version suffices to take files away. Where a kernel has none, bubblewrap makes a mount namespace in
//! which nothing else is there. In a user namespace of its own the browser may not look into processes
//! outside of it, although `/proc` shows them: that is the caller's `/proc`, because Chromium's lock names
//! a process by its number there.

mod view;

pub use view::{Access, View, VisiblePath};

use super::options::{Confine, LaunchError, LaunchOptions};
use baton_session::Confinement;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath,
    PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope, make_bitflags,
};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{io, thread};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use view::{DEVICES, Home};

/// By which rules browsers can be confined on this machine, best first. `path_var` is the caller's
/// `PATH`.
pub fn available(path_var: Option<&str>) -> Vec<Confinement> {
    let landlock = has_landlock().then_some(Confinement::Landlock);
    let bubblewrap = find_bubblewrap(path_var).map(|_| Confinement::Bubblewrap);
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
        let bubblewrap = find_bubblewrap(options.inherited.get("PATH").map(String::as_str));
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
        if wants(Confinement::Landlock) && has_landlock() {
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
                arguments: bubblewrap_arguments(view, program, arguments),
            },
            _ => Words { program: program.to_owned(), arguments },
        }
    }

    /// The current folder of the browser; none is that of its parent.
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
        let way_out = match self {
            Self::Off => return Ok(()),
            Self::Landlock { view, .. } => {
                leave_keyring();
                restrict_by_landlock(view).map_err(refused)?;
                // Root is more than its files: with its capabilities it reads the kernel's memory.
                baton_confine::capabilities::drop_all().map_err(refused)?;
                view.way_out
            }
            // It needs them to make its namespaces, and drops them itself.
            Self::Bubblewrap { view, .. } => {
                leave_keyring();
                view.way_out
            }
        };
        let refused = |error| refused(io::Error::other(error));
        if way_out.is_some() {
            // An extension that may change the browser's settings turns UDP of WebRTC on again.
            baton_confine::calls::refuse_addressed_sends().map_err(refused)?;
        }
        baton_confine::calls::refuse().map_err(refused)
    }
}

/// Without it the browser is in the keyring of its user, but the calls to use that are refused as well.
fn leave_keyring() {
    if let Err(error) = baton_confine::keyring::join() {
        tracing::warn!(%error, "the browser stays in its user's keyring");
    }
}

/// The program.
const BUBBLEWRAP: &str = "bwrap";

/// Where bubblewrap is, if it is installed.
fn find_bubblewrap(path_var: Option<&str>) -> Option<PathBuf> {
    let folders = path_var.map(std::env::split_paths).into_iter().flatten();
    folders.map(|folder| folder.join(BUBBLEWRAP)).find(|path| path.is_file())
}

/// What bubblewrap is to be executed with, so that `program` sees what `view` says. The environment, the
/// descriptors and the group of the process stay as they are.
fn bubblewrap_arguments(view: &View, program: &Path, of_program: Vec<OsString>) -> Vec<OsString> {
    let own = ["--unshare-user", "--cap-drop", "ALL", "--dev", "/dev"];
    let mut arguments: Vec<OsString> = own.map(OsString::from).into();
    for VisiblePath { path, access } in &view.seen {
        match access {
            Access::Run | Access::Read | Access::Processes { writable: false } => {
                match link(path) {
                    Some(target) => arguments.extend(["--symlink".into(), target, path.into()]),
                    None => bind(&mut arguments, "--ro-bind-try", path),
                }
            }
            Access::Write => bind(&mut arguments, "--bind", path),
            Access::Processes { writable: true } => bind(&mut arguments, "--dev-bind", path),
            // What `--dev` makes by itself, beside shared memory of its own.
            Access::Device if DEVICES.iter().any(|usual| path.as_path() == Path::new(usual)) => {}
            Access::Device => bind(&mut arguments, "--dev-bind-try", path),
            Access::Shared => {}
        }
    }
    arguments.extend(["--".into(), program.into()]);
    arguments.extend(of_program);
    arguments
}

fn bind(arguments: &mut Vec<OsString>, how: &str, path: &Path) {
    arguments.extend([how.into(), path.into(), path.into()]);
}

/// What `/lib` and its like lead to where they are links into `/usr`.
fn link(path: &Path) -> Option<OsString> {
    let target = path.read_link().ok()?;
    let into_usr = target.starts_with("usr") || target.starts_with("/usr");
    (path.parent() == Some(Path::new("/")) && into_usr).then(|| target.into_os_string())
}

/// The newest version whose rights are asked for: with signals and abstract sockets.
const NEWEST: ABI = ABI::V6;
/// What a plain file can be given; the kernel refuses more.
const OF_FILES: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate | IoctlDev});

/// Whether this kernel has Landlock, and it is turned on.
fn has_landlock() -> bool {
    let asked = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1));
    asked.and_then(Ruleset::create).is_ok()
}

/// Restricts the calling thread, and whatever it starts, to `view`.
fn restrict_by_landlock(view: &View) -> io::Result<()> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.scope(scopes(view)))
        .and_then(|ruleset| match view.way_out {
            Some(_) => ruleset.handle_access(AccessNet::ConnectTcp),
            None => Ok(ruleset),
        })
        .and_then(Ruleset::create)
        .and_then(|ruleset| match view.way_out {
            Some(port) => ruleset.add_rule(NetPort::new(port, AccessNet::ConnectTcp)),
            None => Ok(ruleset),
        })
        .map_err(io::Error::other)?;
    let ruleset = view.seen.iter().try_fold(ruleset, |ruleset, VisiblePath { path, access }| {
        // One that has gone since the list was made is not there for the browser either.
        let Ok(opened) = PathFd::new(path) else { return Ok(ruleset) };
        let rights = rights(*access);
        let rights = if path.is_dir() { rights } else { rights & OF_FILES };
        ruleset.add_rule(PathBeneath::new(opened, rights)).map_err(io::Error::other)
    })?;
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    tracing::debug!(?status, "the browser's rules");
    match status.ruleset {
        landlock::RulesetStatus::NotEnforced => Err(io::ErrorKind::Unsupported.into()),
        _ => Ok(()),
    }
}

/// A display is often reached by an abstract socket, which is no file.
fn scopes(view: &View) -> BitFlags<Scope> {
    if view.headed { Scope::Signal.into() } else { Scope::Signal | Scope::AbstractUnixSocket }
}

fn rights(access: Access) -> BitFlags<AccessFs> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    match access {
        Access::Run => read | AccessFs::Execute,
        Access::Read | Access::Processes { writable: false } => read,
        Access::Processes { writable: true } => read | AccessFs::WriteFile,
        Access::Device => read | AccessFs::WriteFile | AccessFs::IoctlDev,
        Access::Shared => make_bitflags!(AccessFs::{
            ReadFile | WriteFile | Truncate | MakeReg | RemoveFile
        }),
        Access::Write => {
            let never =
                AccessFs::Execute | AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
            AccessFs::from_all(NEWEST) & !never
        }
    }
}
