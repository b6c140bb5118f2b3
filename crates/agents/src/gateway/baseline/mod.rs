//! The agent that is built in: a model with one tool, which runs commands in the sandbox.
//!
//! A bounded loop: the model is asked, what it says goes to the caller, the commands that it wants are run,
//! and it is asked again with what they wrote, until it wants none.

mod upstream;

use super::prompt::Conversation;
use super::{Answered, Desk, prompt};
use crate::error::AgentsError;
use crate::settings::UpstreamSettings;
use baton_api::chat::{FinishReason, Usage};
use baton_api::sandbox::{CommandLine, ExecEnd, ExecEvent};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use upstream::{Call, Reply, Upstream};

/// The most commands that one turn may want.
const MOST_CALLS: usize = 16;
/// The most that the model is sent in one turn, in bytes.
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
    let (mut messages, mut usage) = (first_messages(desk, conversation), None);
    for _ in 0..settings.turns {
        let mut heard = upstream.ask(&messages, &declared()).await?;
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

/// What the model is sent first.
fn first_messages(desk: &Desk<'_>, conversation: &Conversation) -> Vec<Value> {
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
            run(desk, call).await?
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

/// What the model calls it.
const NAME: &str = "run_command";
/// How long a command may take.
const LIMIT: Duration = Duration::from_mins(5);
/// How much of what a command writes is sent, in bytes: so much of its begin, and of its end.
const TOLD: usize = 16 << 10;

#[derive(Deserialize)]
struct Arguments {
    command: String,
}

/// What the model hears of the tool.
fn declared() -> Value {
    json!([{
        "type": "function",
        "function": {
            "name": NAME,
            "description": "Runs a command line with /bin/sh in the sandbox, for 5 minutes at most. \
                            Answers what it wrote and how it ended.",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "The command line."}},
                "required": ["command"],
                "additionalProperties": false,
            },
        },
    }])
}

/// Runs what the model wants. The model hears what it did wrong, so that it can do better.
async fn run(desk: &Desk<'_>, call: &Call) -> Result<String, AgentsError> {
    if call.function.name != NAME {
        return Ok(format!("error: expected the tool {NAME}, found another one"));
    }
    let Ok(Arguments { command }) = serde_json::from_str(&call.function.arguments) else {
        return Ok("error: expected arguments such as {\"command\": \"ls\"}".to_owned());
    };
    let mut events = match desk.run(CommandLine::Line(command), None, Some(LIMIT)).await {
        Ok(events) => events,
        Err(error @ AgentsError::Sandbox(_)) => return Ok(format!("error: {error}")),
        Err(error) => return Err(error),
    };
    let mut written = Ends::default();
    while let Some(event) = events.recv().await {
        match event {
            ExecEvent::Stdout(text) | ExecEvent::Stderr(text) => written.push(&text),
            ExecEvent::Exit(end) => return Ok(written.result_text(end)),
        }
    }
    Ok(written.result_text(ExecEnd::Gone))
}

/// The begin and the end of what a command writes.
#[derive(Default)]
struct Ends {
    begin: String,
    end: String,
    left_out: usize,
}

impl Ends {
    fn push(&mut self, text: &str) {
        let room = text.floor_char_boundary(TOLD - self.begin.len().min(TOLD));
        // Once something is not in the begin, nothing behind it is.
        let (first, rest) = if self.end.is_empty() { text.split_at(room) } else { ("", text) };
        self.begin.push_str(first);
        self.end.push_str(rest);
        let surplus = self.end.ceil_char_boundary(self.end.len().saturating_sub(TOLD));
        self.end.drain(..surplus);
        self.left_out += surplus;
    }

    fn result_text(self, end: ExecEnd) -> String {
        let how = match end {
            ExecEnd::Code(code) => format!("[exit code {code}]"),
            ExecEnd::Signal(signal) => format!("[ended by signal {signal}]"),
            ExecEnd::TimedOut => "[ended: it took longer than 5 minutes]".to_owned(),
            ExecEnd::Gone => "[the sandbox has ended]".to_owned(),
        };
        let gap = match self.left_out {
            0 => String::new(),
            bytes => format!("\n[{bytes} bytes are left out]\n"),
        };
        format!("{}{gap}{}\n{how}", self.begin, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::{Ends, TOLD};
    use baton_api::sandbox::ExecEnd;

    #[test]
    fn of_much_the_begin_and_the_end_are_told() {
        let mut few = Ends::default();
        for text in ["a", "é", "b"] {
            few.push(text);
        }
        assert_eq!(few.result_text(ExecEnd::Code(1)), "aéb\n[exit code 1]");
        let mut much = Ends::default();
        much.push("begin");
        for _ in 0..TOLD {
            much.push("éé");
        }
        much.push("end");
        let told = much.result_text(ExecEnd::Code(0));
        assert!(told.starts_with("beginé") && told.ends_with("éend\n[exit code 0]"));
        assert!(told.contains("bytes are left out") && told.len() < 2 * TOLD + 100);
    }
}
