//! Makes a sandbox, with a session in it.

use super::error::SandboxRefusal;
use super::found::Found;
use super::hand_in::{self, Sought};
use super::plan::Plan;
use super::profile;
use super::registry::{Kept, Lent, Slot};
use super::vnc::Display;
use super::watch;
use crate::context::Agents;
use crate::error::AgentsError;
use baton_api::sandbox::{CreateSandbox, Enforcement, SandboxView, WrittenLimits};
use baton_browser::profile::packed::Pack;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_sandbox::{Enforced, Limits, Sandbox};
use baton_session::SandboxId;
use baton_store::clock;
use std::sync::{Arc, OnceLock};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// Makes a sandbox of the caller, which is ready for commands. A session that is handed in logs somebody
/// in there, or nothing is made.
pub async fn create(
    context: &Agents,
    caller: &Caller,
    request: CreateSandbox,
) -> Result<SandboxView, AgentsError> {
    let id = SandboxId::new(clock::now(), rand::random());
    let note = Note::new(&caller.actor, &caller.owner, Action::CreateSandbox, id.to_string());
    let wanted = request.browser_session.as_ref();
    let note = match wanted.and_then(|wanted| wanted.session_id.clone()) {
        Some(session) => note.with("session", session),
        None => note.with("session", if wanted.is_some() { "inline" } else { "none" }),
    };
    let created = make(context, caller, id, request).await;
    let noted = note.end(&context.store, created).await;
    if noted.is_err() {
        // What cannot be noted is not given out.
        super::end::drop_unnoted(context, id).await;
    }
    noted
}

async fn make(
    context: &Agents,
    caller: &Caller,
    id: SandboxId,
    request: CreateSandbox,
) -> Result<SandboxView, AgentsError> {
    let provider = context.sandboxes.provider()?;
    let plan = Plan::of(context, id, &request, provider.isolates())?;
    let slot = context.sandboxes.reserve(id)?;
    let sought = match &request.browser_session {
        Some(wanted) => Some(hand_in::seek(context, caller, wanted).await?),
        None => None,
    };
    let mut found = None;
    let made = build(context, caller, &plan, id, sought, &mut found).await;
    let built = match made {
        Ok(built) => built,
        Err(error) => {
            give_back(context, found).await;
            return Err(error);
        }
    };
    Ok(keep(context, caller, slot, plan, built, found))
}

/// What was made.
struct Built {
    sandbox: Box<dyn Sandbox>,
    /// The profile in it.
    packed: Option<Pack>,
    display: Option<Display>,
}

/// Makes the sandbox while the session is found and its profile made, and puts that there. What was found
/// has to be given back if this fails.
async fn build(
    context: &Agents,
    caller: &Caller,
    plan: &Plan,
    id: SandboxId,
    sought: Option<Sought<'_>>,
    found: &mut Option<Found>,
) -> Result<Built, AgentsError> {
    let provider = context.sandboxes.provider()?;
    let make = async {
        Ok::<_, AgentsError>(provider.create(&plan.spec).await.map_err(SandboxRefusal::from)?)
    };
    let pack = async {
        let Some(sought) = sought else { return Ok(None) };
        let session = Box::pin(hand_in::find(context, caller, sought, &plan.domains, id)).await?;
        profile::pack(context, found.insert(session)).await.map(Some)
    };
    let (sandbox, packed) = tokio::join!(make, pack);
    let (sandbox, packed) = match (sandbox, packed) {
        (Ok(sandbox), Ok(packed)) => (sandbox, packed),
        (Ok(sandbox), Err(error)) => {
            remove(&*sandbox).await;
            return Err(error);
        }
        (Err(error), _) => return Err(error),
    };
    match furnish(&*sandbox, plan, packed.as_ref()).await {
        Ok(display) => Ok(Built { sandbox, packed, display }),
        Err(error) => {
            remove(&*sandbox).await;
            Err(error)
        }
    }
}

/// Puts the profile there, and makes the display.
async fn furnish(
    sandbox: &dyn Sandbox,
    plan: &Plan,
    packed: Option<&Pack>,
) -> Result<Option<Display>, AgentsError> {
    if let Some(packed) = packed {
        profile::put(sandbox, packed).await?;
    }
    if !plan.has_display {
        return Ok(None);
    }
    Ok(Some(Display::start(sandbox).await?))
}

async fn remove(sandbox: &dyn Sandbox) {
    if let Err(error) = sandbox.remove().await {
        tracing::error!(%error, "a sandbox was not removed");
    }
}

/// What was to be handed in is free again.
async fn give_back(context: &Agents, found: Option<Found>) {
    let Some(loan) = found.and_then(|found| found.loan) else { return };
    let (owner, id) = (&loan.session.owner, loan.session.id);
    let given = async {
        context.hub.give_back(&loan).await?;
        context.peers.release(context, owner, id).await.map_err(AgentsError::from)
    };
    if let Err(error) = given.await {
        tracing::error!(session = %id, %error, "a session was not given back; the next start of the node frees it");
    }
}

fn keep(
    context: &Agents,
    caller: &Caller,
    slot: Slot,
    plan: Plan,
    built: Built,
    found: Option<Found>,
) -> SandboxView {
    let Built { sandbox, packed, display } = built;
    let created_at = clock::now();
    let (limits, limits_reason) = match sandbox.enforced() {
        Enforced::Yes => (Enforcement::Enforced, None),
        Enforced::No(why) => (Enforcement::NotEnforced, Some(why.clone())),
    };
    let mut warnings = plan.warnings;
    if let Some(name) = found.as_ref().and_then(|found| found.ended.as_ref()) {
        warnings.push(format!(
            "the browser of session {name} was saved and closed: the sandbox has the session until it ends"
        ));
    }
    let (told, lent) = match found.zip(packed) {
        Some((mut found, pack)) => {
            let receipt = pack.receipt().clone();
            found.told.receipt.extend(receipt.clone());
            found.told.receipt.forget_restored();
            let take_back = plan.take_back;
            let taken = OnceCell::new();
            (Some(found.told), found.loan.map(|loan| Lent { loan, receipt, take_back, taken }))
        }
        None => (None, None),
    };
    let Limits { memory, processes, processors, disk } = plan.spec.limits;
    let view = SandboxView {
        id: slot.id,
        flavor: plan.flavor,
        owner: caller.owner.clone(),
        workspace: sandbox.workspace().to_owned(),
        created_at,
        expires_at: created_at.checked_add(plan.ttl).unwrap_or(created_at),
        limits,
        limits_reason,
        allowed: WrittenLimits { memory, processes, processors, disk },
        browser_session: told,
        vnc: display.as_ref().map(Display::view),
        warnings,
    };
    let ended = CancellationToken::new();
    let kept = Arc::new(Kept { view, sandbox, lent, ended, unread_since: OnceLock::new() });
    slot.keep(Arc::clone(&kept));
    let mut view = kept.view.clone();
    if let Some(display) = display {
        view.vnc = Some(display.serve(Arc::clone(&kept)));
    }
    watch::watch(context, kept, plan.ttl);
    tracing::info!(sandbox = %view.id, flavor = view.flavor, "made a sandbox");
    view
}
