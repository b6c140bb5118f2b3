//! What a node says of itself to others: how it is deployed, what it is called, where it is asked.

use super::values::{ConfigError, invalid};
use baton_session::wire::NodeType;
use baton_sync::identity::{is_node_name, is_node_url};
use std::collections::BTreeMap;
use url::Url;

/// Variables that platforms set in the containers that they run: Kubernetes, Azure Container Apps and
/// App Service, Google Cloud Run, and those of Amazon.
const PLATFORMS: [&str; 5] = [
    "KUBERNETES_SERVICE_HOST",
    "CONTAINER_APP_NAME",
    "WEBSITE_INSTANCE_ID",
    "K_SERVICE",
    "AWS_EXECUTION_ENV",
];

/// How a node is deployed, as far as the variables around it tell: in the cloud when a platform that
/// runs containers has set one of its own.
pub fn detect_node_type(environment: &BTreeMap<String, String>) -> NodeType {
    let set = |name: &&str| environment.get(*name).is_some_and(|value| !value.is_empty());
    if PLATFORMS.iter().any(set) { NodeType::Cloud } else { NodeType::Hosted }
}

/// What a node calls itself by default: as its host is called.
pub(super) fn default_name() -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    if is_node_name(&host) { host.into_owned() } else { "baton".to_owned() }
}

/// The word of a setting.
pub(super) fn node_type(origin: &str, text: &str) -> Result<NodeType, ConfigError> {
    match text {
        "cloud" => Ok(NodeType::Cloud),
        "hosted" => Ok(NodeType::Hosted),
        _ => Err(invalid(origin, "node.type", "cloud or hosted", format!("{text:?}"))),
    }
}

/// The name of a setting.
pub(super) fn name(origin: &str, text: String) -> Result<String, ConfigError> {
    let expected = "1 to 64 characters that can be shown, without spaces around them";
    if is_node_name(&text) {
        Ok(text)
    } else {
        Err(invalid(origin, "node.name", expected, format!("{text:?}")))
    }
}

/// The address of a setting; what was found may hold a password and is not repeated.
pub(super) fn url(
    origin: &str,
    key: &'static str,
    text: Option<String>,
) -> Result<Option<Url>, ConfigError> {
    let Some(text) = text else { return Ok(None) };
    let expected =
        "an address such as https://baton.example.org, without a path, a query or a user";
    let found = text.parse().ok().filter(is_node_url);
    found.map(Some).ok_or_else(|| invalid(origin, key, expected, "something else"))
}

#[cfg(test)]
mod tests {
    use super::{NodeType, detect_node_type};
    use std::collections::BTreeMap;

    #[test]
    fn a_platform_that_runs_containers_gives_itself_away() {
        let around = |name: &str, value: &str| {
            detect_node_type(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
        };
        assert_eq!(around("KUBERNETES_SERVICE_HOST", "10.0.0.1"), NodeType::Cloud);
        assert_eq!(around("K_SERVICE", "baton"), NodeType::Cloud);
        assert_eq!(around("K_SERVICE", ""), NodeType::Hosted, "empty is as good as not set");
        assert_eq!(around("HOSTNAME", "laptop"), NodeType::Hosted);
    }
}
