//! The sandbox tools: isolated workspaces that start logged in.
//!
//! What a command writes is shown up to a bound: its beginning and its end. The doc comments of the structs
//! are what a model reads.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

use super::answer;
use super::answer::{Failure, ToolAnswer};
use super::verb::{Call, Effect, Entry, ToolPlace, Verb};
use crate::error::NodeError;
use crate::everywhere;
use baton_agents::sandboxes;
use baton_api::Scope;
use baton_api::sandbox::{
    BrowserSession, CommandLine, CreateSandbox, ExecEnd, ExecEvent, ExecSandbox,
};
use baton_session::login::Likelihood;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<SandboxCreate>(),
            Entry::of::<SandboxExec>(),
            Entry::of::<SandboxList>(),
            Entry::of::<SandboxDelete>(),
        ]
    });
    &ENTRIES
}

/// Makes an isolated workspace in which agent-browser is logged in with a saved session, which it has until sandbox_delete.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SandboxCreate {
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

    fn place(&self) -> ToolPlace {
        ToolPlace::NewSandbox(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
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
            let seen = handed.logins.iter().filter_map(|login| login.sign_in.as_ref());
            told.extend(seen.map(|seen| format!("{}.", seen.changed)));
            domains = [likely, possible].concat();
            let (receipt, _) = answer::receipt(&handed.receipt);
            told.extend(receipt);
        }
        let mut data = json!({
            "sandboxId": view.id, "expiresAt": view.expires_at, "limits": view.limits,
            "domains": domains,
        });
        told.extend(answer::shut_out(view.egress.as_ref(), &mut data));
        told.extend(view.warnings.iter().cloned());
        Ok(ToolAnswer::new(&told, data))
    }
}

/// How long a command may take when nothing else was asked for, in seconds.
const USUAL: u32 = 120;

/// Runs a shell command in a sandbox, such as agent-browser open https://example.org
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SandboxExec {
    #[serde(alias = "sandbox_id")]
    sandbox_id: String,
    command: String,
    /// Seconds; default 120
    timeout: Option<u32>,
}

impl Verb for SandboxExec {
    const NAME: &'static str = "sandbox_exec";
    const EFFECT: Effect = Effect::Destroys;

    fn place(&self) -> ToolPlace {
        ToolPlace::Sandbox(self.sandbox_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sandbox).await?;
        let doing = format!("running {}", answer::cut(&self.command, 100));
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
        told.extend(output.text());
        told.extend(errors.text().map(|text| format!("stderr: {text}")));
        told.push(match end {
            ExecEnd::Code(code) => format!("It ended with code {code}."),
            ExecEnd::Signal(signal) => format!("It was ended by signal {signal}."),
            ExecEnd::TimedOut => "It took too long, and was ended.".to_owned(),
            ExecEnd::Gone => "The sandbox ended.".to_owned(),
        });
        let data = json!({ "exit": end, "left_out": output.left_out() + errors.left_out() });
        Ok(ToolAnswer::new(&told, data))
    }
}

async fn listen(mut events: sandboxes::Events) -> (CutText, CutText, ExecEnd) {
    let (mut output, mut errors) = (CutText::default(), CutText::default());
    while let Some(event) = events.recv().await {
        match event {
            ExecEvent::Stdout(text) => output.hear(&text),
            ExecEvent::Stderr(text) => errors.hear(&text),
            ExecEvent::Exit(end) => return (output, errors, end),
        }
    }
    (output, errors, ExecEnd::Gone)
}

/// How much of the beginning and of the end is kept, in characters.
const BEGINNING: usize = 2_000;
const END: usize = 6_000;

/// A text of which the middle may be missing.
#[derive(Debug, Default)]
struct CutText {
    beginning: String,
    begun: usize,
    end: String,
    left_out: usize,
}

impl CutText {
    /// Adds what comes next.
    fn hear(&mut self, text: &str) {
        let room = BEGINNING - self.begun;
        let cut = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
        let (first, rest) = text.split_at(cut);
        self.beginning.push_str(first);
        self.begun += first.chars().count();
        self.end.push_str(rest);
        let over = self.end.chars().count().saturating_sub(END);
        if over > 0 {
            let cut = self.end.char_indices().nth(over).map_or(self.end.len(), |(at, _)| at);
            self.end.drain(..cut);
            self.left_out += over;
        }
    }

    /// How many characters are missing.
    fn left_out(&self) -> usize {
        self.left_out
    }

    /// The text; none when there is nothing.
    fn text(&self) -> Option<String> {
        let missing = match self.left_out {
            0 => String::new(),
            count => format!("\n[{count} characters left out]\n"),
        };
        let text = format!("{}{missing}{}", self.beginning, self.end);
        let text = text.trim_end();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// Lists your sandboxes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SandboxList {}

impl Verb for SandboxList {
    const NAME: &'static str = "sandbox_list";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sandbox).await?;
        let list = everywhere::sandboxes(&call.context, &call.caller, call.origin.as_ref()).await;
        let mut told = vec![match list.items.len() {
            0 => "No sandboxes. sandbox_create makes one.".to_owned(),
            _ => "sandboxId session ends".to_owned(),
        }];
        let mut rows = Vec::new();
        for view in &list.items {
            let handed = view.browser_session.as_ref();
            let session = match handed {
                Some(handed) => {
                    handed.name.as_ref().map_or_else(|| "inline".to_owned(), ToString::to_string)
                }
                None => "none".to_owned(),
            };
            told.push(format!("{} {session} {}", view.id, view.expires_at));
            rows.push(json!([view.id, session, view.expires_at]));
        }
        if !list.missing.is_empty() {
            told.push(format!("Not asked, for they do not answer: {}", list.missing.join(", ")));
        }
        Ok(ToolAnswer::new(&told, json!({ "sandboxes": rows, "missing": list.missing })))
    }
}

/// Ends a sandbox with its files, and writes back the session that it has.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SandboxDelete {
    #[serde(alias = "sandbox_id")]
    sandbox_id: String,
}

impl Verb for SandboxDelete {
    const NAME: &'static str = "sandbox_delete";
    const EFFECT: Effect = Effect::Destroys;

    fn place(&self) -> ToolPlace {
        ToolPlace::Sandbox(self.sandbox_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sandbox).await?;
        let ending =
            Box::pin(sandboxes::delete(&call.context.agents, &call.caller, &self.sandbox_id));
        let ended = call.progress.during("ending the sandbox", ending).await?;
        let mut told = vec![match &ended.browser_session {
            None => "The sandbox has ended.".to_owned(),
            Some(written) => match (&written.snapshot, &written.reason) {
                (Some(_), _) if written.shrunk => "The sandbox has ended. Its session lost more than half of what it held: session_resume takes the snapshot before.".to_owned(),
                (Some(_), None) => "The sandbox has ended, and its session is written back.".to_owned(),
                (_, why) => format!(
                    "The sandbox has ended. Its session is as it was before: {}",
                    why.as_deref().unwrap_or("nothing could be read")
                ),
            },
        }];
        let written = ended.browser_session.as_ref();
        let data = json!({
            "sandboxId": ended.id,
            "sessionId": written.map(|written| written.session_id),
            "snapshot": written.and_then(|written| written.snapshot),
        });
        let left_out = written.map(|written| &written.left_out);
        let left_out = left_out.filter(|left_out| !left_out.items.is_empty());
        told.extend(left_out.into_iter().flat_map(|left_out| answer::receipt(left_out).0));
        Ok(ToolAnswer::new(&told, data))
    }
}

#[cfg(test)]
mod tests {
    use super::{BEGINNING, CutText, END};

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        let mut said = CutText::default();
        assert_eq!(said.text(), None);
        said.hear("é");
        said.hear(&"a".repeat(BEGINNING - 1));
        said.hear(&"b".repeat(100));
        said.hear(&"c".repeat(END));
        let told = said.text().unwrap();
        assert!(told.starts_with('é') && told.ends_with('c') && !told.contains('b'));
        assert!(told.contains("[100 characters left out]"), "{}", said.left_out());
    }
}
