//! Makes a sandbox, with a session in it: planned within what the settings allow, built, and given its
//! profile.

use super::end::watch;
use super::exec::within_limit;
use super::hand_in::{HandIn, Sought};
use super::looks::{Looks, PROGRAM};
use super::plan::Plan;
use super::vnc::Display;
use super::way_out::{SessionEgress, WayOut};
use super::{PROFILE, WRAPPER, hand_in};
use crate::Agents;
use crate::counted::Counted;
use crate::error::{AgentsError, SandboxRefusal};
use crate::registry::{Kept, SandboxSession, Slot};
use baton_api::sandbox::{CreateSandbox, Enforcement, SandboxView, WrittenLimits};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::Times;
use baton_browser::profile::packed::Pack;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_runtime::sessions::shut_out;
use baton_sandbox::{Enforced, Limits, Sandbox};
use baton_session::SandboxId;
use baton_store::blocking::blocking;
use baton_store::clock;
use futures_util::future::join_all;
use std::fs::File;
use std::sync::{Arc, OnceLock};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// Makes a sandbox of the caller, which is ready for commands. A session that is handed in is a login there,
/// or nothing is made.
pub async fn create(
    context: &Agents,
    caller: &Caller,
    request: CreateSandbox,
) -> Result<SandboxView, AgentsError> {
    let id = SandboxId::made_by(context.node, clock::now(), rand::random());
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
    context.supervisor.expect_staying()?;
    let plan = Plan::of(context, id, &request, provider.isolates())?;
    let slot = context.sandboxes.reserve(id)?;
    let counted = Counted::begin(context, &caller.owner, id).await?;
    let sought = match &request.browser_session {
        Some(wanted) => Some(hand_in::seek(context, caller, wanted).await?),
        None => None,
    };
    let mut found = None;
    let made = Box::pin(build(context, caller, &plan, id, sought, &mut found)).await;
    let built = match made {
        Ok(built) => built,
        Err(error) => {
            check_in(context, found).await;
            counted.end().await;
            return Err(error);
        }
    };
    Ok(keep(context, caller, (slot, counted), plan, built, found))
}

/// What was made.
struct Built {
    sandbox: Box<dyn Sandbox>,
    /// The profile in it.
    packed: Option<Pack>,
    display: Option<Display>,
    way_out: Option<WayOut>,
}

/// Makes the sandbox while the session is found and its profile made, and puts that there. What was found
/// has to be given back if this fails.
async fn build(
    context: &Agents,
    caller: &Caller,
    plan: &Plan,
    id: SandboxId,
    sought: Option<Sought<'_>>,
    found: &mut Option<HandIn>,
) -> Result<Built, AgentsError> {
    let (owner, flavor) = (&caller.owner, plan.egress.as_ref());
    // What a session says of its way out is known once it is found.
    let unknown = SessionEgress { asked: None, trusted: &[] };
    let expected = WayOut::of(context, owner, sought.is_some().then_some(unknown), flavor)?;
    let pack = async {
        let Some(sought) = sought else { return Ok((None, None, Vec::new())) };
        let session = Box::pin(hand_in::find(context, caller, sought, &plan.domains, id)).await?;
        let session = found.insert(session);
        let environment = &mut session.state.environment;
        // It is no setting of a profile: the sandbox has it.
        let asked = environment.egress.take();
        let handed = SessionEgress { asked: asked.as_ref(), trusted: &environment.certificates };
        let way_out = match &asked {
            Some(_) => WayOut::of(context, owner, Some(handed), flavor)?,
            None => None,
        };
        let told = way_out.as_ref().or(expected.as_ref());
        let only = told.map(|way_out| way_out.view.only.clone()).unwrap_or_default();
        let shut_out = shut_out(hand_in::known(session), &only, clock::now());
        Ok((Some(pack(context, session).await?), way_out, shut_out))
    };
    let (sandbox, packed) = tokio::join!(make_sandbox(context, plan, expected.as_ref()), pack);
    let (sandbox, (packed, asked, shut_out)) = match (sandbox, packed) {
        (Ok(sandbox), Ok(packed)) => (sandbox, packed),
        (Ok(sandbox), Err(error)) => {
            remove(&*sandbox).await;
            return Err(error);
        }
        (Err(error), _) => return Err(error),
    };
    let sandbox = match &asked {
        // Nothing ran in it and nothing was put there.
        Some(way_out) if expected.is_none() => {
            remove(&*sandbox).await;
            make_sandbox(context, plan, Some(way_out)).await?
        }
        Some(_) | None => sandbox,
    };
    let looks = found.as_ref().map(|found| &found.looks);
    match furnish(&*sandbox, plan, packed.as_ref(), looks).await {
        Ok(display) => {
            let way_out = asked.or(expected).map(|way_out| way_out.shutting_out(shut_out));
            Ok(Built { sandbox, packed, display, way_out })
        }
        Err(error) => {
            remove(&*sandbox).await;
            Err(error)
        }
    }
}

/// Makes the sandbox, whose only way to the network is `way_out` if there is one.
async fn make_sandbox(
    context: &Agents,
    plan: &Plan,
    way_out: Option<&WayOut>,
) -> Result<Box<dyn Sandbox>, AgentsError> {
    let mut spec = plan.spec.clone();
    if let Some(way_out) = way_out {
        spec.network = way_out.network();
        // What a caller or a flavor says of proxies leads nowhere.
        spec.env.extend(way_out.env());
    }
    let made = context.sandboxes.provider()?.create(&spec).await;
    Ok(made.map_err(SandboxRefusal::from)?)
}

/// Puts the profile there, and what shows sites the session's browser; makes the display.
async fn furnish(
    sandbox: &dyn Sandbox,
    plan: &Plan,
    packed: Option<&Pack>,
    looks: Option<&Looks>,
) -> Result<Option<Display>, AgentsError> {
    if let Some(packed) = packed {
        unpack_profile(sandbox, packed).await?;
    }
    let program = plan.spec.env.get(PROGRAM);
    if let Some(archive) = looks.and_then(|looks| looks.wrapper(sandbox, program)) {
        let archive = archive.map_err(|error| not_put(error.to_string()))?;
        put(sandbox, [(archive, WRAPPER)]).await?;
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
async fn check_in(context: &Agents, found: Option<HandIn>) {
    let Some(checkout) = found.and_then(|found| found.checkout) else { return };
    let (owner, id) = (&checkout.session.owner, checkout.session.id);
    let given = async {
        context.supervisor.check_in(&checkout).await?;
        context.peers.release(context, owner, id).await.map_err(AgentsError::from)
    };
    if let Err(error) = given.await {
        tracing::error!(session = %id, %error, "a session was not given back; the next start of the node frees it");
    }
}

fn keep(
    context: &Agents,
    caller: &Caller,
    (slot, counted): (Slot, Counted),
    plan: Plan,
    built: Built,
    found: Option<HandIn>,
) -> SandboxView {
    let Built { sandbox, packed, display, way_out } = built;
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
    let looks = found.as_ref().map(|found| found.looks.clone()).unwrap_or_default();
    let env = looks.variables(sandbox.workspace(), &plan.spec.env);
    warnings.extend(looks.warning.clone());
    let (told, checked_out) = match found.zip(packed) {
        Some((mut found, pack)) => {
            let receipt = pack.receipt().clone();
            found.told.receipt.extend(looks.settled(receipt.clone(), &plan.spec.env));
            found.told.receipt.forget_restored();
            let (take_back, given) = (plan.take_back, looks.given_tabs());
            let taken = OnceCell::new();
            (
                Some(found.told),
                found.checkout.map(|checkout| SandboxSession {
                    checkout,
                    receipt,
                    given,
                    take_back,
                    taken,
                }),
            )
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
        egress: way_out.as_ref().map(|way_out| way_out.view.clone()),
        warnings,
    };
    let way_out = way_out.map(|way_out| way_out.serve(sandbox.connections()));
    let ended = CancellationToken::new();
    let unread_since = OnceLock::new();
    let kept = Arc::new(Kept {
        view,
        sandbox,
        env,
        way_out,
        checked_out,
        display: OnceLock::new(),
        ended,
        unread_since,
        counted,
    });
    slot.keep(Arc::clone(&kept));
    let mut view = kept.view.clone();
    if let Some(display) = display {
        view.vnc = Some(display.serve(Arc::clone(&kept)));
    }
    watch(context, kept, plan.ttl);
    tracing::info!(sandbox = %view.id, flavor = view.flavor, "made a sandbox");
    view
}

/// Makes the profile of a session, whose state goes with that.
async fn pack(context: &Agents, found: &mut HandIn) -> Result<Pack, AgentsError> {
    make_pages(context, found).await;
    let now = Instant(clock::now().as_microsecond());
    let times = Times { now, written: Instant(found.taken_at.as_microsecond()) };
    let (cache, key) = (context.supervisor.compiled().clone(), found.key);
    let (scratch, state) = (context.sandboxes.scratch().clone(), std::mem::take(&mut found.state));
    let at_hand = std::mem::take(&mut found.at_hand);
    let work = move || {
        let cached = key.map(|key| (&cache, key));
        Pack::make(&state, &scratch, times, cached, &at_hand)
    };
    let made = blocking(work).await?;
    Ok(made.map_err(SandboxRefusal::from)?)
}

/// Has a browser make what only pages make, unless it is at hand. Where that does not work, the profile has
/// all else, and its receipt says what is missing.
async fn make_pages(context: &Agents, found: &mut HandIn) {
    if found.at_hand.pages.is_some() {
        return;
    }
    let pages = found.state.take_pages();
    if pages.is_empty() {
        return;
    }
    let (supervisor, scratch) = (&context.supervisor, context.sandboxes.scratch());
    match Box::pin(supervisor.make_pages(pages.clone(), scratch)).await {
        Ok(made) => {
            if let Some(key) = found.key {
                supervisor.compiled().keep_pages(key, made.clone());
            }
            found.at_hand.pages = Some(made);
        }
        Err(error) => {
            tracing::warn!(%error, "what only pages make was not made for a sandbox");
            found.state.put_pages(pages);
        }
    }
}

/// Puts it there.
async fn unpack_profile(sandbox: &dyn Sandbox, pack: &Pack) -> Result<(), AgentsError> {
    let archives = pack.open().map_err(|error| not_put(error.to_string()))?;
    put(sandbox, archives.into_iter().map(|archive| (archive, PROFILE))).await
}

fn not_put(why: String) -> SandboxRefusal {
    SandboxRefusal::NotPut { why }
}

/// Unpacks archives into folders.
async fn put(
    sandbox: &dyn Sandbox,
    archives: impl IntoIterator<Item = (File, &'static str)>,
) -> Result<(), AgentsError> {
    let all = archives.into_iter().map(|(archive, folder)| sandbox.unpack(archive, folder));
    for unpacked in within_limit(async { Ok(join_all(all).await) }).await? {
        unpacked.map_err(SandboxRefusal::from)?.map_err(|why| {
            if why.contains("os error 28") { SandboxRefusal::Full { why } } else { not_put(why) }
        })?;
    }
    Ok(())
}
