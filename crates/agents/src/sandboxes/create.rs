//! Makes a sandbox, with a session in it: planned within what the settings allow, built, and given its
//! profile.

use super::end::watch;
use super::exec::within_limit;
use super::hand_in::{HandIn, Sought};
use super::looks::SWITCHES;
use super::vnc::{Display, variables};
use super::way_out::{SessionEgress, WayOut};
use super::{PROFILE, PROFILE_NAME, PROFILE_VARIABLE, hand_in};
use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use crate::registry::{Kept, SandboxSession, Slot};
use crate::settings::{DEFAULT_FLAVOR, Flavor};
use baton_api::Invalid;
use baton_api::sandbox::{
    CreateSandbox, Enforcement, SandboxView, TakeBack, WantedLimits, WrittenLimits,
};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::Times;
use baton_browser::profile::packed::Pack;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};
use baton_sandbox::{Enforced, Limits, Sandbox, SandboxSpec};
use baton_session::SandboxId;
use baton_session::egress::Egress;
use baton_session::view::Domain;
use baton_store::blocking::blocking;
use baton_store::clock;
use futures_util::future::join_all;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// Makes a sandbox of the caller, which is ready for commands. A session that is handed in is a login there,
/// or nothing is made.
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
    let made = Box::pin(build(context, caller, &plan, id, sought, &mut found)).await;
    let built = match made {
        Ok(built) => built,
        Err(error) => {
            check_in(context, found).await;
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
        let Some(sought) = sought else { return Ok((None, None)) };
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
        Ok((Some(pack(context, session).await?), way_out))
    };
    let (sandbox, packed) = tokio::join!(make_sandbox(context, plan, expected.as_ref()), pack);
    let (sandbox, (packed, asked)) = match (sandbox, packed) {
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
    match furnish(&*sandbox, plan, packed.as_ref()).await {
        Ok(display) => Ok(Built { sandbox, packed, display, way_out: asked.or(expected) }),
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

/// Puts the profile there, and makes the display.
async fn furnish(
    sandbox: &dyn Sandbox,
    plan: &Plan,
    packed: Option<&Pack>,
) -> Result<Option<Display>, AgentsError> {
    if let Some(packed) = packed {
        unpack_profile(sandbox, packed).await?;
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
    slot: Slot,
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
    let env = looks.variables(plan.spec.env.get(SWITCHES));
    warnings.extend(looks.warning);
    let (told, checked_out) = match found.zip(packed) {
        Some((mut found, pack)) => {
            let receipt = pack.receipt().clone();
            found.told.receipt.extend(receipt.clone());
            found.told.receipt.forget_restored();
            let take_back = plan.take_back;
            let taken = OnceCell::new();
            (
                Some(found.told),
                found.checkout.map(|checkout| SandboxSession {
                    checkout,
                    receipt,
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
    let kept = Arc::new(Kept { view, sandbox, env, way_out, checked_out, ended, unread_since });
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
    let not_put = |why| SandboxRefusal::NotPut { why };
    let archives = pack.open().map_err(|error| not_put(error.to_string()))?;
    let all = archives.into_iter().map(|archive| sandbox.unpack(archive, PROFILE));
    for unpacked in within_limit(async { Ok(join_all(all).await) }).await? {
        unpacked.map_err(SandboxRefusal::from)?.map_err(|why| {
            if why.contains("os error 28") { SandboxRefusal::Full { why } } else { not_put(why) }
        })?;
    }
    Ok(())
}

/// The most that the variables of a request may have, in bytes.
const ENV_LIMIT: usize = 64 << 10;

/// What is said of a sandbox that is none.
const NOT_ISOLATED: &str = "not isolated: what runs here can read and change whatever the node can, its \
    keys and all of its sessions, too ([sandboxes] allow_unsandboxed)";

/// What a sandbox will be.
struct Plan {
    /// By which name its maker asked for it.
    flavor: String,
    spec: SandboxSpec,
    /// Which domains need a login.
    domains: Vec<Domain>,
    ttl: Duration,
    /// Its way to the network by its flavor, if that has one.
    egress: Option<Egress>,
    /// What is written back of the session that is handed in.
    take_back: TakeBack,
    /// Whether it has a display.
    has_display: bool,
    /// What its maker should know.
    warnings: Vec<String>,
}

impl Plan {
    /// What a request wants, as far as the settings allow it, of a provider that isolates or does not.
    fn of(
        context: &Agents,
        id: SandboxId,
        request: &CreateSandbox,
        isolates: bool,
    ) -> Result<Self, AgentsError> {
        let settings = context.sandboxes.settings();
        let name = request.flavor.as_deref().unwrap_or(DEFAULT_FLAVOR);
        let flavor = settings.flavors.get(name).ok_or_else(|| {
            let known = settings.flavors.keys().cloned().collect::<Vec<_>>().join(", ");
            SandboxRefusal::UnknownFlavor { found: name.to_owned(), known }
        })?;
        let ttl = ttl(request.ttl, settings.ttl, settings.longest_ttl)?;
        let domains = domains(&request.domains)?;
        let spec = SandboxSpec {
            name: format!("sandbox-{id}"),
            mounts: flavor.mounts.clone(),
            env: env(context, flavor, request, isolates)?,
            files: files(request),
            network: settings.network.clone(),
            limits: limits(request.limits, settings.limits)?,
        };
        let mut warnings = Vec::new();
        if !isolates {
            warnings.push(NOT_ISOLATED.to_owned());
        }
        if !isolates && request.enable_vnc {
            return Err(SandboxRefusal::NotIsolated.into());
        }
        if request.browser_session.as_ref().is_some_and(|wanted| wanted.shared) {
            warnings.push(
                "shared: what changes here is not written back; where tokens rotate, the session or \
                 the sandbox will be logged out"
                    .to_owned(),
            );
        }
        let take_back = request.browser_session.as_ref().map(|wanted| wanted.take_back);
        Ok(Self {
            flavor: name.to_owned(),
            spec,
            domains,
            ttl,
            egress: flavor.egress.clone(),
            take_back: take_back.unwrap_or_default(),
            has_display: request.enable_vnc,
            warnings,
        })
    }
}

fn ttl(wanted: Option<u32>, usual: Duration, longest: Duration) -> Result<Duration, AgentsError> {
    let wanted = wanted.map(|seconds| Duration::from_secs(seconds.into()));
    match wanted {
        Some(ttl) if ttl.is_zero() || ttl > longest => Err(Invalid {
            field: "ttl",
            expected: "a number of seconds from 1 to what [sandboxes] longest_ttl says",
            found: ttl.as_secs().to_string(),
        }
        .into()),
        wanted => Ok(wanted.unwrap_or(usual)),
    }
}

fn domains(texts: &[String]) -> Result<Vec<Domain>, AgentsError> {
    let read = |text: &String| {
        text.parse().map_err(|_| Invalid {
            field: "domains",
            expected: "domains such as example.com, without a scheme, port or path",
            found: format!("{text:?}"),
        })
    };
    Ok(texts.iter().map(read).collect::<Result<_, _>>()?)
}

fn env(
    context: &Agents,
    flavor: &Flavor,
    request: &CreateSandbox,
    isolates: bool,
) -> Result<BTreeMap<String, String>, AgentsError> {
    const PROGRAM: &str = "AGENT_BROWSER_EXECUTABLE_PATH";
    let size: usize = request.env.iter().map(|(name, value)| name.len() + value.len()).sum();
    let is_bad = |(name, value): (&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    if size > ENV_LIMIT || request.env.iter().any(is_bad) {
        return Err(Invalid {
            field: "env",
            expected: "at most 64 KiB of variables, with names without '='",
            found: "others".to_owned(),
        }
        .into());
    }
    let mut env = variables(request.enable_vnc);
    if !isolates && rustix::process::geteuid().is_root() {
        // Chromium refuses to run in its own sandbox as root, and here that is who runs it.
        env.insert(SWITCHES.to_owned(), "--no-sandbox".to_owned());
    }
    env.extend(flavor.env.clone());
    if !env.contains_key(PROGRAM)
        && let Some(browser) = context.supervisor.browser()
    {
        env.insert(PROGRAM.to_owned(), browser.display().to_string());
    }
    env.extend(request.env.clone());
    Ok(env)
}

/// The variable that says where the profile is.
fn files(request: &CreateSandbox) -> BTreeMap<String, String> {
    let handed_in = request.browser_session.iter();
    handed_in.map(|_| (PROFILE_VARIABLE.to_owned(), PROFILE_NAME.to_owned())).collect()
}

fn limits(wanted: WantedLimits, most: Limits) -> Result<Limits, AgentsError> {
    let limits = Limits {
        memory: wanted.memory.unwrap_or(most.memory),
        processes: wanted.processes.unwrap_or(most.processes),
        processors: wanted.processors.unwrap_or(most.processors),
        disk: wanted.disk.unwrap_or(most.disk),
    };
    let fits = limits.memory <= most.memory
        && limits.processes <= most.processes
        && limits.processors <= most.processors
        && limits.disk <= most.disk;
    let is_enough = limits.memory >= 1 << 20
        && limits.processes >= 8
        && limits.processors >= 0.01
        && limits.disk >= 1 << 20;
    if fits && is_enough {
        return Ok(limits);
    }
    Err(Invalid {
        field: "limits",
        expected: "no more than [sandboxes] allows, and at least 1 MiB, 8 processes, 0.01 processors",
        found: format!("{limits:?}"),
    }.into())
}
