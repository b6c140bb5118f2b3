//! Looking in: the operations of those who ask what tabs did, and the browsers of people that tell it.
//!
//! The one idea: what is kept of a tab, and how it is found again, is `baton-debug`'s; here it says who may
//! ask, what of it is noted, and who may tell.
//!
//! A caller sees the tabs of its owner only, and secrets only with the scope `reveal`, once that is in the audit
//! log. Over the relay, every question is answered.
//!
//! A browser gets a key that may tell and nothing else. A code that a person types pays for it,
//! and a ticket that opens one connection is bought with it, so that the key is never in an address or in a
//! header that others log. Every message of a connected browser has a defined answer, or needs none.

use crate::context::Context;
use crate::error::NodeError;
use baton_api::debug::{
    BrowserMessage, ConsoleEntry, ConsoleFilters, DebugError, DebugErrorCode, DebugTabs, EpochMs,
    GapReason, NetworkFilters, NetworkRequest, OwnNames, RelayMessage, TabAccepted, TabAvailable,
    TabToken, WatchedUpstream,
};
use baton_api::{EgressHost, Invalid, Scope, UpstreamId};
use baton_debug::har::Har;
use baton_debug::query::Matches;
use baton_debug::relay::{About, Answer, LookError, Redaction, Sight, TabSender};
use baton_debug::secrets::Page;
use baton_debug::token::{PageToken, TabGrant, TokenError};
use baton_proxy::UpstreamService;
use baton_runtime::audit::{Action, Note};
use baton_runtime::keys::{KeySecret, new_key};
use baton_runtime::sessions::egress_hosts;
use baton_runtime::{Caller, keys};
use baton_session::Owner;
use baton_store::clock;
use secrecy::SecretString;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The tabs of this node that can be looked into, the newest first.
pub async fn list_tabs(context: &Context, caller: &Caller) -> Result<DebugTabs, NodeError> {
    let mut items = context.bus.tabs(&caller.owner).await?;
    items.reverse();
    Ok(DebugTabs { items, missing: Vec::new() })
}

/// The requests of a tab; when nothing fits, those that come within `wait`.
pub async fn network(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    sight: Sight,
    filters: &NetworkFilters,
    wait: Duration,
) -> Result<Matches<NetworkRequest>, NodeError> {
    let ask = |wait| context.bus.network(&caller.owner, token, sight, filters, wait);
    let found = until_the_end(context, wait, ask);
    let view = View { context, caller, token, sight };
    view.of("network", found, |found| found.items.is_empty()).await
}

/// What the way out of a tab's session was asked for since its browser started, by host; nothing of a tab of which
/// no session of this node has a way out of its own.
pub async fn hosts(context: &Context, caller: &Caller, token: &TabToken) -> Vec<EgressHost> {
    let tabs = context.bus.tabs(&caller.owner).await.unwrap_or_default();
    let of = tabs.into_iter().find(|tab| tab.token == *token).map(|tab| tab.cocoon_id);
    let Some(Ok(session)) = of.map(|id| id.parse()) else { return Vec::new() };
    if !context.supervisor.is_fenced(session) {
        return Vec::new();
    }
    egress_hosts(context.supervisor.egress(session).await.unwrap_or_default())
}

/// Those of the hosts that the way out refused or did not get through to.
pub fn not_reached(hosts: &[EgressHost]) -> Vec<EgressHost> {
    hosts.iter().filter(|host| host.refused + host.failed > 0).cloned().collect()
}

/// The console of a tab; when nothing fits, the lines that come within `wait`.
pub async fn console(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    sight: Sight,
    filters: &ConsoleFilters,
    wait: Duration,
) -> Result<Matches<ConsoleEntry>, NodeError> {
    let ask = |wait| context.bus.console(&caller.owner, token, sight, filters, wait);
    let found = until_the_end(context, wait, ask);
    let view = View { context, caller, token, sight };
    view.of("console", found, |found| found.items.is_empty()).await
}

/// What is kept of a tab, as an archive.
pub async fn har(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    sight: Sight,
) -> Result<Har, NodeError> {
    let found = context.bus.har(&caller.owner, token, sight);
    View { context, caller, token, sight }.of("har", found, |_| false).await
}

/// Asks, and waits for the answer no longer than the node is there: it ends once everybody is answered.
fn until_the_end<'a, T: Send + 'a>(
    context: &'a Context,
    wait: Duration,
    ask: impl Fn(Duration) -> Answer<'a, T> + Send + 'a,
) -> Answer<'a, T> {
    Box::pin(async move {
        tokio::select! {
            found = ask(wait) => found,
            () = context.ending.cancelled() => ask(Duration::ZERO).await,
        }
    })
}

/// Who looks into which tab, and how.
struct View<'a> {
    context: &'a Context,
    caller: &'a Caller,
    token: &'a TabToken,
    sight: Sight,
}

impl View<'_> {
    /// What is found, if the caller may see it. An answer with secrets is noted first, unless there is
    /// nothing in it: a follower of a tab in which nothing happens gets many of those.
    async fn of<T>(
        &self,
        what: &str,
        found: Answer<'_, T>,
        is_nothing: impl FnOnce(&T) -> bool,
    ) -> Result<T, NodeError> {
        if self.sight == Sight::Hidden {
            return Ok(found.await?);
        }
        let note = self.note(what).await;
        let found = match self.caller.require(Scope::Reveal) {
            Ok(()) => found.await.map_err(NodeError::from),
            Err(refused) => Err(refused.into()),
        };
        match found {
            Ok(found) if is_nothing(&found) => Ok(found),
            found => note.end(&self.context.store, found).await,
        }
    }

    /// An entry about the secrets of the tab, looked up beforehand, because afterwards it may be gone.
    async fn note(&self, what: &str) -> Note {
        let Self { context, caller, token, .. } = self;
        let note = Note::new(&caller.actor, &caller.owner, Action::RevealTab, token.as_str());
        let note = note.with("what", what);
        let tabs = context.bus.tabs(&caller.owner).await.unwrap_or_default();
        match tabs.into_iter().find(|tab| tab.token == **token) {
            Some(tab) => note.with("of", tab.cocoon_id),
            None => note,
        }
    }
}

/// A code with which a person pairs a browser of theirs, and how long it counts.
pub(crate) fn pair(context: &Context, caller: &Caller) -> Result<(String, Duration), NodeError> {
    context.browsers.pairing.create_code(&caller.owner)
}

/// The key of a browser whose extension was given a good code; older ones of the same browser are
/// revoked.
pub(crate) async fn exchange(
    context: &Context,
    code: &str,
    browser_id: &str,
) -> Result<SecretString, NodeError> {
    check(browser_id)?;
    let owner = context.browsers.pairing.redeem(code).ok_or(NodeError::BadPairingCode)?;
    let name = format!("browser {browser_id}");
    revoke_older(context, &owner, &name).await?;
    let key = new_key(name, owner, [Scope::Browser]);
    let secret = KeySecret::generate();
    let made = context.store.create_key(&key, secret.hash()).await.map_err(NodeError::from);
    let actor = baton_runtime::Actor::key(&key);
    keys::note(&actor, &key).end(&context.store, made).await?;
    Ok(secret.expose().to_owned().into())
}

async fn revoke_older(context: &Context, owner: &Owner, name: &str) -> Result<(), NodeError> {
    for key in context.store.list_keys(owner).await? {
        if key.name == name && key.revoked_at.is_none() {
            context.store.revoke_key(owner, &key.id, clock::now()).await?;
        }
    }
    Ok(())
}

/// A ticket for one connection of the caller's browser.
pub(crate) fn connect(
    context: &Context,
    caller: &Caller,
    browser_id: &str,
) -> Result<SecretString, NodeError> {
    check(browser_id)?;
    context.browsers.pairing.ticket(caller, browser_id)
}

/// Whose pages the caller's browser watches.
pub(crate) fn watched(context: &Context, caller: &Caller) -> Vec<WatchedUpstream> {
    let Some(place) = &context.front.place else { return Vec::new() };
    own(context, caller).iter().flat_map(|service| place.ways(service)).collect()
}

/// The longest body that any of them wants, within what is kept of a tab.
pub(crate) fn largest_body(context: &Context, caller: &Caller) -> usize {
    let most = context.relay.limits().tab.body_bytes;
    let asked = own(context, caller);
    let asked = asked.iter().map(|service| service.browser_debug.response_body_max_size).max();
    asked.map_or(most, |asked| usize::try_from(asked).unwrap_or(most).min(most))
}

/// The names by which this node hides besides those that are known anyway.
pub(crate) fn own_names(context: &Context) -> OwnNames {
    let Redaction { names, allow } = context.relay.redaction().clone();
    OwnNames { names, allow }
}

fn own(context: &Context, caller: &Caller) -> Vec<Arc<UpstreamService>> {
    let mut services = context.front.services.list();
    services.retain(|one| one.owner == caller.owner && one.browser_debug.enabled);
    services
}

fn check(browser_id: &str) -> Result<(), NodeError> {
    let fits = |c: u8| c.is_ascii_alphanumeric() || c == b'-';
    if (1..=36).contains(&browser_id.len()) && browser_id.bytes().all(fits) {
        return Ok(());
    }
    Err(Invalid {
        field: "browser_id",
        expected: "1 to 36 letters, digits and hyphens",
        found: "another text".to_owned(),
    }
    .into())
}

/// A connected browser. When it is gone, its tabs wait for it.
pub(crate) struct BrowserLink {
    context: Context,
    caller: Caller,
    browser_id: String,
    tabs: HashMap<TabToken, TabSender>,
}

impl BrowserLink {
    /// The browser with the caller's key.
    pub(crate) fn new(context: Context, caller: Caller, browser_id: String) -> Self {
        Self { context, caller, browser_id, tabs: HashMap::new() }
    }

    /// Takes a message, and answers it if it wants an answer.
    pub(crate) async fn handle_message(
        &mut self,
        message: BrowserMessage,
        now: EpochMs,
    ) -> Option<RelayMessage> {
        match message {
            BrowserMessage::TabAvailable(offer) => Some(match self.accept(&offer, now) {
                Ok(mut accepted) => {
                    accepted.revealed = self.reveal(&accepted.token, offer.reveal).await;
                    RelayMessage::TabAccepted(accepted)
                }
                Err(Refused { code, message }) => RelayMessage::Error(DebugError {
                    request_id: None,
                    token: None,
                    offered: Some(offer.token),
                    code,
                    message,
                }),
            }),
            BrowserMessage::TabClosed(closed) => match self.tabs.remove(&closed.token) {
                Some(_) => None,
                None => Some(gone(&closed.token)),
            },
            BrowserMessage::TabUpdated(shown) => self.tell(&shown.token, |tab| {
                tab.show(&Page { url: shown.url.clone(), title: shown.title.clone() });
            }),
            BrowserMessage::Network(event) => {
                let token = event.token.clone();
                self.tell(&token, |tab| tab.network(event))
            }
            BrowserMessage::Console(event) => {
                let token = event.token.clone();
                self.tell(&token, |tab| tab.console(event))
            }
            BrowserMessage::Heartbeat {} => Some(RelayMessage::Heartbeat {}),
        }
    }

    fn tell(&self, token: &TabToken, tell: impl FnOnce(&TabSender)) -> Option<RelayMessage> {
        let Some(tab) = self.tabs.get(token) else { return Some(gone(token)) };
        tell(tab);
        None
    }

    /// Takes a tab that the browser offers: by what a page's header brought, or by the grant that it got
    /// for it.
    fn accept(&mut self, offer: &TabAvailable, now: EpochMs) -> Result<TabAccepted, Refused> {
        let secret = &self.context.browsers.secret;
        let (tab, service) = match TabGrant::open(secret, &offer.token, &self.caller.key, now) {
            Ok(grant) if grant.owner == self.caller.owner => (self.take_up(&grant)?, grant.cocoon),
            Ok(_) => return Err(TokenError::OtherBrowser.into()),
            Err(TokenError::Audience { .. }) => {
                let add = |page: &PageToken| {
                    // For an upstream service of another owner the answer is as for a forged one: the caller
                    // does not learn that it is there.
                    if page.owner != self.caller.owner {
                        return Err(Refused::from(TokenError::Forged));
                    }
                    Ok(self.context.relay.add(self.about(page))?)
                };
                let (page, tab) = self.context.browsers.take_page(&offer.token, now, add)?;
                (tab, page.cocoon)
            }
            Err(error) => return Err(error.into()),
        };
        Ok(self.accept_tab(tab, service, offer, now)?)
    }

    /// A tab that was accepted before: as it is, or anew when this relay has forgotten it.
    fn take_up(&mut self, grant: &TabGrant) -> Result<TabSender, LookError> {
        let here = self.tabs.remove(&grant.tab);
        if let Some(tab) =
            here.or_else(|| self.context.browsers.parked.take_parked(&grant.tab, &self.caller.key))
        {
            return Ok(tab);
        }
        let about = self.about_upstream(&grant.cocoon);
        let tab = self.context.relay.add_again(grant.tab.clone(), about)?;
        tab.miss(GapReason::Restarted, None);
        Ok(tab)
    }

    fn accept_tab(
        &mut self,
        tab: TabSender,
        service: UpstreamId,
        offer: &TabAvailable,
        now: EpochMs,
    ) -> Result<TabAccepted, TokenError> {
        tab.show(&Page { url: offer.url.clone(), title: offer.title.clone() });
        if offer.first_load {
            tab.miss(GapReason::FirstLoad, None);
        }
        let last_seq = offer.epoch.map_or(0, |epoch| tab.begin(epoch));
        let grant = TabGrant {
            tab: tab.token().clone(),
            cocoon: service,
            owner: self.caller.owner.clone(),
            browser: self.caller.key.clone(),
        };
        let resume = grant.sign(&self.context.browsers.secret, now)?;
        let (offered, token) = (offer.token.clone(), tab.token().clone());
        self.tabs.insert(token.clone(), tab);
        Ok(TabAccepted { offered, token, last_seq, resume, revealed: false })
    }

    /// Keeps secrets of a tab or does so no longer, as the person at the browser wants it; whether they
    /// are kept. They are not before that is in the audit log.
    async fn reveal(&self, token: &TabToken, wanted: bool) -> bool {
        let Some(tab) = self.tabs.get(token).filter(|tab| tab.reveals() != wanted) else {
            return wanted && self.tabs.contains_key(token);
        };
        if !wanted {
            tab.reveal(false);
        }
        let Caller { actor, owner, .. } = &self.caller;
        let note = Note::new(actor, owner, Action::KeepTab, token.as_str());
        let note = note.with("of", tab.about().cocoon_id.clone()).with("on", wanted.to_string());
        match note.done(&self.context.store).await {
            Ok(()) => tab.reveal(wanted),
            Err(error) => tracing::error!(%error, "a switch of a tab's secrets cannot be noted"),
        }
        tab.reveals()
    }

    fn about(&self, page: &PageToken) -> About {
        self.about_upstream(&page.cocoon)
    }

    fn about_upstream(&self, service: &UpstreamId) -> About {
        About {
            owner: self.caller.owner.clone(),
            browser_id: self.browser_id.clone(),
            cocoon_id: service.to_string(),
            cocoon_name: self.context.front.services.fetch(service).map(|found| found.name.clone()),
        }
    }
}

impl Drop for BrowserLink {
    fn drop(&mut self) {
        for (_, tab) in self.tabs.drain() {
            self.context.browsers.parked.park(tab, &self.caller.key);
        }
    }
}

/// Why a tab is not taken, as its browser hears it.
struct Refused {
    code: DebugErrorCode,
    message: String,
}

impl From<TokenError> for Refused {
    fn from(error: TokenError) -> Self {
        Self { code: DebugErrorCode::Untrusted, message: first_line(&error) }
    }
}

impl From<LookError> for Refused {
    fn from(error: LookError) -> Self {
        Self { code: error.code(), message: first_line(&error) }
    }
}

fn gone(token: &TabToken) -> RelayMessage {
    let error = LookError::TabGone { token: token.clone() };
    let (code, message) = (DebugErrorCode::TabGone, first_line(&error));
    let token = Some(token.clone());
    RelayMessage::Error(DebugError { request_id: None, token, offered: None, code, message })
}

fn first_line(error: &impl ToString) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
