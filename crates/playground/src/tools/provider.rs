//! An OIDC provider on loopback: npm's `oidc-provider`, the reference that others are measured by.
//!
//! It is a real one: it gives tokens to clients that prove who they are, signs people in, signs what it says with a key
//! of its own, and says where that is. It can be stopped, and start again at the same address with another key. An app
//! that it signs people in to comes with it, for who wants one.

use super::packages::Npm;
use super::room::Room;
use anyhow::{Context as _, Result, ensure};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Child;
use tokio::time::{Instant, sleep};
use url::Url;

/// What it runs, and what that loads.
const SCRIPTS: [(&str, &str); 3] = [
    ("provider.mjs", include_str!("../../tools/provider/provider.mjs")),
    ("app.mjs", include_str!("../../tools/provider/app.mjs")),
    ("notes.js", NOTES),
];
/// What pages of an app have in a database of their own: `note(text)` adds a line, and says `noted`; `notes()` says all
/// of them, with commas.
pub const NOTES: &str = include_str!("../../tools/provider/notes.js");
/// Where the app is.
const APP: &str = "app.url";
/// How long it may take until it answers.
const START_LIMIT: Duration = Duration::from_mins(1);
/// How often it is started.
const STARTS: u32 = 4;
/// How long it may take to end.
const END_LIMIT: Duration = Duration::from_mins(1);
/// How often to look whether it answers.
const PAUSE: Duration = Duration::from_millis(20);

/// What a provider starts with.
#[derive(Debug, Clone, Serialize)]
pub struct ProviderSettings {
    /// Its clients; each has the secret `NAME-secret`.
    pub clients: Vec<String>,
    /// How they prove who they are: `client_secret_post` or `client_secret_basic`.
    pub proof: String,
    /// What it calls its key: under each name another one, made when it is first wanted.
    pub key: String,
    /// `RS256` or `ES256`.
    pub algorithm: String,
    /// For how many seconds a token counts.
    pub lifetime: i64,
    /// For how many seconds the provider says that it counts.
    pub said: u64,
    /// The tenant that its tokens name.
    pub tenant: String,
    /// The roles that its tokens have.
    pub roles: Vec<String>,
    /// Where the client `page` may send people back to; none means that no people sign in.
    pub back: Vec<String>,
    /// What it says of people, by the names with which they sign in; any password does.
    pub people: Map<String, Value>,
    /// Where it says that: `id_token` or `userinfo`.
    pub claims: String,
    /// Whether there is an app that its people sign in to.
    pub app: bool,
}

impl Default for ProviderSettings {
    fn default() -> Self {
        Self {
            clients: vec!["laptop".to_owned(), "stranger".to_owned()],
            proof: "client_secret_post".to_owned(),
            key: "first".to_owned(),
            algorithm: "RS256".to_owned(),
            lifetime: 3600,
            said: 3600,
            tenant: "t1".to_owned(),
            roles: vec!["Sessions.Sync".to_owned()],
            back: Vec::new(),
            people: Map::new(),
            claims: "id_token".to_owned(),
            app: false,
        }
    }
}

/// A running provider.
pub struct Provider {
    room: Room,
    process: Option<Child>,
    issuer: String,
    port: u16,
}

impl Provider {
    /// Starts one, at a free port.
    pub async fn start(settings: &ProviderSettings) -> Result<Self> {
        let room = Npm::install().await?.room()?;
        for (name, script) in SCRIPTS {
            fs::write(room.path().join(name), script)?;
        }
        let mut provider = Self { room, process: None, issuer: String::new(), port: 0 };
        provider.start_again(settings).await?;
        Ok(provider)
    }

    /// Starts it again, at the address that it had. A Node.js that hangs at its start, as it
    /// rarely does beside many others, is ended, and another one is started.
    pub async fn start_again(&mut self, settings: &ProviderSettings) -> Result<()> {
        ensure!(self.process.is_none(), "expected the provider to be stopped");
        let mut told = serde_json::to_value(settings)?;
        told["port"] = self.port.into();
        for _ in 0..STARTS {
            if let Some((process, issuer)) = self.spawn(&told.to_string()).await? {
                let port = issuer.rsplit(':').next().and_then(|port| port.parse().ok());
                self.port =
                    port.with_context(|| format!("expected an address, found {issuer:?}"))?;
                (self.process, self.issuer) = (Some(process), issuer);
                return Ok(());
            }
        }
        anyhow::bail!("expected the provider within {START_LIMIT:?}, {STARTS} times")
    }

    /// Starts a process and waits until it says where it is; none when it does not in time.
    async fn spawn(&self, told: &str) -> Result<Option<(Child, String)>> {
        // Its lines of before stay, so that they can be counted.
        let before = self.lines()?.len();
        let log = File::options().create(true).append(true).open(self.log())?;
        let errors = File::options().create(true).append(true).open(self.errors())?;
        let mut node = self.room.command("node")?;
        node.arg("provider.mjs").env("PROVIDER", told);
        node.stdin(Stdio::null()).stdout(log).stderr(errors).kill_on_drop(true);
        let mut process = node.spawn().context("could not start the provider")?;
        let end = Instant::now() + START_LIMIT;
        while Instant::now() < end {
            if let Some(issuer) = self.lines()?.get(before).cloned() {
                return Ok(Some((process, issuer)));
            }
            if let Some(status) = process.try_wait()? {
                let said = fs::read_to_string(self.errors())?;
                anyhow::bail!("the provider ended with {status}: {said}");
            }
            sleep(PAUSE).await;
        }
        process.start_kill()?;
        tokio::time::timeout(END_LIMIT, process.wait()).await??;
        Ok(None)
    }

    /// Ends it.
    pub async fn stop(&mut self) -> Result<()> {
        let mut process = self.process.take().context("expected the provider to run")?;
        process.start_kill()?;
        tokio::time::timeout(END_LIMIT, process.wait()).await??;
        Ok(())
    }

    /// What it calls itself: its address.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Where its app is, whose pages say in their title and in `#who` who is signed in, and have [`NOTES`]. Who comes
    /// to `/` is asked for at the provider, silently; where that knows nobody, a link `#in` leads to its form.
    pub fn app(&self) -> Result<Url> {
        let url = fs::read_to_string(self.room.path().join(APP)).context("expected an app")?;
        Ok(Url::parse(&url)?)
    }

    /// How often it was asked for something whose address begins so, such as `POST /token`.
    pub fn asked(&self, what: &str) -> Result<usize> {
        Ok(self.lines()?.iter().filter(|line| line.starts_with(what)).count())
    }

    /// Ends it, and removes its room.
    pub async fn clear(mut self) -> Result<()> {
        if self.process.is_some() {
            self.stop().await?;
        }
        self.room.clear().await
    }

    fn lines(&self) -> Result<Vec<String>> {
        if !self.log().exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(self.log())?;
        // Half a line is none yet.
        let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
        Ok(whole.lines().map(str::to_owned).collect())
    }

    fn log(&self) -> std::path::PathBuf {
        self.room.path().join("provider.log")
    }

    fn errors(&self) -> std::path::PathBuf {
        self.room.path().join("provider.errors")
    }
}
