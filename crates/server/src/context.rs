//! What every operation is given: the database, the running browsers, and who this node is.

use crate::paired::Browsers;
use baton_agents::Agents;
use baton_agents::gateway::GatewaySettings;
use baton_agents::sandboxes::Sandboxes;
use baton_debug::Relay;
use baton_debug::relay::Bus;
use baton_debug::token::DebugSecret;
use baton_federation::Federation;
use baton_net::connections::Freight;
use baton_net::outbound::Outbound;
use baton_net::rates::Rates;
use baton_proxy::upstreams::Front;
use baton_proxy::{ProxyPlace, ProxySettings, UpstreamServices};
use baton_runtime::live::BrowserSupervisor;
use baton_runtime::{Activity, Feed, Runtime, Tickets};
use baton_store::Store;
use baton_sync::identity::{NodeSettings, OwnIdentity};
use baton_sync::oidc::{OidcSettings, TokenVerifier, Tokens};
use baton_sync::peers::Statuses;
use baton_sync::standing::Watches;
use baton_sync::webhooks::{WebhookSettings, Webhooks};
use baton_sync::{FolderState, Given, Nodes, Own, Sync, SyncSettings};
use std::ops::Deref;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The surroundings of an operation. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// Those of whatever moves sessions.
    pub sync: Sync,
    /// Those of an operation on agents.
    pub agents: Agents,
    /// What tabs tell.
    pub relay: Relay,
    /// How tabs are asked, wherever their browsers are connected.
    pub bus: Arc<dyn Bus>,
    /// The browsers of people that tell of their tabs.
    pub(crate) browsers: Browsers,
    /// Those of an operation on upstream services.
    pub front: Front,
    /// How often callers asked.
    pub rates: Rates,
    /// What bodies of requests and answers hold.
    pub(crate) freight: Freight,
}

impl Deref for Context {
    type Target = Sync;

    fn deref(&self) -> &Sync {
        &self.sync
    }
}

/// What a context is made of.
pub struct ContextParts {
    /// The database.
    pub store: Store,
    /// The running browsers.
    pub supervisor: BrowserSupervisor,
    /// What tabs tell.
    pub relay: Relay,
    /// With what the tokens of debug tabs are signed.
    pub debug_secret: DebugSecret,
    /// What is behind this node's proxy.
    pub services: UpstreamServices,
    /// What the settings say of the proxy.
    pub proxy_settings: ProxySettings,
    /// Where the proxy is reached, when this node has one.
    pub proxy: Option<ProxyPlace>,
    /// The sandboxes that there are.
    pub sandboxes: Sandboxes,
    /// Which agents are asked as if they were models.
    pub gateway: GatewaySettings,
    /// Who this node is.
    pub identity: OwnIdentity,
    /// What it says of itself to others.
    pub node_settings: NodeSettings,
    /// How sessions move.
    pub sync: SyncSettings,
    /// Which addresses it asks.
    pub outbound: Outbound,
    /// Which tokens open this node to others; none takes no tokens.
    pub oidc: Option<OidcSettings>,
    /// Which programs hear of sessions that come from elsewhere.
    pub webhooks: Vec<WebhookSettings>,
    /// How often a caller may ask.
    pub rates: Rates,
    /// What bodies of requests and answers hold.
    pub(crate) freight: Freight,
    /// The board that agents share, if there is one.
    pub board: Option<Federation>,
    /// Ends what would go on for as long as its client likes, once the node ends.
    pub ending: CancellationToken,
}

impl Context {
    /// The surroundings that a node gives to its operations.
    pub fn new(around: ContextParts) -> Self {
        let ContextParts {
            store,
            supervisor,
            relay,
            debug_secret,
            services,
            proxy_settings,
            proxy,
            sandboxes,
            gateway,
            identity,
            node_settings,
            sync: settings,
            outbound,
            oidc,
            webhooks,
            rates,
            freight,
            board,
            ending,
        } = around;
        let node = identity.node();
        let front = Front {
            store: store.clone(),
            services,
            settings: Arc::new(proxy_settings),
            place: proxy,
            secret: debug_secret.clone(),
        };
        let own = Arc::new(Own {
            identity,
            node_settings,
            settings,
            token_verifier: oidc.map(|settings| TokenVerifier::new(settings, outbound.clone())),
            tokens: Tokens::new(outbound.clone()),
            outbound: outbound.clone(),
            nonces: Arc::default(),
            statuses: Statuses::default(),
            given: Given::default(),
            watches: Watches::default(),
            indexes: Arc::default(),
            looks: Arc::default(),
            icons: Arc::default(),
            folder: FolderState::default(),
            webhooks: Webhooks::new(webhooks),
        });
        let runtime = Runtime {
            store,
            supervisor,
            node,
            peers: Arc::new(Nodes(Arc::clone(&own))),
            tasks: TaskTracker::new(),
            ending,
            activity: Activity::default(),
            board,
            feed: Feed::default(),
            tickets: Tickets::default(),
        };
        Self {
            agents: Agents {
                runtime: runtime.clone(),
                outbound,
                sandboxes,
                gateway: Arc::new(gateway),
            },
            sync: Sync { runtime, own },
            bus: Arc::new(relay.clone()),
            browsers: Browsers::new(debug_secret),
            front,
            relay,
            rates,
            freight,
        }
    }
}
