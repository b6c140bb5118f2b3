//! Attaches to a browser that someone else started.

use super::create::Wanted;
use super::{check, create, show};
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::drive;
use baton_api::{AttachSession, SessionView};

/// Keeps the default context of a running browser as a session. The browser is not ours: closing
/// the session leaves it running, and a resume starts one of our own.
pub async fn attach(
    context: &Runtime,
    caller: &Caller,
    request: AttachSession,
) -> Result<SessionView, RuntimeError> {
    check::name(&request.name)?;
    check::description(request.description.as_deref())?;
    check::cdp_address(&request.cdp_url)?;
    let (name, description) = (request.name, request.description);
    let wanted = Wanted { name, description, headed: false, debug: false };
    let (session, hold) = create::create(context, &caller.owner, wanted).await?;
    if let Err(error) = context.hub.attach(&hold, &session, &request.cdp_url).await {
        create::undo(context, &hold, &session).await;
        return Err(RuntimeError::Attach(error));
    }
    tracing::info!(session = %session.id, "attached to a browser");
    drive(context, caller, &session).await?;
    show::describe(context, session).await
}
