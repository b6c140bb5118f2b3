//! `server.json`: what the registry of MCP servers lists (schema of 2025-12-11), and how a client starts Baton from
//! each package. A package says by [`NAME`] that it is meant, or the registry takes it for somebody else's.

use crate::bundle::Bundle;
use crate::{VERSION, write as write_file};
use anyhow::Result;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What Baton is called there.
pub(crate) const NAME: &str = "io.github.baton-browser/baton";
/// What it is, in at most 100 characters.
const DESCRIPTION: &str =
    "Keeps a browser session alive across crashes, machines, sandboxes and agents";

/// Writes the listing: the packages for npm and PyPI, and each bundle with its sum.
pub(crate) fn write(bundles: &[Bundle], to: &Path) -> Result<PathBuf> {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let mut packages: Vec<Value> = [("npm", "npx"), ("pypi", "uvx")]
        .map(|(kind, runner)| {
            json!({
                "registryType": kind,
                "identifier": "baton-browser",
                "version": VERSION,
                "runtimeHint": runner,
                "transport": {"type": "stdio"},
                "packageArguments": [{"type": "positional", "value": "mcp"}],
            })
        })
        .into();
    packages.extend(bundles.iter().map(|Bundle { name, sum, .. }| {
        json!({
            "registryType": "mcpb",
            "identifier": format!("{repository}/releases/download/v{VERSION}/{name}"),
            "fileSha256": sum,
            "transport": {"type": "stdio"},
        })
    }));
    let listing = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": NAME,
        "title": "Baton",
        "description": DESCRIPTION,
        "version": VERSION,
        "repository": {"url": repository, "source": "github"},
        "packages": packages,
    });
    write_file(to, "server.json", &serde_json::to_vec_pretty(&listing)?)
}

#[cfg(test)]
mod tests {
    use super::DESCRIPTION;

    #[test]
    fn the_description_is_as_short_as_the_registry_wants_it() {
        assert!(DESCRIPTION.len() <= 100, "{}", DESCRIPTION.len());
    }
}
