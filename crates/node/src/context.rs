//! What every operation is given: the database, the running browsers, and who this node is.

use crate::board::Feed;
use crate::config::ProxySettings;
use crate::gateway::GatewaySettings;
use crate::identity::NodeSettings;
use crate::identity::OwnIdentity;
use crate::idle::Activity;
use crate::life::{HOLD_LIMIT, settled};
use crate::live::{Hub, LiveError};
use crate::looking::Browsers;
use crate::messages::Replays;
use crate::oidc::{Gate, OidcSettings, Tokens};
use crate::proxy::{Cocoons, ProxyPlace};
use crate::runtime::RuntimeError;
use crate::sandboxes::Sandboxes;
use crate::sync::peers::Statuses;
use crate::sync::standing::Watches;
use crate::sync::{FolderState, Given, IndexCache, KnownIcons, Looks, SyncSettings};
use crate::table::Hold;
use crate::tickets::Tickets;
use crate::webhooks::{WebhookSettings, Webhooks};
use baton_debug::Relay;
use baton_debug::relay::Bus;
use baton_debug::token::DebugSecret;
use baton_federation::Federation;
use baton_net::connections::Freight;
use baton_net::outbound::Outbound;
use baton_net::rates::Rates;
use baton_session::{NodeId, Owner, Session, SessionId};
use baton_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The surroundings of an operation. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// The database.
    pub store: Store,
    /// The running browsers.
    pub hub: Hub,
    /// What tabs tell.
    pub relay: Relay,
    /// How tabs are asked, wherever their browsers are connected.
    pub bus: Arc<dyn Bus>,
    /// The browsers of people that tell of their tabs.
    pub(crate) browsers: Browsers,
    /// What stands behind this node's proxy.
    pub cocoons: Cocoons,
    /// What the settings say of the proxy.
    pub(crate) proxy_settings: Arc<ProxySettings>,
    /// Where the proxy is reached, when this node has one.
    pub(crate) proxy: Option<ProxyPlace>,
    /// Which node this is.
    pub node: NodeId,
    /// What was begun and must be finished before the node ends.
    pub tasks: TaskTracker,
    /// Ends what would go on for as long as its client likes, once the node ends.
    pub ending: CancellationToken,
    /// When somebody last asked for something.
    pub activity: Activity,
    /// How often somebody asked.
    pub rates: Rates,
    /// What bodies of requests and answers hold.
    pub(crate) freight: Freight,
    /// The board that agents share, if there is one.
    pub board: Option<Federation>,
    /// Tells those who follow the board that it changed.
    pub(crate) feed: Feed,
    /// What opens a browser for tools that send no headers.
    pub tickets: Tickets,
    /// The sandboxes that there are.
    pub sandboxes: Sandboxes,
    /// Which agents are asked as if they were models.
    pub(crate) gateway: Arc<GatewaySettings>,
    /// Who this node is, and in which epoch.
    pub identity: OwnIdentity,
    /// What it says of itself to others.
    pub node_settings: NodeSettings,
    /// How sessions move.
    pub sync: SyncSettings,
    /// Which addresses it asks.
    pub outbound: Outbound,
    /// Lets in nodes that show a token; none takes no tokens.
    pub(crate) gate: Option<Gate>,
    /// The tokens with which this node is let in elsewhere.
    pub(crate) tokens: Tokens,
    /// Requests of nodes that were taken.
    pub(crate) replays: Arc<Replays>,
    /// Whether peers answer.
    pub(crate) statuses: Statuses,
    /// Which sessions go to peers right now.
    pub(crate) given: Given,
    /// The peers that somebody follows.
    pub(crate) watches: Watches,
    /// What is shared, by owner.
    pub(crate) indexes: Arc<IndexCache>,
    /// What peers were shown who are given a part of sessions.
    pub(crate) looks: Arc<Looks>,
    /// Which icons peers gave.
    pub(crate) icons: Arc<KnownIcons>,
    /// What lies in the sync directory.
    pub(crate) folder: FolderState,
    /// Who is told of sessions that come from elsewhere.
    pub(crate) webhooks: Webhooks,
}

/// What a context is made of.
pub struct Surroundings {
    /// The database.
    pub store: Store,
    /// The running browsers.
    pub hub: Hub,
    /// What tabs tell.
    pub relay: Relay,
    /// With what the tokens of debug tabs are signed.
    pub debug_secret: DebugSecret,
    /// What stands behind this node's proxy.
    pub cocoons: Cocoons,
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
    /// Who is told of sessions that come from elsewhere.
    pub webhooks: Vec<WebhookSettings>,
    /// How often somebody may ask.
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
    pub fn new(around: Surroundings) -> Self {
        let Surroundings {
            store,
            hub,
            relay,
            debug_secret,
            cocoons,
            proxy_settings,
            proxy,
            sandboxes,
            gateway,
            identity,
            node_settings,
            sync,
            outbound,
            oidc,
            webhooks,
            rates,
            freight,
            board,
            ending,
        } = around;
        Self {
            node: identity.node(),
            store,
            hub,
            bus: Arc::new(relay.clone()),
            browsers: Browsers::new(debug_secret),
            cocoons,
            proxy_settings: Arc::new(proxy_settings),
            proxy,
            relay,
            sandboxes,
            gateway: Arc::new(gateway),
            identity,
            node_settings,
            sync,
            gate: oidc.map(|settings| Gate::new(settings, outbound.clone())),
            tokens: Tokens::new(outbound.clone()),
            outbound,
            rates,
            board,
            ending,
            tasks: TaskTracker::new(),
            activity: Activity::default(),
            freight,
            feed: Feed::default(),
            tickets: Tickets::default(),
            replays: Arc::default(),
            statuses: Statuses::default(),
            given: Given::default(),
            watches: Watches::default(),
            indexes: Arc::default(),
            looks: Arc::default(),
            icons: Arc::default(),
            folder: FolderState::default(),
            webhooks: Webhooks::new(webhooks),
        }
    }

    /// Finds an owner's session by id, prefix or name.
    pub async fn find(&self, owner: &Owner, reference: &str) -> Result<Session, RuntimeError> {
        Ok(self.store.find_session(owner, reference).await?)
    }

    /// Finds a session of this node and holds it, once nobody else does. The session is as it is now, not as
    /// it was before the wait, and if it is active somebody watches its browser.
    pub(crate) async fn hold_here(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<(Session, Hold), RuntimeError> {
        let found = self.find(owner, reference).await?;
        self.hold_again(&found).await
    }

    /// The same for one that was found before.
    pub(crate) async fn hold_again(
        &self,
        found: &Session,
    ) -> Result<(Session, Hold), RuntimeError> {
        let hold = self.hold(found.id, "changed", HOLD_LIMIT).await?;
        let session = self.store.fetch_session(&found.owner, found.id).await?;
        if session.node != self.node {
            return Err(RuntimeError::OtherNode { name: session.name, node: session.node });
        }
        Ok((settled(self, &hold, session).await?, hold))
    }

    /// Holds a session, which need not be here, once nobody else does.
    pub(crate) async fn hold(
        &self,
        id: SessionId,
        doing: &'static str,
        limit: Duration,
    ) -> Result<Hold, RuntimeError> {
        Ok(self.hub.table().hold(id, doing, limit).await.map_err(LiveError::from)?)
    }
}
