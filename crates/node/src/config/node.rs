//! What a node says of itself to others: how it is deployed, what it is called, where it is asked.

use super::choices::invalid;
use super::error::ConfigError;
use baton_session::wire::NodeType;
use std::collections::BTreeMap;
use url::{Position, Url};

/// The longest name of a node, in characters.
const NAME_MAX: usize = 64;
/// The longest address of a node, in bytes.
const URL_MAX: usize = 2048;

/// Variables that platforms set in the containers that they run: Kubernetes, Azure Container Apps and
/// App Service, Google Cloud Run, and those of Amazon.
const PLATFORMS: [&str; 5] = [
    "KUBERNETES_SERVICE_HOST",
    "CONTAINER_APP_NAME",
    "WEBSITE_INSTANCE_ID",
    "K_SERVICE",
    "AWS_EXECUTION_ENV",
];

/// What a node says of itself to others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSettings {
    /// How it is deployed.
    pub node_type: NodeType,
    /// What it calls itself.
    pub name: String,
    /// Where the world asks it.
    pub public_url: Option<Url>,
    /// Where its own network asks it.
    pub internal_url: Option<Url>,
}

/// How a node is deployed, as far as the variables around it tell: in the cloud when a platform that
/// runs containers has set one of its own.
pub fn detect_node_type(environment: &BTreeMap<String, String>) -> NodeType {
    let set = |name: &&str| environment.get(*name).is_some_and(|value| !value.is_empty());
    if PLATFORMS.iter().any(set) { NodeType::Cloud } else { NodeType::Hosted }
}

/// What a node calls itself unless told otherwise: as its host is called.
pub(super) fn default_name() -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    if is_node_name(&host) { host.into_owned() } else { "baton".to_owned() }
}

/// Whether a node may be called so: others show it in a terminal.
pub(crate) fn is_node_name(text: &str) -> bool {
    let shown = |c: char| !c.is_control() && !is_invisible(c);
    (1..=NAME_MAX).contains(&text.chars().count()) && text.trim() == text && text.chars().all(shown)
}

/// Marks that change in which order a line is shown, or that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether a node may be asked there. The path stays empty: what is signed names the path, which a
/// proxy that cuts its beginning off would change.
pub(crate) fn is_node_url(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
        && url.as_str().len() <= URL_MAX
        && url.username().is_empty()
        && url.password().is_none()
        && matches!(&url[Position::BeforePath..], "" | "/")
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
    use super::{NodeType, detect_node_type, is_node_name, is_node_url};
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

    #[test]
    fn a_name_can_be_shown() {
        for good in ["laptop", "Ada's laptop", "büro-1", &"x".repeat(64)] {
            assert!(is_node_name(good), "{good:?}");
        }
        for bad in ["", " laptop", "a\nb", "\u{1b}[2J", "safe\u{202e}txt", &"x".repeat(65)] {
            assert!(!is_node_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn an_address_has_neither_path_nor_user() {
        let is_one = |text: &str| text.parse().is_ok_and(|url| is_node_url(&url));
        for good in ["https://baton.example.org", "http://10.0.0.7:7420/", "https://[2001:db8::1]"]
        {
            assert!(is_one(good), "{good}");
        }
        for bad in [
            "baton.example.org",
            "ftp://baton.example.org",
            "https://ada@baton.example.org",
            "https://baton.example.org/baton",
            "https://baton.example.org/?a",
            "https://baton.example.org/#a",
        ] {
            assert!(!is_one(bad), "{bad}");
        }
    }
}
