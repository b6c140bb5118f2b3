//! `sandbox_exec`

use super::said::Said;
use crate::error::NodeError;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_agents::sandboxes;
use baton_api::Scope;
use baton_api::sandbox::{CommandLine, ExecEnd, ExecEvent, ExecSandbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// How long a command may take when nothing else was asked for, in seconds.
const USUAL: u32 = 120;

/// Runs a shell command in a sandbox, such as: agent-browser open https://example.org && agent-browser snapshot
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SandboxExec {
    #[serde(alias = "sandbox_id")]
    sandbox_id: String,
    command: String,
    /// Seconds; default 120
    timeout: Option<u32>,
}

impl Verb for SandboxExec {
    const NAME: &'static str = "sandbox_exec";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sandbox).await?;
        let doing = format!("running {}", text::cut(&self.command, 100));
        let request = ExecSandbox {
            command: CommandLine::Line(self.command),
            env: BTreeMap::new(),
            directory: None,
            input: None,
            timeout: Some(self.timeout.unwrap_or(USUAL)),
        };
        let run = async {
            let events =
                sandboxes::exec(&call.context.agents, &call.caller, &self.sandbox_id, request)
                    .await?;
            Ok::<_, NodeError>(listen(events).await)
        };
        let (output, errors, end) = call.progress.during(&doing, run).await?;
        let mut told = Vec::new();
        told.extend(output.told());
        told.extend(errors.told().map(|text| format!("stderr: {text}")));
        told.push(match end {
            ExecEnd::Code(code) => format!("It ended with code {code}."),
            ExecEnd::Signal(signal) => format!("It was ended by signal {signal}."),
            ExecEnd::TimedOut => "It took too long, and was ended.".to_owned(),
            ExecEnd::Gone => "The sandbox ended.".to_owned(),
        });
        let data = json!({ "exit": end, "left_out": output.left_out() + errors.left_out() });
        Ok(Answer::new(&told, data))
    }
}

async fn listen(mut events: sandboxes::Events) -> (Said, Said, ExecEnd) {
    let (mut output, mut errors) = (Said::default(), Said::default());
    while let Some(event) = events.recv().await {
        match event {
            ExecEvent::Stdout(text) => output.hear(&text),
            ExecEvent::Stderr(text) => errors.hear(&text),
            ExecEvent::Exit(end) => return (output, errors, end),
        }
    }
    (output, errors, ExecEnd::Gone)
}
