//! The demo's agent: in a sandbox, it opens the demo's site with the profile that it finds there, and says
//! who is signed in. It has no model, so it says that whatever it is asked.

use anyhow::{Context as _, Result, bail};
use baton_api::Exit;
use baton_browser::cdp::{CdpSession, CdpSessionId, Connection};
use baton_browser::launch::{self, Confine, LaunchOptions};
use serde_json::json;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// How long the page may take to show somebody, and the browser to end.
const LIMIT: Duration = Duration::from_secs(15);
/// How often the page is looked at.
const PAUSE: Duration = Duration::from_millis(25);

/// Says it.
pub(crate) fn run(site: &Url) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let who = runtime.block_on(ask(site))?;
    #[expect(clippy::print_stdout, reason = "it is the answer")]
    {
        println!("The page says “{who}”.");
    }
    Ok(Exit::Done)
}

async fn ask(site: &Url) -> Result<String> {
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
    let who = look(&connection, site).await;
    // So that it writes down what it holds.
    connection.browser().call("Browser.close", json!({})).await?;
    timeout(LIMIT, launched.child.wait()).await.context("expected the browser to end")??;
    who
}

async fn look(connection: &Connection, site: &Url) -> Result<String> {
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
