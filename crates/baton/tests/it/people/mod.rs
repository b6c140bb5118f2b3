//! People watch a session live and take it over, at a real browser: what they see, who may act, what becomes of
//! what they hold, and what ends a picture.

mod addresses;
mod asked;
mod changed;
mod choosers;
mod commands;
mod driving;
mod elsewhere;
mod given;
mod going;
mod guest_keys;
mod guests;
mod handing;
mod intercepting;
mod keys;
mod models;
mod one_tab;
mod page;
mod places;
mod taken_back;
mod told;
mod turns;
mod watching;
mod wishes;

use crate::test_nodes;
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_api::live::{
    LiveDriver, LiveMessage, LiveMouse, LivePace, LiveTabs, MouseKind, ViewerMessage,
};
use baton_api::picture::PictureHeader;
use baton_api::{Client, CreateKey, Scope};
use baton_playground::{Site, TestNode};
use baton_session::SessionId;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use secrecy::SecretString;
use std::os::fd::AsFd;
use std::pin::pin;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{self, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};
use url::Url;

/// How long something may take to be seen.
const LIMIT: Duration = Duration::from_mins(1);

/// A page that moves, has a field and a place to drag, and tells all that happens to it.
const PAGE: &str = r#"<!doctype html><title>at the <b>counter</b></title>
<style>body{margin:0;font:20px sans-serif}input{position:absolute;left:100px;top:100px;width:300px;height:40px}
#box{position:absolute;left:100px;top:300px;width:200px;height:100px;background:#c8552b}</style>
<input id="name"><div id="box">drag</div><p id="clock"></p>
<script>
let n = 0, seen = [];
const tell = (event) => seen.push(event.type + (event.key ? ':' + event.key : ''));
for (const type of ['mousedown', 'mouseup', 'keydown', 'keyup']) addEventListener(type, tell);
setInterval(() => { document.getElementById('clock').textContent = n++; document.body.style.background = `hsl(${n % 360} 60% 80%)` }, 30);
</script>"#;

/// A test node with a session on a page.
struct Scene {
    test_node: TestNode,
    site: Site,
    id: SessionId,
}

impl Scene {
    async fn set() -> Self {
        let mut test_node = test_nodes::build();
        test_node.start_node().await.unwrap();
        let site = Router::new().route("/", get(async || Html(PAGE)));
        let site = Site::start(site).await.unwrap();
        let id = test_node.open("shop", [site.url("/").unwrap()]).await.unwrap();
        Self { test_node, site, id }
    }

    fn client(&self) -> &Client {
        self.test_node.client().unwrap()
    }

    /// A client with a key of its own.
    async fn key(&self, name: &str, scopes: &[Scope]) -> (Client, String) {
        let request = CreateKey {
            name: name.to_owned(),
            owner: None,
            scopes: scopes.iter().copied().collect(),
            for_node: None,
        };
        let made = self.client().create_key(&request).await.unwrap();
        let secret = made.secret.clone();
        let base = self.client().base().clone();
        (Client::new(base, SecretString::from(secret)).unwrap(), made.key.id)
    }

    /// Watches with a ticket of this client.
    async fn watch(&self, client: &Client) -> Viewer {
        let access = client.open_live("shop").await.unwrap();
        let mut viewer = Viewer::connect(&access.live_url).await;
        viewer.say(&ViewerMessage::Look { width: 1280, height: 800 }).await;
        viewer
    }

    async fn strike(self) {
        self.test_node.clear().await.unwrap();
    }
}

type Line = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Who watches. Their line is read all the time, as a browser reads it, also while they do something else: who does not
/// is taken for gone.
pub(crate) struct Viewer {
    says: SplitSink<Line, Message>,
    /// Below the messages: bytes.
    below: std::net::TcpStream,
    heard: UnboundedReceiver<tungstenite::Result<Message>>,
    reading: JoinSet<()>,
    tabs: Option<LiveTabs>,
    driver: Option<LiveDriver>,
    pace: Option<LivePace>,
    refused: Vec<String>,
    is_gone: bool,
    picture: Option<(PictureHeader, Vec<u8>)>,
    pictures: u64,
    closed: Option<CloseFrame>,
}

impl Viewer {
    pub(crate) async fn connect(url: &Url) -> Self {
        let request = url.as_str().into_client_request().unwrap();
        let (line, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let MaybeTlsStream::Plain(below) = line.get_ref() else { panic!("a line without TLS") };
        let below = std::net::TcpStream::from(below.as_fd().try_clone_to_owned().unwrap());
        let (says, mut comes) = line.split();
        let (line_said, heard) = unbounded_channel();
        let mut reading = JoinSet::new();
        reading.spawn(async move {
            while let Some(message) = comes.next().await {
                if line_said.send(message).is_err() {
                    break;
                }
            }
        });
        Self {
            says,
            below,
            heard,
            reading,
            tabs: None,
            driver: None,
            pace: None,
            refused: Vec::new(),
            is_gone: false,
            picture: None,
            pictures: 0,
            closed: None,
        }
    }

    /// From here on nobody reads what comes, nor answers; the line stays open.
    fn fall_silent(&mut self) {
        self.reading.abort_all();
    }

    pub(crate) async fn say(&mut self, message: &ViewerMessage) {
        self.send(message).await.unwrap();
    }

    async fn send(&mut self, message: &ViewerMessage) -> tungstenite::Result<()> {
        let text = serde_json::to_string(message).unwrap();
        self.says.send(Message::text(text)).await
    }

    /// Hears one message, and says of a picture that it was drawn.
    async fn hear(&mut self) {
        let before = self.pictures;
        self.hear_alone().await;
        if let Some((header, _)) = self.picture.as_ref().filter(|_| self.pictures > before) {
            let number = header.number;
            // The line may have ended behind it, which is heard next.
            let _ = self.send(&ViewerMessage::Drawn { number }).await;
        }
    }

    /// Hears one message, and says nothing.
    async fn hear_alone(&mut self) {
        match self.heard.recv().await {
            Some(Ok(Message::Text(text))) => match serde_json::from_str(&text).unwrap() {
                LiveMessage::Tabs(tabs) => (self.tabs, self.is_gone) = (Some(tabs), false),
                LiveMessage::Driver(driver) => self.driver = Some(driver),
                LiveMessage::Pace(pace) => self.pace = Some(pace),
                LiveMessage::Refused(refusal) => {
                    self.refused.push(format!("{}: {}", refusal.what, refusal.detail));
                }
                LiveMessage::Gone {} => self.is_gone = true,
            },
            Some(Ok(Message::Binary(picture))) => {
                let (header, jpeg) = PictureHeader::read(&picture).unwrap();
                self.picture = Some((header, jpeg.to_vec()));
                self.pictures += 1;
            }
            Some(Ok(Message::Close(frame))) => self.closed = frame,
            Some(Ok(_)) => {}
            Some(Err(_)) | None => panic!("the line ended without a farewell"),
        }
    }

    /// Hears until something holds.
    async fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let hearing = async {
            while !holds(self) {
                self.hear().await;
            }
        };
        let heard = timeout(LIMIT, hearing).await;
        let found = (&self.tabs, &self.driver, &self.refused);
        assert!(heard.is_ok(), "expected {what}, found {found:?}");
    }

    /// Hears what comes for as long as something else is done, so that pictures go on.
    pub(crate) async fn hear_during<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                () = self.hear() => {}
            }
        }
    }

    /// The number of the tab in the picture.
    pub(crate) async fn tab(&mut self) -> u32 {
        self.until("a picture", |viewer| viewer.picture.is_some()).await;
        self.picture.as_ref().map(|(header, _)| header.tab).unwrap()
    }

    pub(crate) async fn take_over(&mut self, name: &str) {
        let (name, reason) = (name.parse().unwrap(), None);
        self.say(&ViewerMessage::TakeOver { name, reason }).await;
        self.until("to drive", |viewer| viewer.driver.as_ref().is_some_and(|it| it.own)).await;
    }

    pub(crate) async fn give_back(&mut self) {
        self.say(&ViewerMessage::GiveBack {}).await;
        self.until("to watch", |viewer| viewer.driver.as_ref().is_some_and(|it| !it.own)).await;
    }

    /// Clicks with the left button.
    pub(crate) async fn click(&mut self, tab: u32, x: f64, y: f64) {
        for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
            let clicks = u8::from(kind != MouseKind::Move);
            let mouse = LiveMouse { tab, kind, x, y, button: 0, clicks, modifiers: 0 };
            self.say(&ViewerMessage::Mouse(mouse)).await;
        }
    }
}
