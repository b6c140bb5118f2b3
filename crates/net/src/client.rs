//! The way to another node or service: a client that goes where it was checked, and bodies that are
//! bounded.

use crate::outbound::{Outbound, Reach, WayError};
use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use std::time::Duration;
use url::Url;

/// How long a connection may take to open.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// How long one answer may take.
pub const ANSWER_LIMIT: Duration = Duration::from_mins(2);
/// The largest card or problem.
pub const SMALL_MAX: usize = 64 << 10;

/// A client that goes to the addresses which were checked, and nowhere else.
pub async fn client(
    outbound: &Outbound,
    url: &Url,
    reach: Reach,
) -> Result<reqwest::Client, WayError> {
    client_within(outbound, url, reach, CONNECT_LIMIT).await
}

/// The same, whose connections open within `connect`.
pub async fn client_within(
    outbound: &Outbound,
    url: &Url,
    reach: Reach,
    connect: Duration,
) -> Result<reqwest::Client, WayError> {
    let addresses = outbound.check(url, reach).await?;
    let host = url.host_str().unwrap_or_default();
    let client = reqwest::Client::builder()
        .connect_timeout(connect)
        .timeout(ANSWER_LIMIT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .resolve_to_addrs(host, &addresses)
        .build();
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
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    if error.is_timeout() {
        "it took too long".to_owned()
    } else {
        describe_cause(&cause.to_string())
    }
}

/// What the cause says, and what to do where that is known.
fn describe_cause(cause: &str) -> String {
    if let Some(why) = cause.strip_prefix("invalid peer certificate: ") {
        return format!(
            "this machine does not trust its certificate ({why}): trust whoever signed it here, in the \
             certificates of the system, or name a file with theirs in SSL_CERT_FILE and start the node \
             again; a certificate that signs itself has to be one of a server, not of an authority"
        );
    }
    if cause.contains("InvalidContentType") {
        return "what answers there speaks no TLS: is its address one with http?".to_owned();
    }
    cause.to_owned()
}

#[cfg(test)]
mod tests {
    use super::describe_cause;

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
