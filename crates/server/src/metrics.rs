//! Metrics: what is counted, and the listener of its own on which they are served.
//!
//! Captures, resumes and running browsers are counted where they happen, in the supervisor. Nothing that
//! is counted names a session, a site or an owner: metrics are read by those who may not see them.

use crate::ingress::{HostCheck, HttpConfig, check_host_and_origin};
use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use baton_net::connections::{Bounds, Listener};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Counts one answered request.
pub fn answered(method: &str, route: &str, status: u16, took: Duration) {
    let labels = [
        ("method", method.to_owned()),
        ("route", route.to_owned()),
        ("status", status.to_string()),
    ];
    metrics::counter!("baton_http_requests_total", &labels).increment(1);
    metrics::histogram!("baton_http_request_seconds", &labels[..2]).record(took);
}

/// A tool that is connected to a browser: counted until it is dropped.
pub struct CdpClient(());

/// Counts one more tool that is connected to a browser.
pub fn cdp_client() -> CdpClient {
    metrics::gauge!("baton_cdp_clients").increment(1);
    CdpClient(())
}

impl Drop for CdpClient {
    fn drop(&mut self) {
        metrics::gauge!("baton_cdp_clients").decrement(1);
    }
}

/// A viewer of a session's live picture: counted until it is dropped.
pub struct LiveViewer(());

/// Counts one more viewer of a live picture.
pub fn live_viewer() -> LiveViewer {
    metrics::gauge!("baton_live_viewers").increment(1);
    LiveViewer(())
}

impl Drop for LiveViewer {
    fn drop(&mut self) {
        metrics::gauge!("baton_live_viewers").decrement(1);
    }
}

/// Counts pictures that went to a viewer, and those that were left out because it had not drawn one before.
pub fn live_pictures(sent: u64, dropped: u64) {
    metrics::counter!("baton_live_pictures_total", "outcome" => "sent").increment(sent);
    metrics::counter!("baton_live_pictures_total", "outcome" => "dropped").increment(dropped);
}

/// The process has one recorder, however many nodes a test runs in it.
static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// Starts counting; what happened before is not known.
pub fn install() -> PrometheusHandle {
    let install = || {
        let recorder = PrometheusBuilder::new().build_recorder();
        let handle = recorder.handle();
        if metrics::set_global_recorder(recorder).is_err() {
            tracing::warn!("another recorder of metrics is installed: ours stays empty");
        }
        handle
    };
    RECORDER.get_or_init(install).clone()
}

/// Serves `/metrics` at `address` until `shutdown`, to requests that name this machine, or one of `hosts`: a
/// page that points a name of its own here reads nothing.
pub async fn serve(
    address: SocketAddr,
    hosts: Vec<String>,
    bounds: Bounds,
    shutdown: CancellationToken,
) -> std::io::Result<()> {
    let listener = TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    let config = HttpConfig {
        address,
        tls: false,
        behind_proxy: false,
        published: None,
        allowed_hosts: hosts,
        body_bytes: 0,
        for_peers: false,
    };
    let check = from_fn_with_state(HostCheck::new(&config), check_host_and_origin);
    let service = Router::new().route("/metrics", get(render)).with_state(install()).layer(check);
    tracing::info!(%address, "metrics are served");
    let bound = Listener { listener, tls: None, service, bounds, behind_proxy: false, keys: None };
    tokio::spawn(async move { bound.answer(&shutdown).await });
    Ok(())
}

async fn render(State(handle): State<PrometheusHandle>) -> String {
    handle.run_upkeep();
    handle.render()
}
