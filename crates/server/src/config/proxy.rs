//! `[proxy]` and `[[cocoons]]`: what stands in front of services, and which services these are.
//!
//! What `[proxy.browser_debug]` says holds for every cocoon that does not say otherwise. Rooms: `cocoon`
//! reads one service, `pages` what is done to its pages.

mod cocoon;
mod pages;

use super::error::ConfigError;
use super::settings::{CocoonTexts, ProxyTexts};
use super::values::{address, invalid, number};
use axum::http::uri::Authority;
use baton_proxy::{CocoonChoices, PageChoices, ProxySettings};
use baton_session::Owner;
use std::net::SocketAddr;
use std::time::Duration;

/// How long a cocoon may take until its answer begins, unless told otherwise.
const FIRST_BYTE: Duration = Duration::from_mins(1);

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
            browser_debug: pages::check(origin, proxy.browser_debug)?,
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
