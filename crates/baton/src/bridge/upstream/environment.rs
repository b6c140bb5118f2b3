//! What the other server sees of our environment: what a browser may see, and what Node and npm need.

use std::collections::BTreeMap;

/// Variables that pass; all others stay here.
const PASSED: [&str; 11] = [
    "USER",
    "LOGNAME",
    "SHELL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "ALL_PROXY",
    "NODE_EXTRA_CA_CERTS",
];
const PASSED_PREFIXES: [&str; 4] = ["LC_", "SSL_CERT_", "npm_config_", "NPM_CONFIG_"];

/// Those of `all` that pass.
pub(super) fn passed(all: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let passes = |name: &str| {
        baton_browser::launch::passes(name)
            || PASSED.contains(&name)
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    all.into_iter().filter(|(name, _)| passes(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_here() {
        let all =
            ["PATH", "HOME", "BATON_MASTER_KEY", "AWS_SECRET_ACCESS_KEY", "LC_ALL", "NODE_OPTIONS"];
        let all = all.map(|name| (name.to_owned(), String::new()));
        let names: Vec<_> = passed(all.into()).into_keys().collect();
        assert_eq!(names, ["HOME", "LC_ALL", "PATH"]);
    }
}
