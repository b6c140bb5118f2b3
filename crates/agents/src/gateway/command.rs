//! An agent that is a program: what it writes is the answer.

use super::desk::{Answered, Desk};
use super::prompt::{self, Conversation};
use crate::error::{AgentsError, GatewayRefusal};
use crate::settings::{AgentSettings, Prompt};
use baton_api::chat::FinishReason;
use baton_api::sandbox::{CommandLine, ExecEnd, ExecEvent};

/// What the file is called, in the workspace, in which an agent finds its task, when it gets that in a file.
const PROMPT_FILE: &str = "prompt.md";
/// How much of what a program complains about is shown, in bytes.
const COMPLAINT: usize = 2048;

/// Runs the program, and tells what it writes while it runs.
pub(super) async fn answer(
    agent: &AgentSettings,
    desk: &mut Desk<'_>,
    conversation: &Conversation,
) -> Result<Answered, AgentsError> {
    let logins = desk.sandbox.browser_session.as_ref().map(|session| session.logins.as_slice());
    let told = conversation.flat(prompt::browser_session(logins.unwrap_or_default()).as_deref());
    let (mut words, mut input) = (agent.command.clone(), None);
    match agent.prompt {
        Prompt::Argument => {
            let told = as_argument(&words, told);
            words.push(told);
        }
        Prompt::Stdin => input = Some(told),
        Prompt::File => {
            desk.write(PROMPT_FILE, &told).await?;
            words.push(format!("{}/{PROMPT_FILE}", desk.sandbox.workspace));
        }
    }
    let mut events = desk.run(CommandLine::Words(words), input, None).await?;
    let mut complaint = String::new();
    while let Some(event) = events.recv().await {
        match event {
            ExecEvent::Stdout(text) => {
                if !desk.say(text).await {
                    return Ok(Answered { finish: FinishReason::Length, usage: None });
                }
            }
            ExecEvent::Stderr(text) => keep_end(&mut complaint, &text),
            ExecEvent::Exit(ExecEnd::Code(0)) => {
                return Ok(Answered { finish: FinishReason::Stop, usage: None });
            }
            ExecEvent::Exit(end) => return Err(failed(agent, end, &complaint).into()),
        }
    }
    Err(failed(agent, ExecEnd::Gone, &complaint).into())
}

/// What is asked, as the last argument. The caller chose it, so it must not be a flag of the program: behind
/// `--` nothing is, and a text that begins with a space is none either.
fn as_argument(words: &[String], told: String) -> String {
    let is_behind = words.iter().any(|word| word == "--");
    if told.starts_with('-') && !is_behind { format!(" {told}") } else { told }
}

fn keep_end(complaint: &mut String, text: &str) {
    complaint.push_str(text);
    let surplus = complaint.len().saturating_sub(COMPLAINT);
    complaint.drain(..complaint.ceil_char_boundary(surplus));
}

fn failed(agent: &AgentSettings, end: ExecEnd, complaint: &str) -> GatewayRefusal {
    let how = match end {
        ExecEnd::Code(code) => format!("ended with code {code}"),
        ExecEnd::Signal(signal) => format!("was ended by signal {signal}"),
        ExecEnd::TimedOut => "took too long".to_owned(),
        ExecEnd::Gone => "ended with its sandbox".to_owned(),
    };
    // An error's first line is what was found.
    let complaint = complaint.split_whitespace().collect::<Vec<_>>().join(" ");
    let complaint = if complaint.is_empty() { complaint } else { format!(": {complaint}") };
    GatewayRefusal::Agent { name: agent.name.clone(), how, complaint }
}

#[cfg(test)]
mod tests {
    use super::{COMPLAINT, as_argument, keep_end};

    #[test]
    fn what_is_asked_is_no_flag() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let said = |line: &str, told: &str| as_argument(&words(line), told.to_owned());
        assert_eq!(said("agent --print", "--help"), " --help");
        assert_eq!(said("agent --print", "-x\n--"), " -x\n--");
        assert_eq!(said("agent --print --", "--help"), "--help");
        assert_eq!(said("agent --print", "Who am I? --help"), "Who am I? --help");
    }

    #[test]
    fn the_end_of_a_complaint_is_kept_and_no_half_character() {
        let mut complaint = String::new();
        keep_end(&mut complaint, &"é".repeat(COMPLAINT));
        keep_end(&mut complaint, "x");
        assert!(complaint.len() <= COMPLAINT && complaint.ends_with("éx"));
    }
}
