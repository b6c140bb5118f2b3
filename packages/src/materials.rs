//! The bill of materials: every crate in the program, in `CycloneDX` 1.6 (ECMA-424, as JSON).
//!
//! The C libraries in it (SQLite, AWS-LC, zstd) are those that the crates which end in `-sys` bring along.

use crate::graph::{self, Id, PROGRAM, Package};
use crate::program::Program;
use crate::{VERSION, write as write_file};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Writes the bill of these programs, as of the time of the commit.
pub(crate) fn write(programs: &[Program], time: u64, to: &Path) -> Result<PathBuf> {
    let packages = graph::read(programs)?;
    let program = packages.get(&(PROGRAM.to_owned(), VERSION.to_owned()));
    let program = program.context("expected the program among its crates")?;
    let others = packages.values().filter(|package| !std::ptr::eq(*package, program));
    let dependencies = packages.iter().map(|(id, package)| {
        json!({"ref": reference(id), "dependsOn": package.uses.iter().map(reference).collect::<Vec<_>>()})
    });
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": jiff::Timestamp::from_second(i64::try_from(time)?)?.to_string(),
            "component": component("application", program),
        },
        "components": others.map(|package| component("library", package)).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    });
    let bytes = serde_json::to_vec_pretty(&bill)?;
    write_file(to, &format!("baton-{VERSION}.cdx.json"), &bytes)
}

fn component(kind: &str, package: &Package) -> Value {
    let Package { name, version, licence, checksum, .. } = package;
    let mut component = json!({
        "type": kind,
        "bom-ref": reference(&(name.clone(), version.clone())),
        "name": name,
        "version": version,
        "licenses": [{"expression": licence}],
    });
    if let Some(checksum) = checksum {
        component["purl"] = format!("pkg:cargo/{name}@{version}").into();
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}

/// What refers to a crate within the bill.
fn reference((name, version): &Id) -> String {
    format!("{name}@{version}")
}
