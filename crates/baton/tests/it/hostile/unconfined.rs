//! Browsers that nothing keeps from the files of this machine: people see which they are, and keys of other
//! owners may not drive them.

use super::machine::key_of_bob;
use super::older::OlderKeeper;
use crate::attach::Foreign;
use crate::test_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::{
    AttachSession, Client, ClientError, CreateKey, ErrorCode, OpenCdp, OpenSession, Scope,
};
use baton_playground::TestNode;
use baton_session::Confinement;

const ONCE: OpenCdp = OpenCdp { reusable: false };
/// What lists say of them.
const MARK: &str = "not confined";

/// What a person is told by a command, whatever it ends with.
fn told(test_node: &TestNode, confinement: &str, words: &[&str]) -> String {
    let mut command = cargo_bin_cmd!("baton");
    let command = command.env("BATON_BROWSER_CONFINEMENT", confinement);
    let run = command.arg("--data").arg(test_node.data().path()).args(words).output().unwrap();
    String::from_utf8(run.stdout).unwrap()
}

/// The line of a list, or of the doctor's looks, in which all of this stands.
fn line<'a>(text: &'a str, has: &[&str]) -> &'a str {
    let found = text.lines().find(|line| has.iter().all(|has| line.contains(has)));
    found.unwrap_or_else(|| panic!("expected a line with {has:?}, found {text}"))
}

async fn refused(client: &Client, session: &str) -> ClientError {
    let refused = client.open_cdp(session, &ONCE).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::NotConfined), "{refused}");
    refused
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_without_rules_is_marked_and_driven_by_the_owner_of_the_node_alone() {
    let mut test_node = test_nodes::build().with("BATON_BROWSER_CONFINEMENT", "off");
    test_node.start_node().await.unwrap();
    let (bob, key) = key_of_bob(&test_node).await;
    let view = bob.open_session(&OpenSession::new("own".parse().unwrap(), [])).await.unwrap();
    assert_eq!(view.session.confinement, Some(Confinement::Off));
    insta::assert_snapshot!(refused(&bob, "own").await, @"expected session own to have a browser that is kept from the files of this machine, found one that was started without");
    let mine = test_node.open("mine", []).await.unwrap().to_string();
    let client = test_node.client().unwrap();
    client.open_cdp("mine", &ONCE).await.unwrap();

    assert!(line(&told(&test_node, "off", &["sessions", "list"]), &["mine"]).contains(MARK));
    assert!(told(&test_node, "off", &["sessions", "show", "mine"]).contains(MARK));
    let looks = told(&test_node, "off", &["doctor"]);
    let kept = line(&looks, &["keeper", &mine]);
    assert!(kept.contains("warning") && kept.contains("every file of its user"), "{kept}");
    let rules = line(&looks, &[" confinement "]).trim();
    insta::assert_snapshot!(rules, @"warning  confinement  off: whoever drives a browser has every file of this user");

    // From the next start on there are rules; the browsers that go on have none, until each is resumed.
    test_node.stop_node().await.unwrap();
    test_node = test_node.with("BATON_BROWSER_CONFINEMENT", "auto");
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap();
    let bob = Client::new(client.base().clone(), key.into()).unwrap();
    refused(&bob, "own").await;
    assert!(line(&told(&test_node, "auto", &["sessions", "list"]), &["mine"]).contains(MARK));
    bob.close_session("own").await.unwrap();
    bob.resume_session("own").await.unwrap();
    bob.open_cdp("own", &ONCE).await.unwrap();
    client.close_session("mine").await.unwrap();
    client.resume_session("mine").await.unwrap();
    let list = told(&test_node, "auto", &["sessions", "list"]);
    assert!(!line(&list, &["mine"]).contains(MARK), "{list}");
    assert!(!told(&test_node, "auto", &["sessions", "show", "mine"]).contains(MARK));
    let looks = told(&test_node, "auto", &["doctor"]);
    assert!(line(&looks, &["keeper", &mine]).contains("ok "), "{looks}");
    let rules = line(&looks, &[" confinement "]);
    assert!(rules.contains("browsers see the files of their session alone"), "{rules}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_of_an_older_keeper_counts_as_one_without_rules_until_it_is_resumed() {
    let mut test_node = test_nodes::test_node().await;
    let (bob, key) = key_of_bob(&test_node).await;
    let view = bob.open_session(&OpenSession::new("own".parse().unwrap(), [])).await.unwrap();
    bob.open_cdp("own", &ONCE).await.unwrap();
    let (own, mine) = (view.session.id, test_node.open("mine", []).await.unwrap());

    // The node is updated, and finds the keepers of the version before.
    test_node.stop_node().await.unwrap();
    let older = [own, mine].map(|id| OlderKeeper::in_place_of(&test_node.keeper_socket(id)));
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap();
    let bob = Client::new(client.base().clone(), key.into()).unwrap();
    refused(&bob, "own").await;
    client.open_cdp("mine", &ONCE).await.unwrap();
    let view = client.fetch_session("mine").await.unwrap();
    assert_eq!(view.session.confinement, Some(Confinement::Off));
    assert!(line(&told(&test_node, "auto", &["sessions", "list"]), &["mine"]).contains(MARK));
    let looks = told(&test_node, "auto", &["doctor"]);
    let kept = line(&looks, &["keeper", &mine.to_string()]);
    assert!(kept.contains("warning") && kept.contains("every file of its user"), "{kept}");

    bob.close_session("own").await.unwrap();
    client.close_session("mine").await.unwrap();
    drop(older);
    bob.resume_session("own").await.unwrap();
    bob.open_cdp("own", &ONCE).await.unwrap();
    client.resume_session("mine").await.unwrap();
    let list = told(&test_node, "auto", &["sessions", "list"]);
    assert!(!line(&list, &["mine"]).contains(MARK), "{list}");
    let looks = told(&test_node, "auto", &["doctor"]);
    assert!(line(&looks, &["keeper", &mine.to_string()]).contains("ok "), "{looks}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_was_attached_is_driven_by_no_other_owner() {
    let profile = tempfile::tempdir().unwrap();
    let foreign = Foreign::start(profile.path(), &"about:blank".parse().unwrap()).await;
    let test_node = test_nodes::test_node().await;
    let client = test_node.client().unwrap();
    let scopes = Scope::ALL.into_iter().collect();
    let owner = Some("eve".parse().unwrap());
    let wanted = CreateKey { name: "eve".to_owned(), owner, scopes, for_node: None };
    let secret = client.create_key(&wanted).await.unwrap().secret;
    let eve = Client::new(client.base().clone(), secret.into()).unwrap();
    for (asks, name, is_refused) in [(&eve, "hers", true), (client, "mine", false)] {
        let request = AttachSession {
            name: name.parse().unwrap(),
            description: None,
            cdp_url: foreign.address.clone(),
        };
        let view = asks.attach_session(&request).await.unwrap();
        assert_eq!(view.session.confinement, Some(Confinement::Off));
        if is_refused {
            refused(asks, name).await;
        } else {
            asks.open_cdp(name, &ONCE).await.unwrap();
            assert!(line(&told(&test_node, "auto", &["sessions", "list"]), &[name]).contains(MARK));
        }
        asks.close_session(name).await.unwrap();
    }
    // It is resumed on a browser of our own, which has rules.
    eve.resume_session("hers").await.unwrap();
    eve.open_cdp("hers", &ONCE).await.unwrap();
    test_node.clear().await.unwrap();
}
