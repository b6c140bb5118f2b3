//! What a sandbox will be: what was asked for, within what the settings allow.

use super::looks::{PROGRAM, SWITCHES};
use super::vnc::variables;
use super::{PROFILE_NAME, PROFILE_VARIABLE};
use crate::Agents;
use crate::error::{AgentsError, SandboxRefusal};
use crate::settings::{DEFAULT_FLAVOR, Flavor};
use baton_api::Invalid;
use baton_api::sandbox::{CreateSandbox, TakeBack, WantedLimits};
use baton_sandbox::{Limits, SandboxSpec};
use baton_session::SandboxId;
use baton_session::egress::Egress;
use baton_session::view::Domain;
use std::collections::BTreeMap;
use std::time::Duration;

/// The most that the variables of a request may have, in bytes.
const ENV_LIMIT: usize = 64 << 10;

/// What is said of a sandbox that is none.
const NOT_ISOLATED: &str = "not isolated: what runs here can read and change whatever the node can, its \
    keys and all of its sessions, too ([sandboxes] allow_unsandboxed)";

/// What a sandbox will be.
pub(super) struct Plan {
    /// By which name its maker asked for it.
    pub(super) flavor: String,
    pub(super) spec: SandboxSpec,
    /// Which domains need a login.
    pub(super) domains: Vec<Domain>,
    pub(super) ttl: Duration,
    /// Its way to the network by its flavor, if that has one.
    pub(super) egress: Option<Egress>,
    /// What is written back of the session that is handed in.
    pub(super) take_back: TakeBack,
    /// Whether it has a display.
    pub(super) has_display: bool,
    /// What its maker should know.
    pub(super) warnings: Vec<String>,
}

impl Plan {
    /// What a request wants, as far as the settings allow it, of a provider that isolates or does not.
    pub(super) fn of(
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
