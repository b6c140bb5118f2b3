//! A keeper in this very process, which holds a browser that has cookies and nothing else.
//!
//! The one idea: a node knows of a keeper what comes over its socket, and how it is started and killed. So
//! this one speaks the same greeting, with the same proof, answers the few calls of the DevTools protocol
//! whose answers count where there is no tab, and says `{}` to all others. It stands for Chromium and its
//! keeper where verbs are walked by the thousand; what those do themselves is tested with them.

use super::street::{Browser, Cookies, Street};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_browser::cdp::{FrameReader, FrameWriter, Transport};
use baton_browser::keeper::{
    Beats, BootInstant, BrowserSpec, KeeperError, KeeperSpec, Keepers, Ready, StartedKeeper,
};
use baton_session::{Confinement, SessionId, json};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, io};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// What the browser says of itself.
const VERSION: &str = "Chrome/0.0.0.0 (stand-in)";

/// How many milliseconds a start takes at most.
const LONGEST_START: u64 = 30;

/// The keepers of one node.
#[derive(Debug, Clone)]
pub struct StandIns {
    street: Street,
    /// Of which node.
    at: usize,
    /// Where they live: a node that ends leaves them behind.
    machine: Handle,
}

impl StandIns {
    /// Keepers of the node `at`, which live on `machine`.
    pub fn new(street: Street, at: usize, machine: Handle) -> Self {
        Self { street, at, machine }
    }

    fn start(&self, spec: &KeeperSpec) -> Result<StartedKeeper, KeeperError> {
        let not_started = |error: io::Error| KeeperError::NotStarted { reason: error.to_string() };
        let BrowserSpec::Launch(options) = &spec.browser else {
            return Err(not_started(io::Error::other("expected a browser of its own")));
        };
        if std::os::unix::net::UnixStream::connect(&spec.socket).is_ok() {
            return Err(KeeperError::AlreadyRunning { socket: spec.socket.clone() });
        }
        let _enter = self.machine.enter();
        let door = Door::open(&spec.socket).map_err(not_started)?;
        let mut cookies = Cookies::of(&options.profile);
        if options.profile.join("Default").exists() {
            cookies.write(&options.profile);
        } else {
            cookies.clear();
            cookies.write(&options.profile);
        }
        let browser = Browser {
            number: self.street.number(),
            session: spec.session,
            at: self.at,
            born: Instant::now(),
            socket: spec.socket.clone(),
            profile: options.profile.clone(),
            cookies: Arc::new(Mutex::new(cookies)),
            end: CancellationToken::new(),
            gone: CancellationToken::new(),
            frozen: watch::Sender::new(false),
            hold: watch::Sender::new(spec.hold_until.map(instant)),
        };
        self.street.enter(browser.clone());
        self.machine.spawn(run(door, browser));
        let ready = Ready {
            pid: std::process::id(),
            browser_pid: None,
            browser_version: VERSION.to_owned(),
            confinement: Confinement::Landlock,
        };
        // It starts in no time.
        Ok(StartedKeeper { ready, told: None })
    }
}

impl Keepers for StandIns {
    fn spawn<'a>(
        &'a self,
        spec: &'a KeeperSpec,
        _: Option<Beats>,
    ) -> BoxFuture<'a, Result<StartedKeeper, KeeperError>> {
        async {
            // As with a real one there is time enough for others to come in between.
            sleep(Duration::from_millis(rand::random_range(0..LONGEST_START))).await;
            self.start(spec)
        }
        .boxed()
    }

    fn force<'a>(&'a self, socket: &'a Path) -> BoxFuture<'a, Result<bool, KeeperError>> {
        let limit = Duration::from_secs(5);
        let late = KeeperError::TimedOut { what: "the end of a killed keeper", limit };
        async { self.street.kill_at(socket).await.ok_or(late) }.boxed()
    }
}

/// An instant of the clock that node and keeper share, by our own.
fn instant(until: BootInstant) -> Instant {
    let since_boot = |at: BootInstant| {
        let told = json::value(&at);
        serde_json::from_value::<Duration>(told).unwrap_or_default()
    };
    Instant::now() + since_boot(until).saturating_sub(since_boot(BootInstant::now()))
}

/// A listening socket, and the secret beside it.
struct Door {
    listener: UnixListener,
    secret: [u8; 32],
    path: PathBuf,
}

impl Door {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let _ = fs::remove_file(path);
        let secret: [u8; 32] = rand::random();
        fs::write(path.with_extension("key"), secret)?;
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(Self { listener, secret, path: path.to_owned() })
    }
}

/// How a browser ended.
#[derive(PartialEq)]
enum End {
    Gently,
    Killed,
}

async fn run(door: Door, browser: Browser) {
    let closing = CancellationToken::new();
    let end = tokio::select! {
        () = accept(&door, &browser, &closing) => End::Killed,
        () = browser.end.cancelled() => End::Killed,
        () = browser.lapsed() => End::Killed,
        () = closing.cancelled() => End::Gently,
    };
    if end == End::Gently {
        browser.cookies().write(&browser.profile);
        let _ = fs::remove_file(door.path.with_extension("key"));
        let _ = fs::remove_file(&door.path);
    }
    drop(door);
    // From here on no node speaks to it any more.
    browser.end.cancel();
    browser.gone.cancel();
}

async fn accept(door: &Door, browser: &Browser, closing: &CancellationToken) {
    loop {
        browser.thawed().await;
        let Ok((stream, _)) = door.listener.accept().await else { return };
        browser.thawed().await;
        let (browser, secret, closing) = (browser.clone(), door.secret, closing.clone());
        tokio::spawn(async move {
            let end = browser.end.clone();
            end.run_until_cancelled(serve(stream, &browser, &secret, &closing)).await;
        });
    }
}

/// Speaks with one client until either of both leaves.
async fn serve(
    stream: UnixStream,
    browser: &Browser,
    secret: &[u8; 32],
    closing: &CancellationToken,
) -> Option<()> {
    let (reader, writer) = stream.into_split();
    let (mut reader, mut writer) = Transport::nul(reader, writer).split();
    greet(&mut reader, &mut writer, browser.session, secret).await?;
    loop {
        let call = next(&mut reader).await?;
        browser.thawed().await;
        let method = call["method"].as_str().unwrap_or_default();
        let mut answer =
            json!({ "id": call["id"], "result": result(browser, method, &call["params"]) });
        if let Some(session) = call.get("sessionId") {
            answer["sessionId"] = session.clone();
        }
        let say = say(&mut writer, &answer).await;
        match method {
            "Baton.close" => closing.cancel(),
            "Baton.kill" => browser.end.cancel(),
            _ => {}
        }
        say?;
    }
}

/// The greeting, in which both prove that they know the secret.
async fn greet(
    reader: &mut FrameReader,
    writer: &mut FrameWriter,
    session: SessionId,
    secret: &[u8; 32],
) -> Option<()> {
    let hello = next(reader).await?;
    let role = u8::from(hello["hello"]["role"] == "client");
    let theirs = URL_SAFE_NO_PAD.decode(hello["hello"]["nonce"].as_str()?).ok()?;
    let ours: [u8; 32] = rand::random();
    let prove = |side: u8| {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
        for part in [b"baton keeper 2".as_slice(), &[side, role], &theirs, &ours] {
            mac.update(part);
        }
        Some(URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
    };
    let nonce = URL_SAFE_NO_PAD.encode(ours);
    say(writer, &json!({ "challenge": { "nonce": nonce, "proof": prove(1)? } })).await?;
    if next(reader).await?["proof"].as_str()? != prove(0)? {
        return None;
    }
    let welcome = json!({ "welcome": {
        "session": session, "pid": std::process::id(), "browser_pid": null,
        "browser_version": VERSION, "attached": false, "confinement": Confinement::Landlock,
    }});
    say(writer, &welcome).await
}

/// What the browser answers.
fn result(browser: &Browser, method: &str, params: &Value) -> Value {
    match method {
        "Storage.getCookies" => json!({ "cookies": browser.cookies().cookies() }),
        "Storage.setCookies" => {
            let cookies = params["cookies"].as_array().map(Vec::as_slice).unwrap_or_default();
            for cookie in cookies {
                browser.cookies().set(cookie);
            }
            json!({})
        }
        "Storage.clearCookies" => {
            browser.cookies().clear();
            json!({})
        }
        "Target.getBrowserContexts" => {
            json!({ "browserContextIds": [], "defaultBrowserContextId": "own" })
        }
        "Target.getTargets" => json!({ "targetInfos": [] }),
        "Target.createTarget" => json!({ "targetId": "blank" }),
        "Target.attachToTarget" => json!({ "sessionId": "blank" }),
        "Baton.hold" => {
            let until = serde_json::from_value(params["until"].clone()).ok().map(instant);
            browser.hold.send_replace(until);
            json!({})
        }
        _ => json!({}),
    }
}

async fn next(reader: &mut FrameReader) -> Option<Value> {
    serde_json::from_slice(&reader.next().await.ok()??).ok()
}

async fn say(writer: &mut FrameWriter, word: &Value) -> Option<()> {
    writer.send(serde_json::to_vec(word).ok()?).await.ok()
}
