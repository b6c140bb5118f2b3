//! Switches on or off whether what the tabs of a session do is recorded.

use super::{check, show};
use crate::error::RuntimeError;
use crate::life::{Debug, Wish, drive};
use baton_api::{Scope, SessionView, SwitchDebug};
use baton_session::Lifecycle;
use baton_store::clock;

/// Records what the tabs of a session do from now on, and in every browser it gets later; or no longer,
/// which forgets what was recorded. Secrets are kept, with the scope `reveal`, as long as this browser
/// runs and nobody switches again.
pub async fn debug(
    wish: &Wish<'_>,
    SwitchDebug { on, reveal }: SwitchDebug,
) -> Result<SessionView, RuntimeError> {
    let context = wish.context;
    check::debug(on, reveal)?;
    if reveal {
        wish.by.require(Scope::Reveal)?;
    }
    let held = wish.preflight(Debug).await?.hold().await?;
    let session = &held.session;
    drive(context, wish.by, session).await?;
    // They end with a browser, and there is none.
    if reveal && session.lifecycle != Lifecycle::Active {
        let (name, found) = (session.name.clone(), session.lifecycle);
        return Err(RuntimeError::WrongState { name, expected: "active", found });
    }
    if on && session.lifecycle == Lifecycle::Active {
        context.hub.record(session, reveal).await?;
    }
    let switched = context.store.switch_debug(session.id, on, clock::now()).await;
    if !on || switched.is_err() && !session.debug {
        context.hub.stop_recording(session.id);
    } else if switched.is_err() {
        // Whoever asked for them is told that it failed.
        context.hub.forget_secrets(session.id);
    }
    show::describe(context, switched?).await
}
