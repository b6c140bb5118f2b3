//! The proxy: is in front of upstream services, and lets their pages be looked into.
//!
//! The one idea: what an upstream service and a browser say to each other passes through as it is, both ways
//! and as it comes. Only what concerns the connection or us is changed: `headers` says which of them go on,
//! `rewrite` corrects addresses that name the upstream service's own, and adds the token of a page to
//! real navigations. A request goes by `route` (whose is it, and was it meant for us), `access` (who may),
//! `forward` (on to the upstream service) and, when that fails, `error`. [`UpstreamServices`] are looked up
//! for each request, so a change counts at once. `place` is where it is reached, with its settings, and
//! `upstream` what is behind it.

mod access;
mod error;
mod forward;
mod headers;
mod place;
mod rewrite;
mod route;
mod upstream;
pub mod upstreams;

pub use access::{EnterTicket, TicketKey, UpstreamPass};
pub use error::UpstreamError;
pub use place::{OpenUpstream, Outside, OutsideError, ProxyPlace, ProxySettings};
pub use upstream::{
    Access, BrowserDebug, InvalidUpstream, PageChoices, PageTexts, Upstream, UpstreamChoices,
    UpstreamService, UpstreamServices,
};

use axum::body::Body;
use baton_api::debug::EpochMs;
use baton_debug::token::{DebugSecret, UsedNonces};
use baton_net::connections::{Bounds, Keys, Listener};
use baton_net::rates::Rates;
use baton_runtime::keys::StoredKeys;
use baton_store::{Store, clock};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::service_fn;

/// How long a connection to an upstream service may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long an unused connection to an upstream service is kept.
const IDLE_LIMIT: Duration = Duration::from_secs(90);
/// How many of them are kept for each upstream service.
const IDLE_MOST: usize = 32;
/// How large the head of an upstream service's answer may be, in bytes.
const HEAD_BYTES: usize = 128 << 10;
/// How long what is under way has when the proxy ends.
const ENDING_LIMIT: Duration = Duration::from_secs(15);

/// What a proxy is given.
pub struct ProxyConfig {
    /// The name whose subdomains are upstream services, beside `localhost`, such as `dev.example.org`.
    pub host: Option<String>,
    /// The upstream services.
    pub services: UpstreamServices,
    /// What signs tokens, tickets and passes.
    pub secret: DebugSecret,
    /// How long an upstream service may take until its answer begins, or its request moves on.
    pub first_byte: Duration,
    /// Where keys are looked up; without it only passes open upstream services with `access = "key"`.
    pub keys: Option<Store>,
    /// Who reaches it, and how.
    pub outside: Outside,
    /// How often an address may show a key that is none.
    pub rates: Rates,
    /// How many connections there may be, and how long a caller may take.
    pub bounds: Bounds,
}

/// A proxy. Cheap to clone.
#[derive(Clone)]
pub struct Proxy(Arc<Inner>);

struct Inner {
    config: ProxyConfig,
    client: Client<HttpConnector, Body>,
    tickets: Mutex<UsedNonces>,
    ending: CancellationToken,
}

impl Proxy {
    /// A proxy that runs until `ending`.
    pub fn new(config: ProxyConfig, ending: CancellationToken) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT_LIMIT));
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_LIMIT)
            .pool_max_idle_per_host(IDLE_MOST)
            .http1_max_buf_size(HEAD_BYTES)
            .build(connector);
        Self(Arc::new(Inner { config, client, tickets: Mutex::default(), ending }))
    }

    /// Answers on `listener` until it is to end; what is under way then has 15 s.
    pub async fn serve(self, listener: TcpListener) {
        let (ending, front) = (self.0.ending.clone(), self.clone());
        let service = service_fn(move |request| {
            let proxy = front.clone();
            async move { Ok(forward::answer(&proxy, request).await) }
        });
        let tls = self.0.config.outside.tls();
        let Inner { config, .. } = &*self.0;
        let keys = config.keys.clone().map(|store| Arc::new(StoredKeys(store)) as Arc<dyn Keys>);
        let bounds = config.bounds;
        let behind_proxy = config.outside.is_behind_proxy();
        let bound = Listener { listener, tls, service, bounds, behind_proxy, keys };
        let too_late = async {
            ending.cancelled().await;
            tokio::time::sleep(ENDING_LIMIT).await;
        };
        tokio::select! {
            () = bound.answer(&ending) => {}
            () = too_late => tracing::warn!("some connections to cocoons were still open"),
        }
    }

    /// The upstream services behind it.
    pub fn services(&self) -> &UpstreamServices {
        &self.0.config.services
    }
}

/// Says of which upstream services scripts can read the tokens.
pub fn warn_of_guesses(services: &UpstreamServices) {
    let guessed =
        services.list().into_iter().filter(|one| one.browser_debug.without_fetch_metadata);
    for service in guessed {
        tracing::warn!(
            cocoon = %service.id,
            "navigations are guessed: scripts of its pages can read the token of a page"
        );
    }
}

fn now() -> EpochMs {
    EpochMs::new(u64::try_from(clock::now().as_millisecond()).unwrap_or_default())
}
