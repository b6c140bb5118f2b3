//! A further proxy: where it is, what it speaks, and the credentials that it wants.

use crate::hosts::Target;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use hyper::Uri;
use rustls_platform_verifier::Verifier;
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use url::Url;

/// What a proxy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// HTTP, with CONNECT for everything but requests of HTTP (RFC 9110, section 9.3.6).
    Http,
    /// The same within TLS.
    Https,
    /// SOCKS version 5, whose other side looks names up (RFC 1928).
    Socks5,
}

/// Where a proxy is: `http://proxy.corp.example:3128`, `https://…` or `socks5://…`, without credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProxyUrl {
    scheme: Scheme,
    host: String,
    port: u16,
}

/// Why a text is no address of a proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotProxyUrl {
    /// It is none at all.
    #[error("expected http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, found {0:?}")]
    Other(String),
    /// It has a user or a password in it, which every process of the machine would see.
    #[error("expected the address of a proxy without a user and a password, found some in it")]
    Credentials,
    /// It speaks TLS, and nobody is known whose certificates count.
    #[error("expected certificates of authorities on this machine, found: {0}")]
    NoTrust(String),
}

impl FromStr for ProxyUrl {
    type Err = NotProxyUrl;

    fn from_str(text: &str) -> Result<Self, NotProxyUrl> {
        // What is told of a text that has credentials must not have them.
        let url = Url::parse(text);
        if text.contains('@') || url.as_ref().is_ok_and(|url| url.password().is_some()) {
            return Err(NotProxyUrl::Credentials);
        }
        let other = || NotProxyUrl::Other(text.to_owned());
        let url = url.map_err(|_| other())?;
        let (scheme, port) = match url.scheme() {
            "http" => (Scheme::Http, 80),
            "https" => (Scheme::Https, 443),
            "socks5" | "socks5h" => (Scheme::Socks5, 1080),
            _ => return Err(other()),
        };
        let is_bare = matches!(url.path(), "" | "/") && url.query().is_none();
        let host = url.host_str().filter(|host| is_bare && !host.is_empty()).ok_or_else(other)?;
        Ok(Self { scheme, host: host.to_owned(), port: url.port().unwrap_or(port) })
    }
}

impl fmt::Display for ProxyUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Socks5 => "socks5",
        };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

/// What a proxy wants to know of who comes. No output shows the password.
#[derive(Debug, Clone)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The password.
    pub password: SecretString,
}

/// A name for what was looked up already; it is asked of nobody (RFC 6761, section 6.4).
pub(crate) const LOOKED_UP: &str = "looked-up.invalid";

/// A further proxy.
#[derive(Clone)]
pub struct Upstream {
    url: ProxyUrl,
    target: Target,
    uri: Uri,
    credentials: Option<Credentials>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("url", &self.url).finish_non_exhaustive()
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.url.fmt(f)
    }
}

impl Upstream {
    /// A proxy. If it speaks TLS, these authorities count beside those of the system.
    pub fn new(
        url: ProxyUrl,
        credentials: Option<Credentials>,
        authorities: Vec<CertificateDer<'static>>,
    ) -> Result<Self, NotProxyUrl> {
        let other = || NotProxyUrl::Other(url.to_string());
        let target = Target::new(&url.host, url.port).map_err(|_| other())?;
        let uri = format!("http://{LOOKED_UP}:{}", url.port).parse().map_err(|_| other())?;
        let tls = if url.scheme == Scheme::Https {
            let name = url.host.trim_matches(['[', ']']).to_owned();
            let name = ServerName::try_from(name).map_err(|_| other())?;
            Some((TlsConnector::from(Arc::new(trust(authorities)?)), name))
        } else {
            None
        };
        Ok(Self { url, target, uri, credentials, tls })
    }

    pub(crate) fn scheme(&self) -> Scheme {
        self.url.scheme
    }

    /// Where it is.
    pub(crate) fn target(&self) -> &Target {
        &self.target
    }

    /// The same, for what connects to it once it was looked up.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    pub(crate) fn tls(&self) -> Option<(TlsConnector, ServerName<'static>)> {
        self.tls.clone()
    }

    /// What `Proxy-Authorization` says (RFC 7617).
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.user_and_password()?;
        let value = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let mut value = HeaderValue::from_str(&value).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    pub(crate) fn user_and_password(&self) -> Option<(String, String)> {
        let credentials = self.credentials.as_ref()?;
        Some((credentials.user.clone(), credentials.password.expose_secret().to_owned()))
    }
}

/// Whose certificates count.
fn trust(authorities: Vec<CertificateDer<'static>>) -> Result<ClientConfig, NotProxyUrl> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let no_trust = |error: tokio_rustls::rustls::Error| NotProxyUrl::NoTrust(error.to_string());
    let verifier = Verifier::new_with_extra_roots(authorities, Arc::clone(&provider));
    let verifier = verifier.map_err(no_trust)?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(no_trust)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    Ok(config.with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::{NotProxyUrl, ProxyUrl};

    #[test]
    fn an_address_of_a_proxy_has_no_credentials_and_no_path() {
        for (text, is) in [
            ("http://proxy.example:3128", "http://proxy.example:3128"),
            ("https://proxy.example/", "https://proxy.example:443"),
            ("socks5h://[::1]:1080", "socks5://[::1]:1080"),
        ] {
            assert_eq!(text.parse::<ProxyUrl>().unwrap().to_string(), is);
        }
        for text in ["", "proxy:3128", "ftp://proxy", "http://proxy/path", "http://", "socks4://a"]
        {
            assert!(matches!(text.parse::<ProxyUrl>(), Err(NotProxyUrl::Other(_))), "{text}");
        }
        for text in ["http://al:secret@proxy:3128", "socks5://al:secret@", "al:secret@proxy"] {
            let refused = text.parse::<ProxyUrl>().unwrap_err();
            assert_eq!(refused, NotProxyUrl::Credentials, "{text}");
            assert!(!refused.to_string().contains("secret"));
        }
    }
}
