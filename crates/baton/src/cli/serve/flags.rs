//! The settings of a node as flags and variables.

use baton_server::config::{
    AuthTexts, BrowserDebugTexts, BrowserSettings, ClusterTexts, DebugTexts, LimitSettings,
    MetricsSettings, NodeTexts, OutboundTexts, PeopleTexts, ProxyTexts, RecoveryTexts,
    ServerSettings, Settings, StorageSettings, SyncTexts, TlsSettings,
};
use clap::Args;
use std::fmt;
use std::path::PathBuf;

/// One flag and one variable a setting; a default stands in its text only, because what is not set
/// here may be set in the file.
#[derive(Args, Clone)]
#[command(next_help_heading = "Settings")]
pub(in crate::cli) struct Flags {
    /// Address and port; port 0 takes a free one [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDRESS", env = "BATON_LISTEN", hide_env_values = true)]
    listen: Option<String>,
    /// Certificate (PEM) with which the node speaks TLS, and those that vouch for it [default: none]
    #[arg(long, value_name = "FILE", env = "BATON_TLS_CERTIFICATE", hide_env_values = true)]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key (PEM) [default: none]
    #[arg(long, value_name = "FILE", env = "BATON_TLS_KEY", hide_env_values = true)]
    tls_key: Option<PathBuf>,
    /// A proxy in front of the node speaks TLS and says who asks [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_BEHIND_PROXY", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    behind_proxy: Option<bool>,
    /// In a container: the loopback address at which its host shows the node, such as
    /// 127.0.0.1:7420 [default: none]
    #[arg(long, value_name = "ADDRESS", env = "BATON_PUBLISHED", hide_env_values = true)]
    published: Option<String>,
    /// Names under which the node may be addressed, separated by commas, besides those of this
    /// machine [default: none]
    #[arg(
        long,
        value_name = "HOSTS",
        env = "BATON_ALLOWED_HOSTS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    allowed_hosts: Option<Vec<String>>,
    /// What is saved goes to every confirmed peer at once [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_AUTO_SYNC", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    auto_sync: Option<bool>,
    /// Milliseconds between two comparisons with every confirmed peer; 0: only when told [default: 0]
    #[arg(
        long,
        value_name = "MILLISECONDS",
        env = "BATON_SYNC_INTERVAL",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    sync_interval: Option<i64>,
    /// What is done with revisions of which none had seen the other: `latest-wins`, `manual` or
    /// `merge`; none of them loses anything [default: latest-wins]
    #[arg(long, value_name = "HOW", env = "BATON_CONFLICT_RESOLUTION", hide_env_values = true)]
    conflict_resolution: Option<String>,
    /// Folder in which the sessions that were saved lie as sealed files, for those whose nodes share a
    /// folder and no network; a relative one is in the data folder
    #[arg(long, value_name = "DIR", env = "BATON_SYNC_DIRECTORY", hide_env_values = true)]
    sync_directory: Option<PathBuf>,
    /// Whether what sessions hold stands in those files in the clear too, for programs that are no
    /// nodes: whoever reads a file is logged in [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_SYNC_DIRECTORY_PLAIN", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    sync_directory_plain: Option<bool>,
    /// Bytes of the largest session that is taken from elsewhere [default: 1073741824]
    #[arg(
        long,
        value_name = "BYTES",
        env = "BATON_SESSION_BYTES",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    session_bytes: Option<i64>,
    /// Seconds for which a deletion is remembered at least [default: 2592000]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "BATON_DELETION_AGE",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    deletion_age: Option<i64>,
    /// Bytes of parts that wait for their sessions, for each owner [default: 2147483648]
    #[arg(
        long,
        value_name = "BYTES",
        env = "BATON_STAGED_BYTES",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    staged_bytes: Option<i64>,
    /// Bytes a second to and from a peer; 0: as fast as it goes [default: 0]
    #[arg(
        long,
        value_name = "BYTES",
        env = "BATON_BYTES_PER_SECOND",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    bytes_per_second: Option<i64>,
    /// Where the node answers that this one registers by itself; it is pending until a person confirms
    /// its fingerprint [default: none]
    #[arg(long, value_name = "URL", env = "BATON_CLOUD_URL", hide_env_values = true)]
    cloud_url: Option<String>,
    /// Whether the node at the cloud URL is registered at the start [default: true]
    #[arg(long, value_name = "BOOL", env = "BATON_AUTO_REGISTER_CLOUD", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    auto_register_cloud: Option<bool>,
    /// Private hosts, addresses and networks that the node may ask, such as 10.0.0.0/8 [default:
    /// none]
    #[arg(
        long,
        value_name = "PLACE",
        env = "BATON_OUTBOUND_ALLOW",
        hide_env_values = true,
        value_delimiter = ','
    )]
    outbound_allow: Option<Vec<String>>,
    /// How the node is deployed, `cloud` or `hosted` [default: cloud where a platform that runs
    /// containers shows itself, else hosted]
    #[arg(long, value_name = "TYPE", env = "BATON_NODE_TYPE", hide_env_values = true)]
    node_type: Option<String>,
    /// What the node calls itself to other nodes [default: the host's name]
    #[arg(long, value_name = "NAME", env = "BATON_NODE_NAME", hide_env_values = true)]
    node_name: Option<String>,
    /// Where the world asks the node, such as `https://baton.example.org` [default: none]
    #[arg(long, value_name = "URL", env = "BATON_PUBLIC_URL", hide_env_values = true)]
    public_url: Option<String>,
    /// Where its own network asks the node [default: none]
    #[arg(long, value_name = "URL", env = "BATON_INTERNAL_URL", hide_env_values = true)]
    internal_url: Option<String>,
    /// What the nodes that are one with this one are called together; they share a PostgreSQL, and each has an
    /// internal URL [default: none]
    #[arg(long, value_name = "NAME", env = "BATON_CLUSTER_NAME", hide_env_values = true)]
    cluster_name: Option<String>,
    /// Servers of NATS by which the nodes of the cluster tell each other at once that something changed: `nats://`
    /// or `tls://`, separated by commas [default: none]
    #[arg(long, value_name = "URLS", env = "BATON_CLUSTER_BUS_URL", hide_env_values = true)]
    cluster_bus_url: Option<String>,
    /// Who the node is to these: a file of NATS (`.creds`), or with a line `user:password` or a token
    /// [default: nobody]
    #[arg(
        long,
        value_name = "FILE",
        env = "BATON_CLUSTER_BUS_CREDENTIALS",
        hide_env_values = true
    )]
    cluster_bus_credentials: Option<PathBuf>,
    /// Whom to trust that these are themselves (PEM) [default: whom the machine trusts]
    #[arg(long, value_name = "FILE", env = "BATON_CLUSTER_BUS_CA", hide_env_values = true)]
    cluster_bus_ca: Option<PathBuf>,
    /// What the node is for, in words that sessions ask for, separated by commas: gpu,region=eu [default: none]
    #[arg(
        long,
        value_name = "LABELS",
        env = "BATON_CLUSTER_LABELS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    cluster_labels: Option<Vec<String>>,
    /// Whether what a node held that fell silent is resumed on nodes with room [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_CLUSTER_FAILOVER", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    cluster_failover: Option<bool>,
    /// Whether a node that is told to end brings its sessions to other nodes first [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_CLUSTER_DRAIN", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    cluster_drain: Option<bool>,
    /// `postgres://…`, or the path of an SQLite file [default: baton.db in the data folder]
    #[arg(long, value_name = "URL", env = "BATON_DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// Largest part of a snapshot, in bytes [default: 67108864]
    #[arg(
        long,
        value_name = "BYTES",
        env = "BATON_PART_BYTES",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    part_bytes: Option<i64>,
    /// Most parts of a snapshot [default: 20000]
    #[arg(
        long,
        value_name = "COUNT",
        env = "BATON_SNAPSHOT_PARTS",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    snapshot_parts: Option<i64>,
    /// The browser to start: `chromium`, `chrome`, `chrome-for-testing`, `playwright`, `puppeteer`, `edge`,
    /// `brave`, or the path of a program [default: the first of them that is there]
    #[arg(long, value_name = "WHICH", env = "BATON_BROWSER", hide_env_values = true)]
    browser: Option<PathBuf>,
    /// How the machine's files are taken away from browsers: `auto`, `landlock`, `bubblewrap` or `off`
    /// [default: auto]
    #[arg(long, value_name = "HOW", env = "BATON_BROWSER_CONFINEMENT", hide_env_values = true)]
    browser_confinement: Option<String>,
    /// Folders of this machine that browsers of the owner `local` see, separated by commas; DIR:rw to
    /// write there too [default: none]
    #[arg(
        long,
        value_name = "DIRS",
        env = "BATON_BROWSER_FILES",
        hide_env_values = true,
        value_delimiter = ','
    )]
    browser_files: Option<Vec<String>>,
    /// Which browsers go to the network through their keepers alone: `asked`, where a session asks for it or
    /// is another owner's, or `always` [default: asked]
    #[arg(long, value_name = "WHICH", env = "BATON_BROWSER_EGRESS", hide_env_values = true)]
    browser_egress: Option<String>,
    /// Hosts of this machine and its network that sessions of owners other than `local` may reach, separated
    /// by commas: localhost:3000, 10.1.0.0/16 [default: none]
    #[arg(
        long,
        value_name = "HOSTS",
        env = "BATON_BROWSER_PRIVATE_HOSTS",
        hide_env_values = true,
        value_delimiter = ','
    )]
    browser_private_hosts: Option<Vec<String>>,
    /// Whether Chromium keeps its pages in a sandbox of its own: `auto`, or `off` where a container is the
    /// sandbox already [default: auto]
    #[arg(long, value_name = "WHETHER", env = "BATON_BROWSER_SANDBOX", hide_env_values = true)]
    browser_sandbox: Option<String>,
    /// Further switches of Chromium, separated by spaces; what would undo Baton's own is refused
    /// [default: none]
    #[arg(
        long,
        value_name = "SWITCHES",
        env = "BATON_BROWSER_ARGS",
        hide_env_values = true,
        value_delimiter = ' ',
        allow_hyphen_values = true
    )]
    browser_args: Option<Vec<String>>,
    /// The most browsers of sessions that run at once [default: as many as are asked for]
    #[arg(
        long,
        value_name = "COUNT",
        env = "BATON_BROWSER_MOST",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    browser_most: Option<i64>,
    /// Memory that stays free when a browser is started, in bytes; 0: nobody looks [default: 0, and 536870912
    /// in a cluster]
    #[arg(
        long,
        value_name = "BYTES",
        env = "BATON_BROWSER_MEMORY_RESERVE",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    browser_memory_reserve: Option<i64>,
    /// Seconds that a changed session may go without a snapshot [default: 30]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "BATON_SESSION_SNAPSHOT_INTERVAL",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    session_snapshot_interval: Option<i64>,
    /// Seconds after which a session is stale [default: 86400]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "BATON_MAX_SESSION_AGE",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    max_session_age: Option<i64>,
    /// Resume by itself what was lost with this node, or another of its database [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_AUTO_REHYDRATE", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    auto_rehydrate: Option<bool>,
    /// How many snapshots of a session are kept [default: 10]
    #[arg(
        long,
        value_name = "COUNT",
        env = "BATON_MAX_SESSION_SNAPSHOTS",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    max_session_snapshots: Option<i64>,
    /// Take a snapshot after clicks and typing too [default: false]
    #[arg(long, value_name = "BOOL", env = "BATON_CAPTURE_ON_INPUT", hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    capture_on_input: Option<bool>,
    /// Seconds for which a node that shares its database holds its sessions when it cannot reach it
    /// [default: 30]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "BATON_LEASE",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    lease: Option<i64>,
    /// Address and port of the metrics [default: none]
    #[arg(long, value_name = "ADDRESS", env = "BATON_METRICS_LISTEN", hide_env_values = true)]
    metrics_listen: Option<String>,
    /// Address and port of the proxy in front of cocoons [default: none]
    #[arg(long, value_name = "ADDRESS", env = "BATON_PROXY_LISTEN", hide_env_values = true)]
    proxy_listen: Option<String>,
    /// Name whose subdomains are cocoons, beside localhost [default: none]
    #[arg(long, value_name = "HOST", env = "BATON_PROXY_HOST", hide_env_values = true)]
    proxy_host: Option<String>,
    /// Seconds until a cocoon's answer has to begin [default: 60]
    #[arg(
        long,
        value_name = "SECONDS",
        env = "BATON_PROXY_FIRST_BYTE_TIMEOUT",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    proxy_first_byte_timeout: Option<i64>,
    /// Whether there is a proxy, as other programs are told it
    #[arg(long, env = "ENABLE_PROXY", hide = true, hide_env_values = true, num_args = 0..=1, default_missing_value = "true")]
    enable_proxy: Option<bool>,
    /// The port of that proxy
    #[arg(long, env = "PROXY_PORT", hide = true, hide_env_values = true)]
    proxy_port: Option<u16>,
    /// Largest request body, in bytes [default: 1048576]
    #[arg(
        long,
        value_name = "BYTES",
        env = "BATON_BODY_BYTES",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    body_bytes: Option<i64>,
    /// Connections of each listener at once [default: 1000]
    #[arg(
        long,
        value_name = "COUNT",
        env = "BATON_CONNECTIONS",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    connections: Option<i64>,
    /// Requests that one key may make in a minute [default: 6000]
    #[arg(
        long,
        value_name = "COUNT",
        env = "BATON_REQUESTS_PER_MINUTE",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    requests_per_minute: Option<i64>,
    /// Requests without a good key that one address may make in a minute [default: 60]
    #[arg(
        long,
        value_name = "COUNT",
        env = "BATON_REFUSED_KEYS_PER_MINUTE",
        hide_env_values = true,
        allow_negative_numbers = true
    )]
    refused_keys_per_minute: Option<i64>,
}

/// A database's address may hold a password.
impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flags").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// The port on which the proxy listens unless the user names another, once there shall be one.
const PROXY_PORT: u16 = 8081;

impl Flags {
    /// Where the proxy listens: by its own flag, else by the flags that other programs share.
    fn proxy_listen(&self) -> Option<String> {
        let is_wanted = self.enable_proxy == Some(true);
        let usual = || format!("127.0.0.1:{}", self.proxy_port.unwrap_or(PROXY_PORT));
        self.proxy_listen.clone().or_else(|| is_wanted.then(usual))
    }
}

impl From<Flags> for Settings {
    fn from(flags: Flags) -> Self {
        Self {
            proxy: ProxyTexts {
                listen: flags.proxy_listen(),
                host: flags.proxy_host,
                first_byte_timeout: flags.proxy_first_byte_timeout,
                browser_debug: BrowserDebugTexts::default(),
            },
            cocoons: None,
            debug: DebugTexts::default(),
            sandboxes: None,
            gateway: None,
            webhooks: None,
            quotas: None,
            people: PeopleTexts::default(),
            auth: AuthTexts::default(),
            server: ServerSettings {
                listen: flags.listen,
                behind_proxy: flags.behind_proxy,
                published: flags.published,
                allowed_hosts: flags.allowed_hosts,
                tls: TlsSettings { certificate: flags.tls_certificate, key: flags.tls_key },
            },
            sync: SyncTexts {
                auto_sync: flags.auto_sync,
                sync_interval: flags.sync_interval,
                conflict_resolution: flags.conflict_resolution,
                session_bytes: flags.session_bytes,
                deletion_age: flags.deletion_age,
                directory: flags.sync_directory,
                directory_plain: flags.sync_directory_plain,
                staged_bytes: flags.staged_bytes,
                bytes_per_second: flags.bytes_per_second,
                cloud_url: flags.cloud_url,
                auto_register_cloud: flags.auto_register_cloud,
            },
            outbound: OutboundTexts { allow: flags.outbound_allow },
            node: NodeTexts {
                node_type: flags.node_type,
                name: flags.node_name,
                public_url: flags.public_url,
                internal_url: flags.internal_url,
            },
            cluster: ClusterTexts {
                name: flags.cluster_name,
                bus_url: flags.cluster_bus_url,
                bus_credentials: flags.cluster_bus_credentials,
                bus_ca: flags.cluster_bus_ca,
                labels: flags.cluster_labels,
                failover: flags.cluster_failover,
                drain: flags.cluster_drain,
            },
            storage: StorageSettings {
                database_url: flags.database_url,
                part_bytes: flags.part_bytes,
                snapshot_parts: flags.snapshot_parts,
            },
            browser: BrowserSettings {
                program: flags.browser,
                confinement: flags.browser_confinement,
                files: flags.browser_files,
                egress: flags.browser_egress,
                private_hosts: flags.browser_private_hosts,
                proxies: None,
                sandbox: flags.browser_sandbox,
                args: flags.browser_args,
                most: flags.browser_most,
                memory_reserve: flags.browser_memory_reserve,
            },
            recovery: RecoveryTexts {
                session_snapshot_interval: flags.session_snapshot_interval,
                max_session_age: flags.max_session_age,
                auto_rehydrate: flags.auto_rehydrate,
                max_session_snapshots: flags.max_session_snapshots,
                capture_on_input: flags.capture_on_input,
                lease: flags.lease,
            },
            metrics: MetricsSettings { listen: flags.metrics_listen },
            limits: LimitSettings {
                body_bytes: flags.body_bytes,
                connections: flags.connections,
                requests_per_minute: flags.requests_per_minute,
                refused_keys_per_minute: flags.refused_keys_per_minute,
            },
        }
    }
}
