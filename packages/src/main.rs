//! `baton-packages`: the packages in which people get Baton, made of programs that were built.
//!
//! One program goes into all packages of its target, so whoever takes any of them runs the same bytes. Nothing
//! is compiled when a package is installed, and no script of a package runs but Debian's. All times in the
//! packages are that of the commit, so the same programs give the same packages.

#![allow(clippy::print_stdout, reason = "a command line tool prints")]

mod archive;
mod bundle;
mod contents;
mod debian;
mod graph;
mod homebrew;
mod materials;
mod notices;
mod npm;
mod program;
mod registry;
mod sums;
mod target;
mod wheel;

use anyhow::{Context as _, Result};
use archive::Entry;
use clap::Parser;
use contents::Contents;
use program::Program;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The version of everything that is made: the workspace's.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Make the packages of programs that were built, beside what is there already, and the sums of all.
#[derive(Parser)]
struct Args {
    /// A program, and the target that it was built for, such as `x86_64-unknown-linux-gnu=target/dist/baton`
    #[arg(long = "program", value_name = "TARGET=FILE", required = true, value_parser = program::parse)]
    programs: Vec<(&'static target::Target, PathBuf)>,
    /// The extension for Chrome, built
    #[arg(long, value_name = "DIR")]
    chrome: PathBuf,
    /// When the commit was made, in seconds since 1970
    #[arg(long, value_name = "SECONDS")]
    time: u64,
    /// Where the packages go
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let mut programs = Vec::new();
    for (target, path) in &args.programs {
        let program = Program::read(target, path)?;
        println!("{}: {program}", target.triple);
        programs.push(program);
    }
    let contents = Contents::of(&programs)?;
    let (mut made, mut bundles) = (Vec::new(), Vec::new());
    for program in &programs {
        made.push(tarball(program, &contents, &args)?);
        made.extend(debian::package(program, &contents, args.time, &args.to)?);
        made.extend(wheel::package(program, &contents, args.time, &args.to)?);
        bundles.extend(bundle::package(program, &contents, args.time, &args.to)?);
    }
    made.push(homebrew::write(&programs, &args.to)?);
    made.push(registry::write(&bundles, &args.to)?);
    made.extend(bundles.into_iter().map(|bundle| bundle.path));
    made.extend(npm::packages(&programs, &contents, &args.to)?);
    made.push(chrome(&args)?);
    made.push(materials::write(&programs, args.time, &args.to)?);
    made.push(sums::write(&args.to)?);
    for path in made {
        println!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The program with all that belongs to it, in one folder.
fn tarball(program: &Program, contents: &Contents, args: &Args) -> Result<PathBuf> {
    let file = tarball_name(program);
    let name = file.trim_end_matches(".tar.gz");
    let mut entries = vec![Entry::program(format!("{name}/baton"), program.bytes.clone())];
    for (page, text) in &contents.pages {
        entries.push(Entry::text(format!("{name}/man/man1/{page}"), text.clone()));
    }
    for completion in &contents.completions {
        entries.push(Entry::text(
            format!("{name}/completions/{}", completion.file),
            completion.script.clone(),
        ));
    }
    for (file, text) in contents.texts() {
        entries.push(Entry::text(format!("{name}/{file}"), text.clone()));
    }
    write(&args.to, &file, &archive::tar_gz(&entries, args.time)?)
}

/// The archive's file, and with what it begins: the folder in it.
fn tarball_name(program: &Program) -> String {
    format!("baton-{VERSION}-{}.tar.gz", program.target.triple)
}

/// The extension for Chrome, as its store and its developer mode take it.
fn chrome(args: &Args) -> Result<PathBuf> {
    let entries = archive::below(&args.chrome)?;
    write(&args.to, &format!("baton-chrome-{VERSION}.zip"), &archive::zip(&entries, args.time)?)
}

/// Writes a package, whole or not at all.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let place = folder.join(name);
    let whole = || -> Result<()> {
        let mut beside = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut beside, bytes)?;
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(beside.path(), readable)?;
        beside.persist(&place)?;
        Ok(())
    };
    whole().with_context(|| format!("could not write {}", place.display()))?;
    Ok(place)
}

/// The root of the repository.
fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Args::command().debug_assert();
    }
}
