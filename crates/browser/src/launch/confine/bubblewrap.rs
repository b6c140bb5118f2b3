//! The list enforced by bubblewrap, where the kernel has no Landlock: a mount namespace in which
//! nothing else is there.
//!
//! In a user namespace of its own the browser may not look into processes outside of it, although
//! `/proc` shows them: that is the caller's `/proc`, because Chromium's lock names a process by its
//! number there.

use super::view::{Access, DEVICES, Seen, View};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The program.
const NAME: &str = "bwrap";

/// Where bubblewrap is, if it is installed.
pub(super) fn find(path_var: Option<&str>) -> Option<PathBuf> {
    let folders = path_var.map(std::env::split_paths).into_iter().flatten();
    folders.map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

/// What bubblewrap is to be executed with, so that `program` sees what `view` says. The environment, the
/// descriptors and the group of the process stay as they are.
pub(super) fn arguments(view: &View, program: &Path, of_program: Vec<OsString>) -> Vec<OsString> {
    let own = ["--unshare-user", "--cap-drop", "ALL", "--dev", "/dev"];
    let mut arguments: Vec<OsString> = own.map(OsString::from).into();
    for Seen { path, access } in &view.seen {
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
