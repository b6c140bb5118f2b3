//! The session goes to an agent in a sandbox, which is asked who is signed in; what changes comes back.

use super::SESSION;
use super::steps::Steps;
use anyhow::{Context as _, Result, ensure};
use baton_api::chat::{ChatMessage, ChatRequest, Content, Role};
use baton_api::sandbox::WrittenBack;
use baton_api::{ClientError, ErrorCode};
use baton_playground::House;
use serde::Serialize;
use url::Url;

/// What requests call the agent.
const AGENT: &str = "demo-agent";
/// What it is asked.
const QUESTION: &str = "Who am I?";

/// What the agent said.
#[derive(Serialize)]
pub(super) struct HandedIn {
    /// All of it.
    pub(super) said: String,
    /// What became of the session.
    pub(super) browser_session: WrittenBack,
}

/// Settings of a node whose sandboxes reach the site alone, and whose agent runs in one.
pub(super) fn settings(site: &Url) -> String {
    let port = site.port_or_known_default().unwrap_or_default();
    format!(
        "[sandboxes]\nnetwork = \"listed\"\nallow = [\"host:{port}\"]\n\
         [[gateway.agents]]\nname = \"{AGENT}\"\n\
         command = [\"/run/baton\", \"demo-agent\", \"{site}\", \"--\"]\n"
    )
}

/// Asks the agent; fails when it finds somebody else than the page showed. None where this machine makes
/// no sandboxes.
pub(super) async fn hand_in(
    steps: &mut Steps,
    house: &House,
    who: &str,
) -> Result<Option<HandedIn>> {
    steps.step("close the browser there", close(house)).await?;
    let asked = steps.step("ask an agent in a sandbox", ask(house, who)).await?;
    if asked.is_some() {
        steps.step("look at the session again", look(house)).await?;
    }
    Ok(asked)
}

async fn close(house: &House) -> Result<((), String)> {
    let closed = house.client()?.close_session(SESSION).await?;
    Ok(((), format!("“{SESSION}”, {}", closed.session.state)))
}

async fn ask(house: &House, who: &str) -> Result<(Option<HandedIn>, String)> {
    let content = Some(Content::Text(QUESTION.to_owned()));
    let request = ChatRequest {
        model: AGENT.to_owned(),
        messages: vec![ChatMessage { role: Role::User, content }],
        stream: false,
        stream_options: None,
        n: None,
        tools: Vec::new(),
        browser_session_id: Some(SESSION.to_owned()),
        browser_session_shared: false,
        browser_session_take: false,
    };
    let answer = match house.client()?.ask_agent(&request).await {
        Ok(answer) => answer,
        Err(ClientError::Problem(problem)) if problem.code == ErrorCode::SandboxUnavailable => {
            return Ok((None, format!("not on this machine: {}", problem.detail)));
        }
        Err(error) => return Err(error.into()),
    };
    let first = answer.choices.into_iter().next().context("expected an answer, found none")?;
    let Some(Content::Text(said)) = first.message.content else { anyhow::bail!("it said nothing") };
    ensure!(said.contains(who), "expected the agent to find “{who}”, found: {said}");
    let browser_session = answer.baton.browser_session.context("expected the session back")?;
    let last = said.lines().last().unwrap_or_default().to_owned();
    Ok((Some(HandedIn { said, browser_session }), last))
}

async fn look(house: &House) -> Result<((), String)> {
    let shown = house.client()?.fetch_session(SESSION).await?;
    let snapshot = shown.snapshot.context("expected a snapshot, found none")?;
    let state = shown.session.state;
    let reason = snapshot.reason;
    Ok((
        (),
        format!("the agent's sandbox is gone; “{SESSION}” is {state}, last snapshot: {reason}"),
    ))
}
