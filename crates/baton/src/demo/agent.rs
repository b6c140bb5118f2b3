//! The demo's agent: the session goes to it in a sandbox, and it is asked who is signed in there.
//!
//! `baton demo-agent` is the agent itself, started in a sandbox of the demo only: it opens the demo's site
//! with the profile that it finds there. It has no model, so it says who is signed in whatever it is asked.

use super::{SESSION, Steps};
use crate::output;
use anyhow::{Context as _, Result, bail, ensure};
use baton_api::chat::{ChatMessage, ChatRequest, Content, Role};
use baton_api::sandbox::WrittenBack;
use baton_api::{ClientError, ErrorCode, Exit};
use baton_browser::cdp::{CdpSession, CdpSessionId, Connection};
use baton_browser::launch::{self, Confine, LaunchOptions};
use baton_playground::TestNode;
use clap::Args;
use serde::Serialize;
use serde_json::json;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
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

/// Settings of a node whose sandboxes reach the site alone, and whose agent runs in one. They see what was
/// installed for Baton, which lies where no sandbox looks by itself.
pub(super) fn settings(site: &Url, installed: Option<&Path>) -> String {
    let port = site.port_or_known_default().unwrap_or_default();
    let folder = installed.and_then(Path::parent).map(|folder| {
        let mount = toml_edit::Value::from(format!("{0}:{0}", folder.display()));
        format!("[[sandboxes.flavors]]\nname = \"agent-ready\"\nmounts = [{mount}]\n")
    });
    format!(
        "[sandboxes]\nnetwork = \"listed\"\nallow = [\"host:{port}\"]\n{}\
         [[gateway.agents]]\nname = \"{AGENT}\"\n\
         command = [\"/run/baton\", \"demo-agent\", \"{site}\", \"--\"]\n",
        folder.unwrap_or_default()
    )
}

/// Asks the agent; fails when it finds another visitor than the page showed. None where this machine makes no
/// sandboxes.
pub(super) async fn hand_in(
    steps: &mut Steps,
    test_node: &TestNode,
    who: &str,
) -> Result<Option<HandedIn>> {
    steps.step("close the browser there", close(test_node)).await?;
    let asked = steps.step("ask an agent in a sandbox", ask_agent(test_node, who)).await?;
    if asked.is_some() {
        steps.step("look at the session again", look_again(test_node)).await?;
    }
    Ok(asked)
}

async fn close(test_node: &TestNode) -> Result<((), String)> {
    let closed = test_node.client()?.close_session(SESSION).await?;
    Ok(((), format!("“{SESSION}”, {}", closed.session.state)))
}

async fn ask_agent(test_node: &TestNode, who: &str) -> Result<(Option<HandedIn>, String)> {
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
    let answer = match test_node.client()?.ask_agent(&request).await {
        Ok(answer) => answer,
        Err(ClientError::Problem(problem)) if problem.code == ErrorCode::SandboxUnavailable => {
            let why: Vec<&str> = problem.detail.lines().map(str::trim).collect();
            return Ok((None, format!("not on this machine: {}", why.join("; "))));
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

async fn look_again(test_node: &TestNode) -> Result<((), String)> {
    let shown = test_node.client()?.fetch_session(SESSION).await?;
    let snapshot = shown.snapshot.context("expected a snapshot, found none")?;
    let state = shown.session.state;
    let reason = snapshot.reason;
    Ok((
        (),
        format!("the agent's sandbox is gone; “{SESSION}” is {state}, last snapshot: {reason}"),
    ))
}

/// How long the page may take to show a visitor, and the browser to end.
const LIMIT: Duration = Duration::from_secs(15);

/// How often the page is looked at.
const PAUSE: Duration = Duration::from_millis(25);

/// Look at a page with the profile of a sandbox, and say who is signed in
#[derive(Debug, Args)]
pub(crate) struct DemoAgent {
    /// The page, as the session knows it
    site: Url,
    /// What it is asked; it knows one answer
    _question: String,
}

impl DemoAgent {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        run(&self.site)
    }
}

/// Says it.
fn run(site: &Url) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let who = runtime.block_on(ask_page(site))?;
    #[expect(clippy::print_stdout, reason = "it is the answer")]
    {
        println!("The page says “{}”.", output::plain(&who));
    }
    Ok(Exit::Done)
}

async fn ask_page(site: &Url) -> Result<String> {
    let variable = |name| std::env::var(name).with_context(|| format!("expected {name}"));
    let program = variable("AGENT_BROWSER_EXECUTABLE_PATH")?.into();
    let options = LaunchOptions {
        // The sandbox is the confinement.
        confine: Confine::Off,
        inherited: std::env::vars().collect(),
        break_foreign_lock: true,
        ..LaunchOptions::new(program, variable("AGENT_BROWSER_PROFILE")?.into())
    };
    let mut launched = launch::start(&options)?;
    if let Some(mut errors) = launched.stderr.take() {
        tokio::spawn(async move { tokio::io::copy(&mut errors, &mut tokio::io::sink()).await });
    }
    let (connection, _events) = Connection::start(launched.transport);
    let who = look_at_page(&connection, site).await;
    // So that it writes down what it holds.
    connection.browser().call("Browser.close", json!({})).await?;
    timeout(LIMIT, launched.child.wait()).await.context("expected the browser to end")??;
    who
}

async fn look_at_page(connection: &Connection, site: &Url) -> Result<String> {
    let browser = connection.browser();
    let opened = browser.call("Target.createTarget", json!({ "url": site })).await?;
    let params = json!({ "targetId": opened["targetId"], "flatten": true });
    let attached = browser.call("Target.attachToTarget", params).await?;
    let id: CdpSessionId = serde_json::from_value(attached["sessionId"].clone())?;
    let page = connection.session(id);
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(who) = heading(&page).await {
            return Ok(who);
        }
        if Instant::now() >= end {
            bail!("expected {site} to show who is signed in, found no heading");
        }
        sleep(PAUSE).await;
    }
}

/// None as long as the page is loading.
async fn heading(page: &CdpSession) -> Option<String> {
    let expression = "document.getElementById('who')?.textContent";
    let params = json!({ "expression": expression, "returnByValue": true });
    let answer = page.call("Runtime.evaluate", params).await.ok()?;
    answer["result"]["value"].as_str().map(str::to_owned)
}
