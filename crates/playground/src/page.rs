//! A site on loopback, and a page of a session's browser that is driven by a client of its keeper.
//!
//! The page comes through the same door as every other client of the browser, and types as a person
//! would: text goes to the field that has the focus, and Enter sends the form.

use anyhow::{Context as _, Result, bail};
use axum::Router;
use baton_browser::cdp::{CdpSession, CdpSessionId};
use baton_browser::keeper::{self, KeeperLink, Role, Welcome};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use url::Url;

/// How long a page may take until it shows what is expected.
const LIMIT: Duration = Duration::from_mins(1);
/// How often it is looked at.
const PAUSE: Duration = Duration::from_millis(25);

/// One page of a browser behind a keeper.
pub struct Page {
    link: KeeperLink,
    page: CdpSession,
}

impl Page {
    /// Attaches to the first page of the browser that shows an address that starts with `url`; a tab
    /// that is still loading gets some time.
    pub async fn attach(socket: &Path, url: &str) -> Result<Self> {
        let link = keeper::connect(socket, Role::Client).await?;
        let target = find_target(&link, url).await?;
        Self::attach_to(link, target).await
    }

    /// Opens another page in the browser.
    pub async fn open(socket: &Path, url: &str) -> Result<Self> {
        let link = keeper::connect(socket, Role::Client).await?;
        let params = json!({ "url": url });
        let opened = link.connection.browser().call("Target.createTarget", params).await?;
        let target = opened["targetId"].as_str().context("expected the id of a page")?.to_owned();
        Self::attach_to(link, target).await
    }

    async fn attach_to(link: KeeperLink, target: String) -> Result<Self> {
        let params = json!({ "targetId": target, "flatten": true });
        let attached = link.connection.browser().call("Target.attachToTarget", params).await?;
        let id: CdpSessionId = serde_json::from_value(attached["sessionId"].clone())
            .context("expected a session id from Target.attachToTarget")?;
        let page = link.connection.session(id);
        Ok(Self { link, page })
    }

    /// Who answered: the keeper and its browser.
    pub fn welcome(&self) -> &Welcome {
        &self.link.welcome
    }

    /// The page's own session, for calls of the protocol.
    pub fn session(&self) -> &CdpSession {
        &self.page
    }

    /// What an expression gives, or what its promise resolves to, as JSON carries it.
    pub async fn evaluate<T: DeserializeOwned>(&self, expression: &str) -> Result<T> {
        let limit = Duration::from_mins(1);
        let params =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.page.call_within(limit, "Runtime.evaluate", params).await?;
        if let Some(exception) = answer.get("exceptionDetails") {
            bail!("the page threw {exception}");
        }
        serde_json::from_value(answer["result"]["value"].take())
            .with_context(|| format!("expected another value from {expression}"))
    }

    /// Waits until an expression is true in the page. A page that is just being replaced by the next
    /// one cannot answer, which is no failure.
    pub async fn wait_for(&self, condition: &str) -> Result<()> {
        let end = Instant::now() + LIMIT;
        while !matches!(self.evaluate(condition).await, Ok(true)) {
            if Instant::now() >= end {
                let text: Value =
                    self.evaluate("document.body.innerText").await.unwrap_or_default();
                bail!("expected {condition} within {LIMIT:?}, found a page that says {text}");
            }
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Types a text into the field with this id.
    pub async fn type_into(&self, field: &str, text: &str) -> Result<()> {
        let focus = format!("document.getElementById({}).focus()", json!(field));
        self.evaluate::<Value>(&focus).await?;
        self.page.call("Input.insertText", json!({ "text": text })).await?;
        Ok(())
    }

    /// Presses Enter.
    pub async fn press_enter(&self) -> Result<()> {
        for (kind, text) in [("keyDown", "\r"), ("keyUp", "")] {
            let key = json!({
                "type": kind, "key": "Enter", "code": "Enter", "text": text,
                "windowsVirtualKeyCode": 13, "nativeVirtualKeyCode": 13,
            });
            self.page.call("Input.dispatchKeyEvent", key).await?;
        }
        Ok(())
    }
}

/// The id of a page that shows an address that starts with `url`.
async fn find_target(link: &KeeperLink, url: &str) -> Result<String> {
    let end = Instant::now() + LIMIT;
    loop {
        let targets = link.connection.browser().call("Target.getTargets", json!({})).await?;
        let mut pages = targets["targetInfos"].as_array().into_iter().flatten();
        let page = pages.find(|target| {
            let shown = target["url"].as_str().unwrap_or_default();
            target["type"] == "page" && shown.starts_with(url)
        });
        if let Some(id) = page.and_then(|page| page["targetId"].as_str()) {
            return Ok(id.to_owned());
        }
        if Instant::now() >= end {
            bail!("expected a tab at {url} within {LIMIT:?}, found {}", targets["targetInfos"]);
        }
        sleep(PAUSE).await;
    }
}

/// A running site; it ends when this is dropped.
pub struct Site {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Site {
    /// Serves `pages` on a free port.
    pub async fn start(pages: Router) -> Result<Self> {
        Self::on(TcpListener::bind("127.0.0.1:0").await?, pages)
    }

    /// Serves `pages` to every client that reaches this listener.
    pub fn on(listener: TcpListener, pages: Router) -> Result<Self> {
        let address = listener.local_addr()?;
        let task = tokio::spawn(async move {
            // It ends with the task: there is nothing to say when it does.
            let _ = axum::serve(listener, pages).await;
        });
        Ok(Self { address, task })
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> Result<Url> {
        Ok(Url::parse(&format!("http://{}{path}", self.address))?)
    }

    /// The address of a path on a host of its own, such as `a.localhost`.
    pub fn url_on(&self, host: &str, path: &str) -> Result<Url> {
        Ok(Url::parse(&format!("http://{host}.localhost:{}{path}", self.address.port()))?)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}
