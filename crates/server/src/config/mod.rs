//! The configuration of a node: what was typed becomes what it means.
//!
//! A setting is looked for in the flags, then in the environment, then in the file; what none of them says
//! has the default that is here. Each source is checked by itself, so that an error names the place to mend.

mod browsers;
mod bus;
mod choices;
mod cluster;
mod oidc;
mod outside;
mod proxy;
mod quotas;
mod sandboxes;
mod settings;

pub use baton_store::DatabaseUrl;
pub use browsers::{BrowserChoices, BrowserSettings, ProxyLoginTexts};
pub use bus::BusSettings;
pub use choices::Choices;
pub use cluster::ClusterSettings;
pub use oidc::{AuthTexts, OidcChoices, OidcTexts, RuleTexts, SignInTexts};
pub use outside::{PeopleTexts, WebhookTexts, detect_node_type};
pub use proxy::ProxyChoices;
pub use quotas::QuotaTexts;
pub use sandboxes::{
    AgentTexts, FlavorTexts, GatewayTexts, SandboxTexts, SessionServiceTexts, UpstreamTexts,
};
pub use settings::{
    BrowserDebugTexts, ClusterTexts, DebugTexts, LimitSettings, MetricsSettings, NodeTexts,
    OutboundTexts, ProxyTexts, RecoveryTexts, RedactTexts, ServerSettings, ServiceTexts, Settings,
    StorageSettings, SyncTexts, TlsSettings,
};

use baton_agents::gateway::GatewaySettings;
use baton_agents::sandboxes::SandboxSettings;
use baton_api::Invalid;
use baton_browser::keeper::{Keepers, KnownProxies, MachineProxies};
use baton_browser::launch::{BrowserChoice, ChromiumSandbox, Confine, Folder, Switch};
use baton_debug::relay::Redaction;
use baton_net::connections::Bounds;
use baton_net::outbound::Outbound;
use baton_net::rates::RateLimits;
use baton_net::tls::{Exposure, NotLoopback};
use baton_proxy::{OpenUpstream, ProxySettings};
use baton_runtime::live::{EgressRules, RecoverySettings, RoomLimits};
use baton_sandbox::{InitCommand, Provider};
use baton_session::Owner;
use baton_store::data::{DataError, DataFolder};
use baton_store::{Limits, Quotas};
use baton_sync::SyncSettings;
use baton_sync::identity::NodeSettings;
use baton_sync::oidc::{ClientSecret, OidcSettings, SignInSettings};
use baton_sync::people::PeopleSettings;
use baton_sync::webhooks::WebhookSettings;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Where a node listens by default.
pub const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7420);
/// How long a lease lasts by default.
pub const DEFAULT_LEASE: Duration = Duration::from_secs(30);
/// The largest body that a node takes by default: 1 MiB.
pub const DEFAULT_BODY_BYTES: usize = 1 << 20;

/// Everything that a node is given.
pub struct Config {
    /// Where its files live.
    pub data: DataFolder,
    /// Where it listens; none means [`DEFAULT_LISTEN`], or, for a node that a command starts, any free port
    /// while that one is taken.
    pub listen: Option<SocketAddr>,
    /// What protects it from other machines.
    pub exposure: Exposure,
    /// What it says of itself to other nodes.
    pub node: NodeSettings,
    /// Which nodes are one with this one; none means that it is one by itself.
    pub cluster: Option<ClusterSettings>,
    /// By what these tell each other at once that something changed; none leaves them to look at the database.
    pub bus: Option<BusSettings>,
    /// How sessions move between nodes.
    pub sync: SyncSettings,
    /// Which addresses it asks.
    pub outbound: Outbound,
    /// Which tokens open this node to others; none takes no tokens.
    pub oidc: Option<OidcSettings>,
    /// How people of a provider sign in to the page; none means with keys alone.
    pub sign_in: Option<SignInSettings>,
    /// Which programs hear of sessions that come from elsewhere.
    pub webhooks: Vec<WebhookSettings>,
    /// Who is told when an agent asks a person.
    pub people: PeopleSettings,
    /// How often a caller may ask.
    pub rates: RateLimits,
    /// Its database.
    pub database: DatabaseUrl,
    /// The master key in base64, when it does not come from the data folder.
    pub master_key: Option<SecretString>,
    /// Bounds of what is stored.
    pub limits: Limits,
    /// How much owners may have.
    pub quotas: Quotas,
    /// The largest request body, in bytes.
    pub body_bytes: usize,
    /// How many connections there may be, and how long a caller may take.
    pub bounds: Bounds,
    /// The browser to start; none means the best that is there.
    pub browser: Option<BrowserChoice>,
    /// How the machine's files are taken away from browsers.
    pub confine: Confine,
    /// Folders of the machine that browsers of the owner `local` see all the same.
    pub folders: Vec<Folder>,
    /// Which ways out to the network browsers get.
    pub egress: EgressRules,
    /// Whether Chromium keeps its pages in a sandbox of its own.
    pub sandbox: ChromiumSandbox,
    /// Further switches of Chromium.
    pub switches: Vec<Switch>,
    /// How many browsers of sessions run at once.
    pub room: RoomLimits,
    /// How keepers are started.
    pub keepers: Arc<dyn Keepers>,
    /// The variables of the environment that keepers and browsers may inherit.
    pub inherited: BTreeMap<String, String>,
    /// When to capture, and what to do at start-up.
    pub recovery: RecoverySettings,
    /// How long a node that shares its database holds its sessions without a beat; none when it has
    /// the database for itself: the one in its data folder.
    pub lease: Option<Duration>,
    /// What `recovery` becomes while the node runs; none means that it stays.
    pub changes: Option<watch::Receiver<RecoverySettings>>,
    /// Who is told the key that a node which is published elsewhere makes at its first start; none means that
    /// it makes none.
    pub first_key: Option<oneshot::Sender<SecretString>>,
    /// The folder of the board that agents share; none means that there is no board.
    pub board: Option<PathBuf>,
    /// The proxy in front of upstream services.
    pub proxy: ProxySettings,
    /// What other programs share that sign or check the tokens of pages; none means that this data folder
    /// has a secret of its own.
    pub debug_secret: Option<SecretString>,
    /// What the settings say of sandboxes.
    pub sandboxes: SandboxSettings,
    /// What the settings say of the gateway.
    pub gateway: GatewaySettings,
    /// What runs first in a sandbox; none makes a node without sandboxes.
    pub sandbox_init: Option<InitCommand>,
    /// Who makes sandboxes; none means this machine does.
    pub provider: Option<Arc<dyn Provider>>,
    /// Which names mean a secret in what tabs do, beside those that always do.
    pub redaction: Redaction,
    /// Where metrics are served; none means nowhere.
    pub metrics: Option<SocketAddr>,
    /// How long the node stays without an active session and without a request; none means for
    /// ever.
    pub idle_exit: Option<Duration>,
}

/// What no settings file can say.
pub struct Surroundings {
    /// Where the node's files live.
    pub data: DataFolder,
    /// The master key in base64, when it does not come from the data folder.
    pub master_key: Option<SecretString>,
    /// See [`Config::debug_secret`].
    pub debug_secret: Option<SecretString>,
    /// The secret of the client as which people are sent to a provider, where no settings file holds it.
    pub client_secret: Option<SecretString>,
    /// How keepers are started.
    pub keepers: Arc<dyn Keepers>,
    /// The variables of the environment that keepers and browsers may inherit.
    pub inherited: BTreeMap<String, String>,
    /// See [`Config::sandbox_init`].
    pub sandbox_init: Option<InitCommand>,
    /// See [`Config::board`].
    pub board: Option<PathBuf>,
    /// See [`Config::idle_exit`].
    pub idle_exit: Option<Duration>,
}

impl Config {
    /// What `choices` and the defaults say together. Fails when what each source says makes sense,
    /// but not all of it together.
    pub fn new(choices: Choices, around: Surroundings) -> Result<Self, ConfigError> {
        let is_shared = choices.database.is_some();
        cluster::expect_whole(&choices)?;
        let bus = bus_of(&choices)?;
        let (limits, rates) = (limits_of(&choices), rates_of(&choices));
        let bounds = Bounds::default();
        let sync = SyncSettings::default();
        let exposure = choices.exposure()?;
        exposure.check(choices.listen.unwrap_or(DEFAULT_LISTEN))?;
        let detected = || detect_node_type(&around.inherited);
        let cluster = cluster::read(&choices);
        let browser = choices.browser;
        let room = cluster::room(&browser, cluster.is_some());
        let (oidc, sign_in) = oidc_of(choices.oidc, around.client_secret);
        Ok(Self {
            listen: choices.listen,
            exposure,
            sync: SyncSettings {
                auto_sync: choices.auto_sync.unwrap_or(false),
                interval: choices.sync_interval.filter(|pause| !pause.is_zero()),
                conflict_resolution: choices
                    .conflict_resolution
                    .unwrap_or(sync.conflict_resolution),
                session_bytes: choices.session_bytes.unwrap_or(sync.session_bytes),
                deletion_age: choices.deletion_age.unwrap_or(sync.deletion_age),
                directory_plain: choices.sync_directory_plain.unwrap_or(sync.directory_plain),
                directory: choices.sync_directory.map(|path| around.data.path().join(path)),
                bytes_per_second: choices.bytes_per_second.and_then(NonZeroU64::new),
                cloud_url: choices.cloud_url,
                auto_register_cloud: choices
                    .auto_register_cloud
                    .unwrap_or(sync.auto_register_cloud),
            },
            outbound: Outbound { allow: choices.outbound_allow.unwrap_or_default() },
            oidc,
            sign_in,
            webhooks: choices.webhooks.unwrap_or_default(),
            people: choices.people,
            node: NodeSettings {
                node_type: choices.node_type.unwrap_or_else(detected),
                name: choices.node_name.unwrap_or_else(outside::default_name),
                public_url: choices.public_url,
                internal_url: choices.internal_url,
            },
            cluster,
            bus,
            rates,
            database: choices
                .database
                .unwrap_or_else(|| DatabaseUrl::Sqlite(around.data.database())),
            master_key: around.master_key,
            limits,
            quotas: choices.quotas.unwrap_or_default(),
            body_bytes: choices.body_bytes.unwrap_or(DEFAULT_BODY_BYTES),
            bounds: Bounds {
                connections: choices.connections.unwrap_or(bounds.connections),
                ..bounds
            },
            browser: browser.program,
            confine: browser.confine.unwrap_or_default(),
            folders: shown(browser.folders.unwrap_or_default(), &around.data)?,
            egress: EgressRules {
                always: browser.egress_always.unwrap_or(false),
                lent: browser.private_hosts.unwrap_or_default(),
                proxies: KnownProxies {
                    logins: browser.proxies.unwrap_or_default(),
                    machine: MachineProxies::of(&around.inherited),
                },
            },
            sandbox: browser.sandbox.unwrap_or_default(),
            switches: browser.switches.unwrap_or_default(),
            room,
            keepers: around.keepers,
            inherited: around.inherited,
            recovery: RecoverySettings {
                session_snapshot_interval: choices
                    .session_snapshot_interval
                    .unwrap_or(Duration::from_secs(30)),
                max_session_age: choices.max_session_age.unwrap_or(Duration::from_hours(24)),
                auto_rehydrate: choices.auto_rehydrate.unwrap_or(false),
                max_session_snapshots: choices.max_session_snapshots.unwrap_or(10),
                capture_on_input: choices.capture_on_input.unwrap_or(false),
            },
            lease: is_shared.then(|| choices.lease.unwrap_or(DEFAULT_LEASE)),
            changes: None,
            first_key: None,
            board: around.board,
            proxy: choices.proxy.settle(&Owner::local()),
            debug_secret: around.debug_secret,
            sandboxes: choices.sandboxes.unwrap_or_default(),
            gateway: choices.gateway.unwrap_or_default(),
            sandbox_init: around.sandbox_init,
            provider: None,
            redaction: choices.redaction.unwrap_or_default(),
            metrics: choices.metrics,
            idle_exit: around.idle_exit,
            data: around.data,
        })
    }
}

/// Which nodes a provider lets in, and which people, with the secret of their client.
fn oidc_of(
    choices: Option<OidcChoices>,
    secret: Option<SecretString>,
) -> (Option<OidcSettings>, Option<SignInSettings>) {
    let Some(OidcChoices { nodes, mut people }) = choices else { return (None, None) };
    if let Some(SignInSettings { client_secret: none @ None, .. }) = &mut people {
        *none = secret.map(ClientSecret::Given);
    }
    (nodes, people)
}

fn limits_of(choices: &Choices) -> Limits {
    let limits = Limits::default();
    Limits {
        part_bytes: choices.part_bytes.unwrap_or(limits.part_bytes),
        snapshot_parts: choices.snapshot_parts.unwrap_or(limits.snapshot_parts),
        staged_bytes: choices.staged_bytes.unwrap_or(limits.staged_bytes),
    }
}

fn rates_of(choices: &Choices) -> RateLimits {
    let usual = RateLimits::default();
    RateLimits {
        requests_per_minute: choices.requests_per_minute.unwrap_or(usual.requests_per_minute),
        refused_keys_per_minute: choices
            .refused_keys_per_minute
            .unwrap_or(usual.refused_keys_per_minute),
    }
}

/// What `choices` say of a bus, if they want one.
fn bus_of(choices: &Choices) -> Result<Option<BusSettings>, ConfigError> {
    let half = |key, missing, fix| ConfigError::HalfBus { key, missing, fix };
    let (credentials, authorities) =
        (choices.bus_credentials.clone(), choices.bus_authorities.clone());
    let alone = [
        ("cluster.bus_credentials", credentials.is_some()),
        ("cluster.bus_ca", authorities.is_some()),
    ];
    let Some(servers) = choices.bus_servers.clone() else {
        let fix = "cluster.bus_url = \"nats://10.0.0.9:4222\", or BATON_CLUSTER_BUS_URL";
        return match alone.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(half(key, "cluster.bus_url", fix)),
            None => Ok(None),
        };
    };
    if choices.cluster.is_none() {
        let fix = "cluster.name = \"shop\", or BATON_CLUSTER_NAME";
        return Err(half("cluster.bus_url", "cluster.name", fix));
    }
    Ok(Some(BusSettings { servers, credentials, authorities }))
}

/// Folders that browsers see, none of which may give away the data folder.
fn shown(folders: Vec<Folder>, data: &DataFolder) -> Result<Vec<Folder>, ConfigError> {
    for folder in &folders {
        data.expect_apart(&folder.path).map_err(ConfigError::Folder)?;
    }
    Ok(folders)
}

/// A setting that makes no sense; the text says where it is.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("expected a settings file at {}, found: {source}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not TOML, or has a key that is not known.
    #[error("expected valid settings in {} at line {line}, found: {message}", path.display())]
    NotUnderstood {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What does not fit.
        message: String,
    },
    /// Browsers were to see a folder that gives the data folder away.
    #[error("browser.files: {0}")]
    Folder(DataError),
    /// A value is out of its range.
    #[error("{origin}: expected {key} to be {expected}, found {found}")]
    Invalid {
        /// The file, or the flags and the environment.
        origin: String,
        /// Which setting.
        key: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        found: String,
    },
    /// An address that others can reach, in clear text.
    #[error(transparent)]
    NotLoopback(#[from] NotLoopback),
    /// An upstream service that wants no key, where others can reach it.
    #[error(transparent)]
    OpenUpstream(#[from] OpenUpstream),
    /// A cluster without what it needs.
    #[error("cluster.name: expected {expected}, found none\nset {fix}")]
    HalfCluster {
        /// What is missing.
        expected: &'static str,
        /// What to type.
        fix: &'static str,
    },
    /// A bus without what it needs, or what belongs to one without it.
    #[error("{key}: expected {missing} as well, found none\nset {fix}")]
    HalfBus {
        /// What is set.
        key: &'static str,
        /// What is not.
        missing: &'static str,
        /// What to type.
        fix: &'static str,
    },
    /// Only one of the two files that TLS takes.
    #[error("expected both server.tls.certificate and server.tls.key, found only {found}")]
    HalfTls {
        /// Which one.
        found: &'static str,
    },
}

/// An address with its port.
fn address(origin: &str, key: &'static str, text: &str) -> Result<SocketAddr, ConfigError> {
    text.parse()
        .map_err(|_| invalid(origin, key, "an address with a port such as 127.0.0.1:7420", text))
}

/// A number within a range.
fn number<T: TryFrom<i64>>(
    origin: &str,
    key: &'static str,
    value: Option<i64>,
    range: RangeInclusive<i64>,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = value else { return Ok(None) };
    let expected = || format!("a number from {} to {}", range.start(), range.end());
    let fits = range.contains(&value).then(|| T::try_from(value).ok()).flatten();
    fits.map(Some).ok_or_else(|| invalid(origin, key, expected(), value))
}

/// A value that makes no sense to what gets it.
fn refused(origin: &str, why: Invalid) -> ConfigError {
    invalid(origin, why.field, why.expected, why.found)
}

/// A value that a setting cannot have.
fn invalid(
    origin: &str,
    key: &'static str,
    expected: impl Display,
    found: impl Display,
) -> ConfigError {
    ConfigError::Invalid {
        origin: origin.to_owned(),
        key,
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
