//! A program that was built, and what its ELF file says that it wants of a machine
//! (System V ABI, and the GNU extensions for symbol versions, LSB 5.0, "Symbol Versioning").
//!
//! What is packaged must run where the package says, and a linker takes the newest symbols that it finds, so the
//! file itself is asked.

use crate::target::{TARGETS, Target};
use anyhow::{Context as _, Result, bail, ensure};
use object::elf::{EM_AARCH64, EM_X86_64, FileHeader64};
use object::read::elf::FileHeader as _;
use object::{Endianness, elf};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// A program with the target that it was built for.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) target: &'static Target,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
    wants: Wants,
}

/// What a program wants of a machine.
#[derive(Debug, PartialEq)]
struct Wants {
    /// The newest version of a symbol of glibc.
    glibc: Option<(u32, u32)>,
    /// The libraries that are loaded with it.
    libraries: BTreeSet<String>,
}

/// Reads `TARGET=FILE`.
pub(crate) fn parse(text: &str) -> Result<(&'static Target, PathBuf), String> {
    let known = TARGETS.each_ref().map(|target| target.triple).join(", ");
    let (triple, path) = text.split_once('=').ok_or("expected TARGET=FILE")?;
    let target = TARGETS.iter().find(|target| target.triple == triple);
    let target = target.ok_or_else(|| format!("expected one of {known}, found {triple}"))?;
    Ok((target, path.into()))
}

impl Program {
    /// Reads a program; fails when it wants more of a machine than its target promises.
    pub(crate) fn read(target: &'static Target, path: &Path) -> Result<Self> {
        let bytes = std::fs::read(path)
            .with_context(|| format!("expected a program at {}", path.display()))?;
        let wants = read(target, &bytes)
            .with_context(|| format!("{} does not serve as {}", path.display(), target.triple))?;
        ensure!(
            wants.glibc <= target.glibc,
            "expected {} to want glibc {} at most, found that it wants {}\n\
             `cargo xtask dist` links it against that version",
            path.display(),
            shown(target.glibc),
            shown(wants.glibc)
        );
        Ok(Self { target, path: path.to_owned(), bytes, wants })
    }

    /// Whether this machine can run it.
    pub(crate) fn runs_here(&self) -> bool {
        self.target.processor == std::env::consts::ARCH
    }

    /// The Debian packages that have the libraries which it is loaded with.
    pub(crate) fn debian_depends(&self) -> Result<String> {
        let mut packages = BTreeSet::new();
        for library in &self.wants.libraries {
            packages.insert(match library.as_str() {
                "libgcc_s.so.1" => "libgcc-s1 | libgcc1".to_owned(),
                library if GLIBC.iter().any(|name| library.starts_with(name)) => {
                    format!("libc6 (>= {})", shown(self.wants.glibc))
                }
                other => bail!("expected a library of glibc or GCC, found {other}"),
            });
        }
        Ok(packages.into_iter().collect::<Vec<_>>().join(", "))
    }
}

/// How the files of glibc begin.
const GLIBC: [&str; 7] =
    ["libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libutil.so", "ld-linux"];

/// A version as people write it.
fn shown(version: Option<(u32, u32)>) -> String {
    version.map_or_else(|| "none".to_owned(), |(major, minor)| format!("{major}.{minor}"))
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let libraries = self.wants.libraries.iter().map(String::as_str).collect::<Vec<_>>();
        write!(f, "{:.1} MB, glibc {}", megabytes(self.bytes.len()), shown(self.wants.glibc))?;
        write!(
            f,
            ", loaded with {}",
            if libraries.is_empty() { "nothing".to_owned() } else { libraries.join(", ") }
        )
    }
}

#[allow(clippy::cast_precision_loss, reason = "no program is so large")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}

fn read(target: &Target, bytes: &[u8]) -> Result<Wants> {
    let header =
        FileHeader64::<Endianness>::parse(bytes).context("expected an ELF file of 64 bits")?;
    let endian = header.endian()?;
    let machine = if target.processor == "aarch64" { EM_AARCH64 } else { EM_X86_64 };
    let found = header.e_machine(endian);
    ensure!(found == machine, "expected machine {machine:?} in its ELF header, found {found:?}");
    let sections = header.sections(endian, bytes)?;
    let mut wants = Wants { glibc: None, libraries: BTreeSet::new() };
    let loaded = sections.dynamic_table(endian, bytes)?;
    for entry in loaded.iter().filter(|entry| entry.tag == elf::DT_NEEDED) {
        wants.libraries.insert(String::from_utf8(loaded.string(entry)?.to_vec())?);
    }
    if let Some((mut files, strings)) = sections.gnu_verneed(endian, bytes)? {
        let strings = sections.strings(endian, bytes, strings)?;
        while let Some((_, mut versions)) = files.next()? {
            while let Some(version) = versions.next()? {
                let name = std::str::from_utf8(version.name(endian, strings)?)?;
                wants.glibc = wants.glibc.max(glibc(name)?);
            }
        }
    }
    Ok(wants)
}

/// The version that a symbol's version names, where it is one of glibc: `GLIBC_2.28`, `GLIBC_2.2.5`.
fn glibc(name: &str) -> Result<Option<(u32, u32)>> {
    let Some(numbers) = name.strip_prefix("GLIBC_") else { return Ok(None) };
    let mut numbers = numbers.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok(Some((major, minor))),
        _ => bail!("expected a version such as GLIBC_2.28, found {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Program, glibc, parse, read};
    use crate::target::{TARGETS, Target};

    fn here() -> &'static Target {
        TARGETS.iter().find(|target| target.processor == std::env::consts::ARCH).unwrap()
    }

    #[test]
    fn versions_are_numbers_and_private_ones_are_an_error() {
        assert_eq!(glibc("GLIBC_2.2.5").unwrap(), Some((2, 2)));
        assert!(glibc("GLIBC_2.28").unwrap() > glibc("GLIBC_2.4").unwrap());
        assert_eq!(glibc("GCC_3.0").unwrap(), None);
        assert!(glibc("GLIBC_PRIVATE").is_err());
    }

    #[test]
    fn this_test_is_read_as_a_program_of_this_machine() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let wants = read(here(), &bytes).unwrap();
        assert!(wants.libraries.contains("libc.so.6"), "{wants:?}");
        assert!(wants.glibc >= Some((2, 17)), "{wants:?}");
        let other = TARGETS.iter().find(|target| target.processor != here().processor).unwrap();
        assert!(read(other, &bytes).is_err());
    }

    #[test]
    fn a_program_that_wants_too_new_a_glibc_is_refused() {
        static OLD: Target = Target {
            triple: "old",
            processor: std::env::consts::ARCH,
            debian: None,
            npm: None,
            wheel: None,
            glibc: Some((2, 4)),
        };
        let refused = Program::read(&OLD, &std::env::current_exe().unwrap()).unwrap_err();
        assert!(refused.to_string().contains("to want glibc 2.4 at most"), "{refused:#}");
    }

    #[test]
    fn a_target_that_is_not_known_is_refused() {
        assert!(parse("x86_64-unknown-linux-gnu=baton").is_ok());
        assert!(
            parse("riscv64gc-unknown-linux-gnu=baton").unwrap_err().contains("expected one of")
        );
        assert!(parse("baton").is_err());
    }
}
