//! Which shared libraries a program lacks here, and in which packages they come on Debian and Ubuntu.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// How long the look may take.
const LIMIT: Duration = Duration::from_secs(10);

/// Libraries by how their names begin, and the packages that have them. Newer Debian and Ubuntu call some of
/// the packages otherwise (`libasound2t64`), and find them by these names too, but for that one.
const PACKAGES: &[(&str, &str)] = &[
    ("libX11.", "libx11-6"),
    ("libXcomposite.", "libxcomposite1"),
    ("libXdamage.", "libxdamage1"),
    ("libXext.", "libxext6"),
    ("libXfixes.", "libxfixes3"),
    ("libXrandr.", "libxrandr2"),
    ("libasound.", "libasound2"),
    ("libatk-1.0.", "libatk1.0-0"),
    ("libatk-bridge-2.0.", "libatk-bridge2.0-0"),
    ("libatspi.", "libatspi2.0-0"),
    ("libcairo.", "libcairo2"),
    ("libcups.", "libcups2"),
    ("libdbus-1.", "libdbus-1-3"),
    ("libdrm.", "libdrm2"),
    ("libexpat.", "libexpat1"),
    ("libgbm.", "libgbm1"),
    ("libgio-2.0.", "libglib2.0-0"),
    ("libglib-2.0.", "libglib2.0-0"),
    ("libgobject-2.0.", "libglib2.0-0"),
    ("libnspr4.", "libnspr4"),
    ("libnss3.", "libnss3"),
    ("libnssutil3.", "libnss3"),
    ("libpango-1.0.", "libpango-1.0-0"),
    ("libsmime3.", "libnss3"),
    ("libudev.", "libudev1"),
    ("libxcb.", "libxcb1"),
    ("libxkbcommon.", "libxkbcommon0"),
];

/// The libraries that a program lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingLibraries(Vec<String>);

impl MissingLibraries {
    /// What `ldd(1)` does not find of a program; none when it finds all, or does not know the program.
    pub async fn of(program: &Path) -> Option<Self> {
        let mut command = Command::new("ldd");
        command.arg(program).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let output = timeout(LIMIT, command.output()).await.ok()?.ok()?;
        Self::in_text(&String::from_utf8_lossy(&output.stdout))
    }

    /// The same of its words: `libnss3.so => not found`.
    fn in_text(text: &str) -> Option<Self> {
        let name = |line: &str| {
            let (name, found) = line.trim().split_once(" => ")?;
            (found == "not found").then(|| name.to_owned())
        };
        let mut names: Vec<String> = text.lines().filter_map(name).collect();
        names.sort();
        names.dedup();
        (!names.is_empty()).then_some(Self(names))
    }

    /// Their packages on Debian and Ubuntu, as far as they are known.
    fn packages(&self) -> Vec<&'static str> {
        let known = |name: &String| {
            let known = PACKAGES.iter().find(|(begins, _)| name.starts_with(begins));
            known.map(|(_, package)| *package)
        };
        let mut packages: Vec<&str> = self.0.iter().filter_map(known).collect();
        packages.sort_unstable();
        packages.dedup();
        packages
    }
}

impl fmt::Display for MissingLibraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it does not start, for it lacks {}", self.0.join(", "))?;
        match self.packages()[..] {
            [] => write!(f, "\ninstall the packages that have them"),
            ref packages => {
                write!(f, "\non Debian or Ubuntu: apt-get install {}", packages.join(" "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_missing_is_named_with_its_packages() {
        let text = "\tlinux-vdso.so.1 (0x00007)\n\tlibnss3.so => not found\n\tlibnssutil3.so => not found\n\
            \tlibc.so.6 => /lib/libc.so.6 (0x0007)\n\tlibgbm.so.1 => not found\n\tlibnew.so.9 => not found\n";
        insta::assert_snapshot!(MissingLibraries::in_text(text).unwrap(), @r"
        it does not start, for it lacks libgbm.so.1, libnew.so.9, libnss3.so, libnssutil3.so
        on Debian or Ubuntu: apt-get install libgbm1 libnss3
        ");
        assert_eq!(MissingLibraries::in_text("\tnot a dynamic executable\n"), None);
        assert_eq!(MissingLibraries::of(&std::env::current_exe().unwrap()).await, None);
    }
}
