//! Each package in a bare Debian that has a browser, and nothing else of ours: one command to a session that is still
//! signed in after SIGKILL.

use super::containers::{Containers, DEBIAN};
use super::folder as packages;
use super::real::{DEMO_SECONDS, took};
use anyhow::{Context as _, Result, ensure};

/// What a package is installed with, and then the one command.
const WAYS: [(&str, &str); 4] = [
    (
        "archive",
        "mkdir /opt/baton; tar -xzf /packages/*.tar.gz --strip-components 1 -C /opt/baton; /opt/baton/baton demo",
    ),
    (
        "npm",
        "mkdir /opt/npm; cd /opt/npm; echo '{\"private\": true}' > package.json; npm install --silent --offline \
         --ignore-scripts --no-audit --no-fund /packages/*.tgz; node_modules/.bin/baton-browser demo",
    ),
    (
        "wheel",
        "python3 -m venv /opt/wheel; /opt/wheel/bin/pip --quiet --disable-pip-version-check install --no-index \
         /packages/*.whl; /opt/wheel/bin/baton-browser demo",
    ),
    // Really installed: its scripts run, and its user is made.
    (
        "debian",
        "apt-get install --yes --quiet --no-install-recommends /packages/*.deb > /dev/null; dpkg --verify baton-browser; \
         baton demo",
    ),
];
/// What the system has beside its base: a browser, and what npm's package and the wheel are installed with.
const SYSTEM: &str = "apt-get update --quiet > /dev/null; apt-get install --yes --quiet --no-install-recommends \
    ca-certificates chromium nodejs npm python3-venv > /dev/null";

/// Tries each; answers a line about each.
pub(super) fn try_each(containers: &Containers) -> Result<Vec<String>> {
    let system = containers.start(DEBIAN)?;
    containers.script(&system, &[], SYSTEM)?;
    let volume = format!("{}:/packages:ro", packages().display());
    let mut lines = Vec::new();
    for (name, script) in WAYS {
        println!("\n━━ {name}, in a bare Debian ━━");
        let said = containers.script(&system, std::slice::from_ref(&volume), script);
        let seconds = took(&said.context(name)?)?;
        ensure!(seconds <= DEMO_SECONDS, "expected at most {DEMO_SECONDS} s, found {seconds} s");
        lines.push(format!("✓ {name:<8} in a bare Debian: the demo took {seconds} s"));
    }
    Ok(lines)
}
