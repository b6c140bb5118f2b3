//! What takes longer than a key press: to take over and give back, to send a tab somewhere, to find the browser
//! again. It goes on beside the pictures, and says in the end what became of it.

use super::sight::{Guest, Sight};
use crate::context::Context;
use baton_api::live::{LiveRefusal, ViewerMessage};
use baton_browser::cdp::CdpError;
use baton_browser::screen::{Screen, TabControl, Viewing};
use baton_runtime::audit::{Action, Note};
use baton_runtime::sessions::{PersonTurn, files, take_over};
use baton_runtime::{Caller, RuntimeError};
use baton_session::permission::Setting;
use baton_session::{AgentName, Lifecycle, Session};
use baton_store::StoreError;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use tracing::Instrument;

/// What became of an act.
pub(super) enum Done {
    /// The session was taken over, or was not.
    Taken(Result<Box<PersonTurn>, RuntimeError>),
    /// It was given back, and what of the acts before was refused meanwhile.
    Given(Result<(), RuntimeError>, Vec<LiveRefusal>),
    /// The browser was looked for.
    Found(Result<Option<Arc<Screen>>, Missing>),
    /// Something was done with a tab, or was refused, or nothing was to be done any more.
    Tab(Option<LiveRefusal>),
}

/// The session is gone for good.
pub(super) struct Missing;

/// An act under way.
pub(super) type Act = BoxFuture<'static, Done>;

/// Takes the session over.
pub(super) fn take(
    context: &Context,
    caller: &Caller,
    session: &Session,
    name: AgentName,
    reason: Option<String>,
) -> Act {
    let (context, caller, session) = (context.clone(), caller.clone(), session.clone());
    Box::pin(async move {
        let taken = take_over(&context, &caller, &session, &name, reason.as_deref()).await;
        Done::Taken(taken.map(Box::new))
    })
}

/// Takes it over for a guest, once a page of theirs that showed it before has given it back.
pub(super) fn take_as_guest(
    context: &Context,
    caller: &Caller,
    session: &Session,
    guest: &Guest,
) -> Act {
    let (name, reason) = (guest.name.clone(), Some(guest.ask().guest_view().text));
    let (alone, taken) = (guest.visit.alone(), take(context, caller, session, name, reason));
    Box::pin(async move { if alone.await { taken.await } else { Done::Tab(None) } })
}

/// Gives it back once what was done before is over, of which this answers what was refused.
pub(super) fn give_back(
    context: &Context,
    turn: PersonTurn,
    before: impl Future<Output = Vec<LiveRefusal>> + Send + 'static,
) -> Act {
    let context = context.clone();
    Box::pin(async move {
        let refused = before.await;
        Done::Given(turn.give_back(&context).await, refused)
    })
}

/// Looks for the session's browser; none where there is none right now.
pub(super) fn find(context: &Context, session: &Session) -> Act {
    let (context, owner, id) = (context.clone(), session.owner.clone(), session.id);
    Box::pin(async move {
        let now = match context.store.fetch_session(&owner, id).await {
            Err(StoreError::SessionNotFound { .. }) => return Done::Found(Err(Missing)),
            // A database that does not answer is asked again.
            Err(_) => return Done::Found(Ok(None)),
            Ok(now) => now,
        };
        if now.lifecycle != Lifecycle::Active || now.node != context.node {
            return Done::Found(Ok(None));
        }
        Done::Found(Ok(context.supervisor.screen(id).await.ok()))
    })
}

/// What is to be done with a tab; none of what is about something else.
pub(super) fn with_tab(
    context: &Context,
    caller: &Caller,
    session: &Session,
    viewing: &Arc<Viewing>,
    sight: &Sight,
    message: ViewerMessage,
) -> Option<Act> {
    let what = message.word();
    let control = |tab: u32| viewing.tab(tab).ok_or_else(|| no_tab(what));
    let act: BoxFuture<'static, Result<(), String>> = match message {
        ViewerMessage::Go { tab, url } => on(control(tab), async move |tab| tab.go(&url).await),
        ViewerMessage::Step { tab, by } => {
            let leads_to = sight.leads_to();
            on(control(tab), async move |tab| {
                tab.step_among(i64::from(by.signum()), leads_to).await
            })
        }
        ViewerMessage::Reload { tab } => on(control(tab), async |tab| tab.reload().await),
        ViewerMessage::CloseTab { tab } => on(control(tab), async |tab| tab.close().await),
        ViewerMessage::Front { tab } => on(control(tab), async |tab| tab.bring_to_front().await),
        ViewerMessage::Answer { tab, question, accept, text } => {
            let control = control(tab);
            Box::pin(async move {
                let control = control.map_err(|refused| refused.detail)?;
                control.dialog(question).ok_or_else(over)?;
                control.answer(accept, text.as_deref()).await.map_err(in_words)
            })
        }
        ViewerMessage::Permit { tab, question, allow } => {
            let (control, context, session) = (control(tab), context.clone(), session.clone());
            let note =
                Note::new(&caller.actor, &session.owner, Action::Permit, session.id.to_string());
            let note = note.with("name", session.name.to_string()).with("allow", allow);
            Box::pin(async move {
                let control = control.map_err(|refused| refused.detail)?;
                // Nobody may wait for it any more once it has begun, and what was decided is in the log all the same.
                let tasks = context.tasks.clone();
                let permitted = permit(context, session, control, question, allow, note);
                let ended = tasks.spawn(permitted.in_current_span()).await;
                ended.unwrap_or_else(|stopping| Err(stopping.to_string()))
            })
        }
        ViewerMessage::OpenTab { url } => {
            let viewing = Arc::clone(viewing);
            Box::pin(async move { viewing.open_tab(&url).await.map_err(in_words) })
        }
        ViewerMessage::Choose { tab, question, files: names } => {
            let control = control(tab);
            let (context, caller, id) = (context.clone(), caller.clone(), session.id.to_string());
            Box::pin(async move {
                let control = control.map_err(|refused| refused.detail)?;
                let chooser = control.chooser(question).ok_or_else(over)?;
                let there =
                    files(&context, &caller, &id).await.map_err(|error| error.to_string())?;
                let path = |name: &String| {
                    let found = there.items.iter().find(|file| file.name == *name);
                    let none = || {
                        format!("expected a file of the session, found none of the name {name:?}")
                    };
                    found.map(|file| file.path.clone().into()).ok_or_else(none)
                };
                let paths = names.iter().map(path).collect::<Result<Vec<_>, _>>()?;
                control.choose(chooser, &paths).await.map_err(in_words)
            })
        }
        _ => return None,
    };
    Some(Box::pin(async move {
        let refused = act.await.err();
        Done::Tab(refused.map(|detail| LiveRefusal { what: what.to_owned(), detail }))
    }))
}

/// Decides what sites may that a page asks about, and notes that it was decided.
async fn permit(
    context: Context,
    session: Session,
    control: TabControl,
    question: u64,
    allow: bool,
    note: Note,
) -> Result<(), String> {
    let asked = control.permission(question).ok_or_else(over)?;
    let setting = if allow { Setting::Allow } else { Setting::Deny };
    let note = note.with("origin", asked.origin.clone()).with("wishes", asked.names.clone());
    let decided = context.supervisor.decide(session.id, asked, setting).await;
    if decided.is_ok() {
        control.settle(question);
    }
    let noted = note.end(&context.store, decided.map_err(RuntimeError::from)).await;
    noted.map_err(|error| error.to_string())
}

fn on<F>(
    control: Result<TabControl, LiveRefusal>,
    act: impl FnOnce(TabControl) -> F + Send + 'static,
) -> BoxFuture<'static, Result<(), String>>
where
    F: Future<Output = Result<(), CdpError>> + Send,
{
    Box::pin(async move {
        match control {
            Ok(control) => act(control).await.map_err(in_words),
            Err(refused) => Err(refused.detail),
        }
    })
}

/// Why the browser did not do it, in its words where it has some.
fn in_words(error: CdpError) -> String {
    match error {
        CdpError::Protocol { message, .. } => message.chars().take(300).collect(),
        error => error.to_string(),
    }
}

/// Why the answer to a question is not taken: it could be one to the next.
fn over() -> String {
    "expected a question that stands, found one that is over".to_owned()
}

/// The refusal of what is about a tab that is not there.
pub(super) fn no_tab(what: &str) -> LiveRefusal {
    let detail = "expected a tab that is open, found none of that number".to_owned();
    LiveRefusal { what: what.to_owned(), detail }
}
