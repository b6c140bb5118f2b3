//! `[proxy]` and `[[cocoons]]`: the proxy in front of services, and which services these are.
//!
//! What `[proxy.browser_debug]` says holds for every upstream service that does not say otherwise.

use super::settings::{BrowserDebugTexts, ProxyTexts, ServiceTexts};
use super::{ConfigError, address, invalid, number, refused};
use axum::http::uri::Authority;
use baton_proxy::{Access, PageChoices, PageTexts, ProxySettings, Upstream, UpstreamChoices};
use baton_session::Owner;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

/// How long an upstream service may take until its answer begins, by default.
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
    /// What holds for every upstream service.
    pub browser_debug: PageChoices,
    /// The upstream services.
    pub services: Option<Vec<UpstreamChoices>>,
}

impl ProxyChoices {
    /// Checks what one source says.
    pub(super) fn check(
        origin: &str,
        proxy: ProxyTexts,
        services: Option<Vec<ServiceTexts>>,
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
            browser_debug: check_pages(origin, proxy.browser_debug)?,
            services: services.map(|texts| read_all(origin, texts)).transpose()?,
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
            services: self.services.or(other.services),
        }
    }

    /// What they and the defaults say together; `owner` is who runs the node.
    #[must_use]
    pub fn settle(self, owner: &Owner) -> ProxySettings {
        let pages = self.browser_debug;
        let chosen = self.services.unwrap_or_default().into_iter();
        ProxySettings {
            listen: self.listen,
            host: self.host,
            first_byte: self.first_byte.unwrap_or(FIRST_BYTE),
            services: chosen.map(|service| service.settle(&pages, owner)).collect(),
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

/// What the id of an upstream service may be.
const ID: &str = "1 to 63 lower-case letters, digits or '-', such as shop";
/// How many upstream services a file names at most.
const MOST: usize = 1000;

/// An upstream service as a file names it.
fn check(origin: &str, text: ServiceTexts) -> Result<UpstreamChoices, ConfigError> {
    let owner = text.owner.map(|owner| read(origin, "cocoons.owner", "an owner's name", &owner));
    let id = read(origin, "cocoons.id", ID, &text.id)?;
    let upstream = text.upstream.parse::<Upstream>();
    Ok(UpstreamChoices {
        id,
        name: text.name,
        upstream: upstream.map_err(|why| refused(origin, why.into()))?,
        owner: owner.transpose()?,
        access: text.access.map(|word| access(origin, &word)).transpose()?.unwrap_or_default(),
        browser_debug: check_pages(origin, text.browser_debug)?,
    })
}

/// The upstream services of a file, each with an id of its own.
fn read_all(origin: &str, texts: Vec<ServiceTexts>) -> Result<Vec<UpstreamChoices>, ConfigError> {
    if texts.len() > MOST {
        let expected = format!("at most {MOST} cocoons");
        return Err(invalid(origin, "cocoons", expected, texts.len()));
    }
    let mut ids = BTreeSet::new();
    let mut services = Vec::new();
    for text in texts {
        let service = check(origin, text)?;
        if !ids.insert(service.id.clone()) {
            return Err(invalid(origin, "cocoons.id", "another one for each cocoon", service.id));
        }
        services.push(service);
    }
    Ok(services)
}

/// A value of an upstream service. What was found may hold a password, and is not repeated.
fn read<T: FromStr>(
    origin: &str,
    key: &'static str,
    expected: &str,
    text: &str,
) -> Result<T, ConfigError> {
    text.parse().map_err(|_| invalid(origin, key, expected, "another text"))
}

fn access(origin: &str, word: &str) -> Result<Access, ConfigError> {
    match word {
        "loopback" => Ok(Access::Loopback),
        "key" => Ok(Access::Key),
        _ => Err(invalid(origin, "cocoons.access", "loopback or key", format!("{word:?}"))),
    }
}

/// Which pages of an upstream service get a token, and how much of a body is kept.
fn check_pages(origin: &str, texts: BrowserDebugTexts) -> Result<PageChoices, ConfigError> {
    let texts = PageTexts {
        enabled: texts.enabled,
        content_types: texts.content_types,
        response_body_max_size: texts.response_body_max_size,
        exclude_paths: texts.exclude_paths,
        without_fetch_metadata: texts.without_fetch_metadata,
    };
    PageChoices::check(texts).map_err(|why| refused(origin, why))
}
