//! An agent asks a person, who comes as a guest by a link: what opens it, what they see, and what ends it.

use super::driving::mouse;
use super::{LIMIT, Viewer};
use crate::mcp::{VERSION, bridge, call, first};
use crate::test_nodes;
use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use axum::response::Html;
use axum::routing::{get, post};
use baton_api::live::{MouseKind, ViewerMessage};
use baton_api::{
    AskPerson, AskState, AskView, Client, CreateKey, CreatedAsk, ErrorCode, GUEST_HEADER,
    GuestView, ListAudit, ListHistory, LiveAccess, OpenedAsk, PAGE_HEADER, Problem, Scope,
    WaitForAsk,
};
use baton_playground::{Page, Site, TestNode};
use baton_session::SessionId;
use reqwest::{Method, RequestBuilder, Response};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::time::timeout;
use url::{Position, Url};

/// A page whose button signs in, and whose link leads elsewhere.
const PAGE: &str = r#"<!doctype html><title>The <b>bank</b></title>
<style>body{margin:0}button{position:absolute;left:40px;top:40px;width:300px;height:60px}</style>
<input type=file style="position:absolute;left:40px;top:140px;width:300px;height:40px"
 onchange="files[0].text().then((text) => { seen = files[0].name + ' ' + text })">
<button onmousedown="seen = 'down'" onmouseup="seen = 'up'"
 onclick="document.cookie = 'in=ada; max-age=1209600'; localStorage.token = 'x'.repeat(40)">Sign in</button>
<script>let seen = ''; setInterval(() => { document.body.style.background = `hsl(${Date.now() % 360} 60% 80%)` }, 30)</script>"#;

/// A page that asks where the browser is once that is held, and says what came of it to the page around it.
const FRAME: &str = "<!doctype html><script>
const told = (text) => parent.postMessage(text, '*');
const asks = () => {
    if (typeof batonWish !== 'function') return setTimeout(asks, 10);
    navigator.geolocation.getCurrentPosition(() => told('found'), ({ code }) => told('code ' + code));
};
asks();</script>";

pub(super) struct Scene {
    pub(super) test_node: TestNode,
    pub(super) site: Site,
    id: SessionId,
}

impl Scene {
    pub(super) async fn set(test_node: TestNode) -> Self {
        let pages = Router::new().route("/", get(async || Html(PAGE)));
        let pages = pages.route("/frame", get(async || Html(FRAME)));
        let pages =
            pages.route("/still", get(async || Html("<!doctype html><title>Still</title>")));
        let pages = pages.route("/untitled", get(async || Html("<!doctype html><p>No title")));
        let site = Site::start(pages).await.unwrap();
        let id = test_node.open("shop", [site.url_on("bank", "/").unwrap()]).await.unwrap();
        Self { test_node, site, id }
    }

    /// An address of another site.
    pub(super) fn elsewhere(&self, path: &str) -> Url {
        self.site.url_on("evil", path).unwrap()
    }

    /// Another session on the page.
    pub(super) async fn other(&self, name: &str) -> String {
        let page = self.site.url_on("bank", "/").unwrap();
        self.test_node.open(name, [page]).await.unwrap().to_string()
    }

    pub(super) fn client(&self) -> Client {
        let kimi = Some("kimi".parse().unwrap());
        self.test_node.client().unwrap().clone().as_agent(kimi)
    }

    /// What a guest sees who opened the link of an ask, and drives.
    pub(super) async fn visit(&self) -> Viewer {
        let ask = self.ask().await;
        let mut guest = Guest::at(self, &ask);
        guest.open(&secret(&ask)).await;
        guest.watch().await
    }

    pub(super) async fn ask(&self) -> CreatedAsk {
        self.client().ask_person("shop", &wanted("sign in")).await.unwrap()
    }

    pub(super) async fn view(&self, ask: &CreatedAsk) -> AskView {
        self.client().fetch_ask("shop", &ask.view.id, &WaitForAsk::default()).await.unwrap()
    }

    /// What became of it.
    pub(super) async fn end(&self, ask: &CreatedAsk) -> AskView {
        let ended = async {
            let (session, mut after) = (ask.view.session.to_string(), AskState::Waiting);
            loop {
                let how = WaitForAsk { wait: Some(30), after: Some(after) };
                let view = self.client().fetch_ask(&session, &ask.view.id, &how).await.unwrap();
                if view.state.is_over() {
                    return view;
                }
                after = view.state;
            }
        };
        timeout(LIMIT, ended).await.unwrap()
    }

    /// The socket of the browser's keeper, at which nobody's turn counts.
    pub(super) fn socket(&self) -> PathBuf {
        self.test_node.keeper_socket(self.id)
    }

    pub(super) async fn page(&self) -> Page {
        let socket = self.socket();
        Page::attach(&socket, self.site.url_on("bank", "/").unwrap().as_str()).await.unwrap()
    }

    async fn driver(&self) -> Option<String> {
        let view = self.client().fetch_session("shop").await.unwrap();
        view.session.agent.map(|driver| driver.agent.to_string())
    }
}

pub(super) fn wanted(text: &str) -> AskPerson {
    AskPerson { text: text.to_owned(), ..AskPerson::default() }
}

pub(super) fn secret(ask: &CreatedAsk) -> String {
    ask.link.fragment().unwrap().strip_prefix("/asked/").unwrap().to_owned()
}

/// A guest's browser: at the page's name, with what it was given.
pub(super) struct Guest {
    base: Url,
    host: String,
    cookie: Option<String>,
    value: Option<String>,
}

impl Guest {
    pub(super) fn at(scene: &Scene, ask: &CreatedAsk) -> Self {
        Self::through(&scene.client(), ask)
    }

    /// One who comes to the node of a client.
    pub(super) fn through(client: &Client, ask: &CreatedAsk) -> Self {
        Self::by_link(client, &ask.link)
    }

    /// The same, who has the link and nothing else.
    pub(super) fn by_link(client: &Client, link: &Url) -> Self {
        let base = client.base().clone();
        let host = link[Position::BeforeHost..Position::AfterPort].to_owned();
        Self { base, host, cookie: None, value: None }
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request =
            http.request(method, self.base.join(path).unwrap()).header("host", &self.host);
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        if let Some(value) = &self.value {
            request = request.header(GUEST_HEADER, value);
        }
        request
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> Response {
        self.request(Method::POST, path).json(&body).send().await.unwrap()
    }

    pub(super) async fn open(&mut self, secret: &str) {
        let body = json!({ "secret": secret, "name": "ada" });
        let answer = self.post("asked/open", body).await;
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
        let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
        for wanted in ["; Path=/;", "; HttpOnly", "; SameSite=Strict"] {
            assert!(cookie.contains(wanted), "{cookie}");
        }
        self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        let opened: OpenedAsk = answer.json().await.unwrap();
        self.value = opened.value;
    }

    pub(super) async fn watch(&self) -> Viewer {
        let answer = self.post("asked/live", json!({})).await;
        let mut access: LiveAccess = answer.json().await.unwrap();
        // The name is that of this machine, which only browsers know.
        access.live_url.set_host(self.base.host_str()).unwrap();
        access.live_url.set_port(self.base.port()).unwrap();
        let mut viewer = Viewer::connect(&access.live_url).await;
        viewer.say(&ViewerMessage::Look { width: 800, height: 600 }).await;
        viewer.until("to drive", |it| it.driver.as_ref().is_some_and(|it| it.own)).await;
        viewer
    }

    pub(super) async fn state(&self) -> AskState {
        let answer = self.request(Method::GET, "asked").send().await.unwrap();
        answer.json::<GuestView>().await.unwrap().state
    }
}

/// Why something was refused.
pub(super) async fn refused(answer: Response) -> (ErrorCode, String) {
    let problem: Problem = answer.json().await.unwrap();
    (problem.code, problem.detail)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_counts_once_and_looking_at_it_uses_nothing_up() {
    // Nobody is refused here for having tried often.
    let node = test_nodes::build().with("BATON_REFUSED_KEYS_PER_MINUTE", "1000");
    let scene = Scene::set(test_nodes::start(node).await).await;
    let ask = scene.ask().await;
    assert!(ask.opens.this_machine_only, "{:?}", ask.opens);
    assert!(ask.opens.hint.as_ref().unwrap().contains("ssh -L "), "{:?}", ask.opens);
    assert_eq!(ask.view.sites, ["bank.localhost"]);
    let mut guest = Guest::at(&scene, &ask);
    let secret = secret(&ask);
    for _ in 0..100 {
        let seen = guest.post("asked/look", json!({ "secret": secret })).await;
        let seen: GuestView = seen.json().await.unwrap();
        assert_eq!((seen.from.as_str(), seen.text.as_str()), ("kimi", "sign in"));
    }
    assert_eq!(scene.view(&ask).await.state, AskState::Waiting);
    // A session has one at a time; what is not asked in words is not asked.
    let another = scene.client().ask_person("shop", &wanted("again")).await.unwrap_err();
    assert_eq!(another.code(), Some(ErrorCode::Conflict), "{another}");
    for text in ["", "  ", "a\u{1b}[31mb", "a\nb", "a\u{202e}b", &"x".repeat(501)] {
        let bad = scene.client().ask_person("shop", &wanted(text)).await.unwrap_err();
        assert_eq!(bad.code(), Some(ErrorCode::InvalidRequest), "{text:?}");
    }

    guest.open(&secret).await;
    let again = Guest::at(&scene, &ask).post("asked/open", json!({ "secret": secret })).await;
    let (code, why) = refused(again).await;
    assert_eq!(code, ErrorCode::Unauthenticated);
    insta::assert_snapshot!(why, @"expected a link that counts, found one that was used already");
    let unknown = Guest::at(&scene, &ask);
    let unknown = unknown.post("asked/look", json!({ "secret": "A".repeat(43) })).await;
    insta::assert_snapshot!(refused(unknown).await.1, @"expected a link that counts, found an unknown one");

    // Both halves open the ask, and nothing else.
    assert_eq!(guest.state().await, AskState::Opened);
    for (cookie, value) in [(true, false), (false, true)] {
        let half = Guest {
            base: guest.base.clone(),
            host: guest.host.clone(),
            cookie: guest.cookie.clone().filter(|_| cookie),
            value: guest.value.clone().filter(|_| value),
        };
        let answer = half.request(Method::GET, "asked").send().await.unwrap();
        assert_eq!(answer.status(), 401);
    }
    let foreign = guest.request(Method::GET, "asked").header("origin", "http://evil.test");
    assert_eq!(refused(foreign.send().await.unwrap()).await.0, ErrorCode::ForeignOrigin);
    let document = baton_server_routes(&scene).await;
    let value = guest.value.clone().unwrap();
    let mut tried = 0;
    for (method, path) in document {
        // What is said to everybody: of people of a provider no more than what it is called.
        let to_all = ["/health", "/ready", "/openapi.json", "/page/ways"];
        if path.starts_with("/asked") || to_all.contains(&&*path) {
            continue;
        }
        let path = path.replace("{id}", &scene.id.to_string()).replace(['{', '}'], "");
        let call = guest.request(method.clone(), path.trim_start_matches('/'));
        let answer = call.header(PAGE_HEADER, &value).json(&json!({})).send().await.unwrap();
        assert!([401, 403, 422].contains(&answer.status().as_u16()), "{method} {path}: {answer:?}");
        tried += 1;
    }
    assert!(tried > 90, "{tried}");
    // A name of its own is needed, or else the cookie is everybody's.
    let withdrawn = scene.client().withdraw_ask("shop", &ask.view.id).await.unwrap();
    assert_eq!(withdrawn.state, AskState::Withdrawn);
    assert_eq!(guest.state().await, AskState::Withdrawn);
    let ask = scene.ask().await;
    let mut plain = Guest::at(&scene, &ask);
    plain.host = format!("127.0.0.1:{}", plain.base.port().unwrap());
    let answer = plain.post("asked/open", json!({ "secret": self::secret(&ask) })).await;
    assert_eq!(refused(answer).await.0, ErrorCode::InvalidRequest);
    let declined = json!({ "secret": self::secret(&ask), "decline": true });
    assert_eq!(guest.post("asked/open", declined).await.status(), 200);
    assert_eq!(scene.end(&ask).await.state, AskState::Declined);
    let log = scene.client().list_audit(&ListAudit::default()).await.unwrap().items;
    let actions: Vec<_> = log.iter().rev().map(|entry| entry.action.as_str()).collect();
    for action in ["session.ask", "session.ask_open", "session.ask_end"] {
        assert!(actions.contains(&action), "{actions:?}");
    }
    assert!(!serde_json::to_string(&log).unwrap().contains(&secret), "the link is in no log");
    scene.test_node.clear().await.unwrap();
}

/// What the node answers: the operations of its document.
async fn baton_server_routes(scene: &Scene) -> Vec<(Method, String)> {
    let url = scene.client().base().join("openapi.json").unwrap();
    let document: Value = reqwest::get(url).await.unwrap().json().await.unwrap();
    let paths = document["paths"].as_object().unwrap().clone();
    let operations = paths.into_iter().flat_map(|(path, item)| {
        let methods: Vec<String> = item.as_object().unwrap().keys().cloned().collect();
        methods
            .into_iter()
            .map(move |method| (method.to_uppercase().parse().unwrap(), path.clone()))
    });
    operations.collect()
}

/// Why a message is not heard. That is said once a second at most.
pub(super) async fn refusal(viewer: &mut Viewer, message: &ViewerMessage) -> String {
    viewer.refused.clear();
    let said = async {
        loop {
            let found = viewer.refused.iter().find(|refused| refused.starts_with(message.word()));
            if let Some(found) = found {
                return found.clone();
            }
            viewer.say(message).await;
            viewer.hear().await;
        }
    };
    timeout(LIMIT, said).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_sees_one_tab_at_its_site_and_what_they_change_is_told() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let elsewhere = scene.elsewhere("/");
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    assert_eq!(scene.driver().await.as_deref(), Some("ada"));
    let tabs = ada.tabs.clone().unwrap();
    assert_eq!((tabs.tabs.len(), tabs.tabs[0].url.as_str()), (1, ""));
    assert_eq!(tabs.tabs[0].title, "The <b>bank</b>", "markup is text");
    // Another tab is in no message, and nothing leads there.
    scene.client().fetch_session("shop").await.unwrap();
    let open = |url: &str| ViewerMessage::OpenTab { url: url.to_owned() };
    let go = |url: &str| ViewerMessage::Go { tab, url: url.to_owned() };
    for message in [
        open("about:blank"),
        go(elsewhere.as_str()),
        ViewerMessage::CloseTab { tab },
        ViewerMessage::Front { tab: tab + 1 },
        ViewerMessage::Choose { tab, question: 1, files: vec!["secret.txt".to_owned()] },
    ] {
        refusal(&mut ada, &message).await;
    }
    let page = scene.page().await;
    for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
        ada.say(&mouse(tab, kind, 150.0, 70.0)).await;
    }
    page.wait_for("document.cookie.includes('in=ada')").await.unwrap();
    // Elsewhere nothing is shown, and nothing is heard.
    let leave = format!("setTimeout(() => location = '{elsewhere}'), true");
    assert!(page.evaluate::<bool>(&leave).await.unwrap());
    let away_at = |viewer: &Viewer| viewer.tabs.as_ref().and_then(|tabs| tabs.away.clone());
    // On the way its address may be unknown for a moment, which is not where they may be either.
    ada.until("to be away", |it| away_at(it).as_deref() == Some("evil.localhost")).await;
    let away = ada.tabs.clone().unwrap();
    assert_eq!(away.tabs[0].title, "");
    let before = ada.pictures;
    let why = refusal(&mut ada, &mouse(tab, MouseKind::Down, 150.0, 70.0)).await;
    assert!(why.contains("evil.localhost"), "{why}");
    assert_eq!(ada.pictures, before, "no picture of another site");
    ada.say(&ViewerMessage::Step { tab, by: -1 }).await;
    ada.until("to be back", |viewer| away_at(viewer).is_none()).await;
    ada.until("pictures again", |viewer| viewer.pictures > before).await;

    let done = guest.post("asked/end", json!({ "done": true }));
    let (done, ()) = tokio::join!(done, ada.until("its end", |viewer| viewer.closed.is_some()));
    assert_eq!(done.status(), 200);
    let view = scene.end(&ask).await;
    assert_eq!(view.state, AskState::Done);
    let outcome = view.outcome.unwrap();
    insta::assert_snapshot!(outcome.changed, @"1 cookie and 1 entry of local storage at bank.localhost are new; ends in 14 days");
    let history = scene.client().list_history("shop", &ListHistory::default()).await.unwrap();
    let newest = history.items[0].id;
    assert_eq!(outcome.snapshot, Some(newest));
    assert_ne!(scene.driver().await.as_deref(), Some("ada"), "it is given back");
    let again = guest.post("asked/end", json!({ "done": true })).await;
    assert_eq!(refused(again).await.0, ErrorCode::Unauthenticated);
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_who_vanishes_lets_go_and_a_revoked_key_ends_it() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let request = CreateKey {
        name: "agent".to_owned(),
        owner: None,
        scopes: [Scope::Read, Scope::Drive].into(),
        for_node: None,
    };
    let made = scene.client().create_key(&request).await.unwrap();
    let base = scene.client().base().clone();
    let agent = Client::new(base, SecretString::from(made.secret)).unwrap();
    let agent = agent.as_agent(Some("kimi".parse().unwrap()));
    let ask = agent.ask_person("shop", &wanted("sign in")).await.unwrap();
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut ada = guest.watch().await;
    let tab = ada.tab().await;
    let page = scene.page().await;
    ada.say(&mouse(tab, MouseKind::Move, 150.0, 70.0)).await;
    ada.say(&mouse(tab, MouseKind::Down, 150.0, 70.0)).await;
    page.wait_for("seen === 'down'").await.unwrap();
    let mut changes = scene.client().follow_changes().await.unwrap();
    drop(ada);
    page.wait_for("seen === 'up'").await.unwrap();
    let given_back = async {
        while scene.driver().await.as_deref() == Some("ada") {
            changes.next().await.unwrap();
        }
    };
    timeout(LIMIT, given_back).await.unwrap();
    // They come back in the same browser, until the key of who asked is good no more.
    let mut ada = guest.watch().await;
    ada.tab().await;
    scene.client().revoke_key(&made.key.id, None).await.unwrap();
    ada.until("its end", |viewer| viewer.closed.is_some()).await;
    let ended = scene.end(&ask).await;
    assert_eq!(ended.state, AskState::Withdrawn);
    // A browser that dies while it is shown ends it, too.
    let ask = scene.ask().await;
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let mut ada = guest.watch().await;
    ada.tab().await;
    for (_, pid) in scene.test_node.holders(scene.id).await.unwrap() {
        baton_playground::victims::kill(pid);
    }
    ada.until("its end", |viewer| viewer.closed.is_some()).await;
    assert_eq!(scene.end(&ask).await.state, AskState::Lost);
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whom_the_settings_name_is_told_and_a_failure_is_said() {
    let heard: Arc<Mutex<Vec<(HeaderMap, Value)>>> = Arc::default();
    let inbox = Arc::clone(&heard);
    let hook = post(move |headers: HeaderMap, body: axum::Json<Value>| async move {
        inbox.lock().unwrap().push((headers, body.0));
    });
    let receiver = Site::start(Router::new().route("/hook", hook)).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (settings, token) = (folder.path().join("baton.toml"), folder.path().join("token"));
    std::fs::write(&token, "tk_secret\n").unwrap();
    let [hook, missing] = ["/hook", "/none"].map(|path| receiver.url(path).unwrap());
    let people = format!(
        "[people]\nwebhook = \"{hook}\"\nwebhook_token_file = {token:?}\nntfy = \"{missing}\"\n"
    );
    std::fs::write(&settings, people).unwrap();
    let node = test_nodes::build().with("BATON_CONFIG", settings);
    let scene = Scene::set(test_nodes::start(node).await).await;
    let ask = scene.ask().await;
    let told: Vec<_> =
        ask.told.iter().map(|one| (one.by.as_str(), one.failed.as_deref())).collect();
    assert_eq!(told, [("webhook", None), ("ntfy", Some("it answers 404 Not Found"))]);
    let heard = heard.lock().unwrap().clone();
    let [(headers, body)] = heard.as_slice() else { panic!("{heard:?}") };
    assert_eq!(headers["authorization"], "Bearer tk_secret");
    assert!(!headers.contains_key(COOKIE));
    assert_eq!((&body["link"], &body["text"]), (&json!(ask.link), &json!("sign in")));
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_asks_by_its_tool_shows_the_link_and_waits() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let kimi = bridge(&scene.test_node, &["--as", "kimi"]);
    kimi.initialize(json!({}), VERSION).await.unwrap();
    let told = call(&kimi, "session_ask_person", json!({ "text": "sign in" })).await;
    let (_, rest) = told.split_once("Show this link to the person: ").unwrap();
    let link: Url = rest.split_whitespace().next().unwrap().parse().unwrap();
    let secret = link.fragment().unwrap().strip_prefix("/asked/").unwrap();
    assert!(told.contains("only this machine opens it"), "{told}");
    let (_, rest) = told.split_once("session_ask_person with ask ").unwrap();
    let id = rest.split(',').next().unwrap().to_owned();
    let base = scene.client().base().clone();
    let host = format!("{}:{}", link.host_str().unwrap(), base.port().unwrap());
    let guest = Guest { base, host, cookie: None, value: None };
    let waits = call(&kimi, "session_ask_person", json!({ "ask": id }));
    let declines = guest.post("asked/open", json!({ "secret": secret, "decline": true }));
    let (told, answer) = tokio::join!(waits, declines);
    assert_eq!(answer.status(), 200);
    assert_eq!(first(&told), "Declined: the person cannot or will not do it.");
    scene.test_node.clear().await.unwrap();
}
