//! A tunnel through a proxy of HTTP: asked for with CONNECT (RFC 9110, section 9.3.6), and what it says where
//! it makes none.

use crate::hosts::Target;
use crate::stream::Stream;
use http::header::{HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body_util::Empty;
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use std::error::Error;
use tokio_util::task::AbortOnDropHandle;

/// Why there is no tunnel.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoTunnel {
    /// It broke off, or speaks something else.
    #[error("expected an answer to CONNECT, found: {0}")]
    Broken(String),
    /// It wants to know who comes.
    #[error(transparent)]
    NotLetIn(#[from] NotLetIn),
    /// It says no.
    #[error("it answers CONNECT with {0}")]
    Refused(StatusCode),
}

/// What a proxy wants to know of who comes, that it did not hear.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotLetIn {
    /// A user and a password.
    #[error("it wants a user and a password")]
    Credentials,
    /// Others than those that it was told.
    #[error("it does not take the user and the password that it was told")]
    OtherCredentials,
    /// Something that is not spoken here.
    #[error(
        "it wants {0}, and Baton speaks Basic alone: a proxy on this machine that speaks it for you, such as \
         px or cntlm, can stand between"
    )]
    Schemes(String),
}

impl NotLetIn {
    /// What the answer 407 of a proxy says (RFC 9110, section 11.7). `NTLM` and `Negotiate` sign a connection
    /// as a user of a domain, with what only that user's own programs have.
    pub(crate) fn of(answer: &HeaderMap, had_some: bool) -> Self {
        let wanted = answer.get_all(PROXY_AUTHENTICATE).iter();
        let schemes: Vec<&str> = wanted
            .filter_map(|value| value.to_str().ok()?.split_ascii_whitespace().next())
            .collect();
        let is_basic = |scheme: &&str| scheme.eq_ignore_ascii_case("basic");
        if schemes.is_empty() || schemes.iter().any(is_basic) {
            return if had_some { Self::OtherCredentials } else { Self::Credentials };
        }
        let plain =
            |scheme: &&str| scheme.chars().take(40).filter(char::is_ascii_graphic).collect();
        let schemes: Vec<String> = schemes.iter().take(4).map(plain).collect();
        Self::Schemes(schemes.join(" or "))
    }
}

/// Has a proxy connect to a target over `stream`, which leads to the target afterwards.
pub(crate) async fn tunnel(
    stream: TokioIo<Stream>,
    target: &Target,
    credentials: Option<HeaderValue>,
) -> Result<Stream, NoTunnel> {
    let broken = |error: hyper::Error| {
        let cause = error.source().map(ToString::to_string);
        NoTunnel::Broken(cause.unwrap_or_else(|| error.to_string()))
    };
    let shaken = hyper::client::conn::http1::handshake(stream).await;
    let (mut sender, connection) = shaken.map_err(broken)?;
    // It ends when the tunnel begins, or when nobody waits for that any more.
    let _driven = AbortOnDropHandle::new(tokio::spawn(connection.with_upgrades()));
    let place = target.to_string();
    let mut request = Request::connect(&place).header(HOST, &place);
    let had_some = credentials.is_some();
    if let Some(credentials) = credentials {
        request = request.header(PROXY_AUTHORIZATION, credentials);
    }
    let request = request.body(Empty::<Bytes>::new());
    let request = request.map_err(|error| NoTunnel::Broken(error.to_string()))?;
    let answer = sender.send_request(request).await.map_err(broken)?;
    match answer.status() {
        status if status.is_success() => {
            let upgraded = hyper::upgrade::on(answer).await.map_err(broken)?;
            Ok(Stream::new(TokioIo::new(upgraded)))
        }
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            Err(NotLetIn::of(answer.headers(), had_some).into())
        }
        status => Err(NoTunnel::Refused(status)),
    }
}
