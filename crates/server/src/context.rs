//! What every operation is given: the database, the running browsers, and who this node is.

use crate::asking::{Ask, Asks};
use crate::cluster::{Cluster, Doorbell, DrainProgress, OwnRoom, Passed};
use crate::error::NodeError;
use crate::page::{Departures, LivePage, PageCodes, PageHalves, PageSessions};
use crate::paired::Browsers;
use crate::peer_place::PeerPlace;
use axum::http::HeaderMap;
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
use baton_runtime::{Activity, Caller, Feed, Runtime, Tickets};
use baton_session::SandboxId;
use baton_store::Store;
use baton_sync::identity::{NodeSettings, OwnIdentity};
use baton_sync::oidc::{OidcSettings, SignIn, SignInSettings, TokenVerifier, Tokens};
use baton_sync::peers::Statuses;
use baton_sync::people::PeopleSettings;
use baton_sync::standing::Watches;
use baton_sync::webhooks::{WebhookSettings, Webhooks};
use baton_sync::{FolderState, Given, Nodes, Own, Sync, SyncSettings};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;
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
    /// Who is signed in to the page.
    pub(crate) pages: PageSessions,
    /// What signs the page in, once.
    pub(crate) page_codes: PageCodes,
    /// How people of a provider come in; none where the settings name no provider.
    pub(crate) sign_in: Option<SignIn>,
    /// What shows the display of a sandbox, each with the page that shows it.
    pub(crate) display_tickets: Tickets<Option<LivePage>, SandboxId>,
    /// Who is on their way to it.
    pub(crate) departures: Departures,
    /// What shows a session live, each with the page that shows it.
    pub(crate) live_tickets: Tickets<Option<LivePage>>,
    /// What persons are asked.
    pub(crate) asks: Asks,
    /// What shows a guest the one tab of an ask.
    pub(crate) guest_tickets: Tickets<Arc<Ask>>,
    /// Whom an ask is told to.
    pub(crate) people: Arc<PeopleSettings>,
    /// The nodes that are one with this one; none where it is one by itself.
    pub(crate) cluster: Option<Cluster>,
    /// How far this node is with bringing what it runs to others.
    pub(crate) drain: DrainProgress,
    /// What the other nodes of the cluster say that they did.
    pub(crate) doorbell: Doorbell,
    /// Where this node listens for peers alone.
    pub(crate) peer_place: PeerPlace,
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
    /// How people of a provider sign in to the page; none means with keys alone.
    pub sign_in: Option<SignInSettings>,
    /// Which programs hear of sessions that come from elsewhere.
    pub webhooks: Vec<WebhookSettings>,
    /// Whom an ask is told to.
    pub people: PeopleSettings,
    /// How often a caller may ask.
    pub rates: Rates,
    /// What bodies of requests and answers hold.
    pub(crate) freight: Freight,
    /// Who is signed in to the page.
    pub(crate) pages: PageSessions,
    /// Where this node listens for peers alone.
    pub(crate) peer_place: PeerPlace,
    /// The board that agents share, if there is one.
    pub board: Option<Federation>,
    /// The nodes that are one with this one.
    pub(crate) cluster: Option<Cluster>,
    /// Ends what would go on for as long as its client likes, once the node ends.
    pub ending: CancellationToken,
}

impl Context {
    /// How much room this node has now.
    pub(crate) fn room(&self) -> OwnRoom {
        let (browsers, sandboxes) = (self.supervisor.room(), self.agents.sandboxes.room());
        OwnRoom { browsers, sandboxes }
    }

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
            sign_in,
            webhooks,
            people,
            rates,
            freight,
            pages,
            peer_place,
            board,
            cluster,
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
        let sign_in = sign_in.map(|settings| SignIn::new(settings, outbound.clone()));
        let runtime = Runtime {
            store,
            supervisor,
            node,
            peers: Arc::new(Nodes(Arc::clone(&own))),
            tasks: TaskTracker::new(),
            ending,
            activity: Activity::default(),
            board,
            revoked: watch::Sender::default(),
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
            browsers: Browsers::new(debug_secret, cluster.as_ref().map(|_| node.mark())),
            front,
            relay,
            rates,
            freight,
            pages,
            page_codes: PageCodes::new(node.mark()),
            sign_in,
            display_tickets: Tickets::default(),
            departures: Departures::default(),
            live_tickets: Tickets::default(),
            asks: Asks::default(),
            guest_tickets: Tickets::default(),
            people: Arc::new(people),
            cluster,
            drain: DrainProgress::default(),
            doorbell: Doorbell::default(),
            peer_place,
        }
    }

    /// The page that asks, here or at the node that passed its request on; none where it is no page's. Fails where the
    /// page that asked there is signed out meanwhile.
    pub(crate) async fn page(
        &self,
        headers: &HeaderMap,
        passed: Option<&Passed>,
    ) -> Result<Option<LivePage>, NodeError> {
        if let Some(cookie) = passed.and_then(|passed| passed.page) {
            let ended = NodeError::Unauthenticated { found: "a page that is signed out" };
            return Ok(Some(self.pages.find_passed(cookie).await?.ok_or(ended)?));
        }
        let Some(shown) = PageHalves::of(headers) else { return Ok(None) };
        Ok(self.pages.find(&shown).await?)
    }

    /// Returns once the caller's key is revoked: at once when that happens at this node, and within `pause` when it
    /// happens at another. A database that does not answer changes nothing.
    pub(crate) async fn revocation(&self, caller: &Caller, pause: Duration) {
        let mut revoked = self.revoked.subscribe();
        while !self.is_shut_out(caller).await.unwrap_or(false) {
            // Either is a reason to look.
            let _ = timeout(pause, revoked.changed()).await;
        }
    }
}
