//! A browser that is paired with a node, as the extension is, with one tab.

use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::debug::{BrowserConnection, PairedBrowser, RelayMessage, TabToken};
use baton_playground::{House, Site};
use baton_server::EXTENSION_ID;
use futures_util::{SinkExt, StreamExt};
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// A node behind which a page is, and a browser that shows it.
pub struct Room {
    /// The node.
    pub house: House,
    /// What the tab is called.
    pub token: TabToken,
    /// The browser's connection to the node.
    pub link: Link,
    _site: Site,
}

/// The browser's connection to the node.
pub struct Link(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Room {
    /// Starts a node with its proxy, pairs a browser, and offers the tab that a page opened.
    pub async fn build(baton: &Path) -> Result<Self> {
        let page = get(async || Html("<title>shop</title>"));
        let site = Site::start(Router::new().route("/", page)).await?;
        let mut house = House::build(baton)?;
        house.data().create()?;
        let upstream = site.url("/")?;
        let settings = format!(
            "[proxy]\nlisten = \"127.0.0.1:0\"\n[[cocoons]]\nid = \"shop\"\nname = \"Shop\"\n\
             upstream = \"{upstream}\"\n"
        );
        std::fs::write(house.data().settings(), settings)?;
        house.start_node().await?;
        let paired = pair(&house).await?;
        let connect = json!({"browser_id": "bench"});
        let connection: BrowserConnection =
            ask(&house, "/debug/connect", Some(&paired.key), &connect).await?;
        let mut link = Link::connect(&paired.signaling_url, &connection.ticket).await?;
        let page = page_token(&house).await?;
        let token = link.offer(&page).await?;
        Ok(Self { house, token, link, _site: site })
    }
}

async fn pair(house: &House) -> Result<PairedBrowser> {
    let code = house.client()?.pair_browser().await?.code;
    let exchange = json!({"code": code, "browser_id": "bench"});
    ask(house, "/debug/pair/exchange", None, &exchange).await
}

/// Asks the node for something as the extension does.
async fn ask<T: DeserializeOwned>(
    house: &House,
    path: &str,
    key: Option<&str>,
    body: &Value,
) -> Result<T> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let request = http.post(house.client()?.base().join(path)?);
    let request = request.header("origin", format!("chrome-extension://{EXTENSION_ID}"));
    let request = key.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
    Ok(request.json(body).send().await?.error_for_status()?.json().await?)
}

/// The token with which the proxy marks a page.
async fn page_token(house: &House) -> Result<String> {
    let cocoons = house.client()?.list_cocoons().await?;
    let urls = cocoons.items.first().map(|cocoon| cocoon.urls.as_slice()).unwrap_or_default();
    let url = urls.iter().find(|url| url.path().starts_with("/proxy/"));
    let mut url = url.context("expected an address of the cocoon by path")?.clone();
    url.set_host(Some("127.0.0.1"))?;
    let http = reqwest::Client::builder().no_proxy().build()?;
    let request = http.get(url).header("sec-fetch-mode", "navigate");
    let page = request.header("sec-fetch-dest", "document").send().await?;
    let token = page.headers().get("x-adi-debug-token").context("expected a page with a token")?;
    Ok(token.to_str()?.to_owned())
}

impl Link {
    async fn connect(url: &Url, ticket: &str) -> Result<Self> {
        let mut request = url.as_str().into_client_request()?;
        let protocols = format!("baton.v1, baton.ticket.{ticket}");
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", protocols.parse()?);
        headers.insert("origin", format!("chrome-extension://{EXTENSION_ID}").parse()?);
        Ok(Self(connect_async(request).await?.0))
    }

    async fn offer(&mut self, page: &str) -> Result<TabToken> {
        self.send(json!({
            "type": "browser_debug_tab_available", "token": page, "browser_id": "bench",
            "url": "http://shop.localhost/", "title": "shop", "epoch": 1,
        }))
        .await?;
        match self.next().await? {
            RelayMessage::TabAccepted(accepted) => Ok(accepted.token),
            other => anyhow::bail!("expected the tab to be taken, found {other:?}"),
        }
    }

    /// Puts a message beside those that go out together.
    pub async fn feed(&mut self, message: Value) -> Result<()> {
        Ok(self.0.feed(Message::text(message.to_string())).await?)
    }

    /// Sends what was put beside.
    pub async fn flush(&mut self) -> Result<()> {
        Ok(self.0.flush().await?)
    }

    async fn send(&mut self, message: Value) -> Result<()> {
        self.feed(message).await?;
        self.flush().await
    }

    /// Waits until the node has taken all that was sent.
    pub async fn settle(&mut self) -> Result<()> {
        self.send(json!({"type": "browser_debug_heartbeat"})).await?;
        let answer = self.next().await?;
        ensure!(answer == RelayMessage::Heartbeat {}, "expected a heartbeat, found {answer:?}");
        Ok(())
    }

    async fn next(&mut self) -> Result<RelayMessage> {
        loop {
            match self.0.next().await.context("expected the node to stay connected")?? {
                Message::Text(text) => return Ok(RelayMessage::read(&text)?),
                Message::Close(frame) => anyhow::bail!("the node ended the connection: {frame:?}"),
                _ => {}
            }
        }
    }
}
