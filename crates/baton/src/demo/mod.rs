//! `baton demo`: a browser session loses its browser, its keeper and its node, and comes back; then it
//! goes on at another node, and in a sandbox there.
//!
//! Everything is real and on this machine: a small site with a login, two nodes of its own in temporary
//! folders, Chromium, SIGKILL. The demo succeeds only when the page itself shows, after each resume,
//! what it showed before. The two nodes share no file: the second one knows of the first where it is
//! asked, an API key that it gave out, and its fingerprint.

pub(crate) mod agent;
mod site;

use crate::local::Context;
use crate::output::{self, Output};
use agent::HandedIn;
use anyhow::{Context as _, Result, ensure};
use baton_api::sync::{ConfirmPeer, Handing, MovementOutcome, RegisterPeer, SaveSession};
use baton_api::{CreateKey, Exit, OpenSession, ResumeResult, Scope};
use baton_playground::{Page, Site, TestNode, victims};
use baton_session::peer::AuthMethod;
use baton_session::{Lifecycle, Receipt, SessionId};
use clap::Args;
use serde::Serialize;
use site::SignedInPage;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use url::Url;

/// The name of the demo's session.
const SESSION: &str = "demo";

/// See a session outlive its browser and its node, and go on elsewhere
#[derive(Debug, Args)]
#[command(after_help = "Needs Chromium, and neither an account nor the network.")]
pub(crate) struct Demo {}

impl Demo {
    /// `installed` is the browser that was installed for Baton, if it is started: sandboxes do not see it by
    /// themselves.
    pub(crate) async fn run(
        self,
        context: &Context,
        installed: Option<PathBuf>,
    ) -> anyhow::Result<Exit> {
        run(context, installed.as_deref()).await
    }
}

/// Runs the demo and says what to do next.
async fn run(context: &Context, installed: Option<&Path>) -> Result<Exit> {
    let story = perform(context.output, installed).await?;
    context.output.answer(&story, || story.in_words());
    let resumes = [&story.resume, &story.second.resume];
    let lost =
        resumes.iter().filter_map(|one| one.session.receipt.as_ref()).any(Receipt::has_losses);
    Ok(if lost { Exit::Losses } else { Exit::Done })
}

/// Whatever way it ends, no process and no file stays behind.
async fn perform(output: Output, installed: Option<&Path>) -> Result<Story> {
    let program = std::env::current_exe()?;
    let (mut test_node, mut other) = (TestNode::build(&program)?, TestNode::build(&program)?);
    let story = tokio::select! {
        story = tell(&mut test_node, &mut other, Steps::new(output), installed) => Some(story),
        _ = asked_to_end() => None,
    };
    let logs = [test_node.log_tail(), other.log_tail()].join("\nthat of the second one with\n");
    let cleared = [test_node.clear().await, other.clear().await];
    let story = story.context("interrupted")?;
    let story = story.with_context(|| format!("the node's log ends with\n{logs}"))?;
    cleared.into_iter().collect::<Result<()>>()?;
    Ok(story)
}

async fn tell(
    test_node: &mut TestNode,
    other: &mut TestNode,
    mut steps: Steps,
    installed: Option<&Path>,
) -> Result<Story> {
    let site = steps.step("start a site with a login", start_site()).await?;
    let home = site.url("/")?;
    steps.step("start a node", start_node(test_node)).await?;
    let id = steps.step("open a session in a browser", open(test_node, &home)).await?;
    let page = Page::attach(&test_node.keeper_socket(id), home.as_str()).await?;
    let before = steps.step("fill the form and sign in", sign_in(&page)).await?;
    steps.step("capture the session", capture(test_node)).await?;
    steps.step("kill node, keeper and browser", kill(test_node, page)).await?;
    steps.step("start the node again", start_node_again(test_node)).await?;
    let resume = steps.step("resume the session", resume(test_node)).await?;
    let after = steps.step("look at the page", read_page(test_node, id, &home, &before)).await?;
    configure(other, &agent::settings(&home, installed))?;
    let second = carry(&mut steps, test_node, other, &home, &before).await?;
    let handed_in = agent::hand_in(&mut steps, other, &before.who).await?;
    let (steps, total_ms) = steps.finish();
    Ok(Story { signed_in: true, steps, total_ms, before, after, resume, second, handed_in })
}

/// Ends when a person wants the demo to end.
async fn asked_to_end() -> std::io::Result<()> {
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
fn configure(test_node: &TestNode, settings: &str) -> Result<()> {
    test_node.data().create()?;
    Ok(std::fs::write(test_node.data().settings(), settings)?)
}

async fn start_node(test_node: &mut TestNode) -> Result<((), String)> {
    test_node.start_node().await?;
    Ok(((), format!("{}, process {}", test_node.client()?.base(), test_node.node_pid()?)))
}

async fn open(test_node: &TestNode, home: &Url) -> Result<(SessionId, String)> {
    let request = OpenSession::new(SESSION.parse()?, [home.clone()]);
    let opened = test_node.client()?.open_session(&request).await?;
    let id = opened.session.id;
    Ok((id, format!("“{SESSION}”, {}", opened.session.state)))
}

async fn sign_in(page: &Page) -> Result<(SignedInPage, String)> {
    site::sign_in(page, site::NAME, site::PASSWORD).await?;
    let shown = site::read_page(page).await?;
    let said = format!("the page says “{}”", shown.who);
    Ok((shown, said))
}

async fn capture(test_node: &TestNode) -> Result<((), String)> {
    let snapshot = test_node.client()?.capture_session(SESSION).await?;
    Ok(((), format!("{} parts, {} bytes, on disk", snapshot.parts, snapshot.bytes)))
}

/// Kills all three at once, so that none of them has time to notice that another one died.
async fn kill(test_node: &mut TestNode, page: Page) -> Result<((), String)> {
    let welcome = page.welcome();
    let browser = welcome.browser_pid.context("expected a browser of our own")?;
    let victims = [("node", test_node.node_pid()?), ("keeper", welcome.pid), ("browser", browser)];
    victims::kill_all(&victims).await?;
    test_node.bury_node().await?;
    let pids = victims.map(|(_, pid)| pid.to_string()).join(", ");
    Ok(((), format!("SIGKILL to {pids}; none is alive")))
}

async fn start_node_again(test_node: &mut TestNode) -> Result<((), String)> {
    test_node.start_node().await?;
    let state = test_node.client()?.fetch_session(SESSION).await?.session.state;
    ensure!(state == Lifecycle::Recoverable, "expected a recoverable session, found {state}");
    Ok(((), format!("process {}; the session is {state}", test_node.node_pid()?)))
}

async fn resume(test_node: &TestNode) -> Result<(ResumeResult, String)> {
    let resumed = test_node.client()?.resume_session(SESSION).await?;
    let receipt = resumed.session.receipt.as_ref().context("expected a receipt, found none")?;
    let lost = receipt.losses().count();
    let said = format!("{} items restored, {lost} lost", receipt.restored);
    Ok((resumed, said))
}

/// Reads the page of the new browser; fails when it shows anything else than before.
async fn read_page(
    test_node: &TestNode,
    id: SessionId,
    home: &Url,
    before: &SignedInPage,
) -> Result<(SignedInPage, String)> {
    let page = Page::attach(&test_node.keeper_socket(id), home.as_str()).await?;
    let after = site::read_page(&page).await?;
    ensure!(after == *before, "expected a page that shows {before:?}, found {after:?}");
    let said = format!("still “{}”, with all that it had stored", after.who);
    Ok((after, said))
}

/// What the second node calls the first.
const FIRST: &str = "first";

/// What became of the session at the second node.
#[derive(Serialize)]
struct Carried {
    /// What the page shows there.
    shown: SignedInPage,
    /// What the resume there did.
    resume: ResumeResult,
}

/// Moves the session; fails when the page shows anything else there than before.
async fn carry(
    steps: &mut Steps,
    first: &TestNode,
    second: &mut TestNode,
    home: &Url,
    before: &SignedInPage,
) -> Result<Carried> {
    steps.step("save the session", save(first)).await?;
    steps.step("start a second node", start_node(second)).await?;
    steps.step("register the first node there", register(first, second)).await?;
    steps.step("compare its fingerprint", confirm(first, second)).await?;
    steps.step("pull the session", pull(second)).await?;
    let resume = steps.step("resume it there", take_over(second)).await?;
    let id = resume.session.session.id;
    let shown = steps.step("look at the page there", read_page(second, id, home, before)).await?;
    Ok(Carried { shown, resume })
}

async fn save(first: &TestNode) -> Result<((), String)> {
    let node = first.client()?;
    let saved = node.save_session(SESSION, &SaveSession::default()).await?;
    Ok(((), format!("revision {}; its browser runs on", saved.version)))
}

async fn register(first: &TestNode, second: &TestNode) -> Result<((), String)> {
    let name = "second".to_owned();
    // The key is made for that node, so no person at the first one has to confirm it.
    let for_node = Some(second.client()?.list_peers().await?.fingerprint);
    let request = CreateKey { name, owner: None, scopes: [Scope::Sync].into(), for_node };
    let key = first.client()?.create_key(&request).await?;
    let request = RegisterPeer {
        url: first.client()?.base().clone(),
        name: FIRST.to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key.secret),
        oidc: None,
        tunnel_token: None,
        fingerprint: None,
        limits: None,
    };
    let peer = second.client()?.register_peer(&request).await?;
    Ok(((), format!("“{}”, {}", peer.name, peer.state)))
}

async fn confirm(first: &TestNode, second: &TestNode) -> Result<((), String)> {
    let fingerprint = first.client()?.list_peers().await?.fingerprint;
    let peer = second.client()?.confirm_peer(FIRST, &ConfirmPeer { fingerprint }).await?;
    let shown = fingerprint.to_string();
    let begins = shown.get(..9).unwrap_or(&shown);
    Ok(((), format!("{begins} … at both; “{}” is {}", peer.name, peer.state)))
}

async fn pull(second: &TestNode) -> Result<((), String)> {
    let moved = second.client()?.pull_session(FIRST, SESSION).await?;
    let found = moved.outcome;
    ensure!(found == MovementOutcome::Moved, "expected the session to move, found {found:?}");
    Ok(((), format!("{} parts, {} bytes, sealed on the way", moved.parts, moved.bytes)))
}

/// The first node runs the session: it captures it once more, saves and closes it, and hands it over.
async fn take_over(second: &TestNode) -> Result<(ResumeResult, String)> {
    let (resumed, said) = resume(second).await?;
    let handed = resumed.handed.as_ref().context("expected another node to hold the session")?;
    let found = handed.how;
    ensure!(found == Handing::HandedOver, "expected it to be handed over, found {found:?}");
    let said = format!("“{}” handed it over; {said}", handed.name);
    Ok((resumed, said))
}

/// The steps so far; each is shown as soon as it is done.
struct Steps {
    output: Output,
    began: Instant,
    done: Vec<Step>,
}

/// One step that is done.
#[derive(Serialize)]
struct Step {
    /// What was done.
    what: &'static str,
    /// What came of it.
    result: String,
    /// How long it took, in milliseconds.
    ms: u64,
}

impl Steps {
    /// No step yet.
    fn new(output: Output) -> Self {
        Self { output, began: Instant::now(), done: Vec::new() }
    }

    /// Does a step; `work` answers what later steps need and what is shown of it.
    async fn step<T, D: Display>(
        &mut self,
        what: &'static str,
        work: impl Future<Output = Result<(T, D)>>,
    ) -> Result<T> {
        let progress = self.output.progress(what);
        let start = Instant::now();
        let done = work.await.with_context(|| format!("failed to {what}"));
        progress.end();
        let (value, result) = done?;
        let step = Step { what, result: result.to_string(), ms: milliseconds(start.elapsed()) };
        let tick = output::good("✓");
        self.output.note(&format!("{tick} {:>5} ms  {what}: {}", step.ms, step.result));
        self.done.push(step);
        Ok(value)
    }

    /// All steps, and how long they took together, in milliseconds.
    fn finish(self) -> (Vec<Step>, u64) {
        (self.done, milliseconds(self.began.elapsed()))
    }
}

fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// What happened, as one document.
#[derive(Serialize)]
struct Story {
    /// Whether the page says so after each resume.
    signed_in: bool,
    /// What was done, in order.
    steps: Vec<Step>,
    /// All steps together, in milliseconds.
    total_ms: u64,
    /// What the page showed before everything died.
    before: SignedInPage,
    /// What it shows after the resume.
    after: SignedInPage,
    /// What the resume did: the session with its receipt, and the time of each step.
    resume: ResumeResult,
    /// What became of the session at the second node.
    second: Carried,
    /// What an agent in a sandbox found; none where this machine makes no sandboxes.
    handed_in: Option<HandedIn>,
}

impl Story {
    /// The session, the receipt, what the page shows, and what to do next.
    fn in_words(&self) -> String {
        let resumed = output::resumed(&self.resume);
        let agent = match self.handed_in {
            Some(_) => ", and into a sandbox, to an agent",
            None => "",
        };
        let seconds = std::time::Duration::from_millis(self.total_ms).as_secs_f64();
        format!(
            "\n{resumed}\n\n{}\n\
             Browser, keeper and node died, and then the session went to a second node, with a browser \
             of its own{agent}.\nIt is still signed in. It took {seconds:.1} s.\n\
             Everything that the demo made is gone again.\n\n{}",
            self.comparison(),
            next_commands(),
        )
    }

    fn comparison(&self) -> String {
        let Self { before, after, second, .. } = self;
        let all = [before, after, &second.shown];
        let rows = [
            ("THE PAGE SHOWS", ["BEFORE", "AFTER", "AT THE SECOND NODE"]),
            ("heading", all.map(|shown| shown.who.as_str())),
            ("localStorage", all.map(|shown| shown.local_storage.as_str())),
            ("sessionStorage", all.map(|shown| shown.session_storage.as_str())),
            ("IndexedDB", all.map(|shown| shown.indexed_db.as_str())),
        ];
        rows.map(|(what, [before, after, there])| {
            format!("{what:<16}{before:<18}{after:<18}{there}\n")
        })
        .concat()
    }
}

/// What to do after it, with the program named as it was typed.
fn next_commands() -> String {
    let baton = std::env::args().next().unwrap_or_else(|| "baton".to_owned());
    format!(
        "\
What next:
  {baton} open https://example.org --name try
      a session of your own; --headed shows its window
  {baton} sessions list
      what there is, and where it stands
  {baton} sessions resume try
      bring it back after a crash
  docs/guide/getting-started.md
      a first session, step by step
  docs/guide/carry.md
      sessions between your machines
  docs/guide/hand-in.md
      agents in sandboxes that start logged in"
    )
}
