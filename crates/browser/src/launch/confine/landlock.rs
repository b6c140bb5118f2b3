//! The list enforced by Landlock: <https://docs.kernel.org/userspace-api/landlock.html>.
//!
//! Rules are about the files that the paths lead to now, with what is below them. Older kernels
//! enforce as much as they know; the first version suffices to take files away.

use super::view::{Access, Seen, View};
use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope, make_bitflags,
};
use std::io;

/// The newest version whose rights are asked for: with signals and abstract sockets.
const NEWEST: ABI = ABI::V6;
/// What a plain file can be given; the kernel refuses more.
const OF_FILES: BitFlags<AccessFs> =
    make_bitflags!(AccessFs::{Execute | ReadFile | WriteFile | Truncate | IoctlDev});

/// Whether this kernel has Landlock, and it is turned on.
pub(super) fn is_supported() -> bool {
    let asked = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1));
    asked.and_then(Ruleset::create).is_ok()
}

/// Restricts the calling thread, and whatever it starts, to `view`.
pub(super) fn restrict(view: &View) -> io::Result<()> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.scope(scopes(view)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let ruleset = view.seen.iter().try_fold(ruleset, |ruleset, Seen { path, access }| {
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

/// A display is often reached by an abstract socket, which belongs to nobody's files.
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
