//! `baton demo`: a browser session loses its browser, its keeper and its node, and comes back; then it
//! goes on at another node, and in a sandbox there.
//!
//! Everything is real and on this machine: a small site with a login, two nodes of its own in temporary
//! folders, Chromium, SIGKILL. The demo succeeds only when the page itself shows, after each resume,
//! what it showed before.

pub(crate) mod agent;
mod hand_in;
mod second;
mod site;
mod steps;
mod story;
mod visitor;

use crate::context::Context;
use crate::output::Output;
use anyhow::{Context as _, Result, ensure};
use baton_api::{Exit, OpenSession, ResumeResult};
use baton_playground::{House, Page, Site, victims};
use baton_session::{Lifecycle, Receipt, SessionId};
use steps::Steps;
use story::Story;
use tokio::signal::unix::{SignalKind, signal};
use url::Url;
use visitor::Shown;

/// The name of the demo's session.
const SESSION: &str = "demo";

/// Runs the demo and says what to do next.
pub(crate) async fn run(context: &Context) -> Result<Exit> {
    let story = perform(context.output).await?;
    context.output.answer(&story, || story.in_words());
    let resumes = [&story.resume, &story.second.resume];
    let lost =
        resumes.iter().filter_map(|one| one.session.receipt.as_ref()).any(Receipt::has_losses);
    Ok(if lost { Exit::Losses } else { Exit::Done })
}

/// Whatever way it ends, no process and no file stays behind.
async fn perform(output: Output) -> Result<Story> {
    let program = std::env::current_exe()?;
    let (mut house, mut other) = (House::build(&program)?, House::build(&program)?);
    let story = tokio::select! {
        story = tell(&mut house, &mut other, Steps::new(output)) => Some(story),
        _ = told_to_end() => None,
    };
    let logs = [house.log_tail(), other.log_tail()].join("\nthat of the second one with\n");
    let cleared = [house.clear().await, other.clear().await];
    let story = story.context("interrupted")?;
    let story = story.with_context(|| format!("the node's log ends with\n{logs}"))?;
    cleared.into_iter().collect::<Result<()>>()?;
    Ok(story)
}

async fn tell(house: &mut House, other: &mut House, mut steps: Steps) -> Result<Story> {
    let site = steps.step("start a site with a login", start_site()).await?;
    let home = site.url("/")?;
    steps.step("start a node", start_node(house)).await?;
    let id = steps.step("open a session in a browser", open(house, &home)).await?;
    let page = Page::attach(&house.keeper_socket(id), home.as_str()).await?;
    let before = steps.step("fill the form and sign in", sign_in(&page)).await?;
    steps.step("capture the session", capture(house)).await?;
    steps.step("kill node, keeper and browser", kill(house, page)).await?;
    steps.step("start the node again", start_node_again(house)).await?;
    let resume = steps.step("resume the session", resume(house)).await?;
    let after = steps.step("look at the page", look(house, id, &home, &before)).await?;
    configure(other, &hand_in::settings(&home))?;
    let second = second::carry(&mut steps, house, other, &home, &before).await?;
    let handed_in = hand_in::hand_in(&mut steps, other, &before.who).await?;
    let (steps, total_ms) = steps.finish();
    Ok(Story { signed_in: true, steps, total_ms, before, after, resume, second, handed_in })
}

/// Ends when somebody wants the demo to end.
async fn told_to_end() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        pressed = tokio::signal::ctrl_c() => pressed,
        _ = terminate.recv() => Ok(()),
    }
}

async fn start_site() -> Result<(Site, String)> {
    let site = Site::start(site::pages()).await?;
    let shown = site.url("/")?.to_string();
    Ok((site, shown))
}

/// Settings for a node that does not run yet.
fn configure(house: &House, settings: &str) -> Result<()> {
    house.data().create()?;
    Ok(std::fs::write(house.data().settings(), settings)?)
}

async fn start_node(house: &mut House) -> Result<((), String)> {
    house.start_node().await?;
    Ok(((), format!("{}, process {}", house.client()?.base(), house.node_pid()?)))
}

async fn open(house: &House, home: &Url) -> Result<(SessionId, String)> {
    let request = OpenSession::new(SESSION.parse()?, [home.clone()]);
    let opened = house.client()?.open_session(&request).await?;
    let id = opened.session.id;
    Ok((id, format!("“{SESSION}”, {}", opened.session.state)))
}

async fn sign_in(page: &Page) -> Result<(Shown, String)> {
    visitor::sign_in(page, site::NAME, site::PASSWORD).await?;
    let shown = visitor::look(page).await?;
    let said = format!("the page says “{}”", shown.who);
    Ok((shown, said))
}

async fn capture(house: &House) -> Result<((), String)> {
    let snapshot = house.client()?.capture_session(SESSION).await?;
    Ok(((), format!("{} parts, {} bytes, on disk", snapshot.parts, snapshot.bytes)))
}

/// Kills all three at once, so that none of them has time to notice that another one died.
async fn kill(house: &mut House, page: Page) -> Result<((), String)> {
    let welcome = page.welcome();
    let browser = welcome.browser_pid.context("expected a browser of our own")?;
    let victims = [("node", house.node_pid()?), ("keeper", welcome.pid), ("browser", browser)];
    victims::kill_all(&victims).await?;
    house.bury_node().await?;
    let pids = victims.map(|(_, pid)| pid.to_string()).join(", ");
    Ok(((), format!("SIGKILL to {pids}; none is alive")))
}

async fn start_node_again(house: &mut House) -> Result<((), String)> {
    house.start_node().await?;
    let state = house.client()?.fetch_session(SESSION).await?.session.state;
    ensure!(state == Lifecycle::Recoverable, "expected a recoverable session, found {state}");
    Ok(((), format!("process {}; the session is {state}", house.node_pid()?)))
}

async fn resume(house: &House) -> Result<(ResumeResult, String)> {
    let resumed = house.client()?.resume_session(SESSION).await?;
    let receipt = resumed.session.receipt.as_ref().context("expected a receipt, found none")?;
    let lost = receipt.losses().count();
    let said = format!("{} items restored, {lost} lost", receipt.restored);
    Ok((resumed, said))
}

/// Reads the page of the new browser; fails when it shows anything else than before.
async fn look(house: &House, id: SessionId, home: &Url, before: &Shown) -> Result<(Shown, String)> {
    let page = Page::attach(&house.keeper_socket(id), home.as_str()).await?;
    let after = visitor::look(&page).await?;
    ensure!(after == *before, "expected a page that shows {before:?}, found {after:?}");
    let said = format!("still “{}”, with all that it had stored", after.who);
    Ok((after, said))
}
