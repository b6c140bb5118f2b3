//! A site that knows its users by a cookie that rotates, a node that makes sandboxes which may reach it,
//! and sessions that are logged in there.

use crate::test_nodes::{build, start};
use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{COOKIE, SET_COOKIE};
use axum::response::{Html, IntoResponse, Redirect};
use axum::routing::get;
use baton_api::sandbox::{
    BrowserSession, CommandLine, CreateSandbox, EndedSandbox, ExecEnd, ExecEvent, ExecSandbox,
    SandboxView,
};
use baton_api::{Client, ClientError, FileText, ImportSession, Problem};
use baton_playground::{Site, TestNode};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What a command did.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) output: String,
    pub(super) errors: String,
    pub(super) end: ExecEnd,
}

/// A site, a node, and sandboxes that reach the site.
pub(super) struct Scene {
    pub(super) test_node: TestNode,
    pub(super) site: Site,
}

/// The colour of the page that its users see: red, green, blue.
pub(super) const COLOUR: u32 = 0x0a_7b5c;

/// Which refresh token counts now. Each one counts once.
type Tokens = Arc<AtomicU32>;

/// A page for whoever bears the token that counts, who gets the next one with it.
async fn home(State(tokens): State<Tokens>, headers: HeaderMap) -> impl IntoResponse {
    let cookie = headers.get(COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let borne = cookie.split("; ").find_map(|pair| pair.strip_prefix("refresh=")?.parse().ok());
    let next = borne.filter(|borne: &u32| {
        let counts = tokens.compare_exchange(*borne, borne + 1, Ordering::SeqCst, Ordering::SeqCst);
        counts.is_ok()
    });
    match next {
        Some(now) => {
            let cookie = format!("refresh={}; Max-Age=86400; Path=/", now + 1);
            let page = format!("<body style='background: #{COLOUR:06x}'><p id=who>Ada</p>");
            ([(SET_COOKIE, cookie)], Html(page))
        }
        None => ([(SET_COOKIE, "seen=1".to_owned())], Html("<p id=who>nobody</p>".to_owned())),
    }
}

/// Where somebody logs in.
async fn form() -> Html<&'static str> {
    Html("<form method=post><input id=name name=name></form>")
}

/// Whoever says who they are is given the token that counts.
async fn login(State(tokens): State<Tokens>, name: String) -> impl IntoResponse {
    assert_eq!(name, "name=Ada");
    let cookie = format!("refresh={}; Max-Age=86400; Path=/", tokens.load(Ordering::SeqCst));
    ([(SET_COOKIE, cookie)], Redirect::to("/"))
}

async fn site() -> Site {
    let tokens = Tokens::new(AtomicU32::new(1));
    let pages = Router::new()
        .route("/", get(home))
        .route("/login", get(form).post(login))
        .route("/favicon.ico", get(|| async { "" }))
        .with_state(tokens);
    Site::start(pages).await.unwrap()
}

impl Scene {
    pub(super) async fn set() -> Self {
        Self::set_with("").await
    }

    /// With more settings of sandboxes.
    pub(super) async fn set_with(settings: &str) -> Self {
        Self::set_at(site().await, settings).await
    }

    /// The same at another site.
    pub(super) async fn set_at(site: Site, settings: &str) -> Self {
        let port = site.url("/").unwrap().port().unwrap();
        let text =
            format!("[sandboxes]\nnetwork = \"listed\"\nallow = [\"host:{port}\"]\n{settings}");
        Self::of(site, build(), &text).await
    }

    /// A test node that has something else than others, with these settings alone.
    pub(super) async fn set_in(test_node: TestNode, settings: &str) -> Self {
        Self::of(site().await, test_node, settings).await
    }

    /// At this site, with these settings alone.
    pub(super) async fn set_in_with(site: Site, settings: &str) -> Self {
        Self::of(site, build(), settings).await
    }

    async fn of(site: Site, test_node: TestNode, settings: &str) -> Self {
        test_node.data().create().unwrap();
        std::fs::write(test_node.data().settings(), settings).unwrap();
        Self { test_node: start(test_node).await, site }
    }

    /// The node begins again with these settings alone.
    pub(super) async fn settle(&mut self, settings: &str) {
        self.test_node.stop_node().await.unwrap();
        std::fs::write(self.test_node.data().settings(), settings).unwrap();
        self.test_node.start_node().await.unwrap();
    }

    pub(super) fn client(&self) -> &Client {
        self.test_node.client().unwrap()
    }

    /// The site's address as sandboxes know it.
    pub(super) fn url(&self) -> String {
        format!("http://host:{}/", self.site.url("/").unwrap().port().unwrap())
    }

    /// A storageState of somebody who is logged in.
    pub(super) fn state(&self) -> Value {
        let origin = self.url().trim_end_matches('/').to_owned();
        json!({
            "cookies": [cookie("refresh", "1", 4_000_000_000), cookie("ends", "with-it", -1)],
            "origins": [{"origin": origin, "localStorage": [{"name": "token", "value": "t0k3n"}]}],
        })
    }

    /// A session of that.
    pub(super) async fn session(&self, name: &str) -> String {
        self.session_of(name, &self.state()).await
    }

    pub(super) async fn session_of(&self, name: &str, state: &Value) -> String {
        let request = ImportSession {
            name: Some(name.parse().unwrap()),
            description: None,
            file: FileText::new(state.to_string()).unwrap(),
        };
        self.client().import_session(&request).await.unwrap().session.session.id.to_string()
    }

    pub(super) async fn sandbox_of(&self, session: &str) -> SandboxView {
        let request =
            CreateSandbox { browser_session: Some(reference(session)), ..CreateSandbox::default() };
        self.client().create_sandbox(&request).await.unwrap()
    }

    pub(super) async fn sandbox(&self) -> SandboxView {
        self.client().create_sandbox(&CreateSandbox::default()).await.unwrap()
    }

    /// Runs a line of the shell.
    pub(super) async fn sh(&self, sandbox: &SandboxView, line: &str) -> Done {
        let request = ExecSandbox {
            command: CommandLine::Line(line.to_owned()),
            env: std::collections::BTreeMap::new(),
            directory: None,
            input: None,
            timeout: Some(60),
        };
        let mut run = self.client().exec_sandbox(&sandbox.id.to_string(), &request).await.unwrap();
        let (mut output, mut errors) = (String::new(), String::new());
        while let Some(event) = run.next().await.unwrap() {
            match event {
                ExecEvent::Stdout(text) => output.push_str(&text),
                ExecEvent::Stderr(text) => errors.push_str(&text),
                ExecEvent::Exit(end) => return Done { output, errors, end },
            }
        }
        panic!("a command whose end was not told: {output}{errors}");
    }

    /// What a line of the shell writes, when it ends well.
    pub(super) async fn says(&self, sandbox: &SandboxView, line: &str) -> String {
        let done = self.sh(sandbox, line).await;
        assert_eq!(done.end, ExecEnd::Code(0), "{line}: {}{}", done.output, done.errors);
        done.output.trim_end().to_owned()
    }

    pub(super) async fn end(&self, sandbox: &SandboxView) -> EndedSandbox {
        self.client().delete_sandbox(&sandbox.id.to_string()).await.unwrap()
    }

    /// The cookies of a session's newest snapshot, with their values.
    pub(super) async fn cookies(&self, session: &str) -> Vec<(String, String)> {
        let state = self.client().fetch_state(session, true).await.unwrap().state;
        let cookies = state["cookies"].as_array().unwrap().iter();
        let text = |cookie: &Value, name| cookie[name].as_str().unwrap().to_owned();
        let mut found: Vec<_> =
            cookies.map(|cookie| (text(cookie, "name"), text(cookie, "value"))).collect();
        found.sort();
        found
    }

    pub(super) async fn strike(self) {
        self.test_node.clear().await.unwrap();
    }
}

/// A cookie as Playwright writes it, of the host that sandboxes know as `host`.
pub(super) fn cookie(name: &str, value: &str, expires: i64) -> Value {
    json!({
        "name": name, "value": value, "domain": "host", "path": "/", "expires": expires,
        "httpOnly": true, "secure": false, "sameSite": "Lax",
    })
}

pub(super) fn reference(session: &str) -> BrowserSession {
    BrowserSession::reference(session)
}

/// What a node refuses.
pub(super) fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> Problem {
    match answer {
        Err(ClientError::Problem(problem)) => *problem,
        other => panic!("expected a refusal, found {other:?}"),
    }
}
