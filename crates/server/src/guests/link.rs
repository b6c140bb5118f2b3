//! A guest comes by a link: what it is for, the button that counts once, and the end of their visit.

use super::ask::{front, tab_for};
use super::outcome::{capture, end_as, note};
use crate::asking::{Ask, AskRefusal, OpenedBy};
use crate::context::Context;
use crate::error::NodeError;
use crate::page::NewGuest;
use axum::body::Bytes;
use baton_api::{AskState, GuestView, Invalid, SessionFile};
use baton_runtime::audit::Action;
use baton_runtime::{Caller, sessions};
use baton_session::AgentName;
use futures_util::Stream;
use std::fmt::Display;
use std::sync::Arc;

/// What a guest is called who says no name.
const GUEST: &str = "guest";
/// And where an agent is called so.
const OTHER_GUESTS: [&str; 6] = ["person", "guest-2", "guest-3", "guest-4", "guest-5", "guest-6"];

/// An ask that was opened.
pub(crate) struct Redeemed {
    /// Which.
    pub(crate) ask: Arc<Ask>,
    /// What opens it from now on.
    pub(crate) guest: NewGuest,
}

/// What a link is for. Changes nothing.
pub(crate) async fn look(context: &Context, secret: &str) -> Result<Arc<Ask>, NodeError> {
    waiting(context, secret).await
}

/// The ask that a link opens still.
async fn waiting(context: &Context, secret: &str) -> Result<Arc<Ask>, NodeError> {
    let ask = context.asks.by_link(secret)?;
    ask.expect_waiting()?;
    if context.is_shut_out(&ask.caller).await? {
        return Err(AskRefusal::BadLink { found: "one that was taken back" }.into());
    }
    Ok(ask)
}

/// Opens an ask, once. What fails on the way uses no link up.
pub(crate) async fn redeem(
    context: &Context,
    secret: &str,
    name: Option<&str>,
) -> Result<Redeemed, NodeError> {
    let ask = waiting(context, secret).await?;
    let name = guest_name(context, &ask, name).await?;
    let opening = ask.opening().await;
    // Somebody else may have been faster.
    ask.expect_waiting()?;
    let session = sessions::active(context, &ask.caller.owner, &ask.session.id.to_string()).await?;
    let state = front(context, session.id).await?;
    let tab = tab_for(&ask, &state).ok_or(AskRefusal::NoSite)?;
    let before = capture(context, &ask).await?.id;
    let before = Some(Arc::new(context.store.pin_snapshot(session.id, before)));
    let entry = note(&ask, Action::OpenAsk).with("person", name.to_string());
    let guest = NewGuest::generate(context.node.mark());
    ask.open(guest.halves(), OpenedBy { name, tab, before })?;
    drop(opening);
    if let Err(error) = entry.done(&context.store).await {
        end_as(context, &ask, AskState::Lost).await;
        return Err(error.into());
    }
    Ok(Redeemed { ask, guest })
}

/// Declines what a link asks for, and opens nothing.
pub(crate) async fn decline(context: &Context, secret: &str) -> Result<GuestView, NodeError> {
    let ask = waiting(context, secret).await?;
    let opening = ask.opening().await;
    ask.expect_waiting()?;
    end_as(context, &ask, AskState::Declined).await;
    drop(opening);
    Ok(ask.guest_view())
}

/// The guest is done, or cannot do it.
pub(crate) async fn end(
    context: &Context,
    ask: &Ask,
    is_done: bool,
) -> Result<GuestView, NodeError> {
    let state = if is_done { AskState::Done } else { AskState::Declined };
    if !end_as(context, ask, state).await {
        return Err(AskRefusal::NoGuest { found: "one that has ended" }.into());
    }
    Ok(ask.guest_view())
}

/// Puts a file of the guest among those of the session. It takes no file's place that is not theirs.
pub(crate) async fn put_file<E: Display>(
    context: &Context,
    ask: &Ask,
    name: &str,
    bytes: impl Stream<Item = Result<Bytes, E>>,
) -> Result<SessionFile, NodeError> {
    let field = "files";
    if !ask.files {
        let (expected, found) = ("an ask for files", "one without".to_owned());
        return Err(Invalid { field, expected, found }.into());
    }
    let caller = Caller { agent: ask.opened_by().map(|by| by.name), ..ask.caller.clone() };
    let session = ask.session.id.to_string();
    let there = sessions::files(context, &caller, &session).await?;
    let is_there = there.items.iter().any(|file| file.name == name);
    if is_there && !ask.has_given(&[name.to_owned()]) {
        let (expected, found) =
            ("a name that no file of the session has", "one that is taken".to_owned());
        return Err(Invalid { field, expected, found }.into());
    }
    let file = sessions::put_file(context, &caller, &session, name, bytes).await?;
    ask.give(&file.name);
    Ok(file)
}

/// A guest's name among those of agents: never that of who asks, or of another agent of the session, for whose calls
/// the guest's would pass.
async fn guest_name(
    context: &Context,
    ask: &Ask,
    typed: Option<&str>,
) -> Result<AgentName, NodeError> {
    let typed = typed.map(str::trim).filter(|name| !name.is_empty());
    let parsed = |name: &str| {
        name.parse::<AgentName>().map_err(|_| Invalid {
            field: "name",
            expected: "1 to 64 letters, digits, '.', '_' or '-'",
            found: format!("{:?}", name.chars().take(80).collect::<String>()),
        })
    };
    let wanted = parsed(typed.unwrap_or(GUEST))?;
    let mut others = [GUEST].into_iter().chain(OTHER_GUESTS);
    let mut name = wanted;
    while ask.caller.agent.as_ref() == Some(&name)
        || sessions::has_agent(context, &ask.session, &name).await?
    {
        let (field, expected) = ("name", "one that no agent of the session has");
        let none = || Invalid { field, expected, found: name.to_string() };
        name = parsed(others.next().ok_or_else(none)?)?;
    }
    Ok(name)
}
