//! The way of a request to its upstream service, the wait for the answer, and its way back.

use crate::error::Failure;
use crate::headers::{
    WEBSOCKET, add_forwarded, are_too_large, drop_hop_by_hop, drop_hostile, drop_other_length,
    drop_ours, upgrade,
};
use crate::rewrite::{name_as_they_were, rewrite};
use crate::route::{NoRoute, Route, route};
use crate::upstream::UpstreamService;
use crate::{Proxy, access, now, rewrite};
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HOST, HeaderValue, LOCATION, UPGRADE,
};
use axum::http::{HeaderMap, StatusCode, Uri, Version};
use axum::response::Response;
use baton_debug::token::{Nonce, PageToken};
use baton_egress::{HALF_CLOSED, join};
use baton_net::connections::{BodyTrouble, Connection, Visit};
use baton_net::tls::forwarded_for;
use futures_util::StreamExt;
use hyper::body::{Body as _, Frame, SizeHint};
use hyper::upgrade::OnUpgrade;
use hyper_util::client::legacy::Error;
use hyper_util::rt::TokioIo;
use std::error::Error as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// How much of a WebSocket is passed on at once, in bytes.
const COPIED: usize = 8 << 10;

/// Answers one request.
pub(super) async fn answer(proxy: &Proxy, request: Request) -> Response {
    let accept = request.headers().get(ACCEPT).cloned();
    match find(proxy, &request) {
        Ok((service, route)) => match pass_on(proxy, &service, &route, request).await {
            Ok(response) => response,
            Err(failure) => failure.show(accept.as_ref()),
        },
        Err(Elsewhere::Failed(failure)) => failure.show(accept.as_ref()),
        Err(Elsewhere::Always(place)) => lead(StatusCode::PERMANENT_REDIRECT, &place),
        Err(Elsewhere::ForIts(place)) => lead(StatusCode::TEMPORARY_REDIRECT, &place),
    }
}

/// No upstream service answers.
enum Elsewhere {
    Failed(Failure),
    /// The right address of what was asked for.
    Always(String),
    /// The right address for the page that asked.
    ForIts(String),
}

fn find(
    proxy: &Proxy,
    request: &Request,
) -> Result<(std::sync::Arc<UpstreamService>, Route), Elsewhere> {
    let failed = |status, detail: String| Elsewhere::Failed(Failure::new(status, detail));
    if are_too_large(request.headers()) {
        let detail =
            "expected headers of at most 64 kB, found more\ndelete the cookies of this page";
        return Err(failed(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, detail.to_owned()));
    }
    let route = route(request.uri(), request.headers(), proxy.0.config.host.as_deref());
    let mut route = route.map_err(|none| match none {
        NoRoute::Host => failed(StatusCode::BAD_REQUEST, none.to_string()),
        NoRoute::Foreign => failed(StatusCode::MISDIRECTED_REQUEST, none.to_string()),
        NoRoute::Nothing(_) => failed(StatusCode::NOT_FOUND, none.to_string()),
        NoRoute::Slash(place) => Elsewhere::Always(place),
        NoRoute::Root(place) => Elsewhere::ForIts(place),
    })?;
    route.scheme = proxy.0.config.outside.scheme(&route);
    let Some(service) = proxy.services().fetch(&route.service) else {
        let detail = format!(
            "expected a cocoon, found none with the id {}\nthe settings name the cocoons under [[cocoons]]",
            route.service
        );
        return Err(failed(StatusCode::NOT_FOUND, detail));
    };
    Ok((service, route))
}

/// Leads a request on with its method and its body (RFC 9110, sections 15.4.8 and 15.4.9).
fn lead(how: StatusCode, place: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = how;
    if let Ok(place) = HeaderValue::from_str(place) {
        response.headers_mut().insert(LOCATION, place);
    }
    if how == StatusCode::TEMPORARY_REDIRECT {
        // A page of another upstream service means another place by the same address.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Sends the request to the upstream service, and gives its answer back.
async fn pass_on(
    proxy: &Proxy,
    service: &UpstreamService,
    route: &Route,
    mut request: Request,
) -> Result<Response, Failure> {
    let peer = peer(proxy, &request);
    if let Some(ticket) = access::ticket(route) {
        return access::enter(proxy, service, route, ticket);
    }
    let visit = request.extensions().get::<Visit>().cloned();
    access::check(proxy, service, route, request.headers(), peer, visit.as_ref()).await?;
    let changes = upgrade(request.headers()).map_err(|other| other_protocol(&other))?;
    if changes {
        access::check_origin(route, request.headers())?;
    }
    let path = route.target.split('?').next().unwrap_or_default().to_owned();
    let settings = &service.browser_debug;
    let is_navigation =
        !changes && rewrite::is_navigation(settings, request.method(), &path, request.headers());
    let browser = request.extensions_mut().remove::<OnUpgrade>();
    let (request, moved) = outgoing(service, route, request, changes, is_navigation, peer)?;
    let answer = moved.wait(proxy.0.config.first_byte, proxy.0.client.request(request)).await;
    let mut response = match answer {
        Some(Ok(response)) => response,
        Some(Err(_)) if let Some(trouble) = visit.and_then(|visit| visit.trouble()) => {
            return Err(broken_off(trouble));
        }
        Some(Err(error)) => return Err(failed(service, &error)),
        None => return Err(slow(service, proxy.0.config.first_byte.as_secs())),
    };
    let switched = (response.status() == StatusCode::SWITCHING_PROTOCOLS).then(|| {
        let agrees = changes && upgrade(response.headers()) == Ok(true);
        response.extensions_mut().remove::<OnUpgrade>().filter(|_| agrees)
    });
    let headers = response.headers_mut();
    drop_other_length(headers);
    drop_hop_by_hop(headers);
    drop_hostile(headers);
    rewrite(headers, route, &service.upstream);
    if let Some(upstream) = switched {
        return switch(service, browser, upstream, response.map(Body::new), &proxy.0.ending);
    }
    let status = response.status();
    if is_navigation && rewrite::is_page(settings, status, response.headers()) {
        let page = PageToken::new(
            service.id.clone(),
            service.owner.clone(),
            &path,
            Nonce::new(rand::random()),
        );
        let token = page.sign(&proxy.0.config.secret, now()).ok();
        if let Some(token) = token.and_then(|token| HeaderValue::from_str(&token).ok()) {
            rewrite::decorate(response.headers_mut(), token);
        }
    }
    *response.version_mut() = Version::HTTP_11;
    let is_stream = is_event_stream(response.headers());
    let response = response.map(Body::new);
    Ok(if is_stream { response.map(|body| until(body, &proxy.0.ending)) } else { response })
}

/// Whether an answer goes on for as long as its client likes (HTML, "Server-sent events").
fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// A body that ends when the node does, which would wait for it.
fn until(body: Body, ending: &CancellationToken) -> Body {
    let ending = ending.clone().cancelled_owned();
    Body::from_stream(body.into_data_stream().take_until(Box::pin(ending)))
}

/// Who asks; a proxy in front of this one says for whom it does.
fn peer(proxy: &Proxy, request: &Request) -> IpAddr {
    if proxy.0.config.outside.is_behind_proxy()
        && let Some(named) = forwarded_for(request.headers())
    {
        return named;
    }
    let connection = request.extensions().get::<Connection>();
    connection.map_or(Ipv4Addr::UNSPECIFIED.into(), |Connection(address)| address.ip())
}

/// The request as the upstream service gets it.
fn outgoing(
    service: &UpstreamService,
    route: &Route,
    request: Request,
    changes: bool,
    is_navigation: bool,
    peer: IpAddr,
) -> Result<(Request, Moved), Failure> {
    let (mut parts, body) = request.into_parts();
    let address = Uri::builder()
        .scheme("http")
        .authority(service.upstream.authority())
        .path_and_query(&route.target);
    parts.uri = address.build().map_err(|_| {
        Failure::new(StatusCode::BAD_REQUEST, "expected a path, found something else")
    })?;
    parts.version = Version::HTTP_11;
    let headers: &mut HeaderMap = &mut parts.headers;
    drop_hop_by_hop(headers);
    drop_ours(headers);
    if !route.prefix.is_empty() {
        name_as_they_were(headers);
    }
    add_forwarded(headers, route, peer);
    if let Ok(host) = HeaderValue::from_str(&route.host) {
        headers.insert(HOST, host);
    }
    if is_navigation {
        rewrite::ask_for_all(headers);
    }
    if changes {
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
    }
    parts.extensions.clear();
    let moved = Moved::now();
    let body =
        if body.is_end_stream() { body } else { Body::new(Watched { body, moved: moved.clone() }) };
    Ok((Request::from_parts(parts, body), moved))
}

/// Joins the two connections once both have changed their protocol.
fn switch(
    service: &UpstreamService,
    browser: Option<OnUpgrade>,
    upstream: Option<OnUpgrade>,
    mut response: Response,
    ending: &CancellationToken,
) -> Result<Response, Failure> {
    let (Some(browser), Some(upstream)) = (browser, upstream) else {
        return Err(Failure::new(
            StatusCode::BAD_GATEWAY,
            format!(
                "expected the cocoon {} to answer over HTTP, found that it changed the protocol",
                service.id
            ),
        ));
    };
    let ending = ending.clone();
    tokio::spawn(async move {
        let joined = async {
            let (browser, upstream) =
                tokio::try_join!(browser, upstream).map_err(io::Error::other)?;
            let (mut browser, mut upstream) = (TokioIo::new(browser), TokioIo::new(upstream));
            join(&mut browser, &mut upstream, COPIED, HALF_CLOSED).await
        };
        tokio::select! {
            joined = joined => if let Err(error) = joined {
                tracing::debug!(%error, "a connection to a cocoon ended early");
            },
            () = ending.cancelled() => {}
        }
    });
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("upgrade"));
    response.headers_mut().insert(UPGRADE, HeaderValue::from_static(WEBSOCKET));
    Ok(response)
}

/// The request is to change to a protocol that is not passed on.
fn other_protocol(found: &str) -> Failure {
    let detail = format!("expected no Upgrade but to {WEBSOCKET}, found {found:?}");
    Failure::new(StatusCode::BAD_REQUEST, detail)
}

/// The body of the request was not taken to its end.
fn broken_off(trouble: BodyTrouble) -> Failure {
    let status = match trouble {
        BodyTrouble::Slow => StatusCode::REQUEST_TIMEOUT,
        BodyTrouble::NoRoom => StatusCode::TOO_MANY_REQUESTS,
    };
    Failure::new(status, trouble.to_string())
}

/// The upstream service did not answer, or not as it should.
fn failed(service: &UpstreamService, error: &Error) -> Failure {
    tracing::debug!(cocoon = %service.id, %error, "a cocoon did not answer");
    let (id, url) = (&service.id, service.upstream.url());
    if is_timeout(error) {
        return Failure::new(
            StatusCode::GATEWAY_TIMEOUT,
            format!(
                "expected the cocoon {id} at {url} to take a connection within 10 s, found that it does not\n\
             check that it runs, and that its upstream is right"
            ),
        );
    }
    let found = if error.is_connect() {
        "nothing answers there"
    } else {
        "its answer broke off or is no HTTP"
    };
    Failure::new(
        StatusCode::BAD_GATEWAY,
        format!(
            "expected the cocoon {id} at {url} to answer, found that {found}\n\
         check that it runs, and that its upstream is right"
        ),
    )
}

fn is_timeout(error: &Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
    })
}

fn slow(service: &UpstreamService, seconds: u64) -> Failure {
    Failure::new(
        StatusCode::GATEWAY_TIMEOUT,
        format!(
            "expected the answer of the cocoon {} to begin within {seconds} s, found none\n\
         look why it takes so long, or allow it more with proxy.first_byte_timeout",
            service.id
        ),
    )
}

/// When something last moved.
#[derive(Clone)]
struct Moved(Arc<Mutex<Instant>>);

impl Moved {
    fn now() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `answer` becomes; none when nothing moved for so long.
    async fn wait<T>(&self, limit: Duration, answer: impl Future<Output = T>) -> Option<T> {
        let still = async {
            loop {
                let end = self.last() + limit;
                if end <= Instant::now() {
                    return;
                }
                sleep_until(end).await;
            }
        };
        tokio::select! {
            answer = answer => Some(answer),
            () = still => None,
        }
    }
}

/// A body that notes each piece that moves on.
struct Watched {
    body: Body,
    moved: Moved,
}

impl hyper::body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            self.moved.note();
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
