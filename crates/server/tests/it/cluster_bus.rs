//! The doorbell of a cluster: a real server of NATS between real nodes, which comes, goes, refuses and is lied on.

use crate::changes::next;
use crate::cluster::{MASTER_KEY, choices, open};
use crate::fixture::{Folder, LIMIT, Node, until};
use crate::opened::Opened;
use async_nats::{Client as BusClient, ConnectOptions};
use baton_api::client::{ChangeEvents, NodeChange};
use baton_api::{CreateKey, FileText, ImportSession, NodeBus, NodeView, Scope};
use baton_playground::Nats;
use baton_server::config::{Choices, ConfigError};
use baton_sync::identity::load_or_create;
use baton_sync::messages::sign_announced;
use baton_testing::skip;
use baton_testkit::Peer;
use futures_util::StreamExt;
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout};

/// Before this much has passed since the last event, no look at the database was the cause of the next one.
const LOOK_PAUSE: Duration = Duration::from_secs(5);

/// Which bus a node is told of.
struct Bus {
    url: String,
    credentials: PathBuf,
    authorities: Option<PathBuf>,
}

impl Bus {
    fn of(nats: &Nats) -> Self {
        Self { url: nats.url(), credentials: nats.credentials(), authorities: None }
    }

    /// A node of the cluster `shop` on this bus.
    async fn start(&self, database: &str, name: &str) -> Node {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let folder = Folder::new();
        let choices = Choices {
            bus_servers: Some(vec![self.url.parse().unwrap()]),
            bus_credentials: Some(self.credentials.clone()),
            bus_authorities: self.authorities.clone(),
            ..choices(database, name, listener.local_addr().unwrap().port())
        };
        let mut config = folder.config_with(choices).unwrap();
        config.master_key = Some(MASTER_KEY.into());
        folder.start_at(config, listener).await
    }
}

async fn this(node: &Node) -> NodeView {
    let nodes = node.admin().list_nodes().await.unwrap().items;
    nodes.into_iter().find(|node| node.is_this).unwrap()
}

async fn bus(node: &Node) -> NodeBus {
    this(node).await.bus.unwrap()
}

async fn is(what: &str, node: &Node, is: impl Fn(&NodeBus) -> bool) -> NodeBus {
    until(what, async || Some(bus(node).await).filter(&is)).await
}

async fn connected(node: &Node) {
    is("the bus is connected", node, |bus| bus.is_connected).await;
}

async fn import(node: &Node, name: &str) {
    let file = FileText::new(json!({"cookies": [], "origins": []}).to_string()).unwrap();
    let name = Some(name.parse().unwrap());
    let request = ImportSession { name, description: None, file };
    node.admin().import_session(&request).await.unwrap();
}

/// Two nodes on one database and one bus, which hear each other.
struct Pair {
    database: String,
    nats: Nats,
    one: Node,
    two: Node,
}

impl Pair {
    async fn start(nats: Nats) -> Self {
        let database = baton_postgres::create_database().unwrap();
        let bus = Bus::of(&nats);
        let (one, two) = (bus.start(&database, "one").await, bus.start(&database, "two").await);
        connected(&one).await;
        connected(&two).await;
        is("the second node is heard", &one, |bus| bus.heard > 0).await;
        Self { database, nats, one, two }
    }

    async fn stop(self) {
        self.two.stop().await;
        self.one.stop().await;
    }
}

/// Waits until it is told that sessions changed. Where a node is heard for the first
/// time, or again, all lists may have changed, too.
async fn sessions_told(events: &mut ChangeEvents) {
    while next(events).await.expect("the node goes on") != NodeChange::Sessions {}
}

macro_rules! nats {
    () => {
        match Nats::find() {
            Some(program) => Nats::start(program, None).await.unwrap(),
            None => skip!("nats-server is needed, which `cargo xtask setup` unpacks"),
        }
    };
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changes_at_one_node_is_told_at_the_other_at_once() {
    let pair = Pair::start(nats!()).await;
    let mut events = pair.two.admin().follow_changes().await.unwrap();
    let mut took = Vec::new();
    for number in 0..5 {
        let heard = bus(&pair.two).await.heard;
        import(&pair.one, &format!("session-{number}")).await;
        let changed = Instant::now();
        sessions_told(&mut events).await;
        took.push(changed.elapsed());
        assert!(bus(&pair.two).await.heard > heard, "the bus told it");
    }
    // Each look begins its pause anew, so all five together cannot be looks.
    assert!(took.iter().sum::<Duration>() < LOOK_PAUSE, "{took:?}");
    // What was heard is not said again: of one session, at most its writes are told.
    let (one, two) = (bus(&pair.one).await, bus(&pair.two).await);
    assert!(two.sent < 5 && one.dropped.is_empty() && two.dropped.is_empty(), "{one:?} {two:?}");
    assert_eq!((one.gaps, two.gaps), (0, 0));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_one_node_revokes_opens_nothing_at_the_other() {
    let pair = Pair::start(nats!()).await;
    let scopes = Scope::ALL.into_iter().collect();
    let request = CreateKey { name: "laptop".to_owned(), owner: None, scopes, for_node: None };
    let key = pair.one.admin().create_key(&request).await.unwrap();
    let opened = Opened::by(&pair.two, &key.secret).await;
    pair.one.admin().revoke_key(&key.key.id, None).await.unwrap();
    let revoked = Instant::now();
    opened.ended().await;
    // The promise is a second; a busy machine has some more, and five looks would have none.
    assert!(revoked.elapsed() < Duration::from_secs(4), "{:?}", revoked.elapsed());
    // It goes round once: the other node does not say it again.
    let heard = bus(&pair.one).await.heard;
    import(&pair.two, "after").await;
    let later = is("the next word is heard", &pair.one, |bus| bus.heard > heard).await;
    assert_eq!((later.gaps, bus(&pair.two).await.gaps), (0, 0));
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bus_that_is_killed_and_comes_back_misses_nothing() {
    let mut pair = Pair::start(nats!()).await;
    let mut events = pair.two.admin().follow_changes().await.unwrap();
    // Of a node that was heard before, what is missing can be told.
    import(&pair.one, "before").await;
    sessions_told(&mut events).await;
    is("the first node is heard", &pair.two, |bus| bus.heard > 0).await;
    pair.nats.kill().await.unwrap();
    for node in [&pair.one, &pair.two] {
        let away = is("the loss is told", node, |bus| !bus.is_connected).await;
        assert!(away.found.unwrap().contains("nats://127.0.0.1:"), "it says where");
    }
    // The database goes on, and so does who looks at it.
    import(&pair.one, "meanwhile").await;
    sessions_told(&mut events).await;
    pair.nats.restart().await.unwrap();
    connected(&pair.one).await;
    connected(&pair.two).await;
    // What could not be said is missing, and that is noticed.
    import(&pair.one, "later").await;
    sessions_told(&mut events).await;
    let told = is("the gap is counted", &pair.two, |bus| bus.gaps > 0).await;
    assert!(told.found.is_none() && told.dropped.is_empty(), "{told:?}");
    // A server that stands still is found out, too.
    pair.nats.freeze().unwrap();
    is("the silence is told", &pair.one, |bus| !bus.is_connected).await;
    pair.nats.wake().unwrap();
    connected(&pair.one).await;
    connected(&pair.two).await;
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bus_that_refuses_or_is_not_there_is_told_and_the_node_works() {
    let nats = nats!();
    let database = baton_postgres::create_database().unwrap();
    let nowhere = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let missing = PathBuf::from("/nowhere/baton.creds");
    let cases = [
        ("wrong", nats.url(), nats.wrong_credentials(), "expected to be let in at nats://"),
        ("mute", nats.url(), nats.mute_credentials(), "let its user publish and subscribe baton.>"),
        ("missing", nats.url(), missing, "at /nowhere/baton.creds, found No such file"),
        ("away", format!("nats://{nowhere}"), nats.credentials(), "expected a server of NATS at"),
    ];
    for (name, url, credentials, expected) in cases {
        let node = Bus { url, credentials, authorities: None }.start(&database, name).await;
        let told = is("the reason is told", &node, |bus| bus.found.is_some()).await;
        let found = told.found.unwrap();
        assert!(!told.is_connected && found.contains(expected), "{name}: {found}");
        assert!(!found.contains("horse") && !found.contains("staple"), "{name}: {found}");
        import(&node, name).await;
        node.stop().await;
    }
}

/// Somebody who is let in to the bus, and is no node.
async fn stranger(nats: &Nats) -> BusClient {
    let (user, password) = nats.user();
    let options = ConnectOptions::new().user_and_password(user, password);
    options.connect(nats.url()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_node_of_the_cluster_said_is_dropped_and_counted() {
    let pair = Pair::start(nats!()).await;
    let client = stranger(&pair.nats).await;
    let mut heard = client.subscribe("baton.>").await.unwrap();
    client.flush().await.unwrap();
    // A word of the first node, as it travels.
    let (subject, bytes) = loop {
        import(&pair.one, &format!("session-{}", rand_name())).await;
        let message = timeout(LIMIT, heard.next()).await.unwrap().unwrap();
        let body: Value = serde_json::from_slice(&message.payload).unwrap();
        let body: Value = serde_json::from_str(body["body"].as_str().unwrap()).unwrap();
        if body["node"] == pair.one.id().to_string() {
            break (message.subject.to_string(), message.payload);
        }
    };
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    assert!(!text.contains("local") && !text.contains("session-"), "no owner, no name: {text}");
    let wire: Value = serde_json::from_str(&text).unwrap();
    let body: Value = serde_json::from_str(wire["body"].as_str().unwrap()).unwrap();

    let signed = |identity: &_, body: &Value, at: Timestamp| {
        let body = body.to_string();
        let signed = sign_announced(identity, &subject, body.as_bytes(), at).unwrap();
        format!(
            "{{\"body\":{},\"input\":{},\"signature\":{}}}",
            json!(body),
            json!(signed.input),
            json!(signed.signature)
        )
    };
    let store = open(&pair.database).await;
    let one = load_or_create(&store, &pair.one.folder.data).await.unwrap();
    assert_eq!(one.node(), pair.one.id());
    let changed = |field: &str, value: Value| {
        let mut body = body.clone();
        body[field] = value;
        body
    };
    let now = Timestamp::now();
    let foreign = Peer::new(9).identity;
    let cases = [
        ("too_long", " ".repeat((16 << 10) + 1)),
        ("unreadable", "ring".to_owned()),
        ("unreadable", format!("{text} ")),
        ("unsigned", text.replace("\\\"number\\\":", "\\\"number\\\":1")),
        ("unsigned", signed(&foreign, &body, now)),
        ("stranger", signed(&foreign, &changed("node", json!(foreign.node())), now)),
        ("stranger", signed(&one, &changed("start", json!("another")), now)),
        ("other_cluster", signed(&one, &changed("place", json!("00")), now)),
        ("late", signed(&one, &body, now - SignedDuration::from_secs(60))),
        ("repeated", text),
    ];
    for (why, bytes) in cases {
        let count = |bus: &NodeBus| bus.dropped.get(why).copied().unwrap_or_default();
        let before = bus(&pair.two).await;
        client.publish(subject.clone(), bytes.into()).await.unwrap();
        let dropped = is(why, &pair.two, |bus| count(bus) > count(&before)).await;
        assert_eq!(count(&dropped), count(&before) + 1, "{why}");
    }
    // The node goes on.
    let mut events = pair.two.admin().follow_changes().await.unwrap();
    import(&pair.one, "after").await;
    sessions_told(&mut events).await;
    assert!(bus(&pair.two).await.is_connected);
    store.close().await;
    pair.stop().await;
}

fn rand_name() -> String {
    Timestamp::now().as_nanosecond().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_clusters_of_one_name_do_not_hear_each_other_on_one_bus() {
    let pair = Pair::start(nats!()).await;
    let other = baton_postgres::create_database().unwrap();
    let third = Bus::of(&pair.nats).start(&other, "third").await;
    connected(&third).await;
    let before = bus(&pair.one).await;
    import(&third, "theirs").await;
    import(&pair.two, "ours").await;
    // Of one sender to one hearer, nothing overtakes: what the third said would have come as well.
    is("its own cluster is heard", &pair.one, |bus| bus.heard > before.heard).await;
    import(&third, "more").await;
    is("the third sent it", &third, |bus| bus.sent > 2).await;
    let third_bus = bus(&third).await;
    assert_eq!((third_bus.heard, third_bus.dropped.len()), (0, 0));
    assert!(bus(&pair.one).await.dropped.is_empty());
    third.stop().await;
    pair.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bus_that_speaks_tls_is_trusted_by_its_own_authority_alone() {
    let Some(program) = Nats::find() else {
        skip!("nats-server is needed, which `cargo xtask setup` unpacks")
    };
    let made = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let CertifiedKey { cert, signing_key } = made;
    let (certificate, key) = (cert.pem(), signing_key.serialize_pem());
    let nats = Nats::start(program, Some((&certificate, &key))).await.unwrap();
    let database = baton_postgres::create_database().unwrap();
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("ca.crt");
    std::fs::write(&file, &certificate).unwrap();
    let trusting = Bus { authorities: Some(file), ..Bus::of(&nats) };
    let node = trusting.start(&database, "trusting").await;
    connected(&node).await;
    node.stop().await;
    let node = Bus::of(&nats).start(&database, "doubting").await;
    let told = is("the reason is told", &node, |bus| bus.found.is_some()).await.found.unwrap();
    assert!(told.contains("certificate"), "{told}");
    node.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_comes_and_goes_is_known_at_once_and_counted() {
    let nats = nats!();
    let database = baton_postgres::create_database().unwrap();
    // An address of this test alone: the nodes of the others take any free port of 127.0.0.1.
    let free = std::net::TcpListener::bind("127.41.7.3:0").unwrap().local_addr().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let folder = Folder::new();
    let choices = Choices {
        bus_servers: Some(vec![nats.url().parse().unwrap()]),
        bus_credentials: Some(nats.credentials()),
        ..choices(&database, "one", listener.local_addr().unwrap().port())
    };
    let mut config = folder.config_with(choices).unwrap();
    config.master_key = Some(MASTER_KEY.into());
    config.metrics = Some(free);
    let one = folder.start_at(config, listener).await;
    connected(&one).await;
    let two = Bus::of(&nats).start(&database, "two").await;
    connected(&two).await;
    let came = is("the second node came", &one, |bus| bus.heard > 0).await;
    // Only the node that answers says how its bus is.
    let nodes = one.admin().list_nodes().await.unwrap().items;
    let with_bus: Vec<bool> = nodes.iter().map(|node| node.bus.is_some()).collect();
    assert_eq!(with_bus, [true, false]);
    two.stop().await;
    is("the second node left", &one, |bus| bus.heard > came.heard).await;
    let text = reqwest::get(format!("http://{free}/metrics")).await.unwrap().text().await.unwrap();
    for name in ["baton_bus_connected 1", "baton_bus_sent_total ", "baton_bus_heard_total "] {
        assert!(text.contains(name), "{name}: {text}");
    }
    one.stop().await;
}

#[test]
fn a_bus_belongs_to_a_cluster() {
    let folder = Folder::new();
    let refused = |choices: Choices| folder.config_with(choices).map(drop).unwrap_err();
    let told: Vec<String> = [
        Choices {
            bus_servers: Some(vec!["nats://10.0.0.9:4222".parse().unwrap()]),
            ..Choices::default()
        },
        Choices { bus_credentials: Some("/etc/baton/bus.creds".into()), ..Choices::default() },
        Choices { bus_authorities: Some("/etc/baton/bus-ca.crt".into()), ..Choices::default() },
    ]
    .map(|choices| {
        let error = refused(choices);
        assert!(matches!(error, ConfigError::HalfBus { .. }), "{error}");
        error.to_string()
    })
    .into();
    insta::assert_snapshot!(told.join("\n"), @r#"
    cluster.bus_url: expected cluster.name as well, found none
    set cluster.name = "shop", or BATON_CLUSTER_NAME
    cluster.bus_credentials: expected cluster.bus_url as well, found none
    set cluster.bus_url = "nats://10.0.0.9:4222", or BATON_CLUSTER_BUS_URL
    cluster.bus_ca: expected cluster.bus_url as well, found none
    set cluster.bus_url = "nats://10.0.0.9:4222", or BATON_CLUSTER_BUS_URL
    "#);
}
