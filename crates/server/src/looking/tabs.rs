//! The operations of those who look into tabs, and what they ask over the relay's protocol.
//!
//! A caller sees the tabs of its owner only, and secrets only with the scope `reveal`, once that is in the audit
//! log. Over the relay, every question is answered.

use crate::context::Context;
use crate::error::NodeError;
use baton_api::Scope;
use baton_api::debug::{
    ClientMessage, ConsoleEntry, ConsoleFilters, DebugError, DebugTabs, GetConsole, GetNetwork,
    NetworkFilters, NetworkRequest, RelayMessage, TabList, TabToken,
};
use baton_debug::har::Har;
use baton_debug::query::Found;
use baton_debug::relay::{Answer, LookError, Sight};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use std::time::Duration;

/// The tabs that can be looked into, the newest first.
pub async fn list_tabs(context: &Context, caller: &Caller) -> Result<DebugTabs, NodeError> {
    let mut items = context.bus.tabs(&caller.owner).await?;
    items.reverse();
    Ok(DebugTabs { items })
}

/// The requests of a tab; when nothing fits, those that come within `wait`.
pub async fn network(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    sight: Sight,
    filters: &NetworkFilters,
    wait: Duration,
) -> Result<Found<NetworkRequest>, NodeError> {
    let ask = |wait| context.bus.network(&caller.owner, token, sight, filters, wait);
    let found = until_the_end(context, wait, ask);
    let view = View { context, caller, token, sight };
    view.of("network", found, |found| found.items.is_empty()).await
}

/// The console of a tab; when nothing fits, the lines that come within `wait`.
pub async fn console(
    context: &Context,
    caller: &Caller,
    token: &TabToken,
    sight: Sight,
    filters: &ConsoleFilters,
    wait: Duration,
) -> Result<Found<ConsoleEntry>, NodeError> {
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

/// The answer to a message.
pub(crate) async fn answer(
    context: &Context,
    caller: &Caller,
    message: ClientMessage,
) -> RelayMessage {
    let (owner, bus) = (&caller.owner, &context.bus);
    match message {
        ClientMessage::Heartbeat {} => RelayMessage::Heartbeat {},
        ClientMessage::ListTabs {} => match bus.tabs(owner).await {
            Ok(tabs) => RelayMessage::Tabs(TabList { tabs }),
            Err(error) => refused(None, None, &error),
        },
        ClientMessage::GetNetwork(GetNetwork { request_id, token, filters }) => {
            let filters = filters.unwrap_or_default();
            match bus.network(owner, &token, Sight::Hidden, &filters, Duration::ZERO).await {
                // The protocol's answer has bodies: who asks in it knows no other way to them.
                Ok(found) => RelayMessage::NetworkData(found.into_data(request_id, true)),
                Err(error) => refused(Some(request_id), Some(token), &error),
            }
        }
        ClientMessage::GetConsole(GetConsole { request_id, token, filters }) => {
            let filters = filters.unwrap_or_default();
            match bus.console(owner, &token, Sight::Hidden, &filters, Duration::ZERO).await {
                Ok(found) => RelayMessage::ConsoleData(found.into_data(request_id)),
                Err(error) => refused(Some(request_id), Some(token), &error),
            }
        }
    }
}

fn refused(request_id: Option<String>, token: Option<TabToken>, error: &LookError) -> RelayMessage {
    let code = error.code();
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().to_owned();
    RelayMessage::Error(DebugError { request_id, token, offered: None, code, message })
}
