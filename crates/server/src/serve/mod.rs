//! The life of a node, in steps. `error` is why it did not start.

mod error;

pub use error::ServeError;

use crate::auth::{LocalKeyError, ensure_local_key, first_key};
use crate::cluster::{BusTask, OwnLists};
use crate::config::{BusSettings, Config, ConfigError};
use crate::context::{Context, ContextParts};
use crate::ending::Budget;
use crate::http::{Listeners, reopen};
use crate::page::PageSessions;
use crate::peer_place::PeerPlace;
use crate::{cluster, ending, metrics, moving, newcomers};
use baton_agents::sandboxes;
use baton_agents::sandboxes::Sandboxes;
use baton_debug::relay::RelayLimits;
use baton_debug::token::{DebugSecret, SecretError};
use baton_debug::{Limits, Relay};
use baton_net::connections::{Bounds, Freight};
use baton_net::rates::Rates;
use baton_proxy::{
    Outside, Proxy, ProxyConfig, ProxyPlace, ProxySettings, UpstreamServices, upstreams,
};
use baton_runtime::live::{BrowserSupervisor, LiveError, SupervisorConfig};
use baton_runtime::{board, life, sessions};
use baton_sandbox::Provider;
use baton_session::{NodeId, Session};
use baton_store::data::{DataError, DataFolder, NodeFile, NodeLock};
use baton_store::{KeyError, MasterKey, Store, StoreError, is_sealed};
use baton_sync::identity::{OwnIdentity, load_or_create};
use baton_sync::webhooks;
use futures_util::FutureExt as _;
use futures_util::future::FusedFuture as _;
use secrecy::SecretString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Runs a node on `listener` until `shutdown`. Its browsers outlive it: the next node on this data
/// folder finds them.
pub async fn serve(
    config: Config,
    listener: TcpListener,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    config.exposure.check(listener.local_addr()?).map_err(ConfigError::from)?;
    let listeners = Listeners::prepare(&config.exposure, listener).await?;
    let outside = outside(&config)?;
    let data = config.data.clone();
    data.create()?;
    let _lock = NodeLock::acquire(&data)?;
    let store = open_store(&config).await?;
    // All of a node's life is too much for the stack of whoever starts it.
    let served = Box::pin(run(config, store.clone(), listeners, outside, shutdown)).await;
    if timeout(ending::DATABASE, store.close()).await.is_err() {
        tracing::warn!("the database was still in use");
    }
    served
}

/// Everything between the opening and the closing of the database.
async fn run(
    mut config: Config,
    store: Store,
    listeners: Listeners,
    outside: Option<Outside>,
    shutdown: CancellationToken,
) -> Result<(), ServeError> {
    let (told, shutdown) = (shutdown, CancellationToken::new());
    let data = config.data.clone();
    let identity = OwnIdentity::new(load_or_create(&store, &data).await?, &data.place()?);
    let node = identity.node();
    let tab = Limits { body_bytes: config.proxy.most_body_bytes(), ..Limits::default() };
    let limits = RelayLimits { tab, ..RelayLimits::default() };
    let relay = Relay::redacting(limits, config.redaction.clone());
    let debug_secret = tab_secret(&config, &store)?;
    let services = upstreams::load(&store, &config.proxy).await?;
    let supervisor =
        BrowserSupervisor::new(store.clone(), supervisor_config(&config, node, relay.clone())?);
    ensure_local_key(&store, &data, config.lease.map(|_| node)).await?;
    tell_first_key(&mut config, &store).await?;
    serve_metrics(&config, &shutdown).await?;
    supervisor.empty(data.arriving()).await?;
    let scratch = supervisor.empty(data.sandboxes()).await?;
    let sandboxes = sandboxes(&config, node, scratch);
    let (exposure, body_bytes) = (config.exposure.clone(), config.body_bytes);
    let (bounds, idle_exit) = (config.bounds, config.idle_exit);
    let rates = Rates::new(config.rates);
    let _beating = supervisor.start_beating(shutdown.clone()).await?;
    let cluster = cluster::enter(&config, &store, &identity).await?;
    // Only now is it sure that no other start of this node runs.
    store.release_sandboxes_of(node).await?;
    let _clustered = cluster
        .as_ref()
        .map(|cluster| cluster::stay(cluster, &supervisor, &sandboxes, &rates, shutdown.clone()));
    let lost = recover(&supervisor).await?;
    let front =
        Front { services: &services, secret: &debug_secret, store: &store, rates: &rates, bounds };
    let proxy = open_proxy(&config.proxy, outside, front, &shutdown).await?;
    let (proxy, proxying) = proxy.unzip();
    let pages = PageSessions::load(&data, &store, cluster.as_ref());
    let context = Context::new(ContextParts {
        store,
        supervisor,
        relay,
        debug_secret,
        services,
        proxy_settings: config.proxy.clone(),
        proxy,
        sandboxes,
        gateway: config.gateway,
        identity,
        node_settings: config.node,
        sync: config.sync,
        outbound: config.outbound,
        oidc: config.oidc,
        sign_in: config.sign_in,
        webhooks: config.webhooks,
        people: config.people,
        rates,
        freight: Freight::new(&bounds),
        pages,
        peer_place: PeerPlace::new(bounds),
        board: config.board.as_deref().map(board::at),
        cluster,
        ending: shutdown.clone(),
    });
    let bus = start_bus(&context, config.bus);
    let inherited = context.supervisor.inherit();
    let _leaving = moving::leave_when_told(&context, config.cluster.as_ref(), told, &shutdown);
    let inherited = moving::fail_over(&context, config.cluster.as_ref(), inherited);
    context.tasks.spawn(life::rehydrate(context.runtime.clone(), lost, inherited));
    context.tasks.spawn(sessions::give_back_left(context.runtime.clone()));
    if let Some(proxying) = proxying {
        context.tasks.spawn(proxying);
    }
    newcomers::start(&context).await?;
    context.tasks.spawn(reopen(context.clone()));
    baton_sync::start_auto(&context);
    baton_sync::start_folder(&context);
    sandboxes::start_preparing(&context.agents);
    baton_sync::start_cloud(&context);
    start_webhooks(&context);
    publish(&data, listeners.local(), node)?;
    let address = listeners.address();
    tracing::info!(%address, %node, version = env!("CARGO_PKG_VERSION"), "the node is ready");
    tokio::spawn(until_told(context.clone(), idle_exit, shutdown.clone()));
    let answering = listeners.answer(&context, &exposure, body_bytes, bounds, &shutdown).fuse();
    let mut answering = pin!(answering);
    tokio::select! {
        () = &mut answering => {}
        () = shutdown.cancelled() => {}
    }
    let mut budget = Budget::start();
    let requests = async {
        if !answering.is_terminated() {
            answering.await;
        }
        context.tasks.close();
        context.tasks.wait().await;
    };
    if budget.spend(ending::REQUESTS, requests).await.is_none() {
        let tasks = context.tasks.len();
        tracing::warn!(tasks, "some requests were still under way");
    }
    shut_down(&context, &data, bus, budget).await;
    Ok(())
}

/// Tells the other nodes of the cluster at once what happens here, where the settings name a bus.
fn start_bus(context: &Context, settings: Option<BusSettings>) -> Option<BusTask> {
    let (settings, cluster) = settings.zip(context.cluster.clone())?;
    let lists = OwnLists::new(context.relay.listen(), context.agents.sandboxes.listen());
    let (sync, doorbell) = (context.sync.clone(), context.doorbell.clone());
    Some(cluster::start_bus(settings, cluster, sync, lists, doorbell))
}

/// Tells programs of sessions that come from elsewhere, where the settings name some.
fn start_webhooks(context: &Context) {
    let around = webhooks::Around {
        store: context.store.clone(),
        outbound: context.own.outbound.clone(),
        tasks: context.tasks.clone(),
        ending: context.ending.clone(),
    };
    webhooks::start(&context.own.webhooks, &around);
}

/// Answers with what is counted, where the settings name an address for it.
async fn serve_metrics(config: &Config, shutdown: &CancellationToken) -> Result<(), ServeError> {
    let Some(address) = config.metrics else { return Ok(()) };
    let hosts = config.exposure.allowed_hosts.clone();
    let served = metrics::serve(address, hosts, config.bounds, shutdown.clone()).await;
    served.map(drop).map_err(|source| ServeError::Metrics { address, source })
}

/// Tells the first key of a new node, where somebody is to be told.
async fn tell_first_key(config: &mut Config, store: &Store) -> Result<(), LocalKeyError> {
    if let Some(told) = config.first_key.take()
        && let Some(key) = first_key(store).await?
    {
        // Whoever does not wait for it makes another.
        let _ = told.send(key);
    }
    Ok(())
}

/// The secret that others share with this node, or else the data folder's own.
pub fn debug_secret(
    shared: Option<&SecretString>,
    data: &DataFolder,
) -> Result<DebugSecret, SecretError> {
    match shared {
        Some(text) => DebugSecret::from_text(text),
        None => DebugSecret::load_or_create(&data.debug_key(), rand::random()),
    }
}

/// By what this node signs for tabs: in a cluster all nodes by the same, so that a tab goes on at any of them.
fn tab_secret(config: &Config, store: &Store) -> Result<DebugSecret, SecretError> {
    match (&config.debug_secret, &config.cluster) {
        (None, Some(_)) => Ok(DebugSecret::from_bytes(*store.shared_secret("debug tokens"))),
        (shared, _) => debug_secret(shared.as_ref(), &config.data),
    }
}

/// What a proxy is in front of.
struct Front<'a> {
    services: &'a UpstreamServices,
    secret: &'a DebugSecret,
    store: &'a Store,
    rates: &'a Rates,
    bounds: Bounds,
}

/// Who reaches the proxy, if the settings want one.
fn outside(config: &Config) -> Result<Option<Outside>, ServeError> {
    let prepare = |address| Outside::prepare(&config.exposure, address, &config.proxy.services);
    Ok(config.proxy.listen.map(prepare).transpose()?)
}

/// Opens the proxy, if the settings want one: where it is reached, and its answering.
async fn open_proxy(
    settings: &ProxySettings,
    outside: Option<Outside>,
    front: Front<'_>,
    ending: &CancellationToken,
) -> Result<Option<(ProxyPlace, impl Future<Output = ()> + use<>)>, ServeError> {
    let (Some(address), Some(outside)) = (settings.listen, outside) else { return Ok(None) };
    let failed = |source| ServeError::Proxy { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let (host, listens) = (settings.host.clone(), listener.local_addr().map_err(failed)?);
    let place = ProxyPlace { address: listens, host, outside: outside.clone() };
    let config = ProxyConfig {
        host: settings.host.clone(),
        services: front.services.clone(),
        secret: front.secret.clone(),
        first_byte: settings.first_byte,
        keys: Some(front.store.clone()),
        outside,
        rates: front.rates.clone(),
        bounds: front.bounds,
    };
    baton_proxy::warn_of_guesses(front.services);
    tracing::info!(address = %place.address, cocoons = front.services.list().len(), "the proxy is ready");
    Ok(Some((place, Proxy::new(config, ending.clone()).serve(listener))))
}

/// Opens the database with the master key that the configuration names.
pub(crate) async fn open_store(config: &Config) -> Result<Store, StoreError> {
    // A new key for an old database would open nothing, and stand in the way of the right one.
    let key = match config.data.master_key(config.master_key.as_ref()) {
        Err(KeyError::Missing { path }) if !is_sealed(&config.database).await? => {
            MasterKey::load_or_create(&path)?
        }
        key => key?,
    };
    let (database, limits) = (config.database.clone(), config.limits);
    let store = Store::open(baton_store::Config { database, key, limits }).await?;
    store.set_quotas(config.quotas.clone());
    Ok(store)
}

fn supervisor_config(
    config: &Config,
    node: NodeId,
    relay: Relay,
) -> Result<SupervisorConfig, DataError> {
    let changes = config.changes.clone();
    Ok(SupervisorConfig {
        node,
        place: config.data.place()?,
        lease: config.lease,
        data: config.data.clone(),
        browser: config.browser.clone(),
        confine: config.confine,
        folders: config.folders.clone(),
        egress: config.egress.clone(),
        sandbox: config.sandbox,
        switches: config.switches.clone(),
        room: config.room,
        labels: config.cluster.as_ref().map(|cluster| cluster.labels.clone()).unwrap_or_default(),
        failover: config.cluster.as_ref().is_some_and(|cluster| cluster.failover),
        keepers: Arc::clone(&config.keepers),
        relay,
        recorded_body_bytes: config.proxy.body_bytes(),
        inherited: config.inherited.clone(),
        recovery: changes.unwrap_or_else(|| watch::channel(config.recovery.clone()).1),
    })
}

/// Who makes sandboxes at this node.
fn sandboxes(config: &Config, node: NodeId, scratch: PathBuf) -> Sandboxes {
    let provider = config.provider.clone().map_or_else(|| provider(config, node), Ok);
    if let Err(why) = &provider {
        tracing::info!(why, "this node makes no sandboxes");
    }
    Sandboxes::new(provider, config.sandboxes.clone(), scratch)
}

#[cfg(target_os = "linux")]
fn provider(config: &Config, node: NodeId) -> Result<Arc<dyn Provider>, String> {
    use baton_sandbox::local::bare::BareProvider;
    use baton_sandbox::local::{LocalProvider, Tools};
    let init = config.sandbox_init.clone().ok_or("this program makes no sandboxes")?;
    let path = config.inherited.get("PATH").map(String::as_str).unwrap_or_default();
    let label = node.to_string();
    match Tools::find(path.as_ref()) {
        Ok(tools) => Ok(Arc::new(LocalProvider::new(tools, init, &label))),
        Err(error) if config.sandboxes.allows_unsandboxed => {
            tracing::warn!(%error, "sandboxes of this node isolate nothing: allow_unsandboxed");
            // Short, because it is in the paths of sockets; these bits of the id are random.
            let short = label.rsplit('-').next().unwrap_or_default();
            let place = config.inherited.get("TMPDIR").map_or("/tmp", String::as_str);
            Ok(Arc::new(BareProvider::new(init, place.into(), short)))
        }
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(not(target_os = "linux"))]
fn provider(_: &Config, _: NodeId) -> Result<Arc<dyn Provider>, String> {
    Err("sandboxes need Linux".to_owned())
}

/// Looks at every session that was active when the last node ended.
async fn recover(supervisor: &BrowserSupervisor) -> Result<Vec<Session>, LiveError> {
    let begun = Instant::now();
    let (found, lost) = supervisor.recover().await?;
    tracing::info!(
        carried_on = found.carried_on,
        recoverable = found.recoverable,
        stale = found.stale,
        closed = found.closed,
        orphans = found.orphans,
        took_ms = begun.elapsed().as_secs_f64() * 1e3,
        "looked at the sessions of the last run"
    );
    Ok(if supervisor.rehydrates() { lost } else { Vec::new() })
}

/// Tells commands of this machine where this node is.
fn publish(data: &DataFolder, local: SocketAddr, node_id: NodeId) -> Result<(), DataError> {
    let address = format!("http://{local}");
    let Ok(url) = Url::parse(&address) else { return Ok(()) };
    NodeFile { url, pid: std::process::id(), node_id }.publish(data)
}

/// Ends when `shutdown` is cancelled, or when the node is of no use any more.
async fn until_told(context: Context, idle_exit: Option<Duration>, shutdown: CancellationToken) {
    let unused = async {
        match idle_exit {
            Some(limit) => ending::idle(&context, limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = shutdown.cancelled() => tracing::info!("told to end"),
        () = unused => {
            tracing::info!("no session and no request for a while");
            shutdown.cancel();
        }
    }
}

/// Writes back what sandboxes hold, captures all sessions, and leaves their browsers running.
async fn shut_down(context: &Context, data: &DataFolder, bus: Option<BusTask>, mut budget: Budget) {
    context.tasks.close();
    if let Some(cluster) = &context.cluster {
        // It answers no more, so nobody is to ask it.
        cluster.leave().await;
    }
    if let Some(bus) = bus {
        bus.leave().await;
    }
    if budget.spend(ending::SANDBOXES, sandboxes::end_all(&context.agents)).await.is_none() {
        for (sandbox, session) in context.agents.sandboxes.left() {
            let session = session.map(tracing::field::display);
            tracing::error!(
                %sandbox,
                session,
                "a sandbox was not written back in time; what it held stands as it was"
            );
        }
    }
    context.supervisor.shut_down(budget.grant(ending::CAPTURES)).await;
    if let Err(error) = NodeFile::remove(data) {
        tracing::warn!(%error, "node.json stays behind");
    }
    let active = budget.spend(Duration::ZERO, context.store.list_active_sessions(context.node));
    let active = active.await.and_then(Result::ok).unwrap_or_default();
    if !active.is_empty() {
        let browsers = active.len();
        tracing::info!(browsers, "browsers keep running; baton sessions close ends them");
    }
}
