//! The one tool of the agent: it runs a command in the sandbox.

use super::reply::Call;
use crate::error::AgentsError;
use crate::gateway::desk::Desk;
use baton_api::sandbox::{CommandLine, ExecEnd, ExecEvent};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// What the model calls it.
const NAME: &str = "run_command";
/// How long a command may take.
const LIMIT: Duration = Duration::from_mins(5);
/// How much of what a command writes is told, in bytes: so much of its begin, and of its end.
const TOLD: usize = 16 << 10;

#[derive(Deserialize)]
struct Arguments {
    command: String,
}

/// What the model is told of the tool.
pub(super) fn declared() -> Value {
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

/// Runs what the model wants. What it did wrong is told to it, so that it can do better.
pub(super) async fn run(desk: &Desk<'_>, call: &Call) -> Result<String, AgentsError> {
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
            ExecEvent::Exit(end) => return Ok(written.told(end)),
        }
    }
    Ok(written.told(ExecEnd::Gone))
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

    fn told(self, end: ExecEnd) -> String {
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
        assert_eq!(few.told(ExecEnd::Code(1)), "aéb\n[exit code 1]");
        let mut much = Ends::default();
        much.push("begin");
        for _ in 0..TOLD {
            much.push("éé");
        }
        much.push("end");
        let told = much.told(ExecEnd::Code(0));
        assert!(told.starts_with("beginé") && told.ends_with("éend\n[exit code 0]"));
        assert!(told.contains("bytes are left out") && told.len() < 2 * TOLD + 100);
    }
}
