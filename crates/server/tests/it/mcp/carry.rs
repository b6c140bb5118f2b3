//! Models move sessions between two nodes, and a person says which nodes those are.

use super::{answer, call, message, told, unattended, with_a_session};
use crate::fixture::{Folder, Node, seed_snapshot, state_at};
use crate::sync::pair::held_by;
use baton_api::sync::{ConfirmPeer, RegisterPeer};
use baton_api::{CreateKey, Scope};
use baton_session::Fingerprint;
use baton_session::peer::AuthMethod;
use serde_json::{Value, json};

/// A key of the other node that was made for this one.
async fn key_of(node: &Node, here: &Node, name: &str) -> String {
    let (scopes, for_node) = ([Scope::Sync].into(), here.admin().list_peers().await.unwrap());
    let for_node = Some(for_node.fingerprint);
    let request = CreateKey { name: name.to_owned(), owner: None, scopes, for_node };
    node.admin().create_key(&request).await.unwrap().secret
}

/// Registers `there` at `here` under a name; who it is was not compared yet.
async fn register(here: &Node, there: &Node, name: &str) {
    let request = RegisterPeer {
        url: there.file.url.clone(),
        name: name.to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key_of(there, here, name).await),
        oidc: None,
        tunnel_token: None,
        fingerprint: None,
        limits: None,
    };
    here.admin().register_peer(&request).await.unwrap();
}

/// The node `laptop` with the session `shop`, and the node `server` that it knows.
async fn two() -> (Node, Node) {
    let (laptop, server) = (with_a_session().await, Node::start().await);
    register(&laptop, &server, "server").await;
    let fingerprint = server.admin().list_peers().await.unwrap().fingerprint;
    laptop.admin().confirm_peer("server", &ConfirmPeer { fingerprint }).await.unwrap();
    (laptop, server)
}

async fn stop(nodes: [Node; 2]) {
    for node in nodes {
        node.stop().await;
    }
}

/// Text without what differs from run to run: ids, revisions, ages and sizes.
fn tidy(text: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let next = |at: usize| words.get(at + 1).copied().unwrap_or_default();
        let tidied = words.iter().enumerate().map(|(at, word)| tidied(word, next(at)));
        tidied.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn tidied(word: &str, next: &str) -> String {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    let is_size = ["B", "kB", "MB"].contains(&next.trim_end_matches(['.', ',']));
    let is_age = word.strip_suffix('s').is_some_and(is_number);
    if word.len() == 36 && word.matches('-').count() == 4 {
        return "ID".to_owned();
    }
    if is_age || (is_size && is_number(word)) {
        return "N".to_owned();
    }
    match word.split_once('-') {
        Some((version, hash)) if is_number(version) => {
            let rest = hash.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            format!("{version}-REV{rest}")
        }
        _ => word.to_owned(),
    }
}

#[tokio::test]
async fn a_node_without_peers_says_what_to_do_first() {
    let node = with_a_session().await;
    let key = node.admin_key();
    let mut heard = Vec::new();
    for (name, arguments) in [
        ("browser_sync_list_peers", json!({})),
        ("browser_sync_list_remote_sessions", json!({})),
        ("browser_sync_conflicts", json!({})),
        ("browser_list_profiles", json!({})),
        ("browser_save_profile", json!({"name": "shop", "sessionId": "shop"})),
        ("browser_save_profile", json!({"name": "shop", "sessionId": "shop"})),
        ("browser_list_profiles", json!({})),
        ("browser_sync_import_session", json!({"nodeId": "server", "sessionId": "shop"})),
        ("browser_sync_export_session", json!({"nodeId": "server", "name": "shop"})),
        ("browser_sync_resume_session", json!({"sessionId": "nope"})),
        ("browser_sync_resolve", json!({"sessionId": "shop", "keep": "7-"})),
        ("browser_save_profile", json!({"name": "a shop", "sessionId": "shop"})),
    ] {
        heard.push(format!("{name}: {}", tidy(&call(&node, &key, name, arguments).await)));
    }
    insta::assert_snapshot!(heard.join("\n"), @r#"
    browser_sync_list_peers: No peers. browser_sync_register_peer registers one.
    browser_sync_list_remote_sessions: No confirmed peers. browser_sync_list_peers tells how they stand.
    browser_sync_conflicts: No conflicts.
    browser_list_profiles: No saved sessions. browser_save_profile saves one.
    browser_save_profile: Saved shop: revision 1-REV.
    browser_save_profile: shop was saved as it is already: revision 1-REV.
    browser_list_profiles: sessionId saved synced availableOn
    shop N no this node only
    browser_sync_import_session: error: no peer "server"
    Next: browser_sync_list_peers lists the peers that there are
    browser_sync_export_session: error: expected sessionId, or one active session; found no active session
    Next: give sessionId: a name or an id; list_sessions lists them
    browser_sync_resume_session: error: expected one session that is called so, found none
    Next: browser_sync_list_remote_sessions lists those at peers, with their ids
    browser_sync_resolve: error: expected the beginning of one revision, found 0 for "7-"
    Next: browser_sync_conflicts lists the revisions that there are
    browser_save_profile: error: expected arguments as the tool's schema says: name: expected a name of 1 to 64 letters, digits, '-', '_' or '.', not a UUID, found "a shop"
    Next: call it again with these corrected
    "#);
    node.stop().await;
}

#[tokio::test]
async fn a_model_registers_a_node_and_a_person_does_the_rest() {
    let (laptop, server) = (with_a_session().await, Node::start().await);
    let key = laptop.admin_key();
    let url = server.file.url.clone();
    let fingerprint = server.admin().list_peers().await.unwrap().fingerprint;
    let ask = json!({"url": url, "name": "my server; id", "authMethod": "apikey"});
    let tidy = |heard: String| {
        let heard = heard.replace(url.as_str(), "URL");
        heard.replace(&fingerprint.to_string(), "FINGERPRINT")
    };
    let mut heard = Vec::new();
    for (name, arguments) in [
        ("browser_sync_register_peer", ask.clone()),
        ("browser_sync_register_peer", ask.clone()),
        ("browser_sync_list_peers", json!({})),
        ("browser_sync_list_remote_sessions", json!({})),
        ("browser_sync_list_remote_sessions", json!({"nodeId": "my server; id"})),
        (
            "browser_sync_export_session",
            json!({"nodeId": "my server; id", "name": "shop", "sessionId": "shop"}),
        ),
    ] {
        heard.push(format!("{name}: {}", tidy(call(&laptop, &key, name, arguments).await)));
    }
    insta::assert_snapshot!(heard.join("\n"), @r"
    browser_sync_register_peer: my server; id is pending: nothing moves yet. It gave the fingerprint FINGERPRINT.
    It answers to an API key, which no tool takes; the user makes one: there, run: baton keys create --name NAME --scope sync
    Ask the user to type here, with that: baton peers add URL --name 'my server; id'
    browser_sync_register_peer: my server; id is pending: nothing moves yet. It gave the fingerprint FINGERPRINT.
    It answers to an API key, which no tool takes; the user makes one: there, run: baton keys create --name NAME --scope sync
    Ask the user to type here, with that: baton peers add URL --name 'my server; id'
    browser_sync_list_peers: nodeId state status lastSync
    my server; id pending online never (the user types: baton peers add URL --name 'my server; id')
    browser_sync_list_remote_sessions: No confirmed peers. browser_sync_list_peers tells how they stand.
    browser_sync_list_remote_sessions: error: expected peer my server; id to be confirmed, found it pending
    Next: ask the user; browser_sync_list_peers tells what they type
    browser_sync_export_session: error: expected peer my server; id to be confirmed, found it pending
    Next: ask the user; browser_sync_list_peers tells what they type
    ");
    let agreed = unattended(&laptop, "browser_sync_register_peer", ask).await;
    assert_eq!(agreed["state"], "pending", "who agreed beforehand has compared nothing: {agreed}");
    // A person gives the key and says that it is the same node.
    let request = RegisterPeer {
        url: server.file.url.clone(),
        name: "server".to_owned(),
        auth_method: AuthMethod::ApiKey,
        api_key: Some(key_of(&server, &laptop, "laptop").await),
        oidc: None,
        tunnel_token: None,
        fingerprint: Some(fingerprint),
        limits: None,
    };
    laptop.admin().register_peer(&request).await.unwrap();
    let export = json!({"nodeId": "server", "name": "shop", "sessionId": "shop"});
    let moved = call(&laptop, &key, "browser_sync_export_session", export).await;
    assert!(moved.starts_with("Moved shop from this node to server"), "{moved}");
    stop([laptop, server]).await;
}

#[tokio::test]
async fn a_node_that_cannot_be_registered_is_no_peer() {
    let (laptop, server) = (with_a_session().await, Node::start().await);
    let (key, url) = (laptop.admin_key(), server.file.url.clone());
    let mut heard = Vec::new();
    for wrong in [
        json!({"url": "nowhere", "name": "server", "authMethod": "apikey"}),
        json!({"url": url, "name": "server", "authMethod": "msal", "clientSecret": "s3cret"}),
        json!({"url": url, "name": "server", "authMethod": "apikey", "apiKey": "s3cret"}),
        json!({"url": "http://10.0.0.7/", "name": "server", "authMethod": "apikey"}),
        json!({"url": laptop.file.url, "name": "server", "authMethod": "apikey"}),
    ] {
        heard.push(call(&laptop, &key, "browser_sync_register_peer", wrong).await);
    }
    // What listens on this machine is for whoever administers it to name.
    let scopes = [Scope::Sync].into();
    let request = CreateKey { name: "agent".to_owned(), owner: None, scopes, for_node: None };
    let agent = laptop.admin().create_key(&request).await.unwrap().secret;
    let arguments = json!({"url": url, "name": "server", "authMethod": "apikey"});
    heard.push(call(&laptop, &agent, "browser_sync_register_peer", arguments).await);
    for heard in &heard {
        assert!(heard.starts_with("error: expected ") && !heard.contains("s3cret"), "{heard}");
    }
    assert!(laptop.admin().list_peers().await.unwrap().items.is_empty());
    stop([laptop, server]).await;
}

#[tokio::test]
async fn what_opens_a_peer_is_given_by_a_person_whatever_its_method_is() {
    let (laptop, server) = (with_a_session().await, Node::start().await);
    let (key, url) = (laptop.admin_key(), server.file.url.clone());
    for (method, expected) in [
        ("msal", "--auth msal --tenant TENANT --client-id ID --scope SCOPE"),
        ("tunnel", "--auth tunnel"),
    ] {
        let arguments = json!({"url": url, "name": "server", "authMethod": method});
        let heard = call(&laptop, &key, "browser_sync_register_peer", arguments).await;
        assert!(heard.contains("is pending: nothing moves yet"), "{heard}");
        let typed = format!("baton peers add {url} --name server {expected}");
        assert!(heard.ends_with(&typed), "{heard}");
        let confirm = ConfirmPeer { fingerprint: fingerprint(&server).await };
        laptop.admin().confirm_peer("server", &confirm).await.unwrap();
        let arguments = json!({"nodeId": "server"});
        let heard = call(&laptop, &key, "browser_sync_list_remote_sessions", arguments).await;
        assert!(heard.contains("peer server, found none"), "{heard}");
        let heard = call(&laptop, &key, "browser_sync_list_peers", json!({})).await;
        assert!(heard.contains(&typed), "{heard}");
        laptop.admin().remove_peer("server").await.unwrap();
    }
    stop([laptop, server]).await;
}

async fn fingerprint(node: &Node) -> Fingerprint {
    node.admin().list_peers().await.unwrap().fingerprint
}

#[tokio::test]
async fn a_person_compares_the_fingerprint_of_a_pending_peer() {
    let (laptop, server) = (with_a_session().await, Node::start().await);
    register(&laptop, &server, "server").await;
    let key = laptop.admin_key();
    let fingerprint = server.admin().list_peers().await.unwrap().fingerprint.to_string();
    let arguments = json!({"url": server.file.url, "name": "server", "authMethod": "apikey"});
    let params = json!({"name": "browser_sync_register_peer", "arguments": arguments});
    // Nobody can be asked, or agreed beforehand: it stays as it is.
    for heard in [
        call(&laptop, &key, "browser_sync_register_peer", arguments.clone()).await,
        unattended(&laptop, "browser_sync_register_peer", arguments).await.to_string(),
    ] {
        assert!(heard.contains("pending") && heard.contains(&fingerprint), "{heard}");
    }
    let can_ask = json!({"elicitation": {"form": {}}});
    let sent = message(&laptop, &key, "tools/call", params.clone(), &can_ask).send().await;
    let asked = answer(sent.unwrap()).await;
    let question = &asked["result"]["inputRequests"]["confirm"]["params"]["message"];
    assert!(question.as_str().unwrap().contains(&fingerprint), "{asked}");
    let mut heard = Vec::new();
    for action in ["decline", "accept"] {
        let mut again = params.clone();
        again["inputResponses"] = json!({"confirm": {"action": action}});
        again["requestState"] = asked["result"]["requestState"].clone();
        let sent = message(&laptop, &key, "tools/call", again, &can_ask).send().await.unwrap();
        heard.push(told(&answer(sent).await).lines().next().unwrap().to_owned());
    }
    assert!(heard[0].starts_with("error: the user was asked and did not agree"), "{heard:?}");
    assert_eq!(heard[1], "server is confirmed.");
    stop([laptop, server]).await;
}

/// A model may ask for less, and a person sees with what they agree.
#[tokio::test]
async fn a_model_registers_a_node_for_a_part_of_sessions() {
    let (laptop, server) = (with_a_session().await, Node::start().await);
    let key = laptop.admin_key();
    let of = |kinds: Value| {
        json!({"url": server.file.url, "name": "server", "authMethod": "apikey",
               "sites": ["www.shop.test"], "kinds": kinds})
    };
    let wrong = call(&laptop, &key, "browser_sync_register_peer", of(json!(["passwords"]))).await;
    assert!(wrong.contains("expected one of `cookies`, `local-storage`"), "{wrong}");
    let arguments = of(json!(["cookies"]));
    let heard = call(&laptop, &key, "browser_sync_register_peer", arguments.clone()).await;
    let limits = "This node gives it cookies of shop.test, and takes cookies of shop.test.";
    assert_eq!(heard.lines().nth(1), Some(limits));
    let list = call(&laptop, &key, "browser_sync_list_peers", json!({})).await;
    assert!(list.ends_with(limits), "{list}");
    let can_ask = json!({"elicitation": {"form": {}}});
    let params = json!({"name": "browser_sync_register_peer", "arguments": arguments});
    let sent = message(&laptop, &key, "tools/call", params, &can_ask).send().await;
    let asked = answer(sent.unwrap()).await;
    let question = &asked["result"]["inputRequests"]["confirm"]["params"]["message"];
    assert!(question.as_str().unwrap().contains(limits), "{asked}");
    let peer = laptop.admin().list_peers().await.unwrap().items.remove(0);
    let shop = json!({"sites": ["shop.test"], "kinds": ["cookies"]});
    assert_eq!(json!(peer.limits), json!({"give": shop, "take": shop}));
    stop([laptop, server]).await;
}

#[tokio::test]
async fn a_session_goes_to_a_peer_and_comes_from_it() {
    let (laptop, server) = two().await;
    let folder = &server.folder;
    let store = folder.store().await;
    let mail = folder.seed(&store, "local", "mail").await;
    seed_snapshot(&store, "local", mail, &state_at("https://mail.test/?token=s3cret")).await;
    store.close().await;
    server.admin().save_session("mail", &baton_api::sync::SaveSession::default()).await.unwrap();
    let key = laptop.admin_key();
    let export = json!({"nodeId": "server", "name": "shop", "sessionId": "shop"});
    let mut heard = Vec::new();
    for (name, arguments) in [
        ("browser_sync_list_peers", json!({})),
        ("browser_sync_export_session", export.clone()),
        ("browser_sync_export_session", export),
        ("browser_sync_list_remote_sessions", json!({})),
        ("browser_sync_import_session", json!({"nodeId": "server", "sessionId": "mail"})),
        ("browser_sync_import_session", json!({"nodeId": "server", "sessionId": "mail"})),
        ("browser_list_profiles", json!({})),
        ("browser_sync_import_session", json!({"nodeId": "server", "sessionId": "nope"})),
        ("browser_sync_resume_session", json!({"sessionId": "mail", "sourceNodeId": "server"})),
    ] {
        heard.push(format!("{name}: {}", tidy(&call(&laptop, &key, name, arguments).await)));
    }
    assert!(!heard.concat().contains("s3cret"));
    insta::assert_snapshot!(heard.join("\n"), @r#"
    browser_sync_list_peers: nodeId state status lastSync
    server confirmed online never
    browser_sync_export_session: Moved shop from this node to server: 1 part, N kB.
    browser_sync_export_session: server has all of shop that this node has.
    browser_sync_list_remote_sessions: name nodeId changed size sessionId
    shop server N N B ID
    mail server N N B ID
    browser_sync_import_session: Moved mail from server to this node: 1 part, N kB.
    session_resume with sessionId mail starts its browser.
    browser_sync_import_session: this node has all of mail that server has.
    session_resume with sessionId mail starts its browser.
    browser_list_profiles: sessionId saved synced availableOn
    shop N yes server
    mail N yes server
    browser_sync_import_session: error: expected one session that is called so, found none
    Next: browser_sync_list_remote_sessions lists those at peers, with their ids
    browser_sync_resume_session: error: expected a Chromium program at /nowhere/chromium, found nothing
    Next: baton doctor says what is missing
    "#);
    let there = server.admin().fetch_session("shop").await.unwrap();
    assert_eq!(there.tabs[0].url.as_str(), "https://shop.test/?token=[redacted]");
    let whole = server.admin().reveal_session("shop").await.unwrap();
    assert_eq!(whole.tabs[0].url.as_str(), "https://shop.test/?token=s3cret");
    stop([laptop, server]).await;
}

#[tokio::test]
async fn a_peer_that_is_gone_is_told_and_the_rest_is_shown() {
    let (laptop, server) = two().await;
    let key = laptop.admin_key();
    let save = json!({"name": "shop", "sessionId": "shop"});
    call(&laptop, &key, "browser_save_profile", save).await;
    server.stop().await;
    for name in ["browser_sync_list_remote_sessions", "browser_list_profiles"] {
        let heard = call(&laptop, &key, name, json!({})).await;
        assert!(heard.contains("server did not answer: "), "{name}: {heard}");
        assert!(!heard.starts_with("error"), "{name}: {heard}");
    }
    let named = json!({"nodeId": "server"});
    let heard = call(&laptop, &key, "browser_sync_list_remote_sessions", named).await;
    assert!(heard.starts_with("error: peer server does not answer"), "{heard}");
    laptop.stop().await;
}

#[tokio::test]
async fn only_a_key_with_the_scope_sync_moves_sessions() {
    let node = with_a_session().await;
    let scopes = [Scope::Read, Scope::Drive].into();
    let request = CreateKey { name: "driver".to_owned(), owner: None, scopes, for_node: None };
    let driver = node.admin().create_key(&request).await.unwrap().secret;
    for (name, arguments) in [
        ("browser_sync_list_peers", json!({})),
        ("browser_sync_register_peer", json!({"url": "x", "name": "y", "authMethod": "apikey"})),
        ("browser_sync_list_remote_sessions", json!({})),
        ("browser_sync_import_session", json!({"nodeId": "x", "sessionId": "y"})),
        ("browser_sync_export_session", json!({"nodeId": "x", "name": "y"})),
        ("browser_sync_resume_session", json!({"sessionId": "y"})),
        ("browser_sync_conflicts", json!({})),
        ("browser_sync_resolve", json!({"sessionId": "y", "keep": "1-"})),
        ("browser_save_profile", json!({"name": "y", "sessionId": "shop"})),
        ("browser_list_profiles", json!({})),
    ] {
        let heard = call(&node, &driver, name, arguments).await;
        let expected = "error: expected a key with the scope sync, found one with read, drive";
        assert_eq!(heard.lines().next(), Some(expected), "{name}");
    }
    node.stop().await;
}

/// What both have changed is kept at both until somebody chooses, by the tools alone.
#[tokio::test]
async fn a_conflict_is_shown_and_ended_by_tools() {
    let (laptop, server) = two().await;
    let (here, there) = (laptop.admin_key(), server.admin_key());
    let export = json!({"nodeId": "server", "name": "shop", "sessionId": "shop"});
    call(&laptop, &here, "browser_sync_export_session", export.clone()).await;
    for (node, key, url) in [
        (&laptop, &here, "https://shop.test/laptop?token=s3cret"),
        (&server, &there, "https://shop.test/server"),
    ] {
        change(&node.folder, url).await;
        let save = json!({"name": "shop", "sessionId": "shop"});
        call(node, key, "browser_save_profile", save).await;
    }
    let import = json!({"nodeId": "server", "sessionId": "shop"});
    let moved = call(&laptop, &here, "browser_sync_import_session", import).await;
    assert!(moved.contains("It was changed at both"), "{moved}");
    let shown = call(&laptop, &here, "browser_sync_conflicts", json!({})).await;
    let lines: Vec<&str> = shown.lines().collect();
    let [said, _counts, _beside, changes] = lines[..] else { panic!("{shown}") };
    assert!(said.starts_with("The first revision of each counts now"), "{shown}");
    let expected = "  keeping it changes shop.test tab: 1 added, 1 removed \
                    (https://shop.test/laptop?token=[redacted], https://shop.test/server)";
    assert_eq!(changes, expected, "which of the two counts, clocks decide");
    let told = unattended(&laptop, "browser_sync_conflicts", json!({})).await;
    let revisions = &told["conflicts"][0]["revisions"];
    assert!(revisions[0]["changes"].is_null(), "it is what counts: {told}");
    assert_eq!(revisions[1]["changes"][0]["site"], "shop.test", "{told}");
    assert!(!shown.contains("s3cret") && !told.to_string().contains("s3cret"), "{told}");
    let by_server = lines.iter().find(|line| line.contains(" by server ")).unwrap();
    let keep = by_server.split(' ').nth(1).unwrap();
    let resolve = json!({"sessionId": "shop", "keep": keep});
    let resolved = call(&laptop, &here, "browser_sync_resolve", resolve).await;
    assert!(tidy(&resolved).starts_with("Revision 3-REV of shop counts"), "{resolved}");
    let none = call(&laptop, &here, "browser_sync_conflicts", json!({})).await;
    assert_eq!(none, "No conflicts.");
    let shop = laptop.admin().fetch_session("shop").await.unwrap();
    assert_eq!(shop.tabs[0].url.as_str(), "https://shop.test/server");
    stop([laptop, server]).await;
}

/// The session `shop` was at another address when it was captured last.
async fn change(folder: &Folder, url: &str) {
    let store = folder.store().await;
    let owner = "local".parse().unwrap();
    let shop = store.find_session(&owner, "shop").await.unwrap();
    seed_snapshot(&store, "local", shop.id, &state_at(url)).await;
    store.close().await;
}

/// A tool's answer says the same to programs.
#[tokio::test]
async fn programs_are_told_the_same_in_data() {
    let (laptop, server) = two().await;
    let export = json!({"nodeId": "server", "name": "shop", "sessionId": "shop"});
    let mut moved = unattended(&laptop, "browser_sync_export_session", export).await;
    for differs in ["sessionId", "rev", "bytes", "parts"] {
        assert!(!moved[differs].take().is_null(), "{differs}");
    }
    let nothing = Value::Null;
    assert_eq!(
        moved,
        json!({
            "sessionId": nothing, "name": "shop", "peer": "server", "outcome": "moved",
            "rev": nothing, "conflicts": [], "parts": nothing, "bytes": nothing,
        })
    );
    let profiles = unattended(&laptop, "browser_list_profiles", json!({})).await;
    let shop = &profiles["profiles"][0];
    assert_eq!((&shop["synced"], &shop["availableOn"]), (&json!(true), &json!(["server"])));
    stop([laptop, server]).await;
}

#[tokio::test]
async fn a_peer_that_asks_this_node_is_one_and_what_it_holds_is_told() {
    let (laptop, server) = two().await;
    let export = json!({"nodeId": "server", "name": "shop", "sessionId": "shop"});
    call(&laptop, &laptop.admin_key(), "browser_sync_export_session", export).await;
    let key = server.admin_key();
    let id = server.admin().fetch_session("shop").await.unwrap().session.id;
    held_by(&server, id, laptop.id()).await;
    server.admin().close_session("shop").await.unwrap();
    let mut heard = Vec::new();
    for name in ["browser_sync_list_remote_sessions", "browser_list_profiles", "list_sessions"] {
        heard.push(format!("{name}: {}", tidy(&call(&server, &key, name, json!({})).await)));
    }
    let laptop_name = server.admin().list_peers().await.unwrap().items[0].name.clone();
    insta::assert_snapshot!(heard.join("\n").replace(&laptop_name, "LAPTOP"), @r"
    browser_sync_list_remote_sessions: No peer has an address here. Confirmed, and asking this node: LAPTOP.
    browser_list_profiles: sessionId saved synced availableOn
    shop N yes LAPTOP
    list_sessions: No sessions here.
    shop is held by LAPTOP since N ago; session_resume brings it here
    ");
    stop([laptop, server]).await;
}
