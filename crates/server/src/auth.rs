//! Who asks: keys, tokens of nodes, the callers behind them, and what they may do.
//!
//! A handler names the scope that it needs as the type of an argument, so a handler that compiles is authorised.
//! A token of the provider opens what nodes ask each other, and nothing else: only [`MayTalk`] takes one. No
//! header but `Authorization` says who asks, and those of a page that stands for a key. The local admin key is what commands on this machine show.

use crate::cluster::{CountedCaller, Passed};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::{Peer, Refusal};
use crate::page;
use crate::page::PageKey;
use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, UPGRADE};
use axum::http::request::Parts;
use baton_api::{AGENT_HEADER, Answers, Invalid, Scope};
use baton_net::connections::Visit;
use baton_net::rates::Shown;
use baton_runtime::audit::{Action, Note, is_asked_by};
use baton_runtime::keys::{KeySecret, key_of, new_key, note, token};
use baton_runtime::{Actor, Caller, RuntimeError};
use baton_session::{AgentName, NodeId, Owner};
use baton_store::data::{DataError, DataFolder, write_private};
use baton_store::{FoundKey, Store, StoreError, clock, is_local_key_name, local_key_name};
use baton_sync::oidc::{TokenRefusal, TokenVerifier, Visitor};
use baton_sync::peers::CLIENT;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use std::io::ErrorKind;

/// A caller with a key, whatever it allows: the type of a handler's argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known(pub Caller);

impl FromRequestParts<Context> for Known {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        Ok(Self(caller(parts, context).await?))
    }
}

/// A node of the same cluster, on its own account: the type of a handler's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromNode;

impl FromRequestParts<Context> for FromNode {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        let asks = caller(parts, context).await?;
        let is_passed = parts.extensions.get::<Passed>().is_some();
        if is_passed && asks.is_node() {
            return Ok(Self);
        }
        Err(denied(&asks, parts, context, NodeError::NotANode).await.into())
    }
}

/// Who asks; the key of a peer with limits is good for nothing here.
async fn caller(parts: &mut Parts, context: &Context) -> Result<Caller, Refusal> {
    let (caller, limited_peer) = known(parts, context).await?;
    match limited_peer {
        None => {
            show_caller(parts, &caller)?;
            Ok(caller)
        }
        Some(peer) => {
            let refused = NodeError::KeyOfLimitedPeer { peer };
            Err(denied(&caller, parts, context, refused).await.into())
        }
    }
}

/// Whose key a request shows, and the limited peer whose key that is: then it is good for messages that the
/// peer has signed, and for nothing else.
async fn known(parts: &mut Parts, context: &Context) -> Result<(Caller, Option<String>), Refusal> {
    let found_before =
        match (parts.extensions.get::<Passed>(), parts.extensions.get::<CountedCaller>()) {
            (Some(passed), _) => {
                let none = NodeError::Unauthenticated { found: "none, passed on by another node" };
                Some((passed.caller.clone().ok_or(none)?, None))
            }
            (None, Some(asked)) => Some((asked.caller.clone(), asked.limited_peer.clone())),
            (None, None) => None,
        };
    if let Some((caller, limited_peer)) = found_before {
        is_asked_by(&caller);
        return Ok((caller, limited_peer));
    }
    let FoundKey { key, limited_peer } = match find_key(parts, context).await {
        Err(error @ (NodeError::Unauthenticated { .. } | NodeError::Token(_))) => {
            return Err(refuse(parts, context, error).into());
        }
        key => key?,
    };
    let actor = Actor::key(&key);
    count(context, &key.id)?;
    let agent = agent(&parts.headers)?;
    let caller = Caller { owner: key.owner, key: key.id, actor, scopes: key.scopes, agent };
    is_asked_by(&caller);
    Ok((caller, limited_peer))
}

/// Finds out who asks before it is known which node does it, and notes that in the request: it is counted once.
pub(crate) async fn ask(parts: &mut Parts, context: &Context) -> Result<CountedCaller, Refusal> {
    let (caller, limited_peer) = known(parts, context).await?;
    let asked = CountedCaller { caller, limited_peer };
    parts.extensions.insert(asked.clone());
    Ok(asked)
}

/// Tells the connection who holds it. One of another node that passes requests on is that node's, and goes from
/// one caller to the next, unless it becomes a stream of this one.
pub(crate) fn show_caller(parts: &Parts, caller: &Caller) -> Result<(), NodeError> {
    match parts.extensions.get::<Passed>() {
        Some(passed) if !parts.headers.contains_key(UPGRADE) => {
            show(parts, &format!("node:{}", passed.from), None)
        }
        _ => show(parts, &caller.key, Some(&caller.owner)),
    }
}

/// Which agent a request says it comes from.
fn agent(headers: &HeaderMap) -> Result<Option<AgentName>, NodeError> {
    let Some(value) = headers.get(AGENT_HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let agent = text.parse().map_err(|_| Invalid {
        field: "the header Baton-Agent",
        expected: "an agent's name, 1 to 64 letters, digits, '.', '_' or '-'",
        found: format!("{:?}", text.chars().take(80).collect::<String>()),
    })?;
    Ok(Some(agent))
}

/// Looks up the key that a request shows, or that stands behind its page; which one that is, the request says
/// from then on.
async fn find_key(parts: &mut Parts, context: &Context) -> Result<FoundKey, NodeError> {
    if token(&parts.headers).is_some() {
        return Err(TokenRefusal::NotHere.into());
    }
    let address = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
    let (secret_hash, person) = match page::PageHalves::of(&parts.headers) {
        Some(shown) if !parts.headers.contains_key(AUTHORIZATION) => {
            let ended = NodeError::Unauthenticated { found: "a page that is signed out" };
            let is_good = |page: &Result<Option<_>, _>| page.as_ref().ok().map(Option::is_some);
            let (look, half) = (context.pages.find(&shown), (Shown::Key, shown.cookie()));
            let page = context.rates.look_up(address, half, look, is_good).await?;
            let key = page.ok_or(ended)?.key;
            (key.secret_hash, key.person)
        }
        _ => (key_of(&parts.headers)?.hash(), None),
    };
    let shown = (Shown::Key, secret_hash);
    let is_good = |key: &Result<Option<_>, _>| key.as_ref().ok().map(Option::is_some);
    let key =
        context.rates.look_up(address, shown, context.store.find_key(shown.1), is_good).await?;
    let found = key.ok_or(NodeError::Unauthenticated { found: "an unknown or revoked key" })?;
    let (id, owner) = (found.key.id.clone(), found.key.owner.clone());
    parts.extensions.insert(PageKey { secret_hash, id, owner, person });
    Ok(found)
}

/// Counts a request in the name of the key of this id, and fails when there were too many.
pub(crate) fn count(context: &Context, key: &str) -> Result<(), NodeError> {
    let what = "requests with one key";
    let limit = context.rates.limits().requests_per_minute;
    let asked = context.rates.asked(key);
    asked.map_err(|wait| NodeError::TooManyRequests { what, limit, wait })
}

/// Tells the connection in whose name it is held from now on; it ends with that key when `owner` says whose
/// it is. Fails when there are too many connections in this name.
pub(crate) fn show(parts: &Parts, key: &str, owner: Option<&Owner>) -> Result<(), NodeError> {
    let Some(visit) = parts.extensions.get::<Visit>() else { return Ok(()) };
    visit.show(key, owner).map_err(|limit| NodeError::TooManyConnections { limit })
}

/// Lets in who showed a good ticket, in the name of the caller who was given it: the request counts as that caller's,
/// and its connection ends with the caller's key. Fails where the key was revoked since.
pub(crate) async fn admit(
    parts: &Parts,
    context: &Context,
    caller: &Caller,
) -> Result<(), NodeError> {
    count(context, &caller.key)?;
    if context.is_shut_out(caller).await? {
        return Err(RuntimeError::BadTicket { found: "one whose key was revoked" }.into());
    }
    show(parts, &caller.key, Some(&caller.owner))
}

/// The answer to a request without a good key or ticket: `error`. Addresses that send many hear so; a
/// good key from the same address is never shut out, or else any user of a machine could shut out
/// the others.
pub(crate) fn refuse(parts: &Parts, context: &Context, error: NodeError) -> NodeError {
    attempt(parts, context).err().unwrap_or(error)
}

/// Counts a try of a caller without a good key, before it is looked at; fails when its address tried too
/// often. [`Rates::refund`](baton_net::rates::Rates::refund) forgets one that was good.
pub(crate) fn attempt(parts: &Parts, context: &Context) -> Result<(), NodeError> {
    let noted = match parts.extensions.get::<Peer>() {
        Some(Peer(address)) => context.rates.refused(*address),
        None => Ok(()),
    };
    let limit = context.rates.limits().refused_keys_per_minute;
    noted.map_err(|wait| NodeError::TooManyRequests {
        what: "requests without a good key",
        limit,
        wait,
    })
}

/// A caller with a scope that allows what is asked for: the type of a handler's argument.
macro_rules! scoped {
    ($($(#[$doc:meta])* $name:ident: $needed:ident $(or $instead:ident)?;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub Caller);

        impl FromRequestParts<Context> for $name {
            type Rejection = Refusal;

            async fn from_request_parts(
                parts: &mut Parts,
                context: &Context,
            ) -> Result<Self, Refusal> {
                let caller = caller(parts, context).await?;
                $(if caller.scopes.contains(&Scope::$instead) {
                    return Ok(Self(caller));
                })?
                if let Err(refused) = caller.require(Scope::$needed) {
                    return Err(denied(&caller, parts, context, refused).await.into());
                }
                Ok(Self(caller))
            }
        }
    )*};
}

/// A known key that does not allow it: that is noted.
async fn denied<E: Answers>(caller: &Caller, parts: &Parts, context: &Context, refused: E) -> E {
    let subject = format!("{} {}", parts.method, parts.uri.path());
    let note = Note::new(&caller.actor, &caller.owner, Action::Request, subject);
    note.failed(&context.store, refused).await
}

scoped! {
    /// A caller that may see sessions.
    Read: Read;
    /// A caller that may change sessions.
    Drive: Drive;
    /// A caller that may see sessions live.
    Watch: Watch;
    /// A caller that may exchange sessions with other nodes.
    Sync: Sync;
    /// A caller that may manage keys and name browsers of this machine.
    Admin: Admin;
    /// A caller that may look into tabs.
    Debug: Debug;
    /// A caller that may make sandboxes, and run commands in them.
    Sandbox: Sandbox;
    /// A browser that may tell of its tabs.
    Browser: Browser;
    /// A caller that may read the audit log, or a part of it.
    Auditor: Read or Admin;
}

/// In whose name a node asks that may talk to this one: by an API key with the scope `sync`, or by a token of
/// the provider. Who wrote what it says is another question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MayTalk(pub Caller);

impl FromRequestParts<Context> for MayTalk {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, context: &Context) -> Result<Self, Refusal> {
        let Some(token) = token(&parts.headers) else {
            // Whether a limited peer has signed it is seen when its signature is verified.
            let (caller, _) = known(parts, context).await?;
            return match caller.require(Scope::Sync) {
                // What nodes ask each other ends by itself, also where a limited peer's key is good.
                Ok(()) => {
                    show(parts, &caller.key, None)?;
                    Ok(Self(caller))
                }
                Err(refused) => Err(denied(&caller, parts, context, refused).await.into()),
            };
        };
        let checked = match &context.own.token_verifier {
            Some(token_verifier) => {
                let address = parts.extensions.get::<Peer>().map(|Peer(address)| *address);
                let shown = (Shown::Token, Sha256::digest(token).into());
                let is_good = |found: &Result<_, _>| Some(found.is_ok());
                context.rates.look_up(address, shown, token_verifier.check(token), is_good).await
            }
            None => Err(TokenRefusal::NotTaken),
        };
        let caller = match checked {
            Ok(visitor) => visiting(visitor),
            Err(refusal) => return Err(refused(parts, context, refusal).await.into()),
        };
        count(context, &caller.key)?;
        show(parts, &caller.key, None)?;
        is_asked_by(&caller);
        Ok(Self(caller))
    }
}

fn visiting(visitor: Visitor) -> Caller {
    let Visitor { client, issuer, owner } = visitor;
    Caller {
        owner,
        // No key has such an id.
        key: format!("{CLIENT}{client}@{issuer}"),
        actor: Actor::client(&client, &issuer),
        scopes: [Scope::Sync].into(),
        agent: None,
    }
}

/// The answer to a token that opens nothing; it is noted, within bounds.
async fn refused(parts: &Parts, context: &Context, refusal: TokenRefusal) -> NodeError {
    let (why, is_vouched_for) = (refusal.word(), refusal.is_vouched_for());
    let error = refuse(parts, context, refusal.into());
    if matches!(error, NodeError::TooManyRequests { .. }) {
        return error;
    }
    let unnoted = match &context.own.token_verifier {
        _ if is_vouched_for => Some(0),
        Some(token_verifier) => token_verifier.stranger(),
        None => None,
    };
    let Some(unnoted) = unnoted else { return error };
    let owner =
        context.own.token_verifier.as_ref().map_or_else(Owner::local, |token_verifier| {
            TokenVerifier::owner(token_verifier).clone()
        });
    let subject = format!("{} {}", parts.method, parts.uri.path());
    let note = Note::new(&Actor::stranger(), &owner, Action::RefuseToken, subject);
    let detail = error.problem().detail;
    let note = note.with("refused", why).with("detail", detail);
    let note = if unnoted > 0 { note.with("unnoted", unnoted) } else { note };
    note.failed(&context.store, error).await
}

/// The local key could not be written or registered.
#[derive(Debug, thiserror::Error)]
pub enum LocalKeyError {
    /// The file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Sees to it that `admin.key` opens this node, so that commands on this machine just work. Its reader may do
/// everything, and needs to be able to read the data folder for it, which holds the same secrets. A key that
/// was revoked, or that another database made, is replaced. A node that shares its database with others,
/// `shared_by`, has a key of its own.
pub async fn ensure_local_key(
    store: &Store,
    data: &DataFolder,
    shared_by: Option<NodeId>,
) -> Result<(), LocalKeyError> {
    // One that an older version made has not the scopes of today.
    if let Some(secret) = read(data)?
        && let Some(found) = store.find_key(secret.hash()).await?
        && Scope::ALL.iter().all(|scope| found.key.scopes.contains(scope))
    {
        return Ok(());
    }
    let name = local_key_name(shared_by);
    store.revoke_local_key(&name, clock::now()).await?;
    let secret = KeySecret::generate();
    let key = new_key(name, Owner::local(), Scope::ALL);
    store.create_key(&key, secret.hash()).await?;
    note(&Actor::node(), &key).done(store).await?;
    write_private(&data.admin_key(), format!("{}\n", secret.expose()).as_bytes())?;
    tracing::info!(file = %data.admin_key().display(), "wrote a new local admin key");
    Ok(())
}

/// The name of the key that a node which is shown elsewhere makes for whoever asks from there.
pub const FIRST_KEY: &str = "first";

/// Makes a key that may do everything, unless the node has one besides its local key, also one that was
/// revoked: a node makes its first key once.
pub async fn first_key(store: &Store) -> Result<Option<SecretString>, StoreError> {
    let keys = store.list_keys(&Owner::local()).await?;
    if keys.iter().any(|key| !is_local_key_name(&key.name)) {
        return Ok(None);
    }
    let secret = KeySecret::generate();
    let key = new_key(FIRST_KEY.to_owned(), Owner::local(), Scope::ALL);
    store.create_key(&key, secret.hash()).await?;
    note(&Actor::node(), &key).done(store).await?;
    Ok(Some(secret.expose().to_owned().into()))
}

fn read(data: &DataFolder) -> Result<Option<KeySecret>, DataError> {
    let path = data.admin_key();
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(KeySecret::parse(text.trim())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(DataError::Io { path, source }),
    }
}
