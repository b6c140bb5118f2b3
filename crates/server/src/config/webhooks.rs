//! `[[webhooks]]`: which programs hear of sessions that come from elsewhere.

use super::values::{ConfigError, invalid};
use baton_session::Owner;
use baton_sync::webhooks::{Event, Patience, Secret, WebhookSettings};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::PathBuf;
use url::Url;

/// How many there may be.
const MOST: usize = 16;

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
pub(super) fn check(
    origin: &str,
    texts: Vec<WebhookTexts>,
) -> Result<Vec<WebhookSettings>, ConfigError> {
    if texts.len() > MOST {
        return Err(invalid(origin, "webhooks", format!("at most {MOST}"), texts.len()));
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
        url: address(origin, &url)?,
        secret: self::secret(origin, secret, secret_file)?,
        events: self::events(origin, events)?,
        owner,
        patience: Patience::default(),
    })
}

fn address(origin: &str, text: &str) -> Result<Url, ConfigError> {
    let is_one = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
    };
    let found = text.parse().ok().filter(is_one);
    let expected = "an http or https address without a user";
    found.ok_or_else(|| invalid(origin, "webhooks.url", expected, "another text"))
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
