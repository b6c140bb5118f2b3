//! Opens a session in a browser of its own.

use super::create::Wanted;
use super::{check, create, show};
use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::drive;
use baton_api::Invalid;
use baton_api::{OpenSession, Scope, SessionView};
use baton_session::Owner;

/// Starts a browser with the tabs and the environment that are asked for. When it does not start,
/// nothing is left behind and the name stays free.
pub async fn open(
    context: &Runtime,
    caller: &Caller,
    mut request: OpenSession,
) -> Result<SessionView, RuntimeError> {
    check::open(&request)?;
    if request.reveal {
        caller.require(Scope::Reveal)?;
    }
    if !request.files.is_empty() {
        caller.require(Scope::Admin)?;
        if caller.owner != Owner::local() {
            return Err(Invalid {
                field: "files",
                expected: "no folders, for an owner other than local",
                found: "some".to_owned(),
            }
            .into());
        }
        check::folders(context.hub.data(), &request.files)?;
    }
    // They are decided now, whatever a caller says.
    request.environment.permissions.iter_mut().for_each(|one| one.changed = None);
    let wanted = Wanted {
        name: request.name.clone(),
        description: request.description.clone(),
        headed: request.headed,
        debug: request.debug,
    };
    let (session, hold) = create::create(context, &caller.owner, wanted).await?;
    if let Err(error) = context.hub.open(&hold, &session, &request).await {
        create::undo(context, &hold, &session).await;
        return Err(error.into());
    }
    tracing::info!(session = %session.id, "opened a session");
    drive(context, caller, &session).await?;
    show::describe(context, session).await
}
