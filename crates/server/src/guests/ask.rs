//! An agent asks a person to do something in its session, and waits for what comes of it.
//!
//! The one idea: each ask has a task that sees to it that it ends: when its time has passed, its asker's key is
//! revoked, its session is gone, or the node ends.

use super::outcome::{ENDS_WITHIN, end_as, note};
use crate::asking::{Ask, AskRefusal, NewAsk, Sites};
use crate::context::Context;
use crate::error::NodeError;
use crate::page::LinkPlace;
use baton_api::{
    AskPerson, AskReach, AskState, AskView, CreatedAsk, Invalid, MAX_ASK_WAIT, WaitForAsk,
};
use baton_browser::TargetId;
use baton_browser::screen::{ScreenState, Wish};
use baton_runtime::audit::Action;
use baton_runtime::{Caller, sessions};
use baton_session::{Lifecycle, SessionId};
use baton_store::StoreError;
use baton_sync::people::{Message, tell};
use jiff::SignedDuration;
use secrecy::ExposeSecret;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The longest text, in characters.
const TEXT: usize = 500;
/// For how many minutes a person is asked when nothing else is said, and the most.
const MINUTES: (u32, u32) = (10, 60);
/// How long a browser may take to say which tab is in front.
const FRONT_LIMIT: Duration = Duration::from_secs(5);
/// How often it is looked whether the session is there still, and the key good.
const LOOK_PAUSE: Duration = Duration::from_secs(1);

/// Asks a person. The link is answered this once.
pub(crate) async fn ask(
    context: &Context,
    caller: &Caller,
    reference: &str,
    request: &AskPerson,
    place: Option<&LinkPlace>,
) -> Result<CreatedAsk, NodeError> {
    let place = place.ok_or(AskRefusal::NoPlace)?;
    let text = checked_text(&request.text)?;
    let limit = checked_minutes(request.minutes)?;
    let named = Sites::named(&request.sites)?;
    let session = sessions::active(context, &caller.owner, reference).await?;
    sessions::enter(context, caller, &session).await?;
    let state = front(context, session.id).await?;
    let tab = state.front.and_then(|number| state.tab(number));
    let sites = match named {
        Some(sites) => sites,
        None => tab.and_then(|tab| Sites::at(&tab.url)).ok_or(AskRefusal::NoSite)?,
    };
    let (tab, files) = (tab.map(|tab| tab.target.clone()), request.files);
    let new = NewAsk { session, caller: caller.clone(), text, sites, files, limit, tab };
    let (ask, secret) = context.asks.create(new)?;
    let view = ask.view();
    let entry = note(&ask, Action::Ask).with("sites", view.sites.clone());
    if let Err(error) = entry.done(&context.store).await {
        ask.claim_end();
        ask.finish(AskState::Withdrawn, None);
        return Err(error.into());
    }
    context.tasks.spawn(see_to(context.clone(), Arc::clone(&ask)));
    let mut link = place.url.clone();
    link.set_fragment(Some(&format!("/asked/{}", secret.expose_secret())));
    let from = ask.guest_view().from;
    let message = Message {
        id: &view.id,
        from: &from,
        text: &view.text,
        session: view.name.as_str(),
        sites: &view.sites,
        expires_at: view.expires_at,
        link: &link,
        this_machine_only: place.this_machine_only,
    };
    let told = tell(&context.people, &context.own.outbound, &message).await;
    for failed in told.iter().filter(|told| told.failed.is_some()) {
        let why = failed.failed.as_deref().unwrap_or_default();
        tracing::warn!(by = failed.by, at = failed.at, why, "a person was not told of an ask");
        let entry = note(&ask, Action::TellPerson).with("by", failed.by.clone());
        let entry = entry.with("at", failed.at.clone()).with("why", why);
        entry.refused(&context.store, baton_api::ErrorCode::PeerUnreachable).await;
    }
    let opens = AskReach { this_machine_only: place.this_machine_only, hint: place.hint() };
    Ok(CreatedAsk { view, link, opens, told })
}

/// An ask of one of the caller's sessions.
pub(crate) async fn find(
    context: &Context,
    caller: &Caller,
    reference: &str,
    id: &str,
) -> Result<Arc<Ask>, NodeError> {
    let session = context.find(&caller.owner, reference).await?;
    // `open` is the one that is open.
    Ok(context.asks.find(session.id, id)?)
}

/// What became of an ask, once that is something else than what the caller knows, or the wait is over.
pub(crate) async fn wait(context: &Context, ask: &Ask, how: WaitForAsk) -> AskView {
    let seconds = how.wait.unwrap_or_default().min(MAX_ASK_WAIT);
    let known = how.after.unwrap_or_else(|| ask.state());
    if seconds > 0 && !ask.state().is_over() {
        let waited = ask.wait(known, Duration::from_secs(seconds));
        // A node that ends answers at once.
        context.ending.run_until_cancelled(waited).await;
    }
    ask.view()
}

/// Takes an ask back; one that has ended stays as it is.
pub(crate) async fn withdraw(context: &Context, ask: &Ask) -> AskView {
    if !end_as(context, ask, AskState::Withdrawn).await {
        // It may just be ending otherwise: how, is known soon.
        let known = ask.state();
        if !known.is_over() {
            // A node that ends answers at once.
            context.ending.run_until_cancelled(ask.wait(known, ENDS_WITHIN)).await;
        }
    }
    ask.view()
}

/// What a session's browser has open, and which tab of it is in front; none is where it does not say.
pub(super) async fn front(context: &Context, id: SessionId) -> Result<ScreenState, NodeError> {
    let screen = context.supervisor.screen(id).await?;
    let (viewing, mut state) = (screen.join(), screen.state());
    // Only what is drawn says that it is in front. Where there are as many viewers as there may be, it is drawn.
    if let Some(viewing) = &viewing {
        viewing.wish(Some(Wish { width: 0, height: 0, quality: 1 }));
    }
    let is_known = |state: &ScreenState| {
        state.has_ended || state.front.is_some_and(|number| state.tab(number).is_some())
    };
    if let Ok(Ok(known)) = timeout(FRONT_LIMIT, state.wait_for(is_known)).await {
        return Ok(known.clone());
    }
    let last = state.borrow().clone();
    Ok(last)
}

/// The tab that a guest gets: that of the ask where it is there still, else the one in front.
pub(super) fn tab_for(ask: &Ask, state: &ScreenState) -> Option<TargetId> {
    let is_its = |tab: &&baton_browser::screen::ScreenTab| Some(&tab.target) == ask.tab.as_ref();
    let asked = state.tabs.iter().find(is_its);
    let tab = asked.or_else(|| state.front.and_then(|number| state.tab(number)))?;
    Some(tab.target.clone())
}

fn checked_text(text: &str) -> Result<String, Invalid> {
    let trimmed = text.trim();
    let length = trimmed.chars().count();
    let is_shown = |letter: char| {
        !letter.is_control()
            && !matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    if (1..=TEXT).contains(&length) && trimmed.chars().all(is_shown) {
        return Ok(trimmed.to_owned());
    }
    let expected =
        "what is to be done, in 1 to 500 characters on one line, without control characters";
    Err(Invalid {
        field: "text",
        expected,
        found: format!("{length} characters, or one that is not shown"),
    })
}

fn checked_minutes(minutes: Option<u32>) -> Result<SignedDuration, Invalid> {
    let (usual, most) = MINUTES;
    let minutes = minutes.unwrap_or(usual);
    if (1..=most).contains(&minutes) {
        return Ok(SignedDuration::from_mins(minutes.into()));
    }
    Err(Invalid { field: "minutes", expected: "1 to 60", found: minutes.to_string() })
}

/// Sees to it that an ask ends.
async fn see_to(context: Context, ask: Arc<Ask>) {
    let mut late = std::pin::pin!(ask.late());
    let mut revoked = context.revoked.subscribe();
    let mut looks = interval(LOOK_PAUSE);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let state = loop {
        tokio::select! {
            biased;
            () = ask.end() => return,
            () = context.ending.cancelled() => break AskState::Lost,
            () = &mut late => break AskState::TimedOut,
            Ok(()) = revoked.changed() => {}
            _ = looks.tick() => {}
        }
        // Timers stood still if the machine slept.
        if ask.is_late() {
            break AskState::TimedOut;
        }
        if let Some(state) = ended(&context, &ask).await {
            break state;
        }
    };
    end_as(&context, &ask, state).await;
}

/// Why an ask ends that nobody ends; a database that does not answer changes nothing.
async fn ended(context: &Context, ask: &Ask) -> Option<AskState> {
    if context.is_shut_out(&ask.caller).await.unwrap_or(false) {
        return Some(AskState::Withdrawn);
    }
    let session = match context.store.fetch_session(&ask.caller.owner, ask.session.id).await {
        Ok(session) => session,
        Err(StoreError::SessionNotFound { .. }) => return Some(AskState::Lost),
        Err(_) => return None,
    };
    let is_here = session.lifecycle == Lifecycle::Active && session.node == context.node;
    // A browser that is lost before anybody came may be brought back meanwhile.
    let is_lost = match ask.state() {
        AskState::Waiting => session.lifecycle == Lifecycle::Closed || session.node != context.node,
        _ => !is_here,
    };
    is_lost.then_some(AskState::Lost)
}
