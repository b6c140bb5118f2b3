//! Addresses that this node asks: which may be, that they are what they were, and why none is asked; and
//! the client that goes there, with bodies that are bounded.
//!
//! The one idea: a name is looked up once, every address that it has is checked, and the connection goes to
//! one of those that were checked. So a caller that may name an address does not reach through this node what
//! only this node can reach.

use crate::certificate::{self, OtherCertificate};
use crate::trust::{Speaks, trusting};
use baton_api::{Answers, ErrorCode};
use baton_egress::{Elsewhere, NoAddress, is_public, is_within, look_up};
use baton_session::invitation::CertificatePin;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use url::{Host, Url};

/// How long a name may take to be looked up.
const LOOKUP_LIMIT: Duration = Duration::from_secs(5);
/// How many names are looked up at once that callers may name, each in a thread of this process.
static LOOKUPS: Semaphore = Semaphore::const_new(64);

/// Why no one elsewhere is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WayError {
    /// An address that is not asked.
    #[error(
        "expected an address that this node may ask, found {found}\n\
         outbound.allow in the settings names others"
    )]
    AddressNotAllowed {
        /// Which one, and why not.
        found: String,
    },
    /// A name of which it is not known where it leads. It may be another time.
    #[error(
        "expected a name that leads somewhere, found {found}\n\
         see to it that this machine looks it up, and try again"
    )]
    NotFound {
        /// Which one, and what became of its look-up.
        found: String,
    },
    /// There is no client for it.
    #[error("expected a node of Baton at {url}, found something else: {why}")]
    NoClient {
        /// Where.
        url: Url,
        /// What went wrong.
        why: String,
    },
    /// What was given as an API key or a token cannot be one.
    #[error("expected an API key or a token, found letters that none has")]
    NotAKey,
}

/// What may be asked beside the addresses of the internet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outbound {
    /// Hosts, addresses and networks (`10.0.0.0/8`) that may be asked although they are private, or this machine's own.
    pub allow: Vec<Allowed>,
}

/// Something that may be asked although it is private.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Allowed {
    /// A host by its name, whatever addresses it has.
    Host(String),
    /// Addresses with the same first bits.
    Network(IpAddr, u8),
}

/// What this caller may name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reach {
    /// What listens on this machine.
    pub loopback: bool,
}

/// A text that names nothing that may be allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a host, an address or a network such as 10.0.0.0/8, found {0:?}")]
pub struct InvalidAllowed(String);

impl std::str::FromStr for Allowed {
    type Err = InvalidAllowed;

    fn from_str(text: &str) -> Result<Self, InvalidAllowed> {
        let invalid = || InvalidAllowed(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u8>().map_err(|_| invalid())?)),
            None => (text, None),
        };
        if let Ok(address) = address.parse::<IpAddr>() {
            let most = if address.is_ipv4() { 32 } else { 128 };
            let bits = bits.unwrap_or(most);
            return if bits <= most { Ok(Self::Network(address, bits)) } else { Err(invalid()) };
        }
        match (Host::parse(address), bits) {
            (Ok(Host::Domain(name)), None) => Ok(Self::Host(name)),
            _ => Err(invalid()),
        }
    }
}

impl Outbound {
    /// Checks an address, and returns where it leads: connections must go there and nowhere else.
    pub async fn check(&self, url: &Url, reach: Reach) -> Result<Vec<SocketAddr>, WayError> {
        if !matches!(url.scheme(), "http" | "https") {
            return refuse(format!("one with the scheme {}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("one with a user or a password in it".to_owned());
        }
        let found = resolve(url).await?;
        let host = url.host_str().unwrap_or_default();
        let is_named =
            self.allow.iter().any(|one| matches!(one, Allowed::Host(name) if name == host));
        if is_named
            || (reach.loopback && found.iter().all(|one| one.ip().to_canonical().is_loopback()))
        {
            return Ok(found);
        }
        let elsewhere = Elsewhere::default();
        let may_ask = |one: &SocketAddr| self.may_ask(one.ip(), reach, |ip| elsewhere.has(ip));
        if let Some(closed) = found.iter().find(|one| !may_ask(one)).map(SocketAddr::ip) {
            let is_own = is_public(closed);
            if is_own && elsewhere.is_own(closed).is_none() {
                // Neither the list of this machine's addresses nor its kernel says whether it leads here.
                let found = format!("{host}, which leads to {closed}, perhaps this very machine");
                return Err(WayError::NotFound { found });
            }
            let what = if is_own { "this machine's own" } else { "the private" };
            return refuse(format!("{host}, which leads to {what} address {closed}"));
        }
        // In clear text a key would be anybody's, so the settings have to name this very place.
        let is_literal = matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_)));
        let is_this = |one: &SocketAddr| self.allow.iter().any(|allowed| allowed.is(one.ip()));
        if url.scheme() == "http" && !(is_literal && found.iter().all(is_this)) {
            let place = url.origin().ascii_serialization();
            return refuse(format!(
                "{place}, which is not encrypted, and which outbound.allow does not name by itself"
            ));
        }
        Ok(found)
    }

    /// Whoever may name what listens on this machine may do so by its public address, too.
    fn may_ask(
        &self,
        address: IpAddr,
        reach: Reach,
        is_elsewhere: impl Fn(IpAddr) -> bool,
    ) -> bool {
        let address = address.to_canonical();
        (reach.loopback && is_public(address))
            || is_elsewhere(address)
            || self.allow.iter().any(|one| one.has(address))
    }
}

impl Allowed {
    /// Whether it is this address, and no network.
    fn is(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        matches!(self, Self::Network(_, bits) if *bits == most) && self.has(address)
    }

    fn has(&self, address: IpAddr) -> bool {
        matches!(self, Self::Network(network, bits) if is_within(*network, *bits, address))
    }
}

async fn resolve(url: &Url) -> Result<Vec<SocketAddr>, WayError> {
    resolve_within(url, &LOOKUPS).await
}

/// Where an address leads now, whose name is looked up at one of these places.
pub(crate) async fn resolve_within(
    url: &Url,
    places: &'static Semaphore,
) -> Result<Vec<SocketAddr>, WayError> {
    let port = url.port_or_known_default().unwrap_or(443);
    let found: Vec<SocketAddr> = match url.host() {
        Some(Host::Ipv4(address)) => vec![SocketAddr::from((address, port))],
        Some(Host::Ipv6(address)) => vec![SocketAddr::from((address, port))],
        Some(Host::Domain(name)) => {
            let found = look_up(as_known(name), places, LOOKUP_LIMIT).await;
            let found = found.map_err(|why| unknown(name, why))?;
            found.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()
        }
        None => Vec::new(),
    };
    if found.is_empty() { refuse("one without a host".to_owned()) } else { Ok(found) }
}

/// A name as this machine knows it: one of its own is known without a dot at the end (RFC 6761, section 6.3).
fn as_known(name: &str) -> &str {
    let bare = name.strip_suffix('.').unwrap_or(name);
    if bare == "localhost" || bare.ends_with(".localhost") { bare } else { name }
}

fn unknown(name: &str, why: NoAddress) -> WayError {
    let found = match why {
        NoAddress::None => format!("{name}, which has no address"),
        NoAddress::TimedOut => format!("{name}, which was not looked up within {LOOKUP_LIMIT:?}"),
    };
    WayError::NotFound { found }
}

pub(crate) fn refuse<T>(found: String) -> Result<T, WayError> {
    Err(WayError::AddressNotAllowed { found })
}

impl Answers for WayError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::AddressNotAllowed { .. } => ErrorCode::AddressNotAllowed,
            Self::NotFound { .. } | Self::NoClient { .. } => ErrorCode::PeerUnreachable,
            Self::NotAKey => ErrorCode::InvalidRequest,
        }
    }
}

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long one answer may take.
pub const ANSWER_LIMIT: Duration = Duration::from_mins(2);
/// The largest card or problem.
pub const SMALL_MAX: usize = 64 << 10;

/// A client, and where it goes.
#[derive(Debug, Clone)]
pub struct CheckedClient {
    /// What asks there.
    pub http: reqwest::Client,
    /// The addresses that were checked.
    addresses: Vec<SocketAddr>,
}

impl CheckedClient {
    /// Opens a connection there, and closes it again. Whether a machine takes connections is not to be seen of a
    /// request: for the client of HTTP, one is open once TLS has shaken hands.
    ///
    /// # Errors
    ///
    /// None of the addresses takes one, or none within that time, which is `TimedOut`.
    pub async fn knock(&self, limit: Duration) -> io::Result<()> {
        let mut opening: FuturesUnordered<_> =
            self.addresses.iter().map(TcpStream::connect).collect();
        let opened = async {
            let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
            while let Some(opened) = opening.next().await {
                match opened {
                    Ok(_) => return Ok(()),
                    Err(error) => failed = error,
                }
            }
            Err(failed)
        };
        timeout(limit, opened).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }
}

/// A client that goes to the addresses which were checked, and nowhere else.
pub async fn client(
    outbound: &Outbound,
    url: &Url,
    reach: Reach,
) -> Result<reqwest::Client, WayError> {
    Ok(client_within(outbound, url, reach, CONNECT_LIMIT).await?.http)
}

/// The same, whose connections open within `connect`.
pub async fn client_within(
    outbound: &Outbound,
    url: &Url,
    reach: Reach,
    connect: Duration,
) -> Result<CheckedClient, WayError> {
    let addresses = outbound.check(url, reach).await?;
    let builder = trusting(builder(url, &addresses, connect), url, Speaks::Newest)
        .map_err(|error| WayError::NoClient { url: url.clone(), why: error.to_string() })?;
    Ok(CheckedClient { http: built(url, builder)?, addresses })
}

/// A client that goes to whoever has the key of this pin, at an address that an invitation named: that it is
/// private is no reason against it, because nobody else there hears a request.
pub async fn pinned_client(
    url: &Url,
    pin: CertificatePin,
    connect: Duration,
) -> Result<CheckedClient, WayError> {
    if url.scheme() != "https" || !url.username().is_empty() || url.password().is_some() {
        return refuse("one of a pinned certificate that does not begin with https".to_owned());
    }
    let addresses = resolve(url).await?;
    let tls = certificate::pinned(pin)
        .map_err(|error| WayError::NoClient { url: url.clone(), why: error.to_string() })?;
    let http = built(url, builder(url, &addresses, connect).tls_backend_preconfigured(tls))?;
    Ok(CheckedClient { http, addresses })
}

fn builder(url: &Url, addresses: &[SocketAddr], connect: Duration) -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(connect)
        .timeout(ANSWER_LIMIT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(url.host_str().unwrap_or_default(), addresses)
}

fn built(url: &Url, builder: reqwest::ClientBuilder) -> Result<reqwest::Client, WayError> {
    let client = builder.build();
    client.map_err(|error| WayError::NoClient { url: url.clone(), why: said(error) })
}

/// Whether an address names this machine itself.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// The address at these segments below another one.
pub fn address(base: &Url, segments: &[&str]) -> Result<Url, WayError> {
    let mut url = base.clone();
    let found = || WayError::AddressNotAllowed { found: base.to_string() };
    url.path_segments_mut().map_err(|()| found())?.pop_if_empty().extend(segments);
    Ok(url)
}

/// What a header says to show a key or a token; it is in no log.
pub fn bearer(key: &SecretString) -> Result<HeaderValue, WayError> {
    let value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()));
    let mut value = value.map_err(|_| WayError::NotAKey)?;
    value.set_sensitive(true);
    Ok(value)
}

/// The body of a response, if it is no longer than that.
pub async fn bounded(mut response: reqwest::Response, most: usize) -> Result<Vec<u8>, String> {
    let length = response.content_length().and_then(|length| usize::try_from(length).ok());
    let mut body = Vec::with_capacity(length.unwrap_or_default().min(most));
    while let Some(chunk) = response.chunk().await.map_err(said)? {
        if body.len() + chunk.len() > most {
            return Err(format!("expected an answer of at most {most} bytes, found more"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What went wrong, down to the cause; the address is known.
pub fn said(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() { "it took too long".to_owned() } else { describe_cause(&cause(&error)) }
}

/// Why what answers is not talked to: it shows a certificate that does not count here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Distrust {
    /// Nobody whom this machine trusts signed it, or not for this name, or not for today.
    Certificate(String),
    /// It is of another machine than the one whose key is pinned.
    OtherKey,
}

/// What is wrong with the certificate, if that is why a request failed.
pub fn distrust(error: &reqwest::Error) -> Option<Distrust> {
    distrust_in(&cause(error))
}

fn cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

fn distrust_in(cause: &str) -> Option<Distrust> {
    // What a verifier of ours says is shown by its name.
    if cause.contains("OtherCertificate") {
        return Some(Distrust::OtherKey);
    }
    let why = cause.strip_prefix("invalid peer certificate: ")?;
    Some(Distrust::Certificate(why.to_owned()))
}

/// What to do about a certificate that is not trusted.
pub const HOW_TO_TRUST: &str = "trust whoever signed it here, in the certificates of the system, or name a file \
     with theirs in SSL_CERT_FILE and start the node again; a certificate that signs itself has to be one of a \
     server, not of an authority";

/// What the cause says, and what to do where that is known.
fn describe_cause(cause: &str) -> String {
    match distrust_in(cause) {
        Some(Distrust::OtherKey) => OtherCertificate.to_string(),
        Some(Distrust::Certificate(why)) => {
            format!("this machine does not trust its certificate ({why}): {HOW_TO_TRUST}")
        }
        None if cause.contains("InvalidContentType") => {
            "what answers there speaks no TLS: is its address one with http?".to_owned()
        }
        None => cause.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Outbound, Reach, describe_cause, unknown};
    use baton_api::{Answers, ErrorCode};
    use baton_egress::NoAddress;
    use std::net::IpAddr;

    async fn may_ask(allow: &[&str], url: &str) -> bool {
        let allow = allow.iter().map(|one| one.parse().unwrap()).collect();
        Outbound { allow }.check(&url.parse().unwrap(), Reach::default()).await.is_ok()
    }

    #[tokio::test]
    async fn an_address_is_asked_in_clear_text_where_the_settings_name_it() {
        for (allow, url, expected) in [
            ("127.0.0.1", "http://127.0.0.1:9000/hook", true),
            ("::1", "http://[::1]:9000/hook", true),
            ("10.0.0.7/32", "http://10.0.0.7/hook", true),
            ("192.0.2.7", "http://192.0.2.7/hook", true),
            // A person who allows a network says which machines, and not that all may listen on the way.
            ("10.0.0.0/8", "http://10.0.0.7/hook", false),
            ("10.0.0.0/8", "https://10.0.0.7/hook", true),
            ("127.0.0.1", "http://127.0.0.2/hook", false),
            // What a name leads to may be another address tomorrow.
            ("127.0.0.1", "http://localhost:9000/hook", false),
            ("localhost", "http://localhost:9000/hook", true),
        ] {
            assert_eq!(may_ask(&[allow], url).await, expected, "{allow} {url}");
        }
    }

    #[test]
    fn a_public_address_of_this_machine_is_asked_by_whoever_may_reach_it() {
        let own: IpAddr = "11.7.0.1".parse().unwrap();
        let is_elsewhere = |address: IpAddr| address != own;
        let asks = |allow: &[&str], loopback, address: &str| {
            let allow = allow.iter().map(|one| one.parse().unwrap()).collect();
            let reach = Reach { loopback };
            Outbound { allow }.may_ask(address.parse().unwrap(), reach, is_elsewhere)
        };
        assert!(!asks(&[], false, "11.7.0.1") && !asks(&[], false, "::ffff:11.7.0.1"));
        assert!(asks(&[], false, "11.7.0.2"));
        assert!(asks(&[], true, "11.7.0.1") && asks(&["11.7.0.1"], false, "11.7.0.1"));
    }

    #[test]
    fn a_name_that_nobody_looked_up_is_told_from_one_without_an_address() {
        let told = [NoAddress::None, NoAddress::TimedOut].map(|why| unknown("app.test", why));
        assert!(told.iter().all(|error| error.code() == ErrorCode::PeerUnreachable), "{told:?}");
        insta::assert_snapshot!(told.map(|error| error.to_string()).join("\n"), @r"
        expected a name that leads somewhere, found app.test, which has no address
        see to it that this machine looks it up, and try again
        expected a name that leads somewhere, found app.test, which was not looked up within 5s
        see to it that this machine looks it up, and try again
        ");
    }

    #[test]
    fn what_is_wrong_with_tls_is_told_with_what_to_do() {
        let causes = [
            "invalid peer certificate: Other(OtherError(CaUsedAsEndEntity))",
            "received corrupt message of type InvalidContentType",
            "Connection refused (os error 111)",
        ];
        insta::assert_snapshot!(causes.map(describe_cause).join("\n"), @r"
        this machine does not trust its certificate (Other(OtherError(CaUsedAsEndEntity))): trust whoever signed it here, in the certificates of the system, or name a file with theirs in SSL_CERT_FILE and start the node again; a certificate that signs itself has to be one of a server, not of an authority
        what answers there speaks no TLS: is its address one with http?
        Connection refused (os error 111)
        ");
    }
}
