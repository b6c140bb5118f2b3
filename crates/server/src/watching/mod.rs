//! Those who watch a session live, one WebSocket each: what they are sent, and what they may do.
//!
//! The one idea: a viewer costs nobody anything. It has one picture at a time that it has not drawn, a few
//! messages that it has not read, and no more; what it asks for is bounded, and what it leaves behind is let go:
//! buttons that are down, and the session that it took over. Rooms: `line` writes to a viewer, `viewer` is its
//! whole visit, `sight` how much of it a guest has, `hand` reads what it does, `acts` are what takes longer, `queue`
//! says which of them still begin, `words` what it is told.

mod acts;
mod hand;
mod line;
mod queue;
mod sight;
mod viewer;
mod words;

use crate::asking::AskRefusal;
use crate::context::Context;
use crate::error::NodeError;
use baton_session::Session;

pub(crate) use sight::{Guest, Sight};
pub(crate) use viewer::{Watcher, serve};

/// Checks that one more may watch a session.
pub(crate) fn expect_room(context: &Context, session: &Session) -> Result<(), NodeError> {
    match context.supervisor.watched_screen(session.id) {
        Some(screen) if !screen.has_room() => Err(AskRefusal::TooManyViewers.into()),
        _ => Ok(()),
    }
}
