//! The settings of one source, checked: a field that the source does not set is `None`.

use super::browsers::BrowserChoices;
use super::oidc::OidcChoices;
use super::proxy::ProxyChoices;
use super::sandboxes::{read_gateway, read_sandboxes};
use super::settings::{RedactTexts, Settings};
use super::{ConfigError, address, bus, invalid, number, oidc, outside, quotas};
use axum::http::uri::Authority;
use baton_agents::gateway::GatewaySettings;
use baton_agents::sandboxes::SandboxSettings;
use baton_debug::relay::Redaction;
use baton_net::outbound::Allowed;
use baton_net::tls::{Exposure, TlsFiles};
use baton_session::NodeLabel;
use baton_session::wire::NodeType;
use baton_store::{DatabaseUrl, Quotas};
use baton_sync::ConflictResolution;
use baton_sync::people::PeopleSettings;
use baton_sync::webhooks::WebhookSettings;
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// What one source chose.
#[derive(Default)]
pub struct Choices {
    /// See [`Config::listen`](super::Config::listen).
    pub listen: Option<SocketAddr>,
    /// See [`Exposure::behind_proxy`](baton_net::tls::Exposure::behind_proxy).
    pub behind_proxy: Option<bool>,
    /// See [`Exposure::published`](baton_net::tls::Exposure::published).
    pub published: Option<SocketAddr>,
    /// See [`Exposure::allowed_hosts`](baton_net::tls::Exposure::allowed_hosts).
    pub allowed_hosts: Option<Vec<String>>,
    /// See [`TlsFiles::certificate`](baton_net::tls::TlsFiles::certificate).
    pub tls_certificate: Option<PathBuf>,
    /// See [`TlsFiles::key`](baton_net::tls::TlsFiles::key).
    pub tls_key: Option<PathBuf>,
    /// See [`SyncSettings::auto_sync`](baton_sync::SyncSettings::auto_sync).
    pub auto_sync: Option<bool>,
    /// See [`SyncSettings::interval`](baton_sync::SyncSettings::interval); zero means never.
    pub sync_interval: Option<Duration>,
    /// See [`SyncSettings::conflict_resolution`](baton_sync::SyncSettings::conflict_resolution).
    pub conflict_resolution: Option<ConflictResolution>,
    /// See [`SyncSettings::session_bytes`](baton_sync::SyncSettings::session_bytes).
    pub session_bytes: Option<u64>,
    /// See [`SyncSettings::deletion_age`](baton_sync::SyncSettings::deletion_age).
    pub deletion_age: Option<Duration>,
    /// The most bytes of parts that wait for their sessions, for each owner.
    pub staged_bytes: Option<u64>,
    /// See [`SyncSettings::directory`](baton_sync::SyncSettings::directory); a relative one is in the
    /// data folder.
    pub sync_directory: Option<PathBuf>,
    /// See [`SyncSettings::directory_plain`](baton_sync::SyncSettings::directory_plain).
    pub sync_directory_plain: Option<bool>,
    /// See [`SyncSettings::bytes_per_second`](baton_sync::SyncSettings::bytes_per_second); zero
    /// means as fast as it goes.
    pub bytes_per_second: Option<u64>,
    /// See [`SyncSettings::cloud_url`](baton_sync::SyncSettings::cloud_url).
    pub cloud_url: Option<Url>,
    /// See [`SyncSettings::auto_register_cloud`](baton_sync::SyncSettings::auto_register_cloud).
    pub auto_register_cloud: Option<bool>,
    /// See [`Outbound::allow`](baton_net::outbound::Outbound::allow).
    pub outbound_allow: Option<Vec<Allowed>>,
    /// See [`Config::oidc`](super::Config::oidc) and [`Config::sign_in`](super::Config::sign_in).
    pub oidc: Option<OidcChoices>,
    /// See [`Config::people`](super::Config::people).
    pub people: PeopleSettings,
    /// See [`Config::quotas`](super::Config::quotas).
    pub quotas: Option<Quotas>,
    /// See [`Config::webhooks`](super::Config::webhooks).
    pub webhooks: Option<Vec<WebhookSettings>>,
    /// See [`NodeSettings::node_type`](baton_sync::identity::NodeSettings::node_type).
    pub node_type: Option<NodeType>,
    /// See [`NodeSettings::name`](baton_sync::identity::NodeSettings::name).
    pub node_name: Option<String>,
    /// See [`NodeSettings::public_url`](baton_sync::identity::NodeSettings::public_url).
    pub public_url: Option<Url>,
    /// See [`NodeSettings::internal_url`](baton_sync::identity::NodeSettings::internal_url).
    pub internal_url: Option<Url>,
    /// See [`Config::cluster`](super::Config::cluster).
    pub cluster: Option<String>,
    /// See [`BusSettings::servers`](super::BusSettings::servers).
    pub bus_servers: Option<Vec<Url>>,
    /// See [`BusSettings::credentials`](super::BusSettings::credentials).
    pub bus_credentials: Option<PathBuf>,
    /// See [`BusSettings::authorities`](super::BusSettings::authorities).
    pub bus_authorities: Option<PathBuf>,
    /// See [`ClusterSettings::labels`](super::ClusterSettings::labels).
    pub labels: Option<BTreeSet<NodeLabel>>,
    /// See [`ClusterSettings::failover`](super::ClusterSettings::failover).
    pub failover: Option<bool>,
    /// See [`ClusterSettings::drain`](super::ClusterSettings::drain).
    pub drain: Option<bool>,
    /// See [`Config::database`](super::Config::database).
    pub database: Option<DatabaseUrl>,
    /// Largest part, in bytes.
    pub part_bytes: Option<u64>,
    /// Most parts of one snapshot.
    pub snapshot_parts: Option<usize>,
    /// Which browser is started, and how.
    pub browser: BrowserChoices,
    /// How long a changed session may go without a snapshot.
    pub session_snapshot_interval: Option<Duration>,
    /// How old a snapshot may be before it is stale.
    pub max_session_age: Option<Duration>,
    /// Whether the node resumes by itself what was lost with it, or with another node of its database.
    pub auto_rehydrate: Option<bool>,
    /// How many snapshots of a session are kept.
    pub max_session_snapshots: Option<u32>,
    /// Whether clicks and typing are followed by a snapshot.
    pub capture_on_input: Option<bool>,
    /// See [`Config::lease`](super::Config::lease).
    pub lease: Option<Duration>,
    /// See [`Config::redaction`](super::Config::redaction).
    pub redaction: Option<Redaction>,
    /// See [`Config::metrics`](super::Config::metrics).
    pub metrics: Option<SocketAddr>,
    /// See [`Config::body_bytes`](super::Config::body_bytes).
    pub body_bytes: Option<usize>,
    /// How many connections each listener has at once.
    pub connections: Option<usize>,
    /// How many requests one key may make in a minute.
    pub requests_per_minute: Option<u32>,
    /// How many requests without a good key one address may make in a minute.
    pub refused_keys_per_minute: Option<u32>,
    /// The proxy in front of upstream services, and which these are.
    pub proxy: ProxyChoices,
    /// See [`Config::sandboxes`](super::Config::sandboxes).
    pub sandboxes: Option<SandboxSettings>,
    /// See [`Config::gateway`](super::Config::gateway).
    pub gateway: Option<GatewaySettings>,
}

/// The longest time that a setting may say: ten years, in seconds.
const LONGEST: i64 = 10 * 366 * 24 * 60 * 60;

/// The shortest and the longest lease, in seconds.
const LEASES: RangeInclusive<i64> = 2..=3600;

/// The longest name of a cluster, in bytes.
const CLUSTER_NAME: usize = 64;

/// How many names of one's own there may be in a list, and how long each may be, in bytes.
const REDACTED_NAMES: usize = 1000;
const REDACTED_NAME: usize = 128;

fn redaction(origin: &str, texts: RedactTexts) -> Result<Redaction, ConfigError> {
    for (key, names) in [("debug.redact.names", &texts.names), ("debug.redact.allow", &texts.allow)]
    {
        let is_name =
            |name: &String| name.len() <= REDACTED_NAME && name.contains(char::is_alphanumeric);
        let wrong = names.iter().find(|name| !is_name(name));
        if names.len() > REDACTED_NAMES || wrong.is_some() {
            let found =
                wrong.map_or_else(|| format!("{} names", names.len()), |name| format!("{name:?}"));
            let expected = format!(
                "at most {REDACTED_NAMES} names with letters or digits, of at most {REDACTED_NAME} bytes each"
            );
            return Err(ConfigError::Invalid { origin: origin.to_owned(), key, expected, found });
        }
    }
    Ok(Redaction { names: texts.names, allow: texts.allow })
}

impl Choices {
    /// Checks the settings of one source; `origin` names it in errors, such as
    /// `the file /etc/baton.toml`.
    pub fn check(origin: &str, settings: Settings) -> Result<Self, ConfigError> {
        let Settings { server, node: own, sync, outbound, storage, .. } = settings;
        let Settings { browser, recovery, metrics, limits, proxy, cocoons, .. } = settings;
        let Settings { sandboxes, gateway, auth, webhooks: hooks, people, debug, cluster, .. } =
            settings;
        let Settings { quotas: most, .. } = settings;
        let seconds = |key, value| {
            let seconds = number(origin, key, value, 1..=LONGEST)?;
            Ok::<_, ConfigError>(seconds.map(Duration::from_secs))
        };
        let bytes = |key, value, range| number::<u64>(origin, key, value, range);
        Ok(Self {
            listen: server
                .listen
                .map(|text| address(origin, "server.listen", &text))
                .transpose()?,
            behind_proxy: server.behind_proxy,
            published: server.published.map(|text| published(origin, &text)).transpose()?,
            allowed_hosts: server.allowed_hosts.map(|texts| hosts(origin, texts)).transpose()?,
            tls_certificate: server.tls.certificate,
            tls_key: server.tls.key,
            auto_sync: sync.auto_sync,
            sync_interval: number(origin, "sync.syncInterval", sync.sync_interval, 0..=LONGEST)?
                .map(Duration::from_millis),
            conflict_resolution: sync
                .conflict_resolution
                .map(|text| resolution(origin, &text))
                .transpose()?,
            session_bytes: bytes("sync.session_bytes", sync.session_bytes, 1024..=1 << 40)?,
            deletion_age: number(origin, "sync.deletion_age", sync.deletion_age, 0..=LONGEST)?
                .map(Duration::from_secs),
            sync_directory: sync.directory,
            sync_directory_plain: sync.directory_plain,
            staged_bytes: number(origin, "sync.staged_bytes", sync.staged_bytes, 1024..=1 << 44)?,
            bytes_per_second: bytes("sync.bytes_per_second", sync.bytes_per_second, 0..=1 << 40)?,
            cloud_url: outside::url(origin, "sync.cloudUrl", sync.cloud_url)?,
            auto_register_cloud: sync.auto_register_cloud,
            outbound_allow: outbound.allow.map(|texts| allowed(origin, &texts)).transpose()?,
            oidc: auth.oidc.map(|texts| oidc::check(origin, texts)).transpose()?,
            people: outside::people(origin, people)?,
            quotas: most.map(|texts| quotas::check(origin, texts)).transpose()?,
            webhooks: hooks.map(|texts| outside::check_webhooks(origin, texts)).transpose()?,
            node_type: own.node_type.map(|text| outside::node_type(origin, &text)).transpose()?,
            node_name: own.name.map(|text| outside::name(origin, text)).transpose()?,
            public_url: outside::url(origin, "node.publicUrl", own.public_url)?,
            internal_url: outside::url(origin, "node.internalUrl", own.internal_url)?,
            cluster: cluster.name.map(|text| cluster_name(origin, text)).transpose()?,
            bus_servers: cluster.bus_url.map(|text| bus::servers(origin, &text)).transpose()?,
            bus_credentials: cluster.bus_credentials,
            bus_authorities: cluster.bus_ca,
            labels: cluster.labels.map(|texts| labels(origin, texts)).transpose()?,
            failover: cluster.failover,
            drain: cluster.drain,
            database: storage.database_url.map(|text| database(origin, &text)).transpose()?,
            part_bytes: number(origin, "storage.part_bytes", storage.part_bytes, 1024..=1 << 32)?,
            snapshot_parts: number(
                origin,
                "storage.snapshot_parts",
                storage.snapshot_parts,
                1..=1_000_000,
            )?,
            browser: BrowserChoices::check(origin, browser)?,
            session_snapshot_interval: seconds(
                "recovery.session_snapshot_interval",
                recovery.session_snapshot_interval,
            )?,
            max_session_age: seconds("recovery.max_session_age", recovery.max_session_age)?,
            auto_rehydrate: recovery.auto_rehydrate,
            max_session_snapshots: number(
                origin,
                "recovery.max_session_snapshots",
                recovery.max_session_snapshots,
                1..=100_000,
            )?,
            capture_on_input: recovery.capture_on_input,
            lease: number(origin, "recovery.lease", recovery.lease, LEASES)?
                .map(Duration::from_secs),
            redaction: debug.redact.map(|names| redaction(origin, names)).transpose()?,
            metrics: metrics
                .listen
                .map(|text| loopback(origin, "metrics.listen", &text))
                .transpose()?,
            body_bytes: number(origin, "limits.body_bytes", limits.body_bytes, 1024..=1 << 30)?,
            connections: number(origin, "limits.connections", limits.connections, 16..=100_000)?,
            requests_per_minute: number(
                origin,
                "limits.requests_per_minute",
                limits.requests_per_minute,
                1..=1_000_000,
            )?,
            refused_keys_per_minute: number(
                origin,
                "limits.refused_keys_per_minute",
                limits.refused_keys_per_minute,
                1..=1_000_000,
            )?,
            proxy: ProxyChoices::check(origin, proxy, cocoons)?,
            sandboxes: sandboxes.map(|texts| read_sandboxes(origin, texts)).transpose()?,
            gateway: gateway.map(|texts| read_gateway(origin, texts)).transpose()?,
        })
    }

    /// What protects a listener that other machines can reach. Fails when that is half said.
    pub fn exposure(&self) -> Result<Exposure, ConfigError> {
        Ok(Exposure {
            tls: both_files(self.tls_certificate.clone(), self.tls_key.clone())?,
            behind_proxy: self.behind_proxy.unwrap_or(false),
            published: self.published,
            allowed_hosts: self.names(),
        })
    }

    /// Under which names the node may be addressed: those that are allowed, and those of the addresses that
    /// it tells others. A browser and a client leave out the port that belongs to the scheme.
    fn names(&self) -> Vec<String> {
        let own = [&self.public_url, &self.internal_url].into_iter().flatten();
        let own = own.filter_map(|url| {
            let host = url.host_str()?;
            Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
        });
        self.allowed_hosts.clone().into_iter().flatten().chain(own).collect()
    }

    /// These choices, and `other`'s where these say nothing.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            listen: self.listen.or(other.listen),
            behind_proxy: self.behind_proxy.or(other.behind_proxy),
            published: self.published.or(other.published),
            allowed_hosts: self.allowed_hosts.or(other.allowed_hosts),
            tls_certificate: self.tls_certificate.or(other.tls_certificate),
            tls_key: self.tls_key.or(other.tls_key),
            auto_sync: self.auto_sync.or(other.auto_sync),
            sync_interval: self.sync_interval.or(other.sync_interval),
            sync_directory: self.sync_directory.or(other.sync_directory),
            sync_directory_plain: self.sync_directory_plain.or(other.sync_directory_plain),
            conflict_resolution: self.conflict_resolution.or(other.conflict_resolution),
            session_bytes: self.session_bytes.or(other.session_bytes),
            deletion_age: self.deletion_age.or(other.deletion_age),
            staged_bytes: self.staged_bytes.or(other.staged_bytes),
            bytes_per_second: self.bytes_per_second.or(other.bytes_per_second),
            cloud_url: self.cloud_url.or(other.cloud_url),
            auto_register_cloud: self.auto_register_cloud.or(other.auto_register_cloud),
            outbound_allow: self.outbound_allow.or(other.outbound_allow),
            oidc: self.oidc.or(other.oidc),
            people: self.people.or(other.people),
            quotas: self.quotas.or(other.quotas),
            webhooks: self.webhooks.or(other.webhooks),
            node_type: self.node_type.or(other.node_type),
            node_name: self.node_name.or(other.node_name),
            public_url: self.public_url.or(other.public_url),
            internal_url: self.internal_url.or(other.internal_url),
            cluster: self.cluster.or(other.cluster),
            bus_servers: self.bus_servers.or(other.bus_servers),
            bus_credentials: self.bus_credentials.or(other.bus_credentials),
            bus_authorities: self.bus_authorities.or(other.bus_authorities),
            labels: self.labels.or(other.labels),
            failover: self.failover.or(other.failover),
            drain: self.drain.or(other.drain),
            database: self.database.or(other.database),
            part_bytes: self.part_bytes.or(other.part_bytes),
            snapshot_parts: self.snapshot_parts.or(other.snapshot_parts),
            browser: self.browser.or(other.browser),
            session_snapshot_interval: self
                .session_snapshot_interval
                .or(other.session_snapshot_interval),
            max_session_age: self.max_session_age.or(other.max_session_age),
            auto_rehydrate: self.auto_rehydrate.or(other.auto_rehydrate),
            max_session_snapshots: self.max_session_snapshots.or(other.max_session_snapshots),
            capture_on_input: self.capture_on_input.or(other.capture_on_input),
            lease: self.lease.or(other.lease),
            redaction: self.redaction.or(other.redaction),
            metrics: self.metrics.or(other.metrics),
            body_bytes: self.body_bytes.or(other.body_bytes),
            connections: self.connections.or(other.connections),
            requests_per_minute: self.requests_per_minute.or(other.requests_per_minute),
            refused_keys_per_minute: self.refused_keys_per_minute.or(other.refused_keys_per_minute),
            proxy: self.proxy.or(other.proxy),
            sandboxes: self.sandboxes.or(other.sandboxes),
            gateway: self.gateway.or(other.gateway),
        }
    }
}

/// A loopback address with its port.
fn loopback(origin: &str, key: &'static str, text: &str) -> Result<SocketAddr, ConfigError> {
    let address = address(origin, key, text)?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err(invalid(origin, key, "a loopback address such as 127.0.0.1:9100", address))
    }
}

/// Where the host of a container shows the node: to itself alone.
fn published(origin: &str, text: &str) -> Result<SocketAddr, ConfigError> {
    let key = "server.published";
    let shown = loopback(origin, key, text)?;
    if shown.port() == 0 {
        return Err(invalid(origin, key, "the port at which the host shows it", "port 0"));
    }
    Ok(shown)
}

/// How conflicts are resolved.
fn resolution(origin: &str, text: &str) -> Result<ConflictResolution, ConfigError> {
    let expected = "latest-wins, manual or merge";
    let found = || invalid(origin, "sync.conflictResolution", expected, format!("{text:?}"));
    text.parse().map_err(|_| found())
}

/// What may be asked although it is private.
fn allowed(origin: &str, texts: &[String]) -> Result<Vec<Allowed>, ConfigError> {
    let expected = "hosts, addresses and networks such as 10.0.0.0/8";
    let read = |text: &String| {
        text.parse().map_err(|_| invalid(origin, "outbound.allow", expected, format!("{text:?}")))
    };
    texts.iter().map(read).collect()
}

/// Names of hosts as they stand in addresses, with or without a port.
fn hosts(origin: &str, texts: Vec<String>) -> Result<Vec<String>, ConfigError> {
    let expected = "names such as baton.example.org, each with or without a port";
    for text in &texts {
        let is_a_host = text.parse::<Authority>().is_ok_and(|host| !host.as_str().contains('@'));
        if !is_a_host || text.ends_with(':') {
            return Err(invalid(origin, "server.allowed_hosts", expected, format!("{text:?}")));
        }
    }
    Ok(texts)
}

/// What a node is for.
fn labels(origin: &str, texts: Vec<String>) -> Result<BTreeSet<NodeLabel>, ConfigError> {
    let key = "cluster.labels";
    if texts.len() > NodeLabel::MOST {
        let expected = format!("at most {} labels", NodeLabel::MOST);
        return Err(invalid(origin, key, expected, texts.len()));
    }
    let read = |text: String| {
        let found = format!("{text:?}");
        NodeLabel::try_from(text).map_err(|error| invalid(origin, key, error, found))
    };
    texts.into_iter().map(read).collect()
}

/// What the nodes that are one are called.
fn cluster_name(origin: &str, text: String) -> Result<String, ConfigError> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if (1..=CLUSTER_NAME).contains(&text.len()) && text.chars().all(is_part) {
        return Ok(text);
    }
    let expected = "a name of 1 to 64 letters, digits, '.', '_' or '-'";
    Err(invalid(origin, "cluster.name", expected, format!("{text:?}")))
}

/// What names a database.
const DATABASE: &str = "a path or \"postgres://user@host/database\"";

/// A database's address; what was found may hold a password and is not repeated.
fn database(origin: &str, text: &str) -> Result<DatabaseUrl, ConfigError> {
    DatabaseUrl::from_str(text)
        .map_err(|error| invalid(origin, "storage.database_url", DATABASE, error.found))
}

/// Both files, or none.
fn both_files(
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<TlsFiles>, ConfigError> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ConfigError::HalfTls { found: "server.tls.certificate" }),
        (None, Some(_)) => Err(ConfigError::HalfTls { found: "server.tls.key" }),
    }
}
