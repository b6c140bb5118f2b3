//! Switches on or off whether what the tabs of a session do is recorded.

use super::drive::drive;
use super::show;
use crate::auth::Caller;
use crate::{Context, NodeError, clock};
use baton_api::SessionView;
use baton_session::Lifecycle;

/// Records what the tabs of a session do from now on, and in every browser it gets later; or no longer,
/// which forgets what was recorded.
pub async fn debug(
    context: &Context,
    caller: &Caller,
    reference: &str,
    on: bool,
) -> Result<SessionView, NodeError> {
    let (session, _turn) = context.take_turn(&caller.owner, reference).await?;
    drive(context, caller, &session).await?;
    if on && session.lifecycle == Lifecycle::Active {
        context.hub.record(&session).await?;
    }
    let switched = context.store.switch_debug(session.id, on, clock::now()).await;
    if !on || switched.is_err() && !session.debug {
        context.hub.stop_recording(session.id);
    }
    show::describe(context, switched?).await
}
