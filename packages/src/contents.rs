//! What every package has beside the program: its manual, completions, licences and a first page.
//!
//! Manual and completions are written by the program itself, so they are those of the program that is packaged.

use crate::notices;
use crate::program::Program;
use crate::root;
use anyhow::{Context as _, Result, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// What goes with a program.
pub(crate) struct Contents {
    /// Pages of section 1 by file name.
    pub(crate) pages: BTreeMap<String, Vec<u8>>,
    /// A script a shell.
    pub(crate) completions: Vec<Completion>,
    /// Ours, and those of all that the program is built of, by file name.
    pub(crate) licences: BTreeMap<String, Vec<u8>>,
    /// The first page: its file name, and its text.
    pub(crate) readme: (String, Vec<u8>),
}

/// The completions of a shell.
pub(crate) struct Completion {
    /// What the shell wants the file to be called.
    pub(crate) file: &'static str,
    /// Where Debian wants it.
    pub(crate) debian: &'static str,
    /// The script.
    pub(crate) script: Vec<u8>,
}

/// The shells: what `baton completions` calls each, its file, and Debian's folder.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "baton.bash", "usr/share/bash-completion/completions/baton"),
    ("fish", "baton.fish", "usr/share/fish/vendor_completions.d/baton.fish"),
    ("zsh", "_baton", "usr/share/zsh/vendor-completions/_baton"),
];

/// Our own licences.
const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];
/// The first page of all packages.
const README: &str = include_str!("../README.md");

impl Contents {
    /// Licences and the first page, by file name.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        let (name, text) = &self.readme;
        self.licences.iter().chain([(name, text)])
    }

    /// Asks the program that runs on this machine.
    pub(crate) fn of(programs: &[Program]) -> Result<Self> {
        let program = programs.iter().find(|program| program.runs_here());
        let program = program.with_context(|| {
            format!("expected a program for {}, to write its manual", std::env::consts::ARCH)
        })?;
        let mut completions = Vec::new();
        for (shell, file, debian) in SHELLS {
            let script = output(program, &["completions", shell])?;
            completions.push(Completion { file, debian, script });
        }
        let mut licences = BTreeMap::new();
        for name in LICENCES {
            licences.insert(name.to_owned(), fs::read(root().join(name))?);
        }
        licences.insert(notices::FILE.to_owned(), notices::text(programs)?.into_bytes());
        let readme = ("README.md".to_owned(), README.into());
        Ok(Self { pages: pages(program)?, completions, licences, readme })
    }
}

fn pages(program: &Program) -> Result<BTreeMap<String, Vec<u8>>> {
    let folder = tempfile::tempdir()?;
    output(program, &["man", "--to", &folder.path().to_string_lossy()])?;
    let mut pages = BTreeMap::new();
    for page in fs::read_dir(folder.path())? {
        let page = page?;
        pages.insert(page.file_name().to_string_lossy().into_owned(), fs::read(page.path())?);
    }
    ensure!(pages.contains_key("baton.1"), "expected a page baton.1, found {:?}", pages.keys());
    Ok(pages)
}

fn output(program: &Program, args: &[&str]) -> Result<Vec<u8>> {
    let home = tempfile::tempdir()?;
    let done = Command::new(&program.path)
        .args(args)
        .env("HOME", home.path())
        .output()
        .with_context(|| format!("could not start {}", program.path.display()))?;
    let errors = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "expected baton {} to succeed:\n{errors}", args.join(" "));
    Ok(done.stdout)
}
