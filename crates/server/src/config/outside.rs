//! What a node is to others: how it is called and asked, which programs hear of sessions that come from elsewhere
//! (`[[webhooks]]`), and who hears that an agent asks (`[people]`).

use super::{ConfigError, invalid};
use baton_session::Owner;
use baton_session::wire::NodeType;
use baton_sync::identity::{is_node_name, is_node_url};
use baton_sync::people::{PeopleSettings, Receiver};
use baton_sync::webhooks::{Event, Patience, Secret, WebhookSettings};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
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

/// How many there may be.
const MOST_WEBHOOKS: usize = 16;

/// `[[webhooks]]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct WebhookTexts {
    /// Where messages go.
    pub url: String,
    /// What messages are signed with.
    pub secret: Option<String>,
    /// The file that holds it.
    pub secret_file: Option<PathBuf>,
    /// Of what it hears; left out, of everything.
    pub events: Option<Vec<String>>,
    /// Of whose sessions; left out, of those of who runs the node.
    pub owner: Option<String>,
}

/// Checks what one source says. What may hold a secret is not repeated.
pub(super) fn check_webhooks(
    origin: &str,
    texts: Vec<WebhookTexts>,
) -> Result<Vec<WebhookSettings>, ConfigError> {
    if texts.len() > MOST_WEBHOOKS {
        return Err(invalid(origin, "webhooks", format!("at most {MOST_WEBHOOKS}"), texts.len()));
    }
    texts.into_iter().map(|text| one(origin, text)).collect()
}

fn one(origin: &str, text: WebhookTexts) -> Result<WebhookSettings, ConfigError> {
    let WebhookTexts { url, secret, secret_file, events, owner } = text;
    let owner = match owner {
        None => Owner::local(),
        Some(name) => name
            .parse()
            .map_err(|_| invalid(origin, "webhooks.owner", "an owner's name", "another text"))?,
    };
    Ok(WebhookSettings {
        url: address(origin, "webhooks.url", &url)?,
        secret: self::secret(origin, secret, secret_file)?,
        events: self::events(origin, events)?,
        owner,
        patience: Patience::default(),
    })
}

fn address(origin: &str, key: &'static str, text: &str) -> Result<Url, ConfigError> {
    let is_one = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
    };
    let found = text.parse().ok().filter(is_one);
    let expected = "an http or https address without a user";
    found.ok_or_else(|| invalid(origin, key, expected, "another text"))
}

/// `[people]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct PeopleTexts {
    /// The program that is told when an agent asks a person.
    pub webhook: Option<String>,
    /// The file of a token that goes with it.
    pub webhook_token_file: Option<PathBuf>,
    /// The topic of a server that speaks as ntfy does, which is told too.
    pub ntfy: Option<String>,
    /// The file of a token that goes with it.
    pub ntfy_token_file: Option<PathBuf>,
}

/// Checks what one source says.
pub(super) fn people(origin: &str, texts: PeopleTexts) -> Result<PeopleSettings, ConfigError> {
    let PeopleTexts { webhook, webhook_token_file, ntfy, ntfy_token_file } = texts;
    let webhook_keys = ["people.webhook", "people.webhook_token_file"];
    let ntfy_keys = ["people.ntfy", "people.ntfy_token_file"];
    Ok(PeopleSettings {
        webhook: receiver(origin, webhook_keys, webhook, webhook_token_file)?,
        ntfy: receiver(origin, ntfy_keys, ntfy, ntfy_token_file)?,
    })
}

/// Whom one pair of settings names. A path may be a secret and is not repeated.
fn receiver(
    origin: &str,
    [key, file_key]: [&'static str; 2],
    text: Option<String>,
    token_file: Option<PathBuf>,
) -> Result<Option<Receiver>, ConfigError> {
    match text {
        Some(text) => Ok(Some(Receiver { url: address(origin, key, &text)?, token_file })),
        None if token_file.is_some() => {
            Err(invalid(origin, file_key, format!("set beside {key}"), "it alone"))
        }
        None => Ok(None),
    }
}

fn secret(
    origin: &str,
    text: Option<String>,
    file: Option<PathBuf>,
) -> Result<Secret, ConfigError> {
    match (text, file) {
        (Some(text), None) => text.parse().map(Secret::Given).map_err(|_| {
            let expected = "whsec_ and 24 to 64 bytes in base64";
            invalid(origin, "webhooks.secret", expected, "another text")
        }),
        (None, Some(path)) => Ok(Secret::File(path)),
        (given, _) => {
            let found = if given.is_some() { "both" } else { "none of them" };
            Err(invalid(origin, "webhooks.secret", "set, or webhooks.secret_file", found))
        }
    }
}

fn events(origin: &str, words: Option<Vec<String>>) -> Result<BTreeSet<Event>, ConfigError> {
    let Some(words) = words else { return Ok(Event::ALL.into()) };
    let wrong = |found: String| {
        let expected = "one or more of session.new, session.changed and session.conflict";
        invalid(origin, "webhooks.events", expected, found)
    };
    if words.is_empty() {
        return Err(wrong("none".to_owned()));
    }
    let read = |word: String| {
        let found = Event::ALL.into_iter().find(|event| event.as_str() == word);
        found.ok_or_else(|| wrong(format!("{word:?}")))
    };
    words.into_iter().map(read).collect()
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
