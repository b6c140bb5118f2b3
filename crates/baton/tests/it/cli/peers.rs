//! `baton peers`: who this node is, and how others are registered, confirmed and forgotten.

use super::fake::{FakeNode, node};
use super::fixture::{stderr, stdout};
use baton_api::ErrorCode;
use baton_api::sync::{NodeCard, PeerList, PeerStatus, PeerView};
use baton_session::peer::{AuthMethod, PeerState};
use baton_session::wire::NodeType;
use baton_session::{NodeId, NodeSecret, PeerLimits};
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};
use std::fmt::Write;

/// The id of a peer.
fn id(of: u8) -> NodeId {
    format!("{of:08x}-0000-8000-8000-00000000000f").parse().unwrap()
}

fn secret(of: u8) -> NodeSecret {
    NodeSecret::from_seed(&[of; 32])
}

/// A peer that is confirmed and answers.
pub(super) fn peer(of: u8, name: &str) -> PeerView {
    PeerView {
        node_id: id(of),
        node_type: NodeType::Hosted,
        url: Some(format!("https://{name}.example.org/").parse().unwrap()),
        name: name.to_owned(),
        last_seen: Some(ago(2)),
        last_sync: Some(ago(90)),
        status: PeerStatus::Online,
        reason: None,
        auth_method: AuthMethod::ApiKey,
        state: PeerState::Confirmed,
        fingerprint: secret(of).key().fingerprint(),
        has_key: true,
        confirm_there: None,
        limits: PeerLimits::default(),
    }
}

/// The same before anybody has compared anything.
pub(super) fn pending(of: u8, name: &str) -> PeerView {
    PeerView {
        last_seen: None,
        last_sync: None,
        status: PeerStatus::Unknown,
        state: PeerState::Pending,
        ..peer(of, name)
    }
}

/// What the node says of itself.
pub(super) fn card() -> NodeCard {
    let secret = secret(1);
    let seal_key = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p".to_owned();
    NodeCard {
        node_id: node(),
        node_type: NodeType::Hosted,
        name: "laptop".to_owned(),
        public_url: None,
        internal_url: None,
        key: secret.key(),
        seal_signature: secret.sign(seal_key.as_bytes()),
        seal_key,
    }
}

/// The node with these peers.
pub(super) fn list(items: Vec<PeerView>) -> PeerList {
    let this = card();
    PeerList { fingerprint: this.key.fingerprint(), this, items }
}

/// So many minutes ago.
pub(super) fn ago(minutes: i64) -> Timestamp {
    Timestamp::now() - minutes.minutes()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fingerprint_of_this_node_stands_at_the_top() {
    let peers = list(vec![peer(2, "berlin"), pending(3, "paris")]);
    let node = FakeNode::start().await.with("GET /sync/peers", &peers);
    let run = node.folder.run(&["peers", "list"]).success();
    insta::assert_snapshot!(stdout(&run, &node.folder.data()), @"
    fingerprint  3475 0f98 bd59 fcfc 946d a45a aabe 933b e154 a4b5 094e 1c4a bf42 8665 05f3 c97e
    this node    laptop  0f000000-0000-8000-8000-000000000001

    PEER    STATE      ANSWERS    HEARD      SYNCED   ADDRESS          ID
    berlin  confirmed  yes        2 min ago  1 h ago  https://berlin.  00000002-0000
                                                      example.org/
    paris   pending    not asked  never      never    https://paris.e  00000003-0000
                                                      xample.org/
    paris gave this fingerprint:
      b62e 867f a2f3 3afe 62d5 d6b1 642e 1621 d543 3078 46b2 a57b 897e 7109 19b7 6709
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_an_agent_registered_wants_a_key() {
    let keyless = |peer: PeerView| PeerView { has_key: false, ..peer };
    let (oslo, paris) = (keyless(peer(4, "oslo")), keyless(pending(3, "paris")));
    let asks_us = keyless(PeerView { url: None, ..peer(6, "phone") });
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![oslo.clone(), paris, asks_us]))
        .with("POST /sync/peers/oslo/confirm", &oslo);
    let seen = secret(4).key().fingerprint().to_string();
    let mut told = String::new();
    for args in [
        &["peers", "list"][..],
        &["peers", "confirm", "oslo", "--fingerprint", &seen],
        &["sync", "run"],
    ] {
        let run = node.folder.run(args).success();
        let data = node.folder.data();
        told += &[stderr(&run, &data), stdout(&run, &data)].concat();
    }
    insta::assert_snapshot!(told, @"
    fingerprint  3475 0f98 bd59 fcfc 946d a45a aabe 933b e154 a4b5 094e 1c4a bf42 8665 05f3 c97e
    this node    laptop  0f000000-0000-8000-8000-000000000001

    PEER   STATE      ANSWERS    HEARD      SYNCED   ADDRESS           ID
    oslo   confirmed  yes        2 min ago  1 h ago  https://oslo.exa  00000004-0000
                                                     mple.org/
    paris  pending    not asked  never      never    https://paris.ex  00000003-0000
                                                     ample.org/
    phone  confirmed  yes        2 min ago  1 h ago  it asks us        00000006-0000
    paris gave this fingerprint:
      b62e 867f a2f3 3afe 62d5 d6b1 642e 1621 d543 3078 46b2 a57b 897e 7109 19b7 6709
    nobody has given an API key of oslo: baton peers add https://oslo.example.org/ --name oslo takes one
    nobody has given an API key of paris: baton peers add https://paris.example.org/ --name paris takes one
    oslo is confirmed
    nobody has given an API key of oslo: baton peers add https://oslo.example.org/ --name oslo takes one
    nobody has given an API key of oslo, which is left out: baton peers add https://oslo.example.org/ --name oslo
    paris is pending, and left out: baton peers add https://paris.example.org/ --name paris
    phone has no address, and is left out: it asks this node
    nobody to ask from here: phone asks this node, and sessions move when baton sync run runs there
    ");
}

/// A peer to which a part goes, and from which a part comes.
fn limited(peer: PeerView, give: &Value, take: &Value) -> PeerView {
    let limits = json!({"give": give, "take": take});
    PeerView { limits: serde_json::from_value(limits).unwrap(), ..peer }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_stand_below_the_peers_that_have_some() {
    let shop = json!({"sites": ["shop.test"], "kinds": ["cookies", "local-storage"]});
    let sites: Vec<String> = (0..20).map(|number| format!("site-{number:02}.test")).collect();
    let items = vec![
        limited(peer(2, "berlin"), &shop, &json!({})),
        peer(4, "oslo"),
        limited(peer(3, "paris"), &json!({"sites": sites}), &json!({"kinds": []})),
    ];
    let node = FakeNode::start().await.with("GET /sync/peers", &list(items));
    let run = node.folder.run(&["peers", "list"]).success();
    let told = stdout(&run, &node.folder.data());
    let (_, below) = told.split_once("00000003-0000\n").unwrap();
    insta::assert_snapshot!(below, @"
                                                    mple.org/
    this node gives berlin cookies and local-storage of shop.test, and takes everything
    this node gives paris everything of site-00.test, site-01.test, site-02.test, site-03.test, site-04.test, site-05.test, site-06.test and site-07.test (12 more sites), and takes nothing
    ");
    let (_, told) = node.folder.json(&["peers", "list"]);
    assert_eq!(told["items"][0]["limits"]["give"]["sites"], json!(["shop.test"]));
    assert_eq!(told["items"][1].get("limits"), None);
    assert_eq!(told["items"][2]["limits"]["give"]["sites"].as_array().unwrap().len(), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_said_for_both_ways_or_for_one() {
    let tabs = limited(peer(2, "berlin"), &json!({}), &json!({"kinds": ["tabs"]}));
    let put = format!("PUT /sync/peers/{}/limits", id(2));
    let node = FakeNode::start()
        .await
        .with("PUT /sync/peers/berlin/limits", &tabs)
        .with("POST /sync/peers/berlin/ping", &tabs)
        .with(&put, &peer(2, "berlin"));
    let mut told = String::new();
    for args in [
        &["--sites", "www.shop.test, mail.test", "--kinds", "cookies,local-storage"][..],
        &["--sites", "shop.test", "--give"],
        &["--kinds", "nothing", "--take"],
        &["--none", "--take"],
        &["--none"],
    ] {
        let run = node.folder.run(&[&["peers", "limit", "berlin"], args].concat()).success();
        told += &stdout(&run, &node.folder.data());
        writeln!(told, "  {}", node.heard().join("\n  ")).unwrap();
    }
    insta::assert_snapshot!(told, @r#"
    this node gives berlin everything, and takes tabs
      PUT /sync/peers/berlin/limits {"give":{"sites":["mail.test","shop.test"],"kinds":["cookies","local-storage"]},"take":{"sites":["mail.test","shop.test"],"kinds":["cookies","local-storage"]}}
    berlin has no limits: everything moves, both ways
      POST /sync/peers/berlin/ping
      PUT /sync/peers/00000002-0000-8000-8000-00000000000f/limits {"give":{"sites":["shop.test"]},"take":{"kinds":["tabs"]}}
    berlin has no limits: everything moves, both ways
      POST /sync/peers/berlin/ping
      PUT /sync/peers/00000002-0000-8000-8000-00000000000f/limits {"give":{},"take":{"kinds":[]}}
    berlin has no limits: everything moves, both ways
      POST /sync/peers/berlin/ping
      PUT /sync/peers/00000002-0000-8000-8000-00000000000f/limits {"give":{},"take":{}}
    this node gives berlin everything, and takes tabs
      PUT /sync/peers/berlin/limits {"give":{},"take":{}}
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_that_say_nothing_are_refused_before_anybody_is_asked() {
    let node = FakeNode::start().await;
    let mut told = String::new();
    for args in [
        &[][..],
        &["--give"],
        &["--kinds", "passwords"],
        &["--kinds", ""],
        &["--sites", "https://shop.test"],
        &["--sites", "shop.test", "--none"],
        &["--none", "--give", "--take"],
    ] {
        let run = node.folder.run(&[&["peers", "limit", "berlin"], args].concat()).code(2);
        told += &stderr(&run, &node.folder.data());
    }
    assert!(node.heard().is_empty());
    insta::assert_snapshot!(told.replace("\nFor more information, try '--help'.\n", ""), @r#"
    error: the following required arguments were not provided:
      <--sites <SITE>|--kinds <KIND>|--none>

    Usage: baton peers limit --data <DIR> <--sites <SITE>|--kinds <KIND>|--none> <PEER>
    error: the following required arguments were not provided:
      <--sites <SITE>|--kinds <KIND>|--none>

    Usage: baton peers limit --give --data <DIR> <--sites <SITE>|--kinds <KIND>|--none> <PEER>
    error: invalid value 'passwords' for '--kinds <KIND>': expected cookies, local-storage, databases, caches, files, service-workers, tabs or environment, found "passwords"
    error: invalid value '' for '--kinds <KIND>': expected cookies, local-storage, databases, caches, files, service-workers, tabs or environment, found ""
    error: invalid value 'https://shop.test' for '--sites <SITE>': expected a domain such as example.com, without a scheme, port or path, found "https://shop.test"
    error: the argument '--sites <SITE>' cannot be used with '--none'

    Usage: baton peers limit --data <DIR> <--sites <SITE>|--kinds <KIND>|--none> <PEER>
    error: the argument '--give' cannot be used with '--take'

    Usage: baton peers limit --give --data <DIR> <--sites <SITE>|--kinds <KIND>|--none> <PEER>
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_is_limited_from_the_start() {
    let shop = json!({"sites": ["shop.test"], "kinds": ["cookies"]});
    let limited = limited(peer(3, "paris"), &shop, &shop);
    let node = FakeNode::start().await.with("POST /sync/peers", &limited);
    let part = ["--sites", "www.shop.test", "--kinds", "cookies"];
    let run = [&ADD[..], &part].concat();
    let run = node.folder.run_with(&run, &[("BATON_PEER_KEY", "baton_s3cret")]).success();
    assert_eq!(sent(&node)["limits"], json!({"give": shop, "take": shop}));
    insta::assert_snapshot!(stdout(&run, &node.folder.data()), @"
    paris is confirmed; baton sync run moves sessions
    this node gives paris cookies of shop.test, and takes cookies of shop.test
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_peers_says_how_to_register_one() {
    let node = FakeNode::start().await.with("GET /sync/peers", &list(Vec::new()));
    let run = node.folder.run(&["peers", "list"]).success();
    let told = stdout(&run, &node.folder.data());
    assert_eq!(
        told.lines().last(),
        Some(
            "no peers; baton peers invite here and baton peers join on another machine make two of them peers"
        )
    );
}

/// What `peers add` sends, as JSON.
fn sent(node: &FakeNode) -> Value {
    let heard = node.heard();
    let [only] = heard.as_slice() else { panic!("expected one request, found {heard:?}") };
    serde_json::from_str(only.strip_prefix("POST /sync/peers ").unwrap()).unwrap()
}

const ADD: [&str; 5] = ["peers", "add", "https://paris.example.org", "--name", "paris"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_stays_pending_where_nobody_can_compare_fingerprints() {
    let node = FakeNode::start().await.with("POST /sync/peers", &pending(3, "paris"));
    let file = node.folder.data().with_file_name("paris.key");
    std::fs::write(&file, "baton_s3cret\n").unwrap();
    let key = ["--key-file", file.to_str().unwrap()];
    let run = node.folder.run(&[&ADD[..], &key].concat()).success();
    let sent = sent(&node);
    assert_eq!(sent["apiKey"], "baton_s3cret");
    assert_eq!(sent["authMethod"], "apikey");
    assert!(sent.get("fingerprint").is_none(), "{sent}");
    let told = [stdout(&run, &node.folder.data()), stderr(&run, &node.folder.data())].concat();
    assert!(!told.contains("s3cret"), "{told}");
    insta::assert_snapshot!(told, @r#"
    paris is pending: nothing moves yet
    paris gave this fingerprint:
      b62e 867f a2f3 3afe 62d5 d6b1 642e 1621 d543 3078 46b2 a57b 897e 7109 19b7 6709
    when baton peers list shows the same at the top on that machine, baton peers confirm paris confirms it
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_brings_the_fingerprint_along_confirms_at_once() {
    let node = FakeNode::start().await.with("POST /sync/peers", &peer(3, "paris"));
    let seen = secret(3).key().fingerprint();
    let shown = seen.to_string();
    let args = [&ADD[..], &["--fingerprint", &shown]].concat();
    let run = node.folder.run_with(&args, &[("BATON_PEER_KEY", "baton_s3cret")]).success();
    let sent = sent(&node);
    assert_eq!(sent["fingerprint"], shown);
    assert_eq!(sent["apiKey"], "baton_s3cret");
    let told = stdout(&run, &node.folder.data());
    insta::assert_snapshot!(told, @"paris is confirmed; baton sync run moves sessions");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_is_pending_at_the_peer_hears_what_is_typed_there() {
    let next = "baton peers confirm laptop --fingerprint '3475 0f98'".to_owned();
    let waits = |peer: PeerView| PeerView { confirm_there: Some(next.clone()), ..peer };
    let mut told = String::new();
    for view in [waits(peer(3, "paris")), waits(pending(3, "paris"))] {
        let node = FakeNode::start().await.with("POST /sync/peers", &view);
        let shown = secret(3).key().fingerprint().to_string();
        let args = [&ADD[..], &["--fingerprint", &shown]].concat();
        let run = node.folder.run_with(&args, &[("BATON_PEER_KEY", "baton_s3cret")]).success();
        told += &[stdout(&run, &node.folder.data()), stderr(&run, &node.folder.data())].concat();
    }
    insta::assert_snapshot!(told, @"
    paris is confirmed here
    this node is pending at paris: nothing moves before somebody confirms it there
    there, run: baton peers confirm laptop --fingerprint '3475 0f98'
    paris is pending: nothing moves yet
    paris gave this fingerprint:
      b62e 867f a2f3 3afe 62d5 d6b1 642e 1621 d543 3078 46b2 a57b 897e 7109 19b7 6709
    when baton peers list shows the same at the top on that machine, baton peers confirm paris confirms it
    this node is pending at paris: nothing moves before somebody confirms it there
    there, run: baton peers confirm laptop --fingerprint '3475 0f98'
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_cannot_be_registered_says_why_and_asks_nobody() {
    let node = FakeNode::start().await;
    let place = |name: &str| node.folder.data().with_file_name(name).to_str().unwrap().to_owned();
    let (nowhere, blank) = (place("nowhere"), place("blank"));
    std::fs::write(&blank, " \n").unwrap();
    let client = ["--auth", "msal", "--tenant", "t1", "--client-id", "c", "--scope", "s"];
    let runs: [(&[&str], i32); 13] = [
        (&["--auth", "password"], 2),
        (&["--auth", "msal"], 2),
        (&["--auth", "tunnel"], 2),
        (&client[..4], 2),
        (&client[..6], 2),
        (&client, 2),
        (&["--auth", "tunnel", "--tunnel-token-file", &blank], 2),
        (&["--auth", "tunnel", "--scope", "s"], 2),
        (&["--client-id", "c"], 2),
        (&[], 2),
        (&["--key-file", &nowhere], 3),
        (&["--key-file", &blank], 2),
        (&["--fingerprint", "a1b2"], 2),
    ];
    let mut heard = Vec::new();
    for (args, code) in runs {
        let run = node.folder.run(&[&ADD[..], args].concat()).code(code);
        heard.push(stderr(&run, node.folder.data().parent().unwrap()));
    }
    assert!(node.heard().is_empty(), "the node was asked nothing");
    insta::assert_snapshot!(heard.concat(), @r#"
    error: invalid value 'password' for '--auth <METHOD>': expected msal, apikey or tunnel, found "password"

    For more information, try '--help'.
    error: expected --tenant, or --issuer, with --auth msal, found none
    error: expected the token of the tunnel, found none
      give --tunnel-token-file, set BATON_PEER_TUNNEL_TOKEN, or run this on a terminal; devtunnel token TUNNEL --scopes connect makes one there
    error: expected --client-id with --auth msal, found none
    error: expected --scope, or --resource, with --auth msal, found none
    error: expected the secret of the client, found none
      give --client-secret-file, set BATON_PEER_CLIENT_SECRET, or run this on a terminal; the provider, such as Entra ID, makes one for the client
    error: expected the token of the tunnel, found nothing but blanks
      devtunnel token TUNNEL --scopes connect makes one there
    error: expected --client-id with --auth tunnel, found none
    error: expected no --client-id with --auth apikey; it is for another method
    error: expected the API key of the other node, found none
      give --key-file, set BATON_PEER_KEY, or run this on a terminal; baton keys create --name NAME --scope sync makes a key there
    error: expected a file with the API key of the other node at DATA/nowhere, found none
    error: expected the API key of the other node, found nothing but blanks
      baton keys create --name NAME --scope sync makes a key there
    error: invalid value 'a1b2' for '--fingerprint <FINGERPRINT>': expected a fingerprint: 16 groups of four hexadecimal digits

    For more information, try '--help'.
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_compared_elsewhere_confirms_a_peer() {
    let seen = secret(3).key().fingerprint();
    let node = FakeNode::start().await.with("POST /sync/peers/paris/confirm", &peer(3, "paris"));
    let nobody = node.folder.run(&["peers", "confirm", "paris"]).code(2);
    insta::assert_snapshot!(stderr(&nobody, &node.folder.data()), @r"
    error: expected the fingerprint that the other node shows, found none and no terminal
      give it with --fingerprint; baton peers list shows it there, at the top
    ");
    assert!(node.heard().is_empty());
    // As it may have been copied: without spaces, with large letters.
    let copied = seen.to_string().replace(' ', "").to_uppercase();
    node.folder.run(&["peers", "confirm", "paris", "--fingerprint", &copied]).success();
    let expected = format!("POST /sync/peers/paris/confirm {{\"fingerprint\":\"{seen}\"}}");
    assert_eq!(node.heard(), [expected]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_does_not_answer_ends_with_1_and_says_why() {
    let silent = PeerView {
        status: PeerStatus::Offline,
        reason: Some("connection refused".to_owned()),
        ..peer(2, "berlin")
    };
    let node = FakeNode::start()
        .await
        .with("POST /sync/peers/berlin/ping", &peer(2, "berlin"))
        .with("POST /sync/peers/berlin/ping", &silent);
    let answers = node.folder.run(&["peers", "ping", "berlin"]).success();
    let silent = node.folder.run(&["peers", "ping", "berlin"]).code(1);
    let told = [answers, silent].map(|run| stdout(&run, &node.folder.data()));
    insta::assert_snapshot!(told.concat(), @r"
    berlin answers, and is who it was
    berlin does not answer: connection refused
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_is_forgotten_once() {
    let node = FakeNode::start().await.with("DELETE /sync/peers/berlin", &Value::Null).refusing(
        "DELETE /sync/peers/berlin",
        ErrorCode::PeerNotFound,
        "no peer \"berlin\"",
    );
    let removed = node.folder.json(&["peers", "remove", "berlin"]);
    assert_eq!(removed, (0, json!({"removed": "berlin"})));
    node.folder.run(&["peers", "remove", "berlin"]).code(3);
}
