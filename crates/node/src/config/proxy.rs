//! `[proxy]` and `[[cocoons]]`: what stands in front of services, and which services these are.
//!
//! What `[proxy.browser_debug]` says holds for every cocoon that does not say otherwise. Rooms: `cocoon`
//! reads one service, `pages` what is done to its pages.

mod cocoon;
mod pages;

pub use cocoon::CocoonChoices;
pub use pages::PageChoices;

use super::error::ConfigError;
use super::settings::{CocoonTexts, ProxyTexts};
use super::values::{address, invalid, number};
use crate::proxy::Cocoon;
use axum::http::uri::Authority;
use baton_api::CocoonId;
use baton_session::Owner;
use std::net::SocketAddr;
use std::time::Duration;

/// How long a cocoon may take until its answer begins, unless told otherwise.
const FIRST_BYTE: Duration = Duration::from_mins(1);

/// What stands in front of cocoons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxySettings {
    /// Where it listens; none means that the node has no proxy.
    pub listen: Option<SocketAddr>,
    /// The name whose subdomains are cocoons, beside `localhost`.
    pub host: Option<String>,
    /// How long a cocoon may take until its answer begins.
    pub first_byte: Duration,
    /// The cocoons of the settings.
    pub cocoons: Vec<Cocoon>,
    /// What holds for every cocoon that does not say otherwise.
    pub pages: PageChoices,
}

impl ProxySettings {
    /// How much of a body is kept of the tabs of sessions, in bytes: what holds for every cocoon that does not
    /// say otherwise.
    pub fn body_bytes(&self) -> usize {
        usize::try_from(self.pages.clone().settle().response_body_max_size).unwrap_or(usize::MAX)
    }

    /// The same of whatever keeps most.
    pub fn most_body_bytes(&self) -> usize {
        let asked = self.cocoons.iter().map(|cocoon| cocoon.browser_debug.response_body_max_size);
        let asked = asked.filter_map(|asked| usize::try_from(asked).ok());
        asked.fold(self.body_bytes(), usize::max)
    }

    /// Whether the settings name this cocoon.
    pub fn names(&self, id: &CocoonId) -> bool {
        self.cocoons.iter().any(|cocoon| cocoon.id == *id)
    }

    /// A cocoon as somebody else than the settings names it.
    pub(crate) fn cocoon(
        &self,
        origin: &str,
        texts: CocoonTexts,
        owner: &Owner,
    ) -> Result<Cocoon, ConfigError> {
        Ok(CocoonChoices::check(origin, texts)?.settle(&self.pages, owner))
    }
}

/// What one source chose of it.
#[derive(Debug, Clone, Default)]
pub struct ProxyChoices {
    /// See [`ProxySettings::listen`].
    pub listen: Option<SocketAddr>,
    /// See [`ProxySettings::host`].
    pub host: Option<String>,
    /// See [`ProxySettings::first_byte`].
    pub first_byte: Option<Duration>,
    /// What holds for every cocoon.
    pub browser_debug: PageChoices,
    /// The cocoons.
    pub cocoons: Option<Vec<CocoonChoices>>,
}

impl ProxyChoices {
    /// Checks what one source says.
    pub(super) fn check(
        origin: &str,
        proxy: ProxyTexts,
        cocoons: Option<Vec<CocoonTexts>>,
    ) -> Result<Self, ConfigError> {
        Ok(Self {
            listen: proxy.listen.map(|text| address(origin, "proxy.listen", &text)).transpose()?,
            host: proxy.host.map(|text| host(origin, &text)).transpose()?,
            first_byte: number(
                origin,
                "proxy.first_byte_timeout",
                proxy.first_byte_timeout,
                1..=3600,
            )?
            .map(Duration::from_secs),
            browser_debug: PageChoices::check(origin, proxy.browser_debug)?,
            cocoons: cocoons.map(|texts| cocoon::read_all(origin, texts)).transpose()?,
        })
    }

    /// These choices, and `other`'s where these say nothing.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            listen: self.listen.or(other.listen),
            host: self.host.or(other.host),
            first_byte: self.first_byte.or(other.first_byte),
            browser_debug: self.browser_debug.or(other.browser_debug),
            cocoons: self.cocoons.or(other.cocoons),
        }
    }

    /// What they and the defaults say together; `owner` is who runs the node.
    #[must_use]
    pub fn settle(self, owner: &Owner) -> ProxySettings {
        let pages = self.browser_debug;
        let chosen = self.cocoons.unwrap_or_default().into_iter();
        ProxySettings {
            listen: self.listen,
            host: self.host,
            first_byte: self.first_byte.unwrap_or(FIRST_BYTE),
            cocoons: chosen.map(|cocoon| cocoon.settle(&pages, owner)).collect(),
            pages,
        }
    }
}

fn host(origin: &str, text: &str) -> Result<String, ConfigError> {
    let is_name = text.parse::<Authority>().is_ok_and(|host| host.as_str() == host.host());
    if is_name {
        return Ok(text.to_ascii_lowercase());
    }
    let expected = "a name such as dev.example.org, without a port";
    Err(invalid(origin, "proxy.host", expected, format!("{text:?}")))
}
