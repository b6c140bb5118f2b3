//! Whose certificates this machine trusts, read once for many clients.
//!
//! The one idea: they are a hundred files and more, and a client is made for each exchange with a peer. So what was
//! read counts for a minute, and a client that speaks no TLS reads none.

use rustls_platform_verifier::Verifier;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::{ClientConfig, Error};
use url::Url;

/// For how long what was read counts: whoever adds an authority to the machine need not start its node again.
const FRESH: Duration = Duration::from_mins(1);

/// What a client offers to speak over TLS (RFC 7301), best first.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Speaks {
    /// HTTP/2, or else HTTP/1.1.
    Newest,
    /// A connection of HTTP/2 cannot become a WebSocket.
    Http1,
}

/// What was read last.
static READ: Mutex<Option<(Instant, ClientConfig)>> = Mutex::new(None);

/// Gives a client for `url` the trust that it needs.
pub(crate) fn trusting(
    builder: reqwest::ClientBuilder,
    url: &Url,
    speaks: Speaks,
) -> Result<reqwest::ClientBuilder, Error> {
    if url.scheme() != "https" {
        return Ok(builder.tls_certs_only(Vec::new()));
    }
    let mut tls = of_machine()?;
    let newest = matches!(speaks, Speaks::Newest).then(|| b"h2".to_vec());
    tls.alpn_protocols = newest.into_iter().chain([b"http/1.1".to_vec()]).collect();
    Ok(builder.tls_backend_preconfigured(tls))
}

fn of_machine() -> Result<ClientConfig, Error> {
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, trust)) = read.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
        return Ok(trust.clone());
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Verifier::new(Arc::clone(&provider))?;
    let trust = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    *read = Some((Instant::now(), trust.clone()));
    Ok(trust)
}
