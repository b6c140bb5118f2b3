//! Each package in a bare Debian that has a browser, and nothing else of ours: one command to a session that is still
//! signed in after SIGKILL.

use super::asked::demo_took;
use super::containers::{Containers, DEBIAN};
use super::{folder, given};
use anyhow::{Context as _, Result};
use std::path::Path;

/// What a package is installed with, and then the one command.
const WAYS: [(&str, &str); 4] = [
    (
        "archive",
        "mkdir /opt/baton; tar -xzf $ARCHIVE --strip-components 1 -C /opt/baton; /opt/baton/baton demo",
    ),
    (
        "npm",
        "mkdir /opt/npm; cd /opt/npm; echo '{\"private\": true}' > package.json; npm install --silent --offline \
         --ignore-scripts --no-audit --no-fund $NPM; node_modules/.bin/baton-browser demo",
    ),
    (
        "wheel",
        "python3 -m venv /opt/wheel; /opt/wheel/bin/pip --quiet --disable-pip-version-check install --no-index \
         $WHEEL; /opt/wheel/bin/baton-browser demo",
    ),
    // Really installed: its scripts run, and its user is made.
    (
        "debian",
        "apt-get install --yes --quiet --no-install-recommends $DEBIAN > /dev/null; dpkg --verify baton-browser; \
         baton demo",
    ),
];
/// What the system has beside its base: a browser, and what npm's package and the wheel are installed with.
const SYSTEM: &str = "apt-get update --quiet > /dev/null; apt-get install --yes --quiet --no-install-recommends \
    ca-certificates chromium nodejs npm python3-venv > /dev/null";

/// Where the container has the packages.
const PACKAGES: &str = "/packages";

/// Tries each; answers a line about each.
pub(super) fn try_each(containers: &Containers) -> Result<Vec<String>> {
    let system = containers.start(DEBIAN)?;
    containers.script(&system, &[], SYSTEM)?;
    let volume = [format!("{}:{PACKAGES}:ro", folder().display())];
    let [own, launcher] = given::npm()?;
    let there = format!(
        "ARCHIVE={} NPM='{} {}' WHEEL={} DEBIAN={}",
        there(&given::archive()?)?,
        there(&own)?,
        there(&launcher)?,
        there(&given::wheel()?)?,
        there(&given::debian()?)?
    );
    let mut lines = Vec::new();
    for (name, script) in WAYS {
        println!("\n━━ {name}, in a bare Debian ━━");
        let said = containers.script(&system, &volume, &format!("{there}; {script}"));
        let seconds = demo_took(&said.context(name)?)?;
        lines.push(format!("✓ {name:<8} in a bare Debian: the demo took {seconds} s"));
    }
    Ok(lines)
}

/// A package's place in the container.
fn there(package: &Path) -> Result<String> {
    let name = package.file_name().context("expected a file")?;
    Ok(format!("{PACKAGES}/{}", name.display()))
}
