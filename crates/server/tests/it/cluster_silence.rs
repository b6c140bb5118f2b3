//! The way to the database falls silent while that is at work: who asked is told within a bound, and told the truth; and
//! once the way is there again, the node goes on.

use crate::cluster::{MASTER_KEY, choices};
use crate::fixture::{Folder, LIMIT, Node, problem, until};
use baton_api::{CreateKey, ErrorCode, ListSessions, Scope};
use baton_playground::{Cable, CableEnd, Cut};
use baton_postgres::{Server, Transaction, ask, begin};
use reqwest::Method;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

/// How many ask at once: more than the node has connections.
const AT_ONCE: usize = 12;
/// What a statement, the wait for a connection that follows it, and a busy machine may take.
const BOUND: Duration = Duration::from_mins(1);

/// A node whose way to the database is a cable.
struct Scene {
    database: String,
    cable: Cable,
    node: Node,
    /// It ends last.
    _server: Server,
}

impl Scene {
    async fn set() -> Self {
        let server = spawn_blocking(|| Server::start().unwrap()).await.unwrap();
        let database = server.create_database().unwrap();
        let cable = Cable::lay(CableEnd::Socket(server.socket())).unwrap();
        let name = database.rsplit_once('/').unwrap().1;
        let name = name.split_once('?').unwrap().0;
        let by_cable = format!("postgres://baton:unused@127.0.0.1:{}/{name}", cable.port());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let folder = Folder::new();
        let choices = choices(&by_cable, "one", listener.local_addr().unwrap().port());
        let mut config = folder.config_with(choices).unwrap();
        config.master_key = Some(MASTER_KEY.into());
        let node = folder.start_at(config, listener).await;
        Self { database, cable, node, _server: server }
    }

    /// What the database answers past the node.
    async fn ask(&self, sql: &'static str) -> String {
        let database = self.database.clone();
        let answer = spawn_blocking(move || ask(&database, sql).unwrap()).await.unwrap();
        answer.trim().to_owned()
    }

    /// Holds something past the node, for which statements of the node wait.
    async fn hold(&self, sql: &'static str) -> Transaction {
        let database = self.database.clone();
        spawn_blocking(move || begin(&database, sql).unwrap()).await.unwrap()
    }

    /// Waits until so many of them do, and cuts the cable then: their answers are lost.
    async fn fall_silent(&self, count: usize) -> Instant {
        until("statements wait", || async {
            let waiting = self.ask("select count(*) from pg_locks where not granted").await;
            (waiting.parse::<usize>().unwrap() >= count).then_some(())
        })
        .await;
        self.cable.set(Cut::Silent);
        self.cable.settled().await;
        Instant::now()
    }

    async fn mend(&self) {
        self.cable.set(Cut::Whole);
        until("the node is ready again", || async {
            let ready = self.node.request(Method::GET, "/ready").send().await.unwrap();
            (ready.status() == 200).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_while_the_database_falls_silent_is_told_and_the_node_goes_on() {
    let scene = Scene::set().await;
    // Each request looks its key up, and waits for that.
    let held = scene.hold("lock table api_keys in access exclusive mode").await;
    let asked: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let client = scene.node.admin();
            tokio::spawn(async move { client.list_sessions(&ListSessions::default()).await })
        })
        .collect();
    let cut = scene.fall_silent(AT_ONCE / 3).await;
    drop(held);
    for asked in asked {
        let refused = timeout(LIMIT, asked).await.expect("it is answered").unwrap().unwrap_err();
        // Not that the key is unknown.
        assert_eq!(refused.code(), Some(ErrorCode::StorageUnavailable), "{refused}");
    }
    assert!(cut.elapsed() < BOUND, "{:?}", cut.elapsed());
    // Who comes now is told as well.
    let refused = scene.node.admin().list_sessions(&ListSessions::default()).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::StorageUnavailable), "{refused}");
    scene.mend().await;
    for _ in 0..AT_ONCE {
        scene.node.admin().list_sessions(&ListSessions::default()).await.unwrap();
    }
    scene.node.stop().await;
}

/// What is stored of a key waits, as it is committed, until it may pass a gate.
const GATE: &str = "
    create table gate ();
    create function pass_gate() returns trigger language plpgsql as
        $$ begin lock table gate in share mode; return null; end $$;
    create constraint trigger gated after insert on api_keys
        deferrable initially deferred for each row execute function pass_gate()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_of_which_nobody_hears_the_end_is_not_said_to_have_failed() {
    let scene = Scene::set().await;
    scene.ask(GATE).await;
    let held = scene.hold("lock table gate in access exclusive mode").await;
    let key = CreateKey {
        name: "made".to_owned(),
        owner: None,
        scopes: [Scope::Read].into(),
        for_node: None,
    };
    let call = scene.node.admin_request(Method::POST, "/keys").json(&key);
    let asked = tokio::spawn(call.send());
    let cut = scene.fall_silent(1).await;
    drop(held);
    until("it is stored", || async {
        let found = scene.ask("select count(*) from api_keys where name = 'made'").await;
        (found == "1").then_some(())
    })
    .await;
    let refused = timeout(LIMIT, asked).await.expect("it is answered").unwrap().unwrap();
    assert!(cut.elapsed() < BOUND, "{:?}", cut.elapsed());
    let refused = problem(refused).await;
    assert_eq!(refused.code, ErrorCode::StorageUnavailable);
    insta::assert_snapshot!(format!("{}\n{}", refused.detail, refused.hint.unwrap()), @r"
    cannot reach the database: error communicating with database: no answer within 20 s, in the middle of a commit
    it is not known whether what was asked for is stored: look before you ask for it again
    ");
    scene.mend().await;
    let taken = scene.node.admin().create_key(&key).await.unwrap_err();
    assert_eq!(taken.code(), Some(ErrorCode::NameTaken), "it was stored");
    scene.node.stop().await;
}
