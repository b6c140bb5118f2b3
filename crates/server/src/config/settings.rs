//! The settings as they are typed: one shape for the file, the environment and the flags.
//!
//! Numbers are signed here, so that a negative one gets an error that says what was expected.

use super::ConfigError;
use super::browsers::BrowserSettings;
use super::oidc::AuthTexts;
use super::outside::{PeopleTexts, WebhookTexts};
use super::quotas::QuotaTexts;
use super::sandboxes::{GatewayTexts, SandboxTexts};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Everything that may be set. A key that is not known is an error, so that a typo is never a
/// silent default.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct Settings {
    /// `[server]`
    pub server: ServerSettings,
    /// `[node]`
    pub node: NodeTexts,
    /// `[cluster]`
    pub cluster: ClusterTexts,
    /// `[sync]`
    pub sync: SyncTexts,
    /// `[outbound]`
    pub outbound: OutboundTexts,
    /// `[auth]`
    pub auth: AuthTexts,
    /// `[storage]`
    pub storage: StorageSettings,
    /// `[browser]`
    pub browser: BrowserSettings,
    /// `[recovery]`
    pub recovery: RecoveryTexts,
    /// `[metrics]`
    pub metrics: MetricsSettings,
    /// `[limits]`
    pub limits: LimitSettings,
    /// `[proxy]`
    pub proxy: ProxyTexts,
    /// `[debug]`
    pub debug: DebugTexts,
    /// `[[cocoons]]`
    pub cocoons: Option<Vec<ServiceTexts>>,
    /// `[sandboxes]`
    pub sandboxes: Option<SandboxTexts>,
    /// `[gateway]`
    pub gateway: Option<GatewayTexts>,
    /// `[people]`
    pub people: PeopleTexts,
    /// `[[webhooks]]`
    pub webhooks: Option<Vec<WebhookTexts>>,
    /// `[[quotas]]`
    pub quotas: Option<Vec<QuotaTexts>>,
}

/// `[server]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct ServerSettings {
    /// Address and port; port 0 takes a free one.
    pub listen: Option<String>,
    /// Whether a proxy in front of the node speaks TLS and says who asks.
    pub behind_proxy: Option<bool>,
    /// The loopback address at which the host of a container shows the node.
    pub published: Option<String>,
    /// Names under which the node may be addressed, besides those of this machine.
    pub allowed_hosts: Option<Vec<String>>,
    /// `[server.tls]`
    pub tls: TlsSettings,
}

/// `[server.tls]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct TlsSettings {
    /// The certificate and those that vouch for it: a PEM file.
    pub certificate: Option<PathBuf>,
    /// Its private key: a PEM file.
    pub key: Option<PathBuf>,
}

/// `[sync]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase", expecting = "a table")]
pub struct SyncTexts {
    /// Whether what is saved goes to every confirmed peer at once.
    pub auto_sync: Option<bool>,
    /// Milliseconds between two comparisons with every confirmed peer; 0 means never.
    pub sync_interval: Option<i64>,
    /// `latest-wins`, `manual` or `merge`.
    pub conflict_resolution: Option<String>,
    /// The largest session that is taken, in bytes of its parts together.
    #[serde(rename = "session_bytes")]
    pub session_bytes: Option<i64>,
    /// Seconds for which a deletion is remembered at least.
    #[serde(rename = "deletion_age")]
    pub deletion_age: Option<i64>,
    /// The most bytes of parts that wait for their sessions, for each owner.
    #[serde(rename = "staged_bytes")]
    pub staged_bytes: Option<i64>,
    /// The folder in which shared sessions lie as files; a relative one is in the data folder.
    pub directory: Option<PathBuf>,
    /// Whether what they hold is there in the clear too.
    #[serde(rename = "directory_plain")]
    pub directory_plain: Option<bool>,
    /// Bytes a second that go to a peer and come from it; 0 means as fast as it goes.
    #[serde(rename = "bytes_per_second")]
    pub bytes_per_second: Option<i64>,
    /// The node that is registered at the start.
    pub cloud_url: Option<String>,
    /// Whether it is.
    pub auto_register_cloud: Option<bool>,
}

/// `[outbound]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct OutboundTexts {
    /// Hosts, addresses and networks that may be asked although they are private.
    pub allow: Option<Vec<String>>,
}

/// `[node]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase", expecting = "a table")]
pub struct NodeTexts {
    /// How the node is deployed: `cloud` or `hosted`.
    #[serde(rename = "type")]
    pub node_type: Option<String>,
    /// What it calls itself.
    pub name: Option<String>,
    /// Where the world asks it.
    pub public_url: Option<String>,
    /// Where its own network asks it.
    pub internal_url: Option<String>,
}

/// `[cluster]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct ClusterTexts {
    /// What the nodes that are one are called together.
    pub name: Option<String>,
    /// Servers of NATS by which they tell each other that something changed, separated by commas.
    pub bus_url: Option<String>,
    /// The file that says who the node is to these: `.creds`, or a line with `user:password` or a token.
    pub bus_credentials: Option<PathBuf>,
    /// Whom to trust that these are themselves (PEM), in the place of those that the machine trusts.
    pub bus_ca: Option<PathBuf>,
    /// What the node is for: words that sessions ask for.
    pub labels: Option<Vec<String>>,
    /// Whether what a node held that fell silent is resumed on others.
    pub failover: Option<bool>,
    /// Whether a node that is told to end brings its sessions to others first.
    pub drain: Option<bool>,
}

/// `[storage]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct StorageSettings {
    /// `postgres://…`, or the path of an SQLite file.
    pub database_url: Option<String>,
    /// The largest part, in bytes.
    pub part_bytes: Option<i64>,
    /// The largest number of parts of one snapshot.
    pub snapshot_parts: Option<i64>,
}

/// `[recovery]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct RecoveryTexts {
    /// Seconds that a changed session may go without a snapshot.
    pub session_snapshot_interval: Option<i64>,
    /// Seconds after which a snapshot is stale.
    pub max_session_age: Option<i64>,
    /// Whether the node resumes by itself what was lost with it, or with another node of its database.
    pub auto_rehydrate: Option<bool>,
    /// How many snapshots of a session are kept.
    pub max_session_snapshots: Option<i64>,
    /// Whether clicks and typing are followed by a snapshot.
    pub capture_on_input: Option<bool>,
    /// Seconds for which a node that shares its database holds a session without a beat.
    pub lease: Option<i64>,
}

/// `[proxy]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct ProxyTexts {
    /// Address and port of the proxy in front of upstream services; none by default.
    pub listen: Option<String>,
    /// The name whose subdomains are upstream services, beside `localhost`.
    pub host: Option<String>,
    /// Seconds until an upstream service's answer has to begin.
    pub first_byte_timeout: Option<i64>,
    /// `[proxy.browser_debug]`: what holds for every upstream service.
    pub browser_debug: BrowserDebugTexts,
}

/// `[proxy.browser_debug]`, and `browser_debug` of an upstream service.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct BrowserDebugTexts {
    /// Whether pages get a token, by which they may be looked into.
    pub enabled: Option<bool>,
    /// The media types that count as pages.
    pub content_types: Option<Vec<String>>,
    /// How much of a body is kept, in bytes.
    pub response_body_max_size: Option<i64>,
    /// Paths whose pages get none, with what is below them.
    pub exclude_paths: Option<Vec<String>>,
    /// Whether navigations are guessed where a browser does not mark them.
    pub without_fetch_metadata: Option<bool>,
}

/// `[[cocoons]]`
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct ServiceTexts {
    /// Which one: a label of host names.
    pub id: String,
    /// What people call it.
    pub name: Option<String>,
    /// Where it answers.
    pub upstream: String,
    /// To whom it belongs; left out, to who runs the node.
    pub owner: Option<String>,
    /// Who may reach it: `loopback` or `key`.
    pub access: Option<String>,
    /// What it says of its pages otherwise than `[proxy.browser_debug]`.
    #[serde(default)]
    pub browser_debug: BrowserDebugTexts,
}

/// `[debug]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct DebugTexts {
    /// Names of one's own that mean a secret in what tabs do, or none.
    pub redact: Option<RedactTexts>,
}

/// `[debug] redact`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct RedactTexts {
    /// Names whose values are hidden.
    pub names: Vec<String>,
    /// Names whose values are shown, unless they are keys of a known kind.
    pub allow: Vec<String>,
}

/// `[metrics]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct MetricsSettings {
    /// Address and port of the listener for metrics; none by default.
    pub listen: Option<String>,
}

/// `[limits]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct LimitSettings {
    /// The largest request body, in bytes.
    pub body_bytes: Option<i64>,
    /// Connections of each listener at once.
    pub connections: Option<i64>,
    /// Requests with one key, a minute.
    pub requests_per_minute: Option<i64>,
    /// Requests without a good key from one address, a minute.
    pub refused_keys_per_minute: Option<i64>,
}

impl Settings {
    /// The settings of a TOML file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ConfigError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(path, &text)
    }

    /// The settings of a TOML text; `path` only names it in errors.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            // The error's own display shows the line, which may hold a password.
            let message = error.message().replace('\n', ", ");
            // The writer of a file need not know our types.
            let message = message.replace("expected i64", "expected a whole number");
            let message = message.replace("expected a sequence", "expected a list");
            ConfigError::NotUnderstood { path: path.to_owned(), line, message }
        })
    }
}
