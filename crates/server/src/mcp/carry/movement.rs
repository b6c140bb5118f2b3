//! One session moves one way, until all of it has.

use super::text::Way;
use crate::mcp::answer::Failure;
use crate::mcp::verb::Call;
use baton_api::sync::{Movement, MovementOutcome};
use baton_sync::CALL_LIMIT;

impl Way {
    /// Moves a session of this id, and goes on where time ran out. What time ran out for before a
    /// single part moved comes back unfinished. `name` is what people call the session.
    pub(super) async fn whole(
        self,
        call: &Call,
        peer: &str,
        session: &str,
        name: &str,
    ) -> Result<Movement, Failure> {
        let doing = match self {
            Self::Pull => format!("fetching {name}"),
            Self::Push => format!("giving {name}"),
        };
        let (mut parts, mut bytes) = (0, 0);
        loop {
            let moving = Box::pin(self.once(call, peer, session));
            let mut moved = call.progress.during(&doing, moving).await?;
            let goes_on = moved.outcome == MovementOutcome::Unfinished && moved.parts > 0;
            parts += moved.parts;
            bytes += moved.bytes;
            if !goes_on {
                (moved.parts, moved.bytes) = (parts, bytes);
                return Ok(moved);
            }
        }
    }

    async fn once(self, call: &Call, peer: &str, session: &str) -> Result<Movement, Failure> {
        let (context, caller) = (&call.context, &call.caller);
        Ok(match self {
            Self::Pull => {
                Box::pin(baton_sync::pull(context, caller, peer, session, CALL_LIMIT)).await?
            }
            Self::Push => {
                Box::pin(baton_sync::push(context, caller, peer, session, CALL_LIMIT)).await?
            }
        })
    }
}
