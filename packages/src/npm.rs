//! The npm packages: one that starts the program, and one for each platform that has the program in it.
//!
//! npm installs of the optional ones only what fits the machine, so no script runs when they are installed.

use crate::VERSION;
use crate::contents::Contents;
use crate::program::Program;
use crate::registry;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What people install.
const NAME: &str = "baton-browser";
/// What starts the program.
const LAUNCHER: &str = include_str!("../npm/baton.cjs");
/// Its place in the package.
const LAUNCHER_PLACE: &str = "bin/baton.cjs";

/// Packs one package a program that npm has a name for, and the one that starts them.
pub(crate) fn packages(
    programs: &[Program],
    contents: &Contents,
    to: &Path,
) -> Result<Vec<PathBuf>> {
    let mut packed = Vec::new();
    let mut optional = Map::new();
    for program in programs {
        let Some(processor) = program.target.npm else { continue };
        let name = format!("@{NAME}/linux-{processor}");
        let own = json!({
            "description": format!("Baton's program for Linux, {processor}"),
            "os": ["linux"],
            "cpu": [processor],
            "libc": ["glibc"],
        });
        let files = [("bin/baton", program.bytes.as_slice())];
        packed.push(pack(&name, own, &files, contents, to)?);
        optional.insert(name, VERSION.into());
    }
    if optional.is_empty() {
        return Ok(packed);
    }
    let files = [(LAUNCHER_PLACE, LAUNCHER.as_bytes())];
    packed.push(pack(NAME, launcher(&optional), &files, contents, to)?);
    Ok(packed)
}

/// What the package that people install says of itself, beside what all do.
fn launcher(optional: &Map<String, Value>) -> Value {
    json!({
        "description": "Keeps a browser session alive across crashes, machines and agents",
        "keywords": ["browser", "session", "agent", "mcp", "login"],
        "mcpName": registry::NAME,
        "bin": {"baton": LAUNCHER_PLACE, NAME: LAUNCHER_PLACE},
        "engines": {"node": ">=18"},
        "optionalDependencies": optional,
    })
}

/// Packs one package; all its files are run, but for the licences.
fn pack(
    name: &str,
    own: Value,
    files: &[(&str, &[u8])],
    contents: &Contents,
    to: &Path,
) -> Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let manifest = manifest(name, own);
    fs::write(folder.path().join("package.json"), serde_json::to_vec_pretty(&manifest)?)?;
    for (file, text) in contents.texts() {
        fs::write(folder.path().join(file), text)?;
    }
    for (file, bytes) in files {
        let place = folder.path().join(file);
        fs::create_dir_all(place.parent().context("expected a folder")?)?;
        fs::write(&place, bytes)?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
    }
    let done = Command::new("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
        .arg(fs::canonicalize(to)?)
        .current_dir(folder.path())
        .output()
        .context("could not start npm")?;
    let errors = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "expected npm to pack {name}:\n{errors}");
    Ok(to.join(String::from_utf8(done.stdout)?.trim()))
}

fn manifest(name: &str, own: Value) -> Value {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let mut manifest = json!({
        "name": name,
        "version": VERSION,
        "license": env!("CARGO_PKG_LICENSE"),
        "homepage": repository,
        "repository": {"type": "git", "url": format!("git+{repository}.git")},
        // What belongs to a scope is private unless it says so.
        "publishConfig": {"access": "public"},
        "files": ["bin", "LICENSE*"],
    });
    if let (Some(manifest), Value::Object(own)) = (manifest.as_object_mut(), own) {
        manifest.extend(own);
    }
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Output;
    use tempfile::TempDir;

    /// Where the launcher was installed, with a program of this machine or without.
    struct Installed(TempDir);

    impl Installed {
        fn new(program: Option<&str>) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let write = |place: &str, text: &str| {
                let place = folder.path().join("node_modules").join(place);
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                fs::write(&place, text).unwrap();
                fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
            };
            let optional = ["linux-x64", "linux-arm64"];
            let optional = optional.map(|one| (format!("@{NAME}/{one}"), Value::from(VERSION)));
            let manifest = manifest(NAME, launcher(&optional.into_iter().collect()));
            write(&format!("{NAME}/package.json"), &manifest.to_string());
            write(&format!("{NAME}/{LAUNCHER_PLACE}"), LAUNCHER);
            if let Some(program) = program {
                write(&format!("@{NAME}/sunos-x64/bin/baton"), program);
            }
            Self(folder)
        }

        /// What the launcher does on a machine of that platform.
        fn run(&self, platform: &str, processor: &str, words: &[&str]) -> Output {
            let pretend = format!(
                "Object.defineProperty(process, 'platform', {{ value: '{platform}' }});
                 Object.defineProperty(process, 'arch', {{ value: '{processor}' }});"
            );
            let pretended = self.0.path().join("pretend.cjs");
            fs::write(&pretended, pretend).unwrap();
            let launcher = self.0.path().join("node_modules").join(NAME).join(LAUNCHER_PLACE);
            let mut node = Command::new("node");
            node.arg("--require").arg(pretended).arg(launcher).args(words).output().unwrap()
        }
    }

    fn said(output: &Output) -> String {
        String::from_utf8(output.stderr.clone())
            .unwrap()
            .replace(env!("CARGO_PKG_REPOSITORY"), "HOME")
    }

    #[test]
    fn a_platform_without_a_build_is_told_which_there_are_and_what_to_do() {
        let output = Installed::new(None).run("sunos", "sparc", &["demo"]);
        assert_eq!(output.status.code(), Some(126));
        assert_eq!(
            said(&output),
            "error: expected one of linux-arm64, linux-x64, found sunos-sparc: there is no build for it\n\
             run the image instead: HOME/blob/main/docs/guide/container.md\n"
        );
    }

    #[test]
    fn a_program_that_was_left_out_is_named() {
        let output = Installed::new(None).run("linux", "x64", &[]);
        assert_eq!(output.status.code(), Some(126));
        let told = said(&output);
        assert!(
            told.contains("expected the package @baton-browser/linux-x64 beside baton-browser"),
            "{told}"
        );
        assert!(told.contains("--omit=optional"), "{told}");
    }

    #[test]
    fn words_and_the_end_of_the_program_are_passed_on() {
        let installed = Installed::new(Some("#!/bin/sh\necho \"$@\"\nexit 7\n"));
        let output = installed.run("sunos", "x64", &["sessions", "list", "it's"]);
        assert_eq!(output.status.code(), Some(7), "{}", said(&output));
        assert_eq!(output.stdout, b"sessions list it's\n");
        let killed = Installed::new(Some("#!/bin/sh\nkill -TERM $$\n")).run("sunos", "x64", &[]);
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&killed.status), Some(15));
    }
}
