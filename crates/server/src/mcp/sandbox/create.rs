//! `sandbox_create`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_agents::sandboxes;
use baton_api::Scope;
use baton_api::sandbox::{BrowserSession, CreateSandbox};
use baton_session::login::Likelihood;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Makes an isolated workspace with a saved session handed in: there, agent-browser is logged in. The session is the sandbox's until sandbox_delete.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SandboxCreate {
    /// Default: no session
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// Hand in a copy; nothing is written back
    #[serde(default)]
    shared: bool,
    /// Domains that need a login
    #[serde(default)]
    domains: Vec<String>,
    /// Seconds it lives
    ttl: Option<u32>,
    flavor: Option<String>,
}

impl Verb for SandboxCreate {
    const NAME: &'static str = "sandbox_create";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sandbox).await?;
        let shared = self.shared;
        let session = self.session_id.map(|session| BrowserSession {
            shared,
            // An agent does not choose what its sandbox may change.
            ..BrowserSession::reference(session)
        });
        let request = CreateSandbox {
            flavor: self.flavor,
            browser_session: session,
            domains: self.domains,
            ttl: self.ttl,
            ..CreateSandbox::default()
        };
        let making = Box::pin(sandboxes::create(&call.context.agents, &call.caller, request));
        let view = call.progress.during("making a sandbox", making).await?;
        let mut told =
            vec![format!("Sandbox {} is ready; sandbox_exec runs commands there.", view.id)];
        let mut domains = Vec::new();
        if let Some(handed) = &view.browser_session {
            let of = |likelihood| {
                let found = handed.logins.iter().filter(|login| login.likelihood == likelihood);
                found.map(|login| login.domain.clone()).collect::<Vec<_>>()
            };
            let (likely, possible) = (of(Likelihood::Likely), of(Likelihood::Possible));
            if !likely.is_empty() {
                told.push(format!("Logged in, as far as can be told: {}.", likely.join(", ")));
            }
            if !possible.is_empty() {
                told.push(format!(
                    "Perhaps logged in, look before you rely on it: {}.",
                    possible.join(", ")
                ));
            }
            domains = [likely, possible].concat();
            let (receipt, _) = text::receipt(&handed.receipt);
            told.extend(receipt);
        }
        told.extend(view.warnings.iter().cloned());
        let data = json!({
            "sandboxId": view.id, "expiresAt": view.expires_at, "limits": view.limits,
            "domains": domains,
        });
        Ok(Answer::new(&told, data))
    }
}
