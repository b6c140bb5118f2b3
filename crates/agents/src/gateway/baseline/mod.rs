//! The agent that is built in: a model with one tool, which runs commands in the sandbox.
//!
//! A bounded loop: the model is asked, what it says is told to the caller, the commands that it wants are
//! run, and it is asked again with what they wrote, until it wants none.

mod heard;
mod reply;
mod tool;
mod upstream;

use super::desk::{Answered, Desk};
use super::prompt::{self, Conversation};
use crate::error::AgentsError;
use crate::gateway::settings::UpstreamSettings;
use baton_api::chat::{FinishReason, Usage};
use reply::Reply;
use serde_json::{Value, json};
use upstream::Upstream;

/// The most commands that one turn may want.
const MOST_CALLS: usize = 16;
/// The most that the model is told in one turn, in bytes.
const MOST_TOLD: usize = 4 << 20;
/// What the agent is.
const SELF: &str = "You are an agent that works in a sandbox: a Linux machine of your own with a \
                    shell. Run commands with the tool run_command. The command agent-browser \
                    drives a browser: `agent-browser open URL`, `agent-browser snapshot`, \
                    `agent-browser get text SELECTOR`, `agent-browser --help`. When you know the \
                    answer, say it without a tool.";

/// Answers with the model's help.
pub(super) async fn answer(
    settings: &UpstreamSettings,
    desk: &mut Desk<'_>,
    conversation: &Conversation,
) -> Result<Answered, AgentsError> {
    let upstream = Upstream::reach(desk.context, settings).await?;
    let (mut messages, mut usage) = (begin(desk, conversation), None);
    for _ in 0..settings.turns {
        let mut heard = upstream.ask(&messages, &tool::declared()).await?;
        let mut gap = if desk.has_said() { "\n\n" } else { "" };
        while let Some(said) = heard.next().await? {
            if !desk.say(format!("{gap}{said}")).await {
                return Ok(Answered { finish: FinishReason::Length, usage });
            }
            gap = "";
        }
        let reply = heard.end()?;
        usage = sum(usage, reply.usage);
        if reply.calls.is_empty() {
            return Ok(Answered { finish: FinishReason::Stop, usage });
        }
        work(desk, &mut messages, reply).await?;
        if messages.iter().map(size).sum::<usize>() > MOST_TOLD {
            break;
        }
    }
    Ok(Answered { finish: FinishReason::Length, usage })
}

/// What the model is told first.
fn begin(desk: &Desk<'_>, conversation: &Conversation) -> Vec<Value> {
    let logins = desk.sandbox.browser_session.as_ref().map(|session| session.logins.as_slice());
    let logged_in = prompt::browser_session(logins.unwrap_or_default());
    let own = logged_in.map_or(SELF.to_owned(), |text| format!("{SELF}\n\n{text}"));
    let own = json!({"role": "system", "content": own});
    let said = conversation.messages().iter();
    let said = said.map(|(role, text)| json!({"role": role.as_str(), "content": text}));
    std::iter::once(own).chain(said).collect()
}

/// Runs what the model wants, and notes what it wrote.
async fn work(desk: &Desk<'_>, messages: &mut Vec<Value>, reply: Reply) -> Result<(), AgentsError> {
    messages.push(reply.message);
    for (at, call) in reply.calls.iter().enumerate() {
        let content = if at < MOST_CALLS {
            tool::run(desk, call).await?
        } else {
            format!("not run: expected at most {MOST_CALLS} commands at once")
        };
        messages.push(json!({"role": "tool", "tool_call_id": call.id, "content": content}));
    }
    Ok(())
}

fn size(message: &Value) -> usize {
    match message {
        Value::String(text) => text.len(),
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(all) => all.values().map(size).sum(),
        _ => 8,
    }
}

fn sum(before: Option<Usage>, more: Option<Usage>) -> Option<Usage> {
    let (before, more) = match (before, more) {
        (Some(before), Some(more)) => (before, more),
        (before, more) => return before.or(more),
    };
    Some(Usage {
        prompt_tokens: before.prompt_tokens.saturating_add(more.prompt_tokens),
        completion_tokens: before.completion_tokens.saturating_add(more.completion_tokens),
        total_tokens: before.total_tokens.saturating_add(more.total_tokens),
    })
}
