//! Starting the other server, when it is needed and not too often; and keeping its list of tools.

use super::failure::Failure;
use super::process::Patience;
use super::server::Server;
use super::tools::Tools;
use super::words::say;
use super::{PLACE, Upstream};
use serde_json::json;
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long a start may take; a launcher may have to fetch its package first.
const START_LIMIT: Duration = Duration::from_secs(90);
/// How long the list of tools may take, when it has changed.
const FETCH_LIMIT: Duration = Duration::from_secs(30);
/// How often the server is started within [`WINDOW`].
const STARTS: usize = 5;
const WINDOW: Duration = Duration::from_mins(1);

const LATER: &str = "tell the user; the tools of Baton itself work";

/// When the server was started last. Whoever starts it holds this.
#[derive(Default)]
pub(super) struct Starts(VecDeque<Instant>);

impl Starts {
    /// Counts a start, unless there were too many.
    fn count(&mut self) -> bool {
        self.0.retain(|start| start.elapsed() < WINDOW);
        let may = self.0.len() < STARTS;
        if may {
            self.0.push_back(Instant::now());
        }
        may
    }
}

impl Upstream {
    /// The running server; started when it does not run. A start goes on when whoever asked for it
    /// has given up.
    pub(super) async fn server(self: &Arc<Self>) -> Result<Arc<Server>, Failure> {
        if let Some(server) = self.running().filter(|server| server.lives()) {
            return Ok(server);
        }
        let upstream = Arc::clone(self);
        let started = tokio::spawn(async move { upstream.start().await }).await;
        let started = started.unwrap_or_else(|_| Err("a fault inside the bridge".to_owned()));
        started.map_err(|why| Failure::new("server_not_started", why, LATER))
    }

    async fn start(self: Arc<Self>) -> Result<Arc<Server>, String> {
        let mut starts = self.starts.lock().await;
        if let Some(server) = self.running().filter(|server| server.lives()) {
            return Ok(server);
        }
        if !starts.count() {
            let name = &self.name;
            return Err(format!("{name} was started {STARTS} times within a minute, and ended"));
        }
        let begun = self.begin_server().await;
        if let Err(why) = &begun {
            say(format!("baton: {why}"));
        }
        begun
    }

    async fn begin_server(self: &Arc<Self>) -> Result<Arc<Server>, String> {
        let Some(introduction) = self.state().introduction.clone() else {
            return Err("nobody has asked for the server yet".to_owned());
        };
        let url = self.endpoint.url();
        let command: Vec<_> =
            self.with.command.iter().map(|word| word.replace(PLACE, url)).collect();
        let server = Server::start(
            &self.name,
            &command,
            &self.with.environment,
            self.endpoint.secret(),
            self.client.clone(),
            self.with.limit,
            introduction.can_ask,
        )?;
        // Whoever ends the bridge finds it here.
        if !self.keep(&server) {
            server.end("the bridge ends", Patience::Short).await;
            return Err("the bridge ends".to_owned());
        }
        let begun = timeout(START_LIMIT, async {
            server.introduce(&introduction).await?;
            Tools::fetch(&server, &self.ours).await
        });
        let begun = begun.await.unwrap_or_else(|_| {
            Err(format!(
                "expected {} to begin within {START_LIMIT:?}, found that it did not",
                self.name
            ))
        });
        match begun {
            Ok(tools) => {
                self.show(tools);
                server.be_ready();
                let level = self.state().level;
                if let Some(level) = level {
                    server.log(level).await;
                }
            }
            Err(why) => {
                server.end(&why, Patience::Short).await;
                return Err(why);
            }
        }
        tokio::spawn(follow(Arc::downgrade(self), Arc::clone(&server)));
        Ok(server)
    }

    /// Whether the bridge goes on, and has a server now.
    fn keep(&self, server: &Arc<Server>) -> bool {
        let mut state = self.state();
        if !state.is_over {
            state.running = Some(Arc::clone(server));
        }
        !state.is_over
    }

    /// These are its tools; a client that was told others hears of it.
    fn show(&self, tools: Tools) {
        let tools = Arc::new(tools);
        let mut state = self.state();
        let is_new = state.told.as_ref().is_some_and(|told| !told.equals(&tools));
        let hears = state.introduction.as_ref().is_some_and(|introduction| introduction.can_ask);
        state.tools = tools;
        drop(state);
        if is_new && hears {
            self.client.mention("notifications/tools/list_changed", &json!({}));
        }
    }
}

/// Fetches the list of tools again whenever it has changed, as long as the server lives.
async fn follow(upstream: Weak<Upstream>, server: Arc<Server>) {
    loop {
        server.changed.notified().await;
        let Some(upstream) = upstream.upgrade().filter(|_| server.lives()) else { return };
        match timeout(FETCH_LIMIT, Tools::fetch(&server, &upstream.ours)).await {
            Ok(Ok(tools)) => upstream.show(tools),
            Ok(Err(why)) => say(format!("baton: {why}")),
            Err(_) => say(format!("baton: {} does not list its tools", server.name())),
        }
    }
}
