//! A data folder in a temporary place, and a node that runs on it.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use baton_api::{Client, CreateKey, Problem, Scope};
use baton_browser::icon::redraw;
use baton_browser::keeper::KeeperCommand;
use baton_server::config::{BrowserChoices, Choices, ConfigError, Surroundings};
use baton_server::{Config, ServeError, serve};
use baton_session::{
    Lifecycle, NodeId, Owner, Part, PartKind, Session, SessionId, SnapshotId, SnapshotReason,
    State, Tab, parts,
};
use baton_store::data::{DataFolder, NodeFile};
use baton_store::{DatabaseUrl, Limits, MasterKey, NewSnapshot, Store};
use jiff::Timestamp;
use reqwest::{Method, RequestBuilder, Response};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// How long anything may take.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// A data folder.
pub(crate) struct Folder {
    pub(crate) data: DataFolder,
    _temp: TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let data = DataFolder::at(&temp.path().join("data")).unwrap();
        data.create().unwrap();
        Self { data, _temp: temp }
    }

    /// The folder's database, as the node will open it.
    pub(crate) async fn store(&self) -> Store {
        let config = baton_store::Config {
            database: DatabaseUrl::Sqlite(self.data.database()),
            key: MasterKey::load_or_create(&self.data.key()).unwrap(),
            limits: Limits::default(),
        };
        Store::open(config).await.unwrap()
    }

    /// The folder of the board.
    pub(crate) fn board(&self) -> PathBuf {
        self.data.path().with_file_name("federation")
    }

    /// A configuration whose browser does not exist.
    pub(crate) fn config(&self) -> Config {
        let choices = Choices {
            browser: BrowserChoices::started("/nowhere/chromium".into()),
            body_bytes: Some(4096),
            ..Choices::default()
        };
        self.config_with(choices).unwrap()
    }

    /// A configuration with these choices.
    pub(crate) fn config_with(&self, choices: Choices) -> Result<Config, ConfigError> {
        let keeper = KeeperCommand {
            program: "/nowhere/baton".into(),
            args: Vec::new(),
            environment: BTreeMap::new(),
        };
        let around = Surroundings {
            data: self.data.clone(),
            master_key: None,
            debug_secret: None,
            client_secret: None,
            keepers: Arc::new(keeper),
            sandbox_init: None,
            inherited: BTreeMap::new(),
            board: Some(self.board()),
            idle_exit: None,
        };
        Config::new(choices, around)
    }

    pub(crate) async fn start(self) -> Node {
        let config = self.config();
        self.start_with(config).await
    }

    pub(crate) async fn start_with(self, config: Config) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.start_at(config, listener).await
    }

    pub(crate) async fn start_at(self, config: Config, listener: TcpListener) -> Node {
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(serve(config, listener, shutdown.clone()));
        let file = until("the node is ready", || async {
            assert!(!task.is_finished(), "the node ended before it was ready");
            NodeFile::read(&self.data).unwrap()
        })
        .await;
        Node { folder: self, file, shutdown, task }
    }

    /// The node of this folder; one that never started gets an id from before nodes had keys.
    pub(crate) fn node(&self) -> NodeId {
        self.data.node_id().unwrap().unwrap_or_else(|| {
            let id = NodeId::new(Timestamp::now(), rand::random());
            self.data.write_node_id(id).unwrap();
            id
        })
    }

    /// Stores a session of `owner` that has no browser, and gives its id.
    pub(crate) async fn seed(&self, store: &Store, owner: &str, name: &str) -> SessionId {
        let session = self.seed_active(store, owner, name).await;
        let (from, to) = (session.lifecycle, Lifecycle::Recoverable);
        store.update_lifecycle(session.id, session.node, from, to, Timestamp::now()).await.unwrap();
        session.id
    }

    /// Stores a session of `owner` that is said to have a browser.
    pub(crate) async fn seed_active(&self, store: &Store, owner: &str, name: &str) -> Session {
        let now = Timestamp::now();
        let session = Session {
            id: SessionId::new(now, rand::random()),
            name: name.parse().unwrap(),
            description: String::new(),
            owner: owner.parse().unwrap(),
            node: self.node(),
            headed: false,
            debug: false,
            lifecycle: Lifecycle::Active,
            created_at: now,
            updated_at: now,
        };
        store.create_session(&session).await.unwrap();
        session
    }
}

/// Stores a snapshot of `state`, with a preview.
pub(crate) async fn seed_snapshot(
    store: &Store,
    owner: &str,
    session: SessionId,
    state: &State,
) -> SnapshotId {
    store.create_snapshot(new_snapshot(owner, session, state)).await.unwrap().id
}

/// What stores a snapshot of `state`, with a preview.
pub(crate) fn new_snapshot(owner: &str, session: SessionId, state: &State) -> NewSnapshot {
    let mut parts = parts::split(state);
    let kind = PartKind::Preview;
    parts.push(Part { kind, name: String::new(), bytes: b"\x89PNG".to_vec() });
    let now = Timestamp::now();
    NewSnapshot {
        id: SnapshotId::new(now, rand::random()),
        session,
        owner: owner.parse().unwrap(),
        taken_at: now,
        reason: SnapshotReason::Request,
        term: None,
        shrunk: false,
        sibling: false,
        saved: false,
        parts,
        carried: Vec::new(),
        keep: None,
    }
}

/// A red pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

/// An icon, as a node shows it.
pub(crate) fn icon() -> Vec<u8> {
    redraw(&STANDARD.decode(PIXEL).unwrap()).unwrap()
}

/// The icon of a site, as a part of a snapshot.
pub(crate) fn icon_of(site: &str, bytes: Vec<u8>) -> Part {
    Part { kind: PartKind::Icon, name: site.to_owned(), bytes }
}

/// A state with one tab.
pub(crate) fn state_at(url: &str) -> State {
    let tab = Tab { url: url.into(), title: "Shop".into(), active: true, ..Tab::default() };
    State { tabs: vec![tab], ..State::default() }
}

/// A node that runs.
pub(crate) struct Node {
    pub(crate) folder: Folder,
    pub(crate) file: NodeFile,
    shutdown: CancellationToken,
    task: JoinHandle<Result<(), ServeError>>,
}

impl Node {
    pub(crate) async fn start() -> Self {
        Folder::new().start().await
    }

    pub(crate) fn id(&self) -> NodeId {
        self.file.node_id
    }

    /// The local admin key, as it stands in its file.
    pub(crate) fn admin_key(&self) -> String {
        let key = std::fs::read_to_string(self.folder.data.admin_key()).unwrap();
        key.trim().to_owned()
    }

    pub(crate) fn client(&self, key: &str) -> Client {
        Client::new(self.file.url.clone(), key.into()).unwrap()
    }

    pub(crate) fn admin(&self) -> Client {
        self.client(&self.admin_key())
    }

    /// A client with a new key of `owner` with these scopes.
    pub(crate) async fn as_owner(&self, owner: &str, scopes: &[Scope]) -> Client {
        let owner: Owner = owner.parse().unwrap();
        let name = format!("{owner} {scopes:?}");
        let scopes = scopes.iter().copied().collect();
        let request = CreateKey { name, owner: Some(owner), scopes, for_node: None };
        self.client(&self.admin().create_key(&request).await.unwrap().secret)
    }

    /// A plain request without a key, for what the typed client cannot say.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = self.file.url.join(path).unwrap();
        reqwest::Client::builder().no_proxy().build().unwrap().request(method, url)
    }

    /// The same with the local admin key.
    pub(crate) fn admin_request(&self, method: Method, path: &str) -> RequestBuilder {
        self.request(method, path).bearer_auth(self.admin_key())
    }

    /// Ends the node as it should be ended.
    pub(crate) async fn stop(self) -> Folder {
        self.shutdown.cancel();
        self.ended().await
    }

    /// Waits for the node's end.
    pub(crate) async fn ended(self) -> Folder {
        timeout(LIMIT, self.task).await.unwrap().unwrap().unwrap();
        self.folder
    }
}

/// Waits, within the limit, until `probe` finds something.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    mut probe: impl FnMut() -> F,
) -> T {
    let end = Instant::now() + LIMIT;
    loop {
        if let Some(found) = probe().await {
            return found;
        }
        assert!(Instant::now() < end, "expected that {what} within {LIMIT:?}");
        sleep(Duration::from_millis(10)).await;
    }
}

/// The problem of an answer that must be one.
pub(crate) async fn problem(response: Response) -> Problem {
    let (status, kind) = (response.status().as_u16(), response.headers().get("content-type"));
    assert_eq!(kind.unwrap(), "application/problem+json");
    let id = response.headers()["x-request-id"].to_str().unwrap().to_owned();
    let mut problem: Problem = response.json().await.unwrap();
    assert_eq!(problem.status, status);
    assert_eq!(problem.request_id.take().unwrap(), id, "the problem names its request");
    problem
}

/// A problem in one line, for snapshots.
pub(crate) fn one_line(problem: &Problem) -> String {
    format!("{} {}: {}", problem.status, problem.code.as_str(), problem.detail)
}
