//! The environment of every command in a sandbox.

use crate::spec::SandboxSpec;
use std::collections::BTreeMap;

/// The path on which a sandbox looks for programs, unless it is told another one.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The environment of every command, with the workspace at `workspace` and room for small files at
/// `small`.
pub(super) fn environment(
    spec: &SandboxSpec,
    workspace: &str,
    small: &str,
) -> BTreeMap<String, String> {
    let ours = [
        ("HOME", workspace),
        ("LANG", "C.UTF-8"),
        ("PATH", PATH),
        ("TMPDIR", small),
        ("USER", "agent"),
    ];
    let mut env: BTreeMap<String, String> =
        ours.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let files = spec.files.iter();
    env.extend(files.map(|(name, path)| (name.clone(), format!("{workspace}/{path}"))));
    env.extend(spec.env.clone());
    env
}
