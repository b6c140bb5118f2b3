//! What each verb asks of a session, and what those that start one bring back.
//!
//! The one idea: one small type a verb says where the session may stand, and whether another agent that
//! drives it is in the way. It is asked before the wait and after it, so no verb can forget either.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::live::{Handed, LiveError, Loaded, choose};
use crate::request::{Caller, Consent};
use baton_api::ResumeAs;
use baton_session::login::{Known, expect_login};
use baton_session::view::Domain;
use baton_session::{AgentName, Lifecycle, NodeId, PartKind, PartRef, Session, StorageKey};
use baton_store::clock;

/// Of which session something is wanted, and by whom.
#[derive(Clone, Copy)]
pub struct WantScope<'a> {
    pub(super) context: &'a Runtime,
    pub(super) by: &'a Caller,
    pub(super) session: &'a Session,
}

/// What a verb asks of a session.
pub trait Want {
    /// What is found ahead.
    type Preflight: Send;
    /// What goes on while the session is held, for callers that wait.
    const DOING: &'static str;
    /// Whether only the agent that drives the session may have this.
    const DRIVES: bool;
    /// Whether the session becomes this node's first, where its own node is gone.
    const INHERITS: bool = false;

    /// The same, for a verb that some may have of any session.
    fn drives(&self) -> bool {
        Self::DRIVES
    }

    /// Whether the session's lifecycle allows this. Asked before the wait and after it.
    fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError>;

    /// Finds what is needed for it. Changes nothing anywhere.
    fn find(
        &self,
        asked: WantScope<'_>,
    ) -> impl Future<Output = Result<Self::Preflight, RuntimeError>> + Send;
}

/// Refuses a session whose home is another node.
fn expect_home(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    if session.node == context.node {
        return Ok(());
    }
    Err(RuntimeError::OtherNode { name: session.name.clone(), node: session.node })
}

/// Refuses a session whose home is another node, unless that has fallen silent.
fn expect_home_or_left(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    if context.supervisor.is_silent(session.node) {
        return Ok(());
    }
    expect_home(context, session)
}

/// Refuses a session that a sandbox has.
pub(super) fn expect_checked_in(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    let id = session.id;
    let checked_out_to = context.supervisor.table().checked_out_to(id);
    checked_out_to.map_or(Ok(()), |sandbox| Err(LiveError::CheckedOut { id, sandbox }.into()))
}

/// Refuses a session because of its lifecycle.
pub(super) fn refuse(session: &Session, expected: &'static str) -> RuntimeError {
    let (name, found) = (session.name.clone(), session.lifecycle);
    RuntimeError::WrongState { name, expected, found }
}

/// A verb that needs nothing but the session.
macro_rules! wants {
    ($(
        #[$doc:meta]
        $name:ident: $doing:literal, drives $drives:literal, inherits $inherits:literal, $allows:expr;
    )*) => {$(
        #[$doc]
        pub(crate) struct $name;

        impl Want for $name {
            type Preflight = ();
            const DOING: &'static str = $doing;
            const DRIVES: bool = $drives;
            const INHERITS: bool = $inherits;

            fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
                let expect = if $inherits { expect_home_or_left } else { expect_home };
                expect(context, session)?;
                let allows: fn(&Runtime, &Session) -> Result<(), RuntimeError> = $allows;
                allows(context, session)
            }

            async fn find(&self, asked: WantScope<'_>) -> Result<(), RuntimeError> {
                if asked.session.node != asked.context.node {
                    asked.context.supervisor.expect_adoptable(asked.session.id).await?;
                }
                Ok(())
            }
        }
    )*};
}

wants! {
    /// To capture it and end its browser.
    Close: "closed", drives true, inherits true, open;
    /// To end its browser without a last snapshot.
    Abandon: "abandoned", drives true, inherits true, open;
    /// To remove all that is kept of it.
    Delete: "deleted", drives true, inherits true, without_browser;
    /// To capture it and end its browser, so that another node of the cluster brings it back.
    Move: "moved", drives false, inherits false, movable;
    /// To read its browser. Looking at a session is free, also while another agent drives it.
    Capture: "captured", drives false, inherits false, active;
    /// To switch whether what its tabs do is recorded.
    Debug: "switched", drives true, inherits false, |_, _| Ok(());
    /// To change what is said of it.
    Change: "changed", drives false, inherits false, |_, _| Ok(());
}

fn open(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    // Who has it says more than its lifecycle: it was closed to be checked out.
    expect_checked_in(context, session)?;
    if session.lifecycle == Lifecycle::Closed {
        return Err(refuse(session, "active, recoverable, stale or failed"));
    }
    Ok(())
}

fn without_browser(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    // A row that is active though its browser is gone is seen as what it is once it is held.
    expect_checked_in(context, session)?;
    if context.supervisor.holds(session.id) {
        return Err(refuse(session, "closed or abandoned first"));
    }
    Ok(())
}

fn movable(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    active(context, session)?;
    if context.supervisor.is_attached(session.id) {
        let holder = "a browser of somebody's own has it, which Baton does not end".to_owned();
        return Err(RuntimeError::Held { name: session.name.clone(), holder });
    }
    Ok(())
}

fn active(context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
    expect_checked_in(context, session)?;
    if session.lifecycle != Lifecycle::Active {
        return Err(refuse(session, "active"));
    }
    Ok(())
}

/// A verb that starts something.
pub trait Starts: Want {
    /// Whether a node that runs the session elsewhere is asked to give it up.
    const CONSENT: Consent;
    /// Whether what another node saved since becomes what is here, before it starts.
    const SETTLES: bool;
}

/// A verb that starts a browser.
pub trait StartsBrowser: Starts {
    /// What is brought back.
    fn load(
        context: &Runtime,
        session: &Session,
        found: Self::Preflight,
    ) -> impl Future<Output = Result<Loaded, RuntimeError>> + Send;
}

/// To bring a session back from its last good snapshot.
#[derive(Default)]
pub(crate) struct Resume {
    /// Which browser it is to be for its sites; none as it is.
    pub(crate) browser: Option<ResumeAs>,
}

impl Want for Resume {
    type Preflight = Option<ResumeAs>;
    const DOING: &'static str = "resumed";
    const DRIVES: bool = true;

    fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
        expect_checked_in(context, session)?;
        if context.supervisor.holds(session.id) {
            return Err(refuse(session, "recoverable, stale, failed or closed"));
        }
        Ok(())
    }

    async fn find(&self, asked: WantScope<'_>) -> Result<Option<ResumeAs>, RuntimeError> {
        expect_had(asked).await?;
        expect_taken(asked)?;
        expect_snapshot(asked).await?;
        asked.context.supervisor.expect_startable(asked.session.id).await?;
        Ok(self.browser)
    }
}

impl Starts for Resume {
    const CONSENT: Consent = Consent::Asked;
    const SETTLES: bool = true;
}

impl StartsBrowser for Resume {
    async fn load(
        context: &Runtime,
        session: &Session,
        browser: Option<ResumeAs>,
    ) -> Result<Loaded, RuntimeError> {
        let mut loaded = context.supervisor.load_last_good(session).await?;
        if let Some(choice) = browser {
            choose(&mut loaded.state.environment, choice)?;
        }
        Ok(loaded)
    }
}

/// To bring back, without a request, a session whose browser was lost with its node: this one, while it was
/// down, or another one of its database, which fell silent. No client is disturbed for it: where a peer has
/// the session by now, it stays there. The agent that drove it still does.
pub(crate) struct Rehydrate {
    /// Whose session it was when its browser was lost.
    pub(super) of: NodeId,
}

impl Want for Rehydrate {
    type Preflight = ();
    const DOING: &'static str = Resume::DOING;
    const DRIVES: bool = false;

    fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
        if session.node != self.of {
            // It is this node's once it was brought here, and no other's.
            expect_home(context, session)?;
        }
        match session.lifecycle {
            Lifecycle::Recoverable => Ok(()),
            _ => Err(refuse(session, "recoverable")),
        }
    }

    async fn find(&self, asked: WantScope<'_>) -> Result<(), RuntimeError> {
        Resume::default().find(asked).await.map(drop)
    }
}

impl Starts for Rehydrate {
    const CONSENT: Consent = Consent::IfFree;
    const SETTLES: bool = true;
}

impl StartsBrowser for Rehydrate {
    async fn load(context: &Runtime, session: &Session, (): ()) -> Result<Loaded, RuntimeError> {
        Resume::load(context, session, None).await
    }
}

/// To take a session back to one of its snapshots, whether or not it has a browser now.
pub(crate) struct RollBack<'r> {
    /// The snapshot: its id, or the start of that.
    pub(crate) to: &'r str,
}

impl Want for RollBack<'_> {
    type Preflight = Loaded;
    const DOING: &'static str = "rolled back";
    const DRIVES: bool = true;
    const INHERITS: bool = true;

    fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
        expect_home_or_left(context, session)?;
        expect_checked_in(context, session)
    }

    async fn find(&self, asked: WantScope<'_>) -> Result<Loaded, RuntimeError> {
        let (supervisor, session) = (&asked.context.supervisor, asked.session);
        let to = asked.context.store.find_snapshot(session.id, self.to).await?;
        expect_had(asked).await?;
        expect_taken(asked)?;
        // The lock of a browser of this node's own is no obstacle.
        supervisor.expect_startable(session.id).await?;
        Ok(supervisor.load_to_go_back(session, to).await?)
    }
}

impl Starts for RollBack<'_> {
    const CONSENT: Consent = Consent::Asked;
    const SETTLES: bool = false;
}

impl StartsBrowser for RollBack<'_> {
    async fn load(_: &Runtime, _: &Session, found: Loaded) -> Result<Loaded, RuntimeError> {
        Ok(found)
    }
}

/// To hand a session in: a sandbox has it until that ends.
pub struct CheckOut<'l> {
    /// The domains that need a login.
    pub domains: &'l [Domain],
    /// Which agent asks for it.
    pub agent: Option<&'l AgentName>,
    /// Whether it is taken also from the agent that drives it.
    pub takes: bool,
}

impl CheckOut<'_> {
    /// Checks that what is handed in is a login.
    pub(super) fn accepts(&self, handed: &Handed) -> Result<(), RuntimeError> {
        let (state, stored, sign_ins) = (&handed.state, &stored(handed), &handed.sign_ins);
        Ok(expect_login(Known { state, stored, sign_ins }, self.domains, clock::now())?)
    }
}

impl Want for CheckOut<'_> {
    type Preflight = Option<Handed>;
    const DOING: &'static str = "lent";
    const DRIVES: bool = true;

    fn allows(&self, context: &Runtime, session: &Session) -> Result<(), RuntimeError> {
        let (table, name) = (context.supervisor.table(), || session.name.clone());
        if let Some(sandbox) = table.checked_out_to(session.id) {
            let holder = format!("sandbox {sandbox} has it");
            return Err(RuntimeError::Held { name: name(), holder });
        }
        if context.supervisor.is_attached(session.id) {
            // It would go on with the same login, and tokens rotate.
            let holder = "a browser of somebody's own has it, which Baton does not end".to_owned();
            return Err(RuntimeError::Held { name: name(), holder });
        }
        if !self.takes && table.has_other_client(session.id, self.agent) {
            return Err(RuntimeError::Driven { name: name() });
        }
        Ok(())
    }

    fn drives(&self) -> bool {
        !self.takes
    }

    async fn find(&self, asked: WantScope<'_>) -> Result<Option<Handed>, RuntimeError> {
        expect_had(asked).await?;
        let (context, session) = (asked.context, asked.session);
        if context.supervisor.holds(session.id) {
            // What its browser holds is looked at once it is held.
            return Ok(None);
        }
        let handed = match context.supervisor.hand(session).await {
            Ok(handed) => handed,
            Err(LiveError::NoSnapshot(_)) if is_shared(asked).await? => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Err(refused) = self.accepts(&handed) else { return Ok(Some(handed)) };
        // The node that holds it may have logged in since: what that one saved is looked at, and its browser
        // runs on.
        if !context.peers.look_at_holder(context, asked.by, session.id).await? {
            return Err(refused);
        }
        let handed = context.supervisor.hand(session).await?;
        self.accepts(&handed).map(|()| Some(handed))
    }
}

impl Starts for CheckOut<'_> {
    const CONSENT: Consent = Consent::Asked;
    const SETTLES: bool = true;
}

/// For which storage keys it has localStorage or databases that were not loaded.
pub fn stored(handed: &Handed) -> Vec<StorageKey> {
    let is_left = |part: &&PartRef| match part.kind {
        PartKind::LocalStorage => handed.at_hand.local_storage.is_some(),
        PartKind::Database => handed.at_hand.pages.is_some(),
        _ => false,
    };
    let mut keys: Vec<_> = handed.parts.iter().filter(is_left).filter_map(PartRef::key).collect();
    keys.dedup();
    keys
}

/// Checks that the session can be had here: by its name, and from another node of the database.
async fn expect_had(asked: WantScope<'_>) -> Result<(), RuntimeError> {
    let (supervisor, session) = (&asked.context.supervisor, asked.session);
    if session.lifecycle == Lifecycle::Closed {
        supervisor.expect_its_name(session).await?;
    }
    if session.node != asked.context.node {
        supervisor.expect_adoptable(session.id).await?;
    }
    Ok(())
}

/// Checks that the node takes a session that rests. One that runs here has its place until it goes, and one that found
/// no other node the node itself takes back.
fn expect_taken(asked: WantScope<'_>) -> Result<(), RuntimeError> {
    let supervisor = &asked.context.supervisor;
    if asked.by.is_node() || supervisor.holds(asked.session.id) {
        return Ok(());
    }
    Ok(supervisor.expect_staying()?)
}

/// Checks that there is something to come back from: a snapshot that can be read, or else what peers have.
async fn expect_snapshot(asked: WantScope<'_>) -> Result<(), RuntimeError> {
    match asked.context.supervisor.expect_snapshot(asked.session.id).await {
        Err(LiveError::NoSnapshot(_) | LiveError::SnapshotsDamaged { .. })
            if is_shared(asked).await? =>
        {
            Ok(())
        }
        found => Ok(found?),
    }
}

async fn is_shared(asked: WantScope<'_>) -> Result<bool, RuntimeError> {
    asked.context.peers.is_shared(asked.context, asked.session).await
}
