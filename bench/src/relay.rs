//! What the relay costs: how long an event takes from a browser to whoever follows its tab, and what an answer
//! takes.
//!
//! The browser is one that is paired with a node, as the extension is, with one tab.

use crate::process;
use crate::report::{Figure, Section, median, percentile};
use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::Client;
use baton_api::debug::{
    BrowserConnection, ConsoleFilters, NetworkFilters, PairedBrowser, RelayMessage, TabToken,
};
use baton_playground::{Site, TestNode};
use baton_server::EXTENSION_ID;
use futures_util::{SinkExt, StreamExt};
use jiff::Timestamp;
use reqwest::Url;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// Events in a second, for so many seconds.
const RATE: usize = 10_000;
const SECONDS: usize = 10;
/// Bytes of an event's text, and what it says again and again.
const EVENT: usize = 1_000;
const SAID: &str = "INFO checkout: order 88213 was paid by card ending in 4242, amount=19.90 EUR, took \
    31 ms; GET https://shop.test/items/81/details?page=3&size=20 200 ";
/// Requests that a tab has when it is asked for them.
const REQUESTS: usize = 10_000;
const QUESTIONS: usize = 50;
/// How long the follower waits for more.
const WAIT: Duration = Duration::from_secs(5);

/// Follows a tab whose browser tells a great deal, and then asks for what it requested.
pub async fn measure(baton: &Path) -> Result<Section> {
    let mut room = Room::build(baton).await?;
    let client = room.test_node.client()?.clone();
    let pid = room.test_node.node_pid()?;
    let before = process::memory(pid)?;
    let alike = flood(&mut room, &client, pid, Lines::Alike).await?;
    let grown = process::memory(pid)? - before;
    let new = flood(&mut room, &client, pid, Lines::New).await?;
    let (cost, cost_of_new) = (alike.cost(), new.cost());
    let Followed { delays, dropped } = alike.followed;
    let late = percentile(&new.followed.delays, 99);
    let dropped = dropped + new.followed.dropped;
    request(&mut room.link, &room.token).await?;
    let newest = ask(&client, &room.token, pid, None).await?;
    let matched = ask(&client, &room.token, pid, Some("/items/[0-9]+7$")).await?;
    room.test_node.clear().await?;
    let figure = |what: &str, found, aim, unit| Figure { what: what.to_owned(), found, aim, unit };
    Ok(Section {
        title: "From a browser to whoever follows its tab",
        method: format!(
            "A browser tells {RATE} lines of {EVENT} bytes a second for {SECONDS} s over its WebSocket, each \
             as the one before but for a number, and then as many that differ in a word; \
             one follower asks over HTTP for what comes next, as `baton debug console --follow` does. \
             What it is too slow for is dropped, counted and told. Then the tab has {REQUESTS} requests, and is asked {QUESTIONS} \
             times for the newest, and for those that fit a regular expression: the processor time that \
             this takes the node, in the middle, and the time of the whole call."
        ),
        comparisons: Vec::new(),
        figures: vec![
            figure("an event until the follower has it, p99", percentile(&delays, 99), 20.0, "ms"),
            figure("the same of lines that differ in a word, p99", late, 20.0, "ms"),
            figure("lines that were dropped, and told as such", dropped, 0.0, "lines"),
            figure("the node's memory grows by", grown, 64.0, "MB"),
            figure("the newest of 10,000 requests, of the node's time", newest.node, 20.0, "ms"),
            figure("those that fit, of 10,000, of the node's time", matched.node, 20.0, "ms"),
        ],
        medians: vec![
            ("an event until the follower has it".to_owned(), format!("{:.1} ms", median(delays))),
            ("a line that differs in a number, of the node's time".to_owned(), cost),
            ("a line that differs in a word, of the node's time".to_owned(), cost_of_new),
            ("the newest of 10,000 requests".to_owned(), newest.calls()),
            ("those that fit".to_owned(), matched.calls()),
        ],
        tables: Vec::new(),
    })
}

/// The lines of a log.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lines {
    /// Each is as the one before but for a number that stands alone.
    Alike,
    /// Each has a word that was not there before. They come behind the others.
    New,
}

impl Lines {
    /// How many came before.
    fn before(self) -> usize {
        if self == Self::Alike { 0 } else { RATE * SECONDS }
    }

    /// What ends the first word, which is when the line was told.
    fn unit(self) -> &'static str {
        if self == Self::Alike { "" } else { "us" }
    }
}

/// Lines that were told and followed.
struct Flooded {
    followed: Followed,
    /// The node's processor time for one of them.
    each: Duration,
}

impl Flooded {
    fn cost(&self) -> String {
        format!("{:.1} us", self.each.as_secs_f64() * 1e6)
    }
}

/// Tells lines, with a follower.
async fn flood(room: &mut Room, client: &Client, pid: u32, lines: Lines) -> Result<Flooded> {
    let (idle, began) = (process::processor_time(pid)?, Instant::now());
    let following = tokio::spawn(follow(client.clone(), room.token.clone(), lines, began));
    tell(&mut room.link, &room.token, lines, began).await?;
    let followed = following.await??;
    let took = process::processor_time(pid)?.saturating_sub(idle);
    Ok(Flooded { followed, each: took / u32::try_from(RATE * SECONDS)? })
}

/// Tells lines at the rate, each with the microseconds since `began`.
async fn tell(link: &mut Link, token: &TabToken, lines: Lines, began: Instant) -> Result<()> {
    let mut ticks = interval(Duration::from_millis(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut seq = lines.before();
    let text = SAID.repeat(EVENT / SAID.len() + 1);
    for _ in 0..SECONDS * 1_000 {
        ticks.tick().await;
        for _ in 0..RATE / 1_000 {
            seq += 1;
            let mut said = format!("{:09}{} {text}", began.elapsed().as_micros(), lines.unit());
            said.truncate(EVENT);
            link.feed(line(token, seq, &said)).await?;
        }
        link.flush().await?;
    }
    link.settle().await
}

fn line(token: &TabToken, seq: usize, text: &str) -> Value {
    let timestamp = Timestamp::now().as_millisecond();
    json!({
        "type": "browser_debug_console_event", "token": token, "seq": seq,
        "entry": {"timestamp": timestamp, "level": "log", "message": text, "args": []},
    })
}

/// What a follower got.
struct Followed {
    /// The milliseconds that each line was on its way.
    delays: Vec<f64>,
    /// How many lines it was too slow for.
    dropped: f64,
}

#[expect(clippy::cast_precision_loss, reason = "a hundred thousand lines")]
async fn follow(client: Client, token: TabToken, lines: Lines, began: Instant) -> Result<Followed> {
    let mut delays = Vec::with_capacity(RATE * SECONDS);
    let mut dropped = 0;
    let after = Some(lines.before().try_into()?);
    let mut filters = ConsoleFilters { after, limit: Some(1_000), ..ConsoleFilters::default() };
    while delays.len() + dropped < RATE * SECONDS {
        let found = client.get_console(&token, &filters, WAIT).await?;
        let now = began.elapsed();
        for gap in &found.gaps {
            let missing = gap.missing.filter(|_| !gap.at_least);
            let missing = missing.with_context(|| format!("expected to know how many: {gap:?}"))?;
            dropped += usize::try_from(missing)?;
        }
        ensure!(!found.entries.is_empty(), "expected more lines than {}", delays.len());
        for entry in found.entries {
            let at = entry.message.split(' ').next().context("expected an instant")?;
            let at = at.strip_suffix(lines.unit()).context("expected an instant of these lines")?;
            let delay = now.saturating_sub(Duration::from_micros(at.parse()?));
            delays.push(delay.as_secs_f64() * 1e3);
        }
        filters.after = Some(found.cursor);
    }
    Ok(Followed { delays, dropped: dropped as f64 })
}

/// Tells of as many requests as are kept, with their answers.
async fn request(link: &mut Link, token: &TabToken) -> Result<()> {
    let first = 2 * RATE * SECONDS + 1;
    for number in 0..REQUESTS {
        let timestamp = Timestamp::now().as_millisecond();
        let event = |at: usize, event: &str, data: Value| {
            json!({
                "type": "browser_debug_network_event", "token": token, "seq": first + number * 2 + at,
                "event": event, "data": data,
            })
        };
        let id = number.to_string();
        let url = format!("http://shop.localhost/items/{number}");
        let headers = json!({"accept": "application/json", "user-agent": "x".repeat(120)});
        let sent = json!({
            "request_id": id, "timestamp": timestamp, "method": "GET", "url": url, "headers": headers,
        });
        link.feed(event(0, "request", sent)).await?;
        let answered = json!({
            "request_id": id, "timestamp": timestamp, "status": 200, "mime_type": "application/json",
            "headers": {"content-type": "application/json", "server": "x".repeat(60)},
        });
        link.feed(event(1, "response", answered)).await?;
    }
    link.settle().await
}

/// What questions for requests took, in milliseconds.
struct Asked {
    /// The node's processor time for one of them, in the middle.
    node: f64,
    /// Each call from its beginning to its end.
    calls: Vec<f64>,
}

impl Asked {
    fn calls(self) -> String {
        let worst = percentile(&self.calls, 99);
        format!("{:.1} ms, p99 {worst:.1} ms", median(self.calls))
    }
}

#[expect(clippy::cast_precision_loss, reason = "some fifty questions")]
async fn ask(client: &Client, token: &TabToken, pid: u32, pattern: Option<&str>) -> Result<Asked> {
    let filters =
        NetworkFilters { url_pattern: pattern.map(str::to_owned), ..NetworkFilters::default() };
    let mut calls = Vec::new();
    let before = process::processor_time(pid)?;
    for _ in 0..QUESTIONS {
        let begun = Instant::now();
        let found = client.get_network(token, &filters, Duration::ZERO).await?;
        calls.push(begun.elapsed().as_secs_f64() * 1e3);
        ensure!(found.requests.len() == 500, "expected a full answer, found {found:?}");
    }
    let took = process::processor_time(pid)?.saturating_sub(before);
    Ok(Asked { node: took.as_secs_f64() * 1e3 / QUESTIONS as f64, calls })
}

/// A node behind which a page is, and a browser that shows it.
struct Room {
    /// The node.
    test_node: TestNode,
    /// What the tab is called.
    token: TabToken,
    /// The browser's connection to the node.
    link: Link,
    _site: Site,
}

/// The browser's connection to the node.
struct Link(WebSocketStream<MaybeTlsStream<TcpStream>>);

impl Room {
    /// Starts a node with its proxy, pairs a browser, and offers the tab that a page opened.
    async fn build(baton: &Path) -> Result<Self> {
        let page = get(async || Html("<title>shop</title>"));
        let site = Site::start(Router::new().route("/", page)).await?;
        let mut test_node = TestNode::build(baton)?;
        test_node.data().create()?;
        let upstream = site.url("/")?;
        let settings = format!(
            "[proxy]\nlisten = \"127.0.0.1:0\"\n[[cocoons]]\nid = \"shop\"\nname = \"Shop\"\n\
             upstream = \"{upstream}\"\n"
        );
        std::fs::write(test_node.data().settings(), settings)?;
        test_node.start_node().await?;
        let paired = pair(&test_node).await?;
        let connect = json!({"browser_id": "bench"});
        let connection: BrowserConnection =
            post(&test_node, "/debug/connect", Some(&paired.key), &connect).await?;
        let mut link = Link::connect(&paired.signaling_url, &connection.ticket).await?;
        let page = page_token(&test_node).await?;
        let token = link.offer(&page).await?;
        Ok(Self { test_node, token, link, _site: site })
    }
}

async fn pair(test_node: &TestNode) -> Result<PairedBrowser> {
    let code = test_node.client()?.pair_browser().await?.code;
    let exchange = json!({"code": code, "browser_id": "bench"});
    post(test_node, "/debug/pair/exchange", None, &exchange).await
}

/// Asks the node for something as the extension does.
async fn post<T: DeserializeOwned>(
    test_node: &TestNode,
    path: &str,
    key: Option<&str>,
    body: &Value,
) -> Result<T> {
    let http = reqwest::Client::builder().no_proxy().build()?;
    let request = http.post(test_node.client()?.base().join(path)?);
    let request = request.header("origin", format!("chrome-extension://{EXTENSION_ID}"));
    let request = key.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
    Ok(request.json(body).send().await?.error_for_status()?.json().await?)
}

/// The token with which the proxy marks a page.
async fn page_token(test_node: &TestNode) -> Result<String> {
    let services = test_node.client()?.list_upstreams().await?;
    let urls = services.items.first().map(|service| service.urls.as_slice()).unwrap_or_default();
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
    async fn feed(&mut self, message: Value) -> Result<()> {
        Ok(self.0.feed(Message::text(message.to_string())).await?)
    }

    /// Sends what was put beside.
    async fn flush(&mut self) -> Result<()> {
        Ok(self.0.flush().await?)
    }

    async fn send(&mut self, message: Value) -> Result<()> {
        self.feed(message).await?;
        self.flush().await
    }

    /// Waits until the node has taken all that was sent.
    async fn settle(&mut self) -> Result<()> {
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
