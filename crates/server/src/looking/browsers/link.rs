//! A connected browser, and what it tells. Every message has a defined answer, or needs none.

use crate::context::Context;
use baton_api::CocoonId;
use baton_api::debug::{
    BrowserMessage, DebugError, DebugErrorCode, EpochMs, GapReason, RelayMessage, TabAccepted,
    TabAvailable, TabToken,
};
use baton_debug::relay::{About, LookError, TabSender};
use baton_debug::secrets::Page;
use baton_debug::token::{PageToken, TabGrant, TokenError};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use std::collections::HashMap;

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
    pub(crate) async fn take(
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
        let (tab, cocoon) = match TabGrant::open(secret, &offer.token, &self.caller.key, now) {
            Ok(grant) if grant.owner == self.caller.owner => (self.take_up(&grant)?, grant.cocoon),
            Ok(_) => return Err(TokenError::OtherBrowser.into()),
            Err(TokenError::Audience { .. }) => {
                let add = |page: &PageToken| {
                    // To somebody else's cocoon the answer is as to a forged one: nobody learns that it is there.
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
        Ok(self.begin(tab, cocoon, offer, now)?)
    }

    /// A tab that was accepted before: as it is, or anew when this relay has forgotten it.
    fn take_up(&mut self, grant: &TabGrant) -> Result<TabSender, LookError> {
        let here = self.tabs.remove(&grant.tab);
        if let Some(tab) =
            here.or_else(|| self.context.browsers.parked.take(&grant.tab, &self.caller.key))
        {
            return Ok(tab);
        }
        let about = self.about_cocoon(&grant.cocoon);
        let tab = self.context.relay.add_again(grant.tab.clone(), about)?;
        tab.miss(GapReason::Restarted, None);
        Ok(tab)
    }

    fn begin(
        &mut self,
        tab: TabSender,
        cocoon: CocoonId,
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
            cocoon,
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
        self.about_cocoon(&page.cocoon)
    }

    fn about_cocoon(&self, cocoon: &CocoonId) -> About {
        About {
            owner: self.caller.owner.clone(),
            browser_id: self.browser_id.clone(),
            cocoon_id: cocoon.to_string(),
            cocoon_name: self.context.front.cocoons.fetch(cocoon).map(|found| found.name.clone()),
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

/// Why a tab is not taken, as its browser is told.
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
