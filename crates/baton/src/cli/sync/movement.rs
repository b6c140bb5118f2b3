//! One session moves one way, until all of it has.

use crate::output::Way;
use baton_api::sync::{Movement, MovementOutcome};
use baton_api::{Client, ClientError};

/// Moves a session, and goes on where time ran out; `left` hears how many parts are to come. What time
/// ran out for before a single part moved comes back unfinished.
pub(super) async fn whole(
    client: &Client,
    way: Way,
    peer: &str,
    session: &str,
    mut left: impl FnMut(u64),
) -> Result<Movement, ClientError> {
    let (mut parts, mut bytes) = (0, 0);
    loop {
        let mut moved = match way {
            Way::Pull => client.pull_session(peer, session).await?,
            Way::Push => client.push_session(peer, session).await?,
        };
        let goes_on = moved.outcome == MovementOutcome::Unfinished && moved.parts > 0;
        parts += moved.parts;
        bytes += moved.bytes;
        if !goes_on {
            (moved.parts, moved.bytes) = (parts, bytes);
            return Ok(moved);
        }
        left(moved.left);
    }
}
