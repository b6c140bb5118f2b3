//! The formula for Homebrew, which unpacks the archives and compiles nothing.

use crate::program::Program;
use crate::sums::hexadecimal;
use crate::{VERSION, write as write_file};
use anyhow::{Context as _, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the formula of the archives that were made of these programs: those of machines with glibc.
pub(crate) fn write(programs: &[Program], to: &Path) -> Result<PathBuf> {
    let mut machines = String::new();
    for program in programs.iter().filter(|program| program.target.glibc.is_some()) {
        let name = crate::tarball_name(program);
        let archive = to.join(&name);
        let bytes = fs::read(&archive)
            .with_context(|| format!("expected the archive {}", archive.display()))?;
        let repository = env!("CARGO_PKG_REPOSITORY");
        let machine = if program.target.processor == "aarch64" { "arm" } else { "intel" };
        writeln!(machines, "  on_{machine} do")?;
        writeln!(machines, "    url \"{repository}/releases/download/v{VERSION}/{name}\"")?;
        writeln!(machines, "    sha256 \"{}\"\n  end", hexadecimal(&bytes))?;
    }
    write_file(to, "baton.rb", formula(&machines).as_bytes())
}

fn formula(machines: &str) -> String {
    format!(
        r##"class Baton < Formula
  desc "Keeps a browser session alive across crashes, machines and agents"
  homepage "{repository}"
  version "{VERSION}"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

{machines}
  def install
    bin.install "baton"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/baton.bash" => "baton"
    fish_completion.install "completions/baton.fish"
    zsh_completion.install "completions/_baton"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/baton --version")
  end
end
"##,
        repository = env!("CARGO_PKG_REPOSITORY"),
    )
}
