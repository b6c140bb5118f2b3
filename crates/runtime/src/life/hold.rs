//! Holding a session of this node, as it is now.

use super::wish::{HOLD_LIMIT, settled};
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::table::Hold;
use baton_session::{Owner, Session};

impl Runtime {
    /// Finds a session of this node and holds it, once nobody else does. The session is as it is now, not as
    /// it was before the wait, and if it is active somebody watches its browser.
    pub async fn hold_here(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<(Session, Hold), RuntimeError> {
        let found = self.find(owner, reference).await?;
        self.hold_again(&found).await
    }

    /// The same for one that was found before.
    pub async fn hold_again(&self, found: &Session) -> Result<(Session, Hold), RuntimeError> {
        let hold = self.hold(found.id, "changed", HOLD_LIMIT).await?;
        let session = self.store.fetch_session(&found.owner, found.id).await?;
        if session.node != self.node {
            return Err(RuntimeError::OtherNode { name: session.name, node: session.node });
        }
        Ok((settled(self, &hold, session).await?, hold))
    }
}
