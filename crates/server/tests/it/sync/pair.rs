//! Two nodes that know each other, and what is done at them.

use crate::fixture::{Folder, Node, new_snapshot};
use baton_api::sync::{Movement, RegisterPeer, SaveSession, SavedView};
use baton_api::{CreateKey, Scope};
use baton_server::config::{BrowserChoices, Choices};
use baton_session::peer::AuthMethod;
use baton_session::{Entries, NodeId, PeerLease, SessionId, State, StorageKey, Tab};
use baton_store::{CommitShared, Store};
use jiff::Timestamp;
use serde_json::json;
use std::process::Command;
use tokio::net::TcpListener;
use url::Url;

/// The node `cloud`, and the node `laptop`, which has registered it.
pub(super) struct Pair {
    pub(super) cloud: Node,
    pub(super) laptop: Node,
}

impl Pair {
    pub(super) async fn new() -> Self {
        Self::with(Choices::default).await
    }

    /// Both nodes have these choices.
    pub(super) async fn with(choices: impl Fn() -> Choices) -> Self {
        let (cloud, laptop) = (start(choices()).await, start(choices()).await);
        know(&laptop, &cloud, "cloud").await;
        Self { cloud, laptop }
    }

    /// Pulls from the cloud to the laptop.
    pub(super) async fn pull(&self, session: &str) -> Movement {
        self.laptop.admin().pull_session("cloud", session).await.unwrap()
    }

    /// Pushes from the laptop to the cloud.
    pub(super) async fn push(&self, session: &str) -> Movement {
        self.laptop.admin().push_session("cloud", session).await.unwrap()
    }

    pub(super) async fn stop(self) {
        self.cloud.stop().await;
        self.laptop.stop().await;
    }
}

pub(super) async fn start(choices: Choices) -> Node {
    start_on(Folder::new(), choices).await
}

/// Starts a node on this folder.
pub(super) async fn start_on(folder: Folder, choices: Choices) -> Node {
    let config = folder.config_with(with_no_keeper(choices)).unwrap();
    folder.start_with(config).await
}

/// Starts a node that has ended again, at the address that it had.
pub(super) async fn again_at(folder: Folder, address: &Url, choices: Choices) -> Node {
    let config = folder.config_with(with_no_keeper(choices)).unwrap();
    let address = address.socket_addrs(|| None).unwrap();
    folder.start_at(config, TcpListener::bind(address[0]).await.unwrap()).await
}

/// A browser is found, but there is nothing that could hold it: so a start fails when all else is done.
fn with_no_keeper(choices: Choices) -> Choices {
    choices
        .or(Choices { browser: BrowserChoices::started("/bin/false".into()), ..Choices::default() })
}

/// Registers `there` at `here`, with a key that it gave out, and its fingerprint.
pub(super) async fn know(here: &Node, there: &Node, name: &str) {
    let fingerprint = there.admin().list_peers().await.unwrap().fingerprint;
    let request =
        RegisterPeer { fingerprint: Some(fingerprint), ..registration(here, there, name).await };
    here.admin().register_peer(&request).await.unwrap();
}

/// What registers `there` at `here` under this name, without its fingerprint: with a key that was made for
/// `here`.
pub(super) async fn registration(here: &Node, there: &Node, name: &str) -> RegisterPeer {
    let key = format!("{name} {:?}", rand::random::<u32>());
    let for_node = Some(here.admin().list_peers().await.unwrap().fingerprint);
    let request = CreateKey { name: key, owner: None, scopes: [Scope::Sync].into(), for_node };
    let key = there.admin().create_key(&request).await.unwrap();
    RegisterPeer {
        url: there.file.url.clone(),
        name: name.to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key.secret),
        oidc: None,
        tunnel_token: None,
        fingerprint: None,
        limits: None,
    }
}

/// Opens the database of a running node.
pub(super) async fn store(node: &Node) -> Store {
    node.folder.store().await
}

/// Says something to the database of a node that runs.
pub(super) fn sql(node: &Node, statement: &str) {
    let program = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1], timeout=10); \
        db.execute(sys.argv[2]); db.commit()";
    let mut python = Command::new("python3");
    python.args(["-c", program]).arg(node.folder.data.database()).arg(statement);
    assert!(python.status().unwrap().success(), "{statement}");
}

/// Writes down at `node` that another one holds a session.
pub(crate) async fn held_by(node: &Node, session: SessionId, holder: NodeId) {
    let (store, owner) = (store(node).await, "local".parse().unwrap());
    let (generation, mut shared) = store.fetch_shared(&owner, session).await.unwrap().unwrap();
    let (_, entries) = store.list_entries(&owner).await.unwrap();
    let entry = entries.into_iter().find(|(id, _)| *id == session).unwrap().1;
    let peer_lease = PeerLease::after(shared.peer_lease, holder, Timestamp::now());
    shared.peer_lease = Some(peer_lease);
    let mut line: serde_json::Value = serde_json::from_slice(&entry).unwrap();
    line["lease"] = serde_json::to_value(peer_lease).unwrap();
    let entry = serde_json::to_vec(&line).unwrap();
    let commit = CommitShared {
        owner: &owner,
        session,
        expected: Some(generation),
        shared: &shared,
        entry,
        create: None,
        snapshots: Vec::new(),
        released: Vec::new(),
        forget: false,
        now: Timestamp::now(),
    };
    store.commit_shared(commit).await.unwrap();
    store.close().await;
}

/// A session at `node` without a browser, with this state.
pub(super) async fn seed(node: &Node, name: &str, state: &State) -> SessionId {
    let store = store(node).await;
    let id = node.folder.seed(&store, "local", name).await;
    store.create_snapshot(new_snapshot("local", id, state)).await.unwrap();
    store.close().await;
    id
}

/// What a browser would have captured at `node`.
pub(super) async fn capture(node: &Node, session: SessionId, state: &State) {
    let store = store(node).await;
    store.create_snapshot(new_snapshot("local", session, state)).await.unwrap();
    store.close().await;
}

/// Saves a session.
pub(super) async fn save(node: &Node, session: &str) -> SavedView {
    node.admin().save_session(session, &SaveSession::default()).await.unwrap()
}

/// Captures a state and saves it.
pub(super) async fn edit(node: &Node, session: SessionId, state: &State) -> SavedView {
    capture(node, session, state).await;
    save(node, &session.to_string()).await
}

/// What a resume at `node` would bring back.
pub(super) async fn state(node: &Node, session: &str) -> State {
    let reveal =
        node.admin_request(reqwest::Method::GET, &format!("/sessions/{session}/state?reveal=true"));
    let view: serde_json::Value = reveal.send().await.unwrap().json().await.unwrap();
    serde_json::from_value(view["state"].clone()).unwrap()
}

/// A login at a site: a cookie, and a token in localStorage that belongs to it.
pub(super) fn login(state: &mut State, host: &str, token: &str) {
    state.cookies.retain(|cookie| cookie.domain != host);
    let cookie = json!({"name": "sid", "value": token, "domain": host, "path": "/",
                        "secure": true, "httpOnly": true});
    state.cookies.push(serde_json::from_value(cookie).unwrap());
    let key = StorageKey::first_party(&format!("https://{host}"));
    let entries: Entries = [("token".to_owned(), token.to_owned())].into_iter().collect();
    state.origins.entry(key).or_default().local_storage = entries;
}

/// A state with a tab, logged in at these hosts.
pub(super) fn logged_in(logins: &[(&str, &str)]) -> State {
    let tab = Tab {
        url: "https://shop.test/".into(),
        title: "Shop".into(),
        active: true,
        ..Tab::default()
    };
    let mut state = State { tabs: vec![tab], ..State::default() };
    for (host, token) in logins {
        login(&mut state, host, token);
    }
    state.normalize();
    state
}

/// The token of a host, if its cookie and its localStorage say the same.
pub(super) fn token(state: &State, host: &str) -> Option<String> {
    let cookie = state.cookies.iter().find(|cookie| cookie.domain == host)?;
    let key = StorageKey::first_party(&format!("https://{host}"));
    let entries = &state.origins.get(&key)?.local_storage;
    let stored = entries.0.values().next()?.as_str()?.to_owned();
    assert_eq!(stored, cookie.value, "a login is whole, or it is none");
    Some(stored)
}
