//! Tells the program which commit it was built of, for `baton --version`.
//!
//! `BATON_COMMIT` says it (a hash and a day, such as `fd26a40f 2026-11-28`) where the sources have no git, and
//! git does elsewhere. Where neither is there the version stands alone. It is asked again when another commit is
//! checked out, and not otherwise.

#![allow(clippy::print_stdout, reason = "what is printed here, cargo reads")]

use std::path::Path;
use std::process::Command;

/// What says it instead of git.
const VARIABLE: &str = "BATON_COMMIT";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={VARIABLE}");
    let version = env!("CARGO_PKG_VERSION");
    let commit = std::env::var(VARIABLE).ok().or_else(commit);
    let commit = commit.filter(|commit| !commit.trim().is_empty());
    let told = commit.map_or_else(|| version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo:rustc-env=BATON_VERSION={told}");
}

/// The commit that is checked out, and its day.
fn commit() -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let repository = here.parent()?.parent()?;
    // Sources that lie in a repository of somebody else are of no commit of it.
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != repository.canonicalize().ok()? {
        return None;
    }
    // The branch that is checked out, its newest commit, and where git packs those.
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let path = here.join(git(&["rev-parse", "--git-path", name])?);
        // A file that is not there would have cargo ask each time.
        if path.is_file() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    git(&["log", "-1", "--format=%h %cs", "--abbrev=8"])
}

fn git(args: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    let output = git.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
