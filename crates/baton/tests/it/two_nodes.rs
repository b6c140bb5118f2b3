//! A session goes from one node to another and back, by the command line, with a real browser at each
//! side: the eight steps that everybody takes.

use crate::login::{SHOWN, log_in};
use crate::notes::wait_for_state;
use assert_cmd::assert::Assert;
use assert_cmd::cargo::cargo_bin_cmd;
use axum::response::Html;
use axum::routing::get;
use baton_playground::{Page, Site, TestNode};
use baton_session::Lifecycle;
use serde_json::Value;
use url::Url;

/// Two test nodes, and a site with a login.
pub(crate) struct Story {
    site: Site,
    pub(crate) cloud: TestNode,
    pub(crate) hosted: TestNode,
}

impl Story {
    /// The hosted node has registered the cloud's and compared its fingerprint.
    pub(crate) async fn begin() -> Self {
        let story = Self::of_strangers().await;
        introduce(&story.cloud, "cloud", &story.hosted);
        story
    }

    /// Neither node knows the other one.
    pub(crate) async fn of_strangers() -> Self {
        let page = || async { Html("<title>shop</title>") };
        let site = Site::start(crate::login::site().route("/shop", get(page))).await.unwrap();
        let (cloud, hosted) =
            (crate::test_nodes::test_node().await, crate::test_nodes::test_node().await);
        Self { site, cloud, hosted }
    }

    /// A person registers the cloud's node at the hosted one, with a key that it gave out.
    pub(crate) fn give_key(&self) -> Value {
        give_key(&self.cloud, "cloud", &self.hosted)
    }

    /// What a person sees who asks the cloud's node for its fingerprint.
    pub(crate) fn fingerprint(&self) -> String {
        fingerprint(&self.cloud)
    }

    pub(crate) fn url(&self) -> Url {
        self.site.url("/shop").unwrap()
    }

    /// Runs a script in the page of the session at a test node.
    pub(crate) async fn at<T: serde::de::DeserializeOwned>(
        &self,
        test_node: &TestNode,
        script: &str,
    ) -> T {
        let id = test_node.client().unwrap().fetch_session("shop").await.unwrap().session.id;
        let page = Page::attach(&test_node.keeper_socket(id), self.url().as_str()).await.unwrap();
        page.evaluate(script).await.unwrap()
    }

    pub(crate) async fn end(self) {
        self.cloud.clear().await.unwrap();
        self.hosted.clear().await.unwrap();
    }
}

/// Makes the node of a test node known to that of another one, by this name.
pub(crate) fn introduce(test_node: &TestNode, name: &str, to: &TestNode) {
    let seen = fingerprint(test_node);
    assert_eq!(give_key(test_node, name, to)["state"], "pending");
    baton(to, &["sync", "status", name]).code(4);
    let wrong = "0000 ".repeat(16);
    baton(to, &["peers", "confirm", name, "--fingerprint", &wrong]).failure();
    let confirmed = said(&baton(to, &["peers", "confirm", name, "--fingerprint", &seen]).success());
    assert_eq!(confirmed["state"], "confirmed");
    assert_eq!(said(&baton(to, &["peers", "ping", name]))["status"], "online");
}

/// The same in the other direction: whoever made a key for a node has confirmed it with that.
pub(crate) fn introduce_back(test_node: &TestNode, name: &str, to: &TestNode) {
    assert_eq!(give_key(test_node, name, to)["state"], "confirmed");
    assert_eq!(said(&baton(to, &["peers", "ping", name]))["status"], "online");
}

fn give_key(test_node: &TestNode, name: &str, to: &TestNode) -> Value {
    let guest = fingerprint(to);
    let create = ["keys", "create", "--name", "guest", "--scope", "sync", "--for-node", &guest];
    let key = said(&baton(test_node, &create).success());
    let url = test_node.client().unwrap().base().to_string();
    let add = ["peers", "add", &url, "--name", name];
    said(&with_key(to, key["secret"].as_str().unwrap(), &add).success())
}

fn fingerprint(test_node: &TestNode) -> String {
    let seen = said(&baton(test_node, &["peers", "list"]).success());
    seen["fingerprint"].as_str().unwrap().to_owned()
}

/// Runs the program on a test node, as a program that reads what it says.
pub(crate) fn baton(test_node: &TestNode, args: &[&str]) -> Assert {
    with_key(test_node, "", args)
}

/// The same with a key that a peer gave out.
pub(crate) fn with_key(test_node: &TestNode, key: &str, args: &[&str]) -> Assert {
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(test_node.data().path()).arg("--json").args(args).write_stdin("");
    if !key.is_empty() {
        command.env("BATON_PEER_KEY", key);
    }
    command.assert()
}

pub(crate) fn said(run: &Assert) -> Value {
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

/// What the sessions of a run came to.
fn outcomes(run: &Assert) -> Vec<String> {
    let said = said(run);
    let items = said["items"].as_array().unwrap().iter();
    items
        .map(|item| {
            format!("{} {}", item["way"].as_str().unwrap(), item["outcome"].as_str().unwrap())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_goes_from_one_node_to_another_and_back() {
    let story = Story::begin().await;
    // It starts at the cloud, and is saved there.
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    let saved = said(&baton(&story.cloud, &["save", "shop"]).success());
    assert_eq!((&saved["version"], &saved["unchanged"]), (&1.into(), &false.into()));
    baton(&story.cloud, &["sessions", "close", "shop"]).success();
    // The hosted node fetches it, and is logged in.
    assert_eq!(outcomes(&baton(&story.hosted, &["sync", "run"]).success()), ["pull moved"]);
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    let whole = r#"theme=dark; sid=ada | "first" | 2 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, whole);
    // It goes on there, and back.
    let more = "localStorage.setItem('token', 'second'); sessionStorage.setItem('step', '3'); true";
    assert!(story.at::<bool>(&story.hosted, more).await);
    baton(&story.hosted, &["save", "shop"]).success();
    baton(&story.hosted, &["sessions", "close", "shop"]).success();
    assert_eq!(outcomes(&baton(&story.hosted, &["sync", "run"]).success()), ["push moved"]);
    baton(&story.cloud, &["sessions", "resume", "shop"]).success();
    let whole = r#"theme=dark; sid=ada | "second" | 3 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.cloud, SHOWN).await, whole);
    // And nothing is left to move.
    let standing = said(&baton(&story.hosted, &["sync", "status"]).success());
    assert_eq!(standing["peers"][0]["items"], serde_json::json!([]), "{standing}");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_commands_take_a_session_to_a_machine_that_never_heard_of_the_other() {
    let story = Story::of_strangers().await;
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    let card = story.hosted.data().path().join("cloud.invitation");
    let card = card.to_str().unwrap();
    let invite = ["peers", "invite", "--listen", "127.0.0.1:0", "--card", card];
    let invited = said(&baton(&story.cloud, &invite).success());
    assert_eq!(invited["card"], card, "{invited}");
    let join = ["peers", "join", "--card", card, "--name", "cloud"];
    let joined = said(&baton(&story.hosted, &join).success());
    assert_eq!((&joined["state"], &joined["status"]), (&"confirmed".into(), &"online".into()));
    baton(&story.cloud, &["save", "shop"]).success();
    assert_eq!(outcomes(&baton(&story.hosted, &["sync", "run"]).success()), ["pull moved"]);
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    let whole = r#"theme=dark; sid=ada | "first" | 2 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, whole);
    let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(card).unwrap());
    assert_eq!(mode & 0o777, 0o600, "the file is its user's alone");
    let again = said(&baton(&story.hosted, &join).failure());
    assert_eq!(again["error"]["code"], "invitation_not_found", "{again}");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_resumes_a_session_gets_it_from_the_node_that_runs_it() {
    let story = Story::begin().await;
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    let shown = said(&baton(&story.hosted, &["sessions", "show", "shop"]).success());
    assert_eq!(shown["shared"]["held_by"]["name"], "cloud", "{shown}");
    // The agent at the cloud goes on, and nobody saves that.
    let more = "localStorage.setItem('token', 'second'); true";
    assert!(story.at::<bool>(&story.cloud, more).await);
    let resumed = said(&baton(&story.hosted, &["sessions", "resume", "shop"]).success());
    assert_eq!(resumed["handed"]["how"], "handed_over", "{resumed}");
    assert_eq!(resumed["shared"]["held_by"]["here"], true, "{resumed}");
    let whole = r#"theme=dark; sid=ada | "second" | 2 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, whole);
    let left = said(&baton(&story.cloud, &["sessions", "show", "shop"]).success());
    assert_eq!(
        (&left["state"], &left["shared"]["held_by"]["here"]),
        (&"closed".into(), &false.into())
    );
    let audit = said(&baton(&story.cloud, &["audit"]).success()).to_string();
    assert!(audit.contains("session.hand_over"), "{audit}");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_that_is_gone_is_taken_over_and_gives_up_what_it_has_when_it_is_back() {
    let mut story = Story::begin().await;
    introduce_back(&story.hosted, "hosted", &story.cloud);
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    let here = "localStorage.setItem('token', 'at the cloud'); true";
    assert!(story.at::<bool>(&story.cloud, here).await);
    // The node dies; its browser does not.
    story.cloud.kill_node().await.unwrap();
    let resumed = said(&baton(&story.hosted, &["sessions", "resume", "shop"]).success());
    assert_eq!(resumed["handed"]["how"], "taken_over", "{resumed}");
    let there = "localStorage.setItem('token', 'hosted'); true";
    assert!(story.at::<bool>(&story.hosted, there).await);
    baton(&story.hosted, &["save", "shop"]).success();
    story.cloud.start_node().await.unwrap();
    wait_for_state(&story.cloud, "shop", Lifecycle::Closed).await;
    // Both sides are kept.
    baton(&story.cloud, &["sync", "run", "hosted"]).code(4);
    let conflicts = said(&baton(&story.hosted, &["sync", "conflicts"]).success());
    assert_eq!(conflicts["items"][0]["siblings"].as_array().unwrap().len(), 1, "{conflicts}");
    let whole = r#"theme=dark; sid=ada | "hosted" | 2 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, whole, "its browser runs on");
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_changed_at_both_is_kept_until_a_person_chooses() {
    let story = Story::begin().await;
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    // The cloud's node cannot ask the other one, which has no address.
    let resumed = said(&baton(&story.cloud, &["sessions", "resume", "shop"]).success());
    assert_eq!(resumed["handed"]["how"], "taken_over", "{resumed}");
    for (test_node, token) in [(&story.cloud, "at the cloud"), (&story.hosted, "hosted")] {
        let write = format!("localStorage.setItem('token', '{token}'); true");
        assert!(story.at::<bool>(test_node, &write).await);
        baton(test_node, &["save", "shop"]).success();
        baton(test_node, &["sessions", "close", "shop"]).success();
    }
    baton(&story.hosted, &["sync", "run"]).code(4);
    let conflicts = said(&baton(&story.hosted, &["sync", "conflicts"]).success());
    let conflict = &conflicts["items"][0];
    let cloud = said(&baton(&story.cloud, &["peers", "list"]))["self"]["nodeId"].take();
    let all = [&conflict["current"], &conflict["siblings"][0]];
    let theirs = all.into_iter().find(|one| one["nodeId"] == cloud).unwrap();
    let keep = &theirs["rev"].as_str().unwrap()[..12];
    baton(&story.hosted, &["sync", "resolve", "shop", "--keep", keep]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    for test_node in [&story.cloud, &story.hosted] {
        let left = said(&baton(test_node, &["sync", "conflicts"]).success());
        assert_eq!(left["items"], serde_json::json!([]), "{left}");
        baton(test_node, &["sessions", "resume", "shop"]).success();
        let shown = story.at::<String>(test_node, SHOWN).await;
        assert_eq!(shown, r#"theme=dark; sid=ada | "at the cloud" | 2 | 3 | 5 | one"#);
        baton(test_node, &["sessions", "close", "shop"]).success();
    }
    story.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_saved_while_it_runs_outlives_a_deletion_that_came_meanwhile() {
    let story = Story::begin().await;
    story.cloud.open("shop", [story.url()]).await.unwrap();
    assert!(story.at::<bool>(&story.cloud, &log_in("first")).await);
    baton(&story.cloud, &["save", "shop"]).success();
    baton(&story.cloud, &["sessions", "close", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]).success();
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    // It is deleted at the cloud, and the word of that comes while its browser runs here.
    baton(&story.cloud, &["sessions", "delete", "shop"]).success();
    baton(&story.hosted, &["sync", "run"]);
    let shown = said(&baton(&story.hosted, &["sessions", "show", "shop"]).success());
    assert_eq!((&shown["state"], &shown["shared"]["deleted"]), (&"active".into(), &true.into()));
    // Nothing was done there since. Who saves it wants it all the same.
    let saved = said(&baton(&story.hosted, &["save", "shop"]));
    assert_eq!((&saved["unchanged"], &saved["version"]), (&false.into(), &2.into()), "{saved}");
    let shown = said(&baton(&story.hosted, &["sessions", "show", "shop"]).success());
    assert!(shown["shared"]["deleted"].is_null(), "{shown}");
    baton(&story.hosted, &["sessions", "close", "shop"]).success();
    baton(&story.hosted, &["sessions", "resume", "shop"]).success();
    let whole = r#"theme=dark; sid=ada | "first" | 2 | 3 | 5 | one"#;
    assert_eq!(story.at::<String>(&story.hosted, SHOWN).await, whole);
    story.end().await;
}
