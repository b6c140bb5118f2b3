//! Contexts that clients made in a session's browser: listed, and kept on request.
//!
//! The one idea: a context is somebody else's for as long as its client is there, and gone then. So it is
//! not followed: what it holds at the moment of the request becomes a session of its own.

use super::check;
use super::import::Made;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::{Capture, Wish};
use baton_api::Invalid;
use baton_api::{Contents, ContextList, ContextView, ImportView, KeepContext, Tab};
use baton_browser::{ContextId, MadeContext};
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Owner, SnapshotReason, admit, parts};
use baton_store::blocking::blocking;
use baton_store::clock;

/// The contexts of a running browser, each with its tabs.
pub async fn contexts(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<ContextList, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let made = context.hub.contexts(session.id).await?;
    let view = |one: MadeContext| ContextView {
        id: one.id.to_string(),
        tabs: one.tabs.iter().map(Tab::of).collect(),
    };
    Ok(ContextList { items: made.into_iter().map(view).collect() })
}

/// A session of its own, recoverable, with all that a context holds now.
pub(super) async fn keep(
    wish: &Wish<'_>,
    request: KeepContext,
) -> Result<ImportView, RuntimeError> {
    let KeepContext { context: wanted, name, description } = request;
    check::name(&name)?;
    check::description(description.as_deref())?;
    let context = wish.context;
    let held = wish.preflight(Capture).await?.hold().await?;
    let (owner, id) = (&held.session.owner, held.session.id);
    let which = choose(context.hub.contexts(id).await?, wanted.as_deref())?;
    let captured = context.hub.read_context(id, which).await?;
    let now = Expiry(clock::now().as_microsecond());
    let work = move || {
        let mut state = captured.state;
        let mut left_out = admit::admit(&mut state, now);
        for unread in captured.unread {
            left_out.push(ReceiptItem::rejected(ItemKind::Part, unread.place, unread.reason));
        }
        (Contents::from(&state), parts::split(&state), left_out)
    };
    let (holds, parts, left_out) = blocking(work).await?;
    let description = description.unwrap_or_default();
    let made = Made { name, description, parts, reason: SnapshotReason::Request };
    let session = made.store(context, owner).await?;
    Ok(ImportView { session, holds, left_out })
}

/// The one that is meant: by the beginning of its id, or the only one.
fn choose(made: Vec<MadeContext>, wanted: Option<&str>) -> Result<ContextId, RuntimeError> {
    let invalid = |found: String| Invalid {
        field: "context",
        expected: "the beginning of the id of one context in the session's browser",
        found,
    };
    let is_meant = |one: &MadeContext| wanted.is_none_or(|id| one.id.as_str().starts_with(id));
    let all = made.len();
    let mut meant = made.into_iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only.id),
        (Some(_), Some(_)) => Err(invalid(format!("several, of {all} that there are")).into()),
        (None, _) => Err(invalid(format!("none, of {all} that there are")).into()),
    }
}
