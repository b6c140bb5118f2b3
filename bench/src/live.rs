//! What it takes to watch a session live: how old a picture is when a viewer has it, how soon a key or a click is at
//! the page, what node and keeper use meanwhile, and how soon a viewer whose key was revoked sees nothing more.
//!
//! The page writes the time into its picture, as black and white squares, each time that it is drawn. So what is
//! measured is all of the way, from the page's script to the viewer's socket.

use crate::process::{processor_time, processor_time_of_all};
use crate::report::{Figure, Section, Table};
use anyhow::{Context as _, Result, bail, ensure};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::live::{LiveKey, LiveMessage, LiveMouse, MouseKind, ViewerMessage};
use baton_api::picture::PictureHeader;
use baton_api::{Client, CreateKey, OpenSession, Scope};
use baton_playground::{Page, Site, TestNode};
use baton_session::state::Viewport;
use futures_util::{SinkExt, StreamExt};
use secrecy::SecretString;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;

/// The viewport, in CSS pixels.
const SIZE: (u32, u32) = (1280, 800);
/// Until then the first captures are over, that of the first interval too.
const SETTLE: Duration = Duration::from_secs(45);
/// How long pictures are taken, and how long nobody watches before and after.
const WATCHED: Duration = Duration::from_secs(20);
/// How far two pictures may be apart, in milliseconds: half as much again as from one to the next.
const APART: f64 = 50.0;
/// How many keys are pressed, and as many clicks made, and how long after each other.
const KEYS: usize = 200;
const KEY_PAUSE: Duration = Duration::from_millis(50);
/// How many keys are revoked, each of a viewer that watches.
const REVOKED: usize = 20;
/// How long the next message may take.
const LIMIT: Duration = Duration::from_secs(20);
/// How large a square is, in pixels, and how many there are: bits of milliseconds, the highest first.
const SQUARE: usize = 32;
const BITS: usize = 32;

/// Thirty times a second: the time in squares, a hundred boxes that move, and text that changes. It writes down
/// when each key and each click came: when the browser had it, and when the page.
const PAGE: &str = r#"<!doctype html><title>live</title>
<style>body{margin:0;overflow:hidden;background:#fff}canvas{display:block}</style><canvas width="1280" height="800"></canvas>
<script>
const now = () => performance.timeOrigin + performance.now();
const keys = [], clicks = [];
const note = (list) => (event) => list.push([performance.timeOrigin + event.timeStamp, now()]);
addEventListener('keydown', note(keys));
addEventListener('mousedown', note(clicks));
const canvas = document.querySelector('canvas').getContext('2d');
let turn = 0;
const draw = () => {
    requestAnimationFrame(draw);
    if (turn++ % 2) return;
    canvas.fillStyle = '#fff';
    canvas.fillRect(0, 0, 1280, 800);
    for (let box = 0; box < 100; box++) {
        canvas.fillStyle = `hsl(${(box * 37 + turn) % 360} 70% 60%)`;
        canvas.fillRect((box * 131 + turn * 3) % 1240, 60 + (box * 71 + turn) % 700, 40, 30);
    }
    canvas.fillStyle = '#000';
    canvas.font = '20px sans-serif';
    for (let line = 0; line < 20; line++) canvas.fillText(`line ${line} at ${turn}`, 900, 100 + line * 30);
    const time = Math.floor(now()) % 2 ** 32;
    for (let bit = 0; bit < 32; bit++) {
        canvas.fillStyle = Math.floor(time / 2 ** (31 - bit)) % 2 ? '#000' : '#fff';
        canvas.fillRect(bit * 32, 0, 32, 32);
    }
};
draw();
</script>"#;

/// What was measured of a session while it was watched, and while it was not.
struct Viewing {
    pictures: Vec<Picture>,
    /// For how long these came, in seconds.
    seconds: f64,
    /// Of how many processors node, keeper and browser made use meanwhile.
    shares: [f64; 3],
    /// Of how many node and keeper did while nobody watched: before the first viewer, and after the last.
    unwatched: [f64; 2],
    keys: Pressed,
    clicks: Pressed,
    /// How long after a key was revoked its viewer was told to go, in milliseconds.
    revoked: Vec<f64>,
}

/// Keys or clicks.
struct Pressed {
    /// When each was sent.
    sent: Vec<f64>,
    /// When each came: to the browser, and to the page.
    came: Vec<(f64, f64)>,
}

impl Pressed {
    /// How long each took to the browser, and to the page's script, in milliseconds.
    fn took(&self) -> [Vec<f64>; 2] {
        let both = || self.came.iter().zip(&self.sent);
        let to_browser = both().map(|((browser, _), sent)| browser - sent).collect();
        [to_browser, both().map(|((_, page), sent)| page - sent).collect()]
    }
}

/// Watches a busy page, and presses keys in it.
pub async fn measure(baton: &Path) -> Result<Section> {
    let site = Site::start(Router::new().route("/", get(async || Html(PAGE)))).await?;
    let url = site.url("/")?;
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    let mut request = OpenSession::new("live".parse()?, [url.clone()]);
    request.environment.viewport = Some(Viewport { width: SIZE.0, height: SIZE.1 });
    let client = test_node.client()?;
    let id = client.open_session(&request).await?.session.id;
    let [(_, keeper), (_, browser)] = test_node.holders(id).await?;
    let processes = Processes { node: test_node.node_pid()?, keeper, browser };
    println!("the session comes to rest");
    sleep(SETTLE).await;
    let before = processes.unwatched().await?;

    let mut viewer = Viewer::open(client).await?;
    // The first pictures make what is made once.
    viewer.watch(Duration::from_secs(3)).await?;
    let begun = processes.used()?;
    let pictures = viewer.watch(WATCHED).await?;
    let (seconds, shares) = processes.shares(&begun)?;
    viewer.leave().await?;
    let after = processes.unwatched().await?;

    // Keys are what captures follow, so another viewer presses them once all of that is measured.
    let mut viewer = Viewer::open(client).await?;
    viewer.watch(Duration::from_secs(3)).await?;
    viewer.take_over().await?;
    let keys = viewer.press(key).await?;
    let clicks = viewer.press(click).await?;
    let page = Page::attach(&test_node.keeper_socket(id), url.as_str()).await?;
    let keys = at_the_page(&page, "keys", keys).await?;
    let clicks = at_the_page(&page, "clicks", clicks).await?;
    viewer.leave().await?;
    let mut revoked = Vec::with_capacity(REVOKED);
    for _ in 0..REVOKED {
        revoked.push(revoke(client).await?);
    }
    test_node.clear().await?;
    let unwatched = [before, after];
    section(&Viewing { pictures, seconds, shares, unwatched, keys, clicks, revoked })
}

/// When each of what was sent came.
async fn at_the_page(page: &Page, what: &str, sent: Vec<f64>) -> Result<Pressed> {
    let came: Vec<(f64, f64)> = page.evaluate(what).await?;
    let (expected, found) = (sent.len(), came.len());
    ensure!(found == expected, "expected {expected} {what} at the page, found {found}");
    Ok(Pressed { sent, came })
}

/// How long after its key was revoked a viewer is told to go, in milliseconds: a page is dark then.
async fn revoke(client: &Client) -> Result<f64> {
    let request = CreateKey {
        name: "watcher".to_owned(),
        owner: None,
        scopes: [Scope::Watch].into(),
        for_node: None,
    };
    let made = client.create_key(&request).await?;
    let watcher = Client::new(client.base().clone(), SecretString::from(made.secret))?;
    let mut viewer = Viewer::open(&watcher).await?;
    while viewer.tab.is_none() {
        viewer.hear().await?;
    }
    client.revoke_key(&made.key.id, None).await?;
    let revoked = now()?;
    // A line that breaks shows nothing more, either.
    let ends = async { while !viewer.is_told_to_go && viewer.hear().await.is_ok() {} };
    timeout(LIMIT, ends).await.context("expected the end of a picture, found one that goes on")?;
    Ok(now()? - revoked)
}

fn section(viewing: &Viewing) -> Result<Section> {
    let Viewing { pictures, seconds, shares, unwatched, keys, clicks, revoked } = viewing;
    let [node_share, keeper_share, browser_share] = shares;
    let ([mut to_browser, mut to_page], [mut clicked, _]) = (keys.took(), clicks.took());
    let mut revoked = revoked.clone();
    let mut ages = pictures.iter().map(age).collect::<Result<Vec<_>>>()?;
    let mut gaps: Vec<f64> = pictures.windows(2).map(|two| two[1].came - two[0].came).collect();
    let count = f64::from(u32::try_from(pictures.len())?);
    let figure = |what: &str, found, aim, unit| Figure { what: what.to_owned(), found, aim, unit };
    let milliseconds = |what: &str, found: f64| (what.to_owned(), format!("{found:.1} ms"));
    let cores = |what: &str, share: f64| (what.to_owned(), format!("{share:.3} cores"));
    let heading = ["before the first viewer", "after the last one left"].map(str::to_owned);
    let cells = unwatched.iter().map(|share| format!("{share:.4} cores")).collect();
    Ok(Section {
        title: "To watch a session live",
        method: method(),
        comparisons: Vec::new(),
        figures: vec![
            figure("age of a picture at the viewer, p95", percentile(&mut ages, 95), 60.0, "ms"),
            figure("between two pictures, p95", percentile(&mut gaps, 95), APART, "ms"),
            figure(
                "a key until the browser has it, p95",
                percentile(&mut to_browser, 95),
                10.0,
                "ms",
            ),
            figure(
                "a click until the browser has it, p95",
                percentile(&mut clicked, 95),
                10.0,
                "ms",
            ),
            figure(
                "a revoked key until its picture ends, p95",
                percentile(&mut revoked, 95),
                1e3,
                "ms",
            ),
            figure("node and keeper, of a processor", node_share + keeper_share, 0.3, "cores"),
        ],
        medians: vec![
            milliseconds("age of a picture", percentile(&mut ages, 50)),
            ("pictures a second".to_owned(), format!("{:.1}", count / seconds)),
            milliseconds("between two pictures", percentile(&mut gaps, 50)),
            milliseconds("a key until the browser has it", percentile(&mut to_browser, 50)),
            milliseconds("a click until the browser has it", percentile(&mut clicked, 50)),
            milliseconds("a revoked key until its picture ends", percentile(&mut revoked, 50)),
            (
                "a key until the page's script has it, median and p95".to_owned(),
                format!(
                    "{:.1} and {:.1} ms",
                    percentile(&mut to_page, 50),
                    percentile(&mut to_page, 95)
                ),
            ),
            cores("the node alone", *node_share),
            cores("the keeper alone", *keeper_share),
            cores("the browser beside them", *browser_share),
        ],
        tables: vec![Table {
            heading: heading.to_vec(),
            rows: vec![("node and keeper, of a processor".to_owned(), cells)],
        }],
    })
}

fn method() -> String {
    format!(
        "One viewer on the same machine watches a page of {}×{} that draws itself anew 30 times a second, for {} s, and \
         says at once that it has drawn what it got. The page writes the time into its picture; its age is that at the \
         viewer's socket. Two pictures should come 33 ms after each other. The page draws at every second refresh of its \
         browser, which has 60 a second: one that comes a refresh late is {APART} ms behind the one before, and more than \
         that is a picture left out, which a person sees. Nobody watches in the {} s before the viewer comes, which begin \
         {} s after the session was opened, nor in as many after it has left. Then another one comes and presses {KEYS} \
         keys and clicks as often, {} ms after each other. At last {REVOKED} others come one by one, each with a key \
         that is revoked then: counted from the node's answer to that until the viewer is told to go. Absolute, not a \
         ratio.",
        SIZE.0,
        SIZE.1,
        WATCHED.as_secs(),
        WATCHED.as_secs(),
        SETTLE.as_secs(),
        KEY_PAUSE.as_millis()
    )
}

/// The processes of a session, and its node's.
struct Processes {
    node: u32,
    keeper: u32,
    browser: u32,
}

/// What node, keeper and browser had used of processors at an instant.
struct UsedSoFar {
    at: Instant,
    times: [Duration; 3],
}

impl Processes {
    fn used(&self) -> Result<UsedSoFar> {
        let browser = processor_time_of_all(self.browser)?;
        let times = [processor_time(self.node)?, processor_time(self.keeper)?, browser];
        Ok(UsedSoFar { at: Instant::now(), times })
    }

    /// How many seconds have passed since then, and of how many processors each has made use.
    fn shares(&self, begun: &UsedSoFar) -> Result<(f64, [f64; 3])> {
        let now = self.used()?;
        let seconds = now.at.saturating_duration_since(begun.at).as_secs_f64();
        let shares = [0, 1, 2].map(|process: usize| {
            let used = now.times[process].saturating_sub(begun.times[process]);
            used.as_secs_f64() / seconds
        });
        Ok((seconds, shares))
    }

    /// Of how many node and keeper make use while nobody watches.
    async fn unwatched(&self) -> Result<f64> {
        let begun = self.used()?;
        sleep(WATCHED).await;
        let (_, [node, keeper, _]) = self.shares(&begun)?;
        Ok(node + keeper)
    }
}

/// A picture as it came.
struct Picture {
    /// When, in milliseconds since 1970.
    came: f64,
    jpeg: Vec<u8>,
}

/// Who watches.
struct Viewer {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// The tab that is shown.
    tab: Option<u32>,
    drives: bool,
    /// Whether the node has ended its visit.
    is_told_to_go: bool,
}

impl Viewer {
    async fn open(client: &Client) -> Result<Self> {
        Self::connect(client.open_live("live").await?.live_url.as_str()).await
    }

    /// Leaves as a page does that is closed.
    async fn leave(mut self) -> Result<()> {
        Ok(self.socket.close(None).await?)
    }

    async fn connect(url: &str) -> Result<Self> {
        // As a browser does: what is small is sent at once.
        let (socket, _) = connect_async_with_config(url, None, true).await?;
        let mut viewer = Self { socket, tab: None, drives: false, is_told_to_go: false };
        viewer.say(&ViewerMessage::Look { width: SIZE.0, height: SIZE.1 }).await?;
        Ok(viewer)
    }

    async fn say(&mut self, message: &ViewerMessage) -> Result<()> {
        let text = serde_json::to_string(message)?;
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Hears one message; answers the picture, if it was one.
    async fn hear(&mut self) -> Result<Option<Picture>> {
        let message = timeout(LIMIT, self.socket.next()).await?.context("expected a message")??;
        match message {
            Message::Binary(bytes) => {
                let came = now()?;
                let (header, jpeg) = PictureHeader::read(&bytes).context("expected a picture")?;
                self.tab = Some(header.tab);
                self.say(&ViewerMessage::Drawn { number: header.number }).await?;
                Ok(Some(Picture { came, jpeg: jpeg.to_vec() }))
            }
            Message::Text(text) => {
                match serde_json::from_str(&text)? {
                    LiveMessage::Driver(driver) => self.drives = driver.own,
                    LiveMessage::Refused(refused) => bail!("{}: {}", refused.what, refused.detail),
                    _ => {}
                }
                Ok(None)
            }
            Message::Close(_) => {
                self.is_told_to_go = true;
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    /// All pictures for so long.
    async fn watch(&mut self, time: Duration) -> Result<Vec<Picture>> {
        let (start, mut pictures) = (Instant::now(), Vec::new());
        while start.elapsed() < time {
            pictures.extend(self.hear().await?);
        }
        Ok(pictures)
    }

    async fn take_over(&mut self) -> Result<()> {
        self.say(&ViewerMessage::TakeOver { name: "bench".parse()?, reason: None }).await?;
        while !self.drives {
            self.hear().await?;
        }
        Ok(())
    }

    /// Presses something and lets it go, again and again, while pictures go on; answers when each was sent.
    async fn press(&mut self, what: impl Fn(u32, bool) -> ViewerMessage) -> Result<Vec<f64>> {
        let tab = self.tab.context("expected a picture before")?;
        let mut sent = Vec::with_capacity(KEYS);
        for _ in 0..KEYS {
            self.watch(KEY_PAUSE).await?;
            sent.push(now()?);
            for down in [true, false] {
                self.say(&what(tab, down)).await?;
            }
        }
        self.watch(Duration::from_secs(1)).await?;
        Ok(sent)
    }
}

fn key(tab: u32, down: bool) -> ViewerMessage {
    ViewerMessage::Key(LiveKey {
        tab,
        down,
        again: false,
        key: "a".to_owned(),
        code: "KeyA".to_owned(),
        number: 65,
        location: 0,
        modifiers: 0,
    })
}

fn click(tab: u32, down: bool) -> ViewerMessage {
    let kind = if down { MouseKind::Down } else { MouseKind::Up };
    let (x, y) = (f64::from(SIZE.0) / 2.0, f64::from(SIZE.1) / 2.0);
    ViewerMessage::Mouse(LiveMouse { tab, kind, x, y, button: 0, clicks: 1, modifiers: 0 })
}

fn now() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64() * 1e3)
}

/// How old a picture was when it came, in milliseconds, by the squares at its top.
fn age(picture: &Picture) -> Result<f64> {
    let mut decoder = JpegDecoder::new(ZCursor::new(picture.jpeg.as_slice()));
    let pixels = decoder.decode().map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let info = decoder.info().context("expected a size")?;
    let (width, depth) = (usize::from(info.width), usize::from(info.components));
    ensure!(width == 1280, "expected pictures as wide as the page, found {width} pixels");
    let bit = |number: usize| {
        let at = (SQUARE / 2 * width + number * SQUARE + SQUARE / 2) * depth;
        u32::from(pixels[at] < 128)
    };
    let drawn = (0..BITS).fold(0u32, |time, number| time << 1 | bit(number));
    // The squares hold the lower bits of the time, which come round each 50 days.
    let range = 2f64.powi(32);
    Ok((picture.came - f64::from(drawn)).rem_euclid(range))
}

fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get(last * percent / 100).copied().unwrap_or(f64::NAN)
}
