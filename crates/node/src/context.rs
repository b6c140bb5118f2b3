//! What every operation is given: the database, the running browsers, and who this node is.

use crate::NodeError;
use crate::board::Feed;
use crate::config::{GatewaySettings, NodeSettings, ProxySettings};
use crate::connections::Freight;
use crate::debug::relay::Bus;
use crate::debug::token::DebugSecret;
use crate::debug::{Browsers, Relay};
use crate::identity::OwnIdentity;
use crate::idle::Activity;
use crate::live::{Hub, LiveError};
use crate::messages::Replays;
use crate::oidc::{Gate, OidcSettings, Tokens};
use crate::outbound::Outbound;
use crate::proxy::{Cocoons, ProxyPlace};
use crate::rates::Rates;
use crate::sandboxes::Sandboxes;
use crate::sessions::Drivers;
use crate::sync::lease::Asking;
use crate::sync::peers::Statuses;
use crate::sync::standing::Watches;
use crate::sync::{FolderState, Given, IndexCache, KnownIcons, Looks, SyncSettings};
use crate::tickets::Tickets;
use crate::turns::{Turn, Turns};
use crate::webhooks::{WebhookSettings, Webhooks};
use baton_federation::Federation;
use baton_session::{NodeId, Owner, Session, SessionId};
use baton_store::Store;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// How long an operation waits for its turn; shorter than its caller waits for an answer.
const TURN_LIMIT: Duration = Duration::from_mins(1);

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
    /// Tells those who drive a browser that another agent may.
    pub(crate) drivers: Drivers,
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
    /// Which sessions peers are asked for.
    pub(crate) asking: Asking,
    /// What lies in the sync directory.
    pub(crate) folder: FolderState,
    /// Who is told of sessions that come from elsewhere.
    pub(crate) webhooks: Webhooks,
    turns: Turns,
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
            drivers: Drivers::default(),
            replays: Arc::default(),
            statuses: Statuses::default(),
            given: Given::default(),
            watches: Watches::default(),
            indexes: Arc::default(),
            looks: Arc::default(),
            icons: Arc::default(),
            asking: Asking::default(),
            folder: FolderState::default(),
            webhooks: Webhooks::new(webhooks),
            turns: Turns::default(),
        }
    }

    /// Finds an owner's session by id, prefix or name.
    pub async fn find(&self, owner: &Owner, reference: &str) -> Result<Session, NodeError> {
        Ok(self.store.find_session(owner, reference).await?)
    }

    /// Finds a session of this node and waits until no other operation changes it. The session is
    /// as it is now, not as it was before the wait, and if it is active somebody watches its browser.
    pub async fn take_turn(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<(Session, Turn), NodeError> {
        let (session, turn) = self.take_any_turn(owner, reference).await?;
        if session.node != self.node {
            return Err(NodeError::OtherNode { name: session.name, node: session.node });
        }
        self.hub.settle(&session).await?;
        Ok((self.store.fetch_session(owner, session.id).await?, turn))
    }

    /// The same for whoever wants to run the session here: one that has its home at another node is
    /// brought here first, unless that node holds it.
    pub async fn take_turn_here(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<(Session, Turn), NodeError> {
        let (session, turn) = self.take_any_turn(owner, reference).await?;
        if session.node != self.node {
            self.hub.adopt(&session).await?;
        }
        self.hub.settle(&self.store.fetch_session(owner, session.id).await?).await?;
        Ok((self.store.fetch_session(owner, session.id).await?, turn))
    }

    /// Waits until no other operation changes a session, which need not be here.
    pub(crate) async fn turn(&self, id: SessionId, limit: Duration) -> Result<Turn, NodeError> {
        let turn = self.turns.take(id, limit).await;
        Ok(turn.ok_or(LiveError::Busy { id, doing: "changed" })?)
    }

    async fn take_any_turn(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<(Session, Turn), NodeError> {
        let found = self.find(owner, reference).await?;
        let turn = self.turns.take(found.id, TURN_LIMIT).await;
        let turn = turn.ok_or(LiveError::Busy { id: found.id, doing: "changed" })?;
        Ok((self.store.fetch_session(owner, found.id).await?, turn))
    }
}
