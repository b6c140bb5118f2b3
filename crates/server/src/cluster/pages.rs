//! Which page an address to watch at was given to, where the session or the display is another node's.
//!
//! The one idea: a page ends where it is signed in. So the node of the page remembers to which one it passed a
//! ticket, and ends the stream with it; and the ticket opens nothing by way of another node, which would not.

use super::passed::Passed;
use crate::page::LivePage;
use baton_runtime::RuntimeError;
use baton_session::NodeId;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What goes with a ticket to watch.
#[derive(Clone, Default)]
pub(crate) struct LiveTicket {
    /// The page that was given it, where that is signed in here.
    page: Option<LivePage>,
    /// The node of the page that was given it, where that is another one: it has to come by way of that one.
    through: Option<NodeId>,
}

impl LiveTicket {
    /// That of a page, or of one that is signed in at the node which passed its request on.
    pub(crate) fn of(page: Option<LivePage>, passed: Option<&Passed>) -> Self {
        let through = passed.filter(|passed| passed.is_page).map(|passed| passed.from);
        Self { page, through }
    }

    /// The page that shows what is opened. The page ends it where it is signed in: at the node that knows it.
    pub(crate) fn page(self, passed: Option<&Passed>) -> Result<Option<LivePage>, RuntimeError> {
        let from = passed.filter(|passed| passed.is_page).map(|passed| passed.from);
        if self.through.is_some() && self.through != from {
            return Err(RuntimeError::BadTicket { found: "one for a page of another node" });
        }
        Ok(self.page)
    }
}

/// How long a ticket is waited for: a little longer than it counts.
const WAIT: Duration = Duration::from_secs(75);
/// How many are remembered.
const MOST: usize = 10_000;

type Given = HashMap<[u8; 32], (LivePage, Instant)>;

/// Tickets of other nodes that were given to pages of this one. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct PassedPages(Arc<Mutex<Given>>);

impl PassedPages {
    /// Remembers to which page a ticket was given. False when there is no room for one more.
    pub(crate) fn note(&self, ticket: &str, page: LivePage) -> bool {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if given.len() >= MOST {
            given.retain(|_, (_, until)| *until > Instant::now());
        }
        given.len() < MOST && given.insert(hash(ticket), (page, Instant::now() + WAIT)).is_none()
    }

    /// The page to which a ticket was given, once.
    pub(crate) fn take(&self, ticket: &str) -> Option<LivePage> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        given.remove(&hash(ticket)).map(|(page, _)| page)
    }
}

fn hash(ticket: &str) -> [u8; 32] {
    Sha256::digest(ticket.as_bytes()).into()
}
