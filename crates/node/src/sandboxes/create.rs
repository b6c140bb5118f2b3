//! Makes a sandbox, with a session in it.

use super::hand_in::{self, Found};
use super::profile::{self, Packed};
use super::registry::{Kept, Lent, Slot};
use super::{PROFILE, PROFILE_VARIABLE, SandboxRefusal, watch};
use crate::audit::{Action, Note};
use crate::auth::Caller;
use crate::config::{DEFAULT_FLAVOR, Flavor};
use crate::{Context, NodeError, clock, sync};
use baton_api::sandbox::{CreateSandbox, Enforcement, SandboxView, WantedLimits, WrittenLimits};
use baton_sandbox::{Enforced, Limits, Sandbox, SandboxSpec};
use baton_session::SandboxId;
use baton_session::domains::Domain;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The most that the variables of a request may have, in bytes.
const ENV_LIMIT: usize = 64 << 10;

/// Makes a sandbox of the caller, which is ready for commands. A session that is handed in logs somebody
/// in there, or nothing is made.
pub async fn create(
    context: &Context,
    caller: &Caller,
    request: CreateSandbox,
) -> Result<SandboxView, NodeError> {
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
    context: &Context,
    caller: &Caller,
    id: SandboxId,
    request: CreateSandbox,
) -> Result<SandboxView, NodeError> {
    let plan = Plan::of(context, id, &request)?;
    context.sandboxes.provider()?;
    let slot = context.sandboxes.reserve(id)?;
    let mut found = match &request.browser_session {
        Some(wanted) => {
            Some(Box::pin(hand_in::find(context, caller, wanted, &plan.domains, id)).await?)
        }
        None => None,
    };
    let made = build(context, &plan, found.as_mut()).await;
    let (sandbox, packed) = match made {
        Ok(made) => made,
        Err(error) => {
            give_back(context, found).await;
            return Err(error);
        }
    };
    Ok(keep(context, caller, slot, plan, sandbox, found.zip(packed)))
}

/// What a sandbox will be.
struct Plan {
    flavor: String,
    spec: SandboxSpec,
    domains: Vec<Domain>,
    ttl: Duration,
    warnings: Vec<String>,
}

impl Plan {
    fn of(context: &Context, id: SandboxId, request: &CreateSandbox) -> Result<Self, NodeError> {
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
            env: env(context, flavor, request)?,
            network: settings.network.clone(),
            limits: limits(request.limits, settings.limits)?,
        };
        let mut warnings = Vec::new();
        if request.browser_session.as_ref().is_some_and(|wanted| wanted.shared) {
            warnings.push(
                "shared: what changes here is not written back; where tokens rotate, the session or \
                 the sandbox will be logged out"
                    .to_owned(),
            );
        }
        Ok(Self { flavor: name.to_owned(), spec, domains, ttl, warnings })
    }
}

fn ttl(wanted: Option<u32>, usual: Duration, longest: Duration) -> Result<Duration, NodeError> {
    let wanted = wanted.map(|seconds| Duration::from_secs(seconds.into()));
    match wanted {
        Some(ttl) if ttl.is_zero() || ttl > longest => Err(NodeError::Invalid {
            field: "ttl",
            expected: "a number of seconds from 1 to what [sandboxes] longest_ttl says",
            found: ttl.as_secs().to_string(),
        }),
        wanted => Ok(wanted.unwrap_or(usual)),
    }
}

fn domains(texts: &[String]) -> Result<Vec<Domain>, NodeError> {
    let read = |text: &String| {
        text.parse().map_err(|_| NodeError::Invalid {
            field: "domains",
            expected: "domains such as example.com, without a scheme, port or path",
            found: format!("{text:?}"),
        })
    };
    texts.iter().map(read).collect()
}

fn env(
    context: &Context,
    flavor: &Flavor,
    request: &CreateSandbox,
) -> Result<BTreeMap<String, String>, NodeError> {
    const PROGRAM: &str = "AGENT_BROWSER_EXECUTABLE_PATH";
    let size: usize = request.env.iter().map(|(name, value)| name.len() + value.len()).sum();
    let is_bad = |(name, value): (&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    if size > ENV_LIMIT || request.env.iter().any(is_bad) {
        return Err(NodeError::Invalid {
            field: "env",
            expected: "at most 64 KiB of variables, with names without '='",
            found: "others".to_owned(),
        });
    }
    let mut env = flavor.env.clone();
    if !env.contains_key(PROGRAM)
        && let Some(browser) = context.hub.browser()
    {
        env.insert(PROGRAM.to_owned(), browser.display().to_string());
    }
    if request.browser_session.is_some() {
        env.insert(PROFILE_VARIABLE.to_owned(), PROFILE.to_owned());
    }
    env.extend(request.env.clone());
    Ok(env)
}

fn limits(wanted: WantedLimits, most: Limits) -> Result<Limits, NodeError> {
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
    Err(NodeError::Invalid {
        field: "limits",
        expected: "no more than [sandboxes] allows, and at least 1 MiB, 8 processes, 0.01 processors",
        found: format!("{limits:?}"),
    })
}

/// Makes the sandbox while the profile is made, and puts it there.
async fn build(
    context: &Context,
    plan: &Plan,
    found: Option<&mut Found>,
) -> Result<(Box<dyn Sandbox>, Option<Packed>), NodeError> {
    let provider = context.sandboxes.provider()?;
    let make = async {
        Ok::<_, NodeError>(provider.create(&plan.spec).await.map_err(SandboxRefusal::from)?)
    };
    let pack = async {
        match found {
            Some(found) => profile::pack(context, found).await.map(Some),
            None => Ok(None),
        }
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
    if let Some(packed) = &packed
        && let Err(error) = profile::put(&*sandbox, packed).await
    {
        remove(&*sandbox).await;
        return Err(error);
    }
    Ok((sandbox, packed))
}

async fn remove(sandbox: &dyn Sandbox) {
    if let Err(error) = sandbox.remove().await {
        tracing::error!(%error, "a sandbox was not removed");
    }
}

/// What was to be handed in is free again.
async fn give_back(context: &Context, found: Option<Found>) {
    let Some(loan) = found.and_then(|found| found.loan) else { return };
    let (owner, id) = (&loan.session.owner, loan.session.id);
    let given = async {
        context.hub.give_back(&loan).await?;
        sync::lease::release(context, owner, id).await
    };
    if let Err(error) = given.await {
        tracing::error!(session = %id, %error, "a session was not given back; the next start of the node frees it");
    }
}

fn keep(
    context: &Context,
    caller: &Caller,
    slot: Slot,
    plan: Plan,
    sandbox: Box<dyn Sandbox>,
    handed: Option<(Found, Packed)>,
) -> SandboxView {
    let created_at = clock::now();
    let (limits, limits_reason) = match sandbox.enforced() {
        Enforced::Yes => (Enforcement::Enforced, None),
        Enforced::No(why) => (Enforcement::NotEnforced, Some(why.clone())),
    };
    let (told, lent) = match handed {
        Some((mut found, packed)) => {
            found.told.receipt.extend(packed.receipt.clone());
            let Packed { receipt, state: before, .. } = packed;
            (Some(found.told), found.loan.map(|loan| Lent { loan, before, receipt }))
        }
        None => (None, None),
    };
    let Limits { memory, processes, processors, disk } = plan.spec.limits;
    let view = SandboxView {
        id: slot.id,
        flavor: plan.flavor,
        owner: caller.owner.clone(),
        created_at,
        expires_at: created_at.checked_add(plan.ttl).unwrap_or(created_at),
        limits,
        limits_reason,
        allowed: WrittenLimits { memory, processes, processors, disk },
        browser_session: told,
        warnings: plan.warnings,
    };
    let ended = CancellationToken::new();
    let kept = Arc::new(Kept { view: view.clone(), sandbox, lent, ended });
    slot.keep(Arc::clone(&kept));
    watch::watch(context, kept, plan.ttl);
    tracing::info!(sandbox = %view.id, flavor = view.flavor, "made a sandbox");
    view
}
