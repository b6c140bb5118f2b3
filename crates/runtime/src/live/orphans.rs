//! Ends keepers that hold a browser for nobody: a node died in the middle of a resume or a close.

use super::ending::Ending;
use super::{HOLD_LIMIT, Hub};
use baton_session::SessionId;
use futures_util::StreamExt;
use futures_util::stream::iter;
use std::collections::HashSet;

/// How many keepers are ended at once.
const AT_ONCE: usize = 8;

impl Hub {
    /// Ends keepers whose sessions are not `active`. Returns how many there were.
    pub(super) async fn end_orphans(&self, active: &HashSet<SessionId>) -> usize {
        let run = std::fs::read_dir(self.config().data.run()).into_iter().flatten().flatten();
        let sockets = run.filter_map(|entry| {
            let path = entry.path();
            let id = path.file_stem()?.to_str()?.parse::<SessionId>().ok()?;
            (path.extension()? == "sock" && !active.contains(&id)).then_some(id)
        });
        let ends: Vec<_> = sockets.map(|id| self.end_orphan(id)).collect();
        let ended: Vec<bool> = iter(ends).buffered(AT_ONCE).collect().await;
        ended.into_iter().filter(|ended| *ended).count()
    }

    /// Ends the keeper of a session that is not active. One whose session is not in this database is
    /// left alone: whoever started the node with another database must not lose a browser by it.
    async fn end_orphan(&self, id: SessionId) -> bool {
        match self.store().fetch_any_session(id).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                tracing::warn!(session = %id, "a socket of a session that this database does not know");
                return false;
            }
            Err(error) => {
                tracing::error!(session = %id, %error, "a keeper could not be looked at");
                return false;
            }
        }
        let Ok(_hold) = self.table().hold(id, "ended", HOLD_LIMIT).await else { return false };
        let ended = self.end_keeper(id, Ending::Close).await;
        if ended {
            tracing::warn!(session = %id, "ended a keeper whose session is not active");
        }
        ended
    }
}
