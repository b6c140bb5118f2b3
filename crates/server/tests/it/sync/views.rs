//! Two nodes of which one is given a part of sessions: nobody removes what they do not see, and nobody is
//! told what they are not given.

use super::pair::{Pair, edit, know, logged_in, login, save, seed, start, state, token};
use super::stranger::{Stranger, admitted, parcels};
use crate::fixture::{Node, problem};
use baton_api::sync::{Difference, FetchParts, MovementOutcome, Wanted};
use baton_api::{CreateKey, ErrorCode, Scope};
use baton_server::config::Choices;
use baton_session::egress::Egress;
use baton_session::{Part, PartKind, PeerLimits, SessionId, Site, State, View, parts};
use jiff::Timestamp;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

/// A laptop that gives the cloud a part only, and a session that it has.
struct Scene {
    pair: Pair,
    session: SessionId,
}

impl Scene {
    async fn set(limits: Value) -> Self {
        let pair = Pair::new().await;
        limit(&pair.laptop, "cloud", limits).await;
        let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
        let session = seed(&pair.laptop, "work", &all).await;
        save(&pair.laptop, "work").await;
        Self { pair, session }
    }

    /// What the cloud has.
    async fn cloud(&self) -> State {
        state(&self.pair.cloud, "work").await
    }

    async fn laptop(&self) -> State {
        state(&self.pair.laptop, "work").await
    }

    /// How the laptop finds that it stands with the cloud.
    async fn difference(&self) -> Vec<Difference> {
        let list = self.pair.laptop.admin().list_differences("cloud").await.unwrap();
        list.items.iter().map(|item| item.difference).collect()
    }

    async fn conflicts(&self) -> usize {
        let [cloud, laptop] = [&self.pair.cloud, &self.pair.laptop].map(Node::admin);
        let cloud = cloud.list_conflicts().await.unwrap().items.len();
        cloud + laptop.list_conflicts().await.unwrap().items.len()
    }
}

async fn limit(node: &Node, peer: &str, limits: Value) {
    let limits: PeerLimits = serde_json::from_value(limits).unwrap();
    node.admin().limit_peer(peer, &limits).await.unwrap();
}

/// Only the shop, both ways.
fn shop() -> Value {
    json!({"give": {"sites": ["shop.test"]}, "take": {"sites": ["shop.test"]}})
}

fn hosts(state: &State) -> Vec<&str> {
    state.cookies.iter().map(|cookie| cookie.domain.as_str()).collect()
}

#[tokio::test]
async fn a_part_goes_there_and_comes_back_changed_and_nothing_else_moves() {
    let scene = Scene::set(shop()).await;
    let pushed = scene.pair.push("work").await;
    assert_eq!(pushed.outcome, MovementOutcome::Moved);
    assert_eq!(scene.cloud().await, logged_in(&[("shop.test", "one")]));
    assert_eq!(scene.difference().await, [Difference::Same]);
    let list = scene.pair.laptop.admin().list_differences("cloud").await.unwrap();
    assert!(list.items[0].in_part);
    assert_eq!(scene.pair.push("work").await.outcome, MovementOutcome::Unchanged);
    assert_eq!(scene.pair.pull("work").await.outcome, MovementOutcome::Unchanged);

    edit(&scene.pair.cloud, scene.session, &logged_in(&[("shop.test", "two")])).await;
    assert_eq!(scene.difference().await, [Difference::Behind]);
    scene.pair.pull("work").await;
    assert_eq!(scene.laptop().await, logged_in(&[("shop.test", "two"), ("bank.test", "secret")]));
    assert_eq!(scene.conflicts().await, 0);
    // What the laptop made of it is told to the cloud once, and then both rest.
    scene.pair.push("work").await;
    assert_eq!(scene.difference().await, [Difference::Same]);
    assert_eq!(scene.pair.push("work").await.outcome, MovementOutcome::Unchanged);
    scene.pair.stop().await;
}

#[tokio::test]
async fn what_both_change_in_other_places_is_put_together() {
    let scene = Scene::set(shop()).await;
    scene.pair.push("work").await;
    edit(&scene.pair.cloud, scene.session, &logged_in(&[("shop.test", "two")])).await;
    let bank = logged_in(&[("shop.test", "one"), ("bank.test", "new")]);
    edit(&scene.pair.laptop, scene.session, &bank).await;
    scene.pair.pull("work").await;
    scene.pair.push("work").await;
    // Whoever decides by the latest decides about the shop, which nobody changed at the laptop.
    let found = token(&scene.laptop().await, "bank.test");
    assert_eq!(found.as_deref(), Some("new"), "the laptop's own is never touched");
    scene.pair.stop().await;
}

#[tokio::test]
async fn nodes_that_merge_take_each_place_from_whoever_changed_it() {
    let merge = || Choices {
        conflict_resolution: Some(baton_sync::ConflictResolution::Merge),
        ..Choices::default()
    };
    let pair = Pair::with(merge).await;
    limit(&pair.laptop, "cloud", shop()).await;
    let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    let session = seed(&pair.laptop, "work", &all).await;
    save(&pair.laptop, "work").await;
    pair.push("work").await;
    edit(&pair.cloud, session, &logged_in(&[("shop.test", "two")])).await;
    let bank = logged_in(&[("shop.test", "one"), ("bank.test", "new")]);
    edit(&pair.laptop, session, &bank).await;
    pair.pull("work").await;
    let both = logged_in(&[("shop.test", "two"), ("bank.test", "new")]);
    assert_eq!(state(&pair.laptop, "work").await, both);
    pair.push("work").await;
    assert_eq!(state(&pair.cloud, "work").await, logged_in(&[("shop.test", "two")]));
    for node in [&pair.cloud, &pair.laptop] {
        assert!(node.admin().list_conflicts().await.unwrap().items.is_empty());
    }
    pair.stop().await;
}

#[tokio::test]
async fn what_a_node_adds_to_its_part_stays_its_own() {
    let scene = Scene::set(shop()).await;
    scene.pair.push("work").await;
    let mut more = logged_in(&[("shop.test", "two")]);
    login(&mut more, "mail.test", "mine");
    edit(&scene.pair.cloud, scene.session, &more).await;
    scene.pair.pull("work").await;
    let laptop = scene.laptop().await;
    assert_eq!(hosts(&laptop), ["bank.test", "shop.test"]);
    assert_eq!(token(&laptop, "shop.test").unwrap(), "two");
    // And what comes from the laptop takes the place of the part only.
    let new = logged_in(&[("shop.test", "three"), ("bank.test", "secret")]);
    edit(&scene.pair.laptop, scene.session, &new).await;
    scene.pair.push("work").await;
    let cloud = scene.cloud().await;
    assert_eq!(hosts(&cloud), ["mail.test", "shop.test"]);
    assert_eq!(token(&cloud, "shop.test").unwrap(), "three");
    assert_eq!(token(&cloud, "mail.test").unwrap(), "mine");
    scene.pair.stop().await;
}

#[tokio::test]
async fn kinds_are_limited_like_sites() {
    let kinds = json!({"kinds": ["cookies", "tabs"]});
    let scene = Scene::set(json!({"give": kinds, "take": kinds})).await;
    scene.pair.push("work").await;
    let cloud = scene.cloud().await;
    assert_eq!(hosts(&cloud), ["bank.test", "shop.test"]);
    assert!(cloud.origins.is_empty(), "{:?}", cloud.origins);
    let mut changed = cloud.clone();
    changed.cookies.iter_mut().for_each(|cookie| cookie.value = "new".to_owned());
    edit(&scene.pair.cloud, scene.session, &changed).await;
    scene.pair.pull("work").await;
    let laptop = scene.laptop().await;
    assert!(laptop.cookies.iter().all(|cookie| cookie.value == "new"));
    assert_eq!(laptop.origins.len(), 2, "localStorage is the laptop's alone");
    scene.pair.stop().await;
}

/// A way out by a proxy that wants to know who comes.
fn led() -> Egress {
    let egress = json!({
        "only": ["shop.test"], "proxy": "http://127.0.0.1:9",
        "credentials": {"user": "al", "password": "s3cret"},
    });
    serde_json::from_value(egress).unwrap()
}

/// A laptop that gives the cloud a part of a session with that way out.
async fn led_scene(limits: Value) -> Scene {
    let pair = Pair::new().await;
    limit(&pair.laptop, "cloud", limits).await;
    let mut all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    all.environment.egress = Some(led());
    let session = seed(&pair.laptop, "work", &all).await;
    save(&pair.laptop, "work").await;
    Scene { pair, session }
}

#[tokio::test]
async fn a_list_of_hosts_goes_along_with_every_part_and_a_password_with_none() {
    let kinds = json!({"kinds": ["cookies", "local-storage"]});
    for limits in [json!({"give": kinds, "take": kinds}), shop()] {
        let scene = led_scene(limits.clone()).await;
        assert_eq!(scene.pair.push("work").await.outcome, MovementOutcome::Moved);
        let given = Some(led().without_credentials());
        assert_eq!(scene.cloud().await.environment.egress, given, "{limits}");
        assert_eq!(scene.difference().await, [Difference::Same]);
        assert_eq!(scene.pair.push("work").await.outcome, MovementOutcome::Unchanged);

        // What comes back of the part changes nothing of it, whatever became of it there.
        let [mut two, three] = ["two", "three"].map(|token| logged_in(&[("shop.test", token)]));
        two.environment.egress = given.clone();
        for (token, changed) in [("two", two), ("three", three)] {
            edit(&scene.pair.cloud, scene.session, &changed).await;
            scene.pair.pull("work").await;
            let laptop = scene.laptop().await;
            assert_eq!(laptop.environment.egress, Some(led()), "{limits}: {token}");
            assert_eq!(self::token(&laptop, "shop.test").unwrap(), token, "{limits}");
            scene.pair.push("work").await;
            assert_eq!(scene.difference().await, [Difference::Same], "{limits}: {token}");
        }
        assert_eq!(scene.conflicts().await, 0, "{limits}");

        // Another list comes along, too.
        let mut new = scene.laptop().await;
        new.environment.egress = Some(Egress { only: vec!["other.test".to_owned()], ..led() });
        edit(&scene.pair.laptop, scene.session, &new).await;
        scene.pair.push("work").await;
        let cloud = scene.cloud().await.environment.egress.unwrap();
        assert_eq!(cloud.only, ["other.test"], "{limits}");
        scene.pair.stop().await;
    }
}

#[tokio::test]
async fn without_the_password_that_was_left_out_no_browser_starts() {
    let scene = led_scene(json!({"give": {"kinds": ["cookies", "local-storage"]}})).await;
    scene.pair.push("work").await;
    let refused = scene.pair.cloud.admin().resume_session("work").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::BrowserUnavailable), "{refused}");
    insta::assert_snapshot!(refused, @"expected a user and a password for the proxy http://127.0.0.1:9, found that the node which gave this session left them out, as it gave a part of it");
    scene.pair.stop().await;
}

#[tokio::test]
async fn a_file_that_comes_from_a_part_has_the_way_out_that_came_along() {
    let scene = led_scene(shop()).await;
    scene.pair.push("work").await;
    let path = format!("/sync/sessions/{}", scene.session);
    let got = scene.pair.cloud.admin_request(Method::GET, &path).send().await.unwrap();
    let tag = got.headers()["etag"].to_str().unwrap().to_owned();
    let mut file: Value = got.json().await.unwrap();
    file["sync"].as_object_mut().unwrap().remove("checksum");
    let send = |file: Value| {
        let request = scene.pair.cloud.admin_request(Method::POST, "/sync/sessions");
        request.header("if-match", &tag).json(&file).send()
    };
    for other in [json!({"only": ["bank.test"]}), Value::Null] {
        let mut changed = file.clone();
        changed["state"]["environment"]["egress"] = other;
        let refused = problem(send(changed).await.unwrap()).await;
        assert_eq!(refused.code.as_str(), "revision_refused", "{refused:?}");
    }
    file["state"]["cookies"] = json!([]);
    assert_eq!(send(file).await.unwrap().status(), 201);
    scene.pair.stop().await;
}

#[tokio::test]
async fn a_node_that_takes_a_part_is_given_no_more() {
    let pair = Pair::new().await;
    limit(&pair.laptop, "cloud", json!({"take": {"sites": ["shop.test"]}})).await;
    let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    let session = seed(&pair.cloud, "work", &all).await;
    save(&pair.cloud, "work").await;
    pair.pull("work").await;
    assert_eq!(state(&pair.laptop, "work").await, logged_in(&[("shop.test", "one")]));
    // The same when it is pushed by somebody who does not know the limit.
    know(&pair.cloud, &pair.laptop, "laptop").await;
    let new = logged_in(&[("shop.test", "two"), ("bank.test", "new")]);
    edit(&pair.cloud, session, &new).await;
    let pushed = pair.cloud.admin().push_session("laptop", "work").await.unwrap();
    assert_eq!(pushed.outcome, MovementOutcome::Moved);
    assert_eq!(state(&pair.laptop, "work").await, logged_in(&[("shop.test", "two")]));
    pair.stop().await;
}

#[tokio::test]
async fn of_what_nobody_gives_nobody_is_told() {
    let scene = Scene::set(json!({"give": {"sites": ["other.test"]}})).await;
    assert_eq!(scene.difference().await, []);
    let refused = scene.pair.laptop.admin().push_session("cloud", "work").await.unwrap_err();
    let said = refused.to_string().replace(&scene.session.to_string(), "[session]");
    insta::assert_snapshot!(said, @"expected session [session] to have something that goes there, found none: only everything of other.test does");
    know(&scene.pair.cloud, &scene.pair.laptop, "laptop").await;
    let list = scene.pair.cloud.admin().list_differences("laptop").await.unwrap();
    assert!(list.items.iter().all(|item| item.name.as_str() != "work"), "{list:?}");
    scene.pair.stop().await;
}

#[tokio::test]
async fn whoever_deletes_their_part_deletes_nothing_else() {
    let scene = Scene::set(shop()).await;
    scene.pair.push("work").await;
    scene.pair.cloud.admin().delete_session("work").await.unwrap();
    scene.pair.pull("work").await;
    assert_eq!(hosts(&scene.laptop().await), ["bank.test", "shop.test"]);
    assert_eq!(scene.conflicts().await, 0);
    // What is deleted as a whole is deleted for whoever had a part.
    let other = seed(&scene.pair.laptop, "other", &logged_in(&[("shop.test", "x")])).await;
    save(&scene.pair.laptop, "other").await;
    scene.pair.push("other").await;
    scene.pair.laptop.admin().delete_session("other").await.unwrap();
    scene.pair.push(&other.to_string()).await;
    assert!(scene.pair.cloud.admin().fetch_session("other").await.is_err());
    scene.pair.stop().await;
}

#[tokio::test]
async fn a_part_that_is_kept_in_a_conflict_is_kept_with_all_around_it() {
    let scene = Scene::set(shop()).await;
    scene.pair.push("work").await;
    edit(&scene.pair.cloud, scene.session, &logged_in(&[("shop.test", "cloud")])).await;
    let laptop = logged_in(&[("shop.test", "laptop"), ("bank.test", "secret")]);
    edit(&scene.pair.laptop, scene.session, &laptop).await;
    scene.pair.pull("work").await;
    let admin = scene.pair.laptop.admin();
    let conflict = admin.list_conflicts().await.unwrap().items.remove(0);
    assert_eq!(conflict.current.node_id, scene.pair.laptop.id(), "a part never counts first");
    let keep = conflict.siblings[0].rev.to_string();
    let request = baton_api::sync::ResolveConflict { keep };
    admin.resolve_conflict("work", &request).await.unwrap();
    let kept = logged_in(&[("shop.test", "cloud"), ("bank.test", "secret")]);
    assert_eq!(scene.laptop().await, kept);
    scene.pair.push("work").await;
    assert_eq!(scene.cloud().await, logged_in(&[("shop.test", "cloud")]));
    assert_eq!(scene.conflicts().await, 0);
    scene.pair.stop().await;
}

#[tokio::test]
async fn a_bundle_for_whoever_is_given_a_part_holds_that() {
    let scene = Scene::set(shop()).await;
    let laptop = scene.pair.laptop.admin();
    know(&scene.pair.cloud, &scene.pair.laptop, "laptop").await;
    let sealed = laptop.seal_session("work", "cloud").await.unwrap();
    let taken = scene.pair.cloud.admin().take_sync_file(&sealed.file).await.unwrap();
    assert!(taken.changed);
    assert_eq!(scene.cloud().await, logged_in(&[("shop.test", "one")]));
    // Who takes less than what is in a file takes nothing of it.
    limit(&scene.pair.cloud, "laptop", json!({"take": {"kinds": ["cookies"]}})).await;
    let new = logged_in(&[("shop.test", "two"), ("bank.test", "secret")]);
    edit(&scene.pair.laptop, scene.session, &new).await;
    let sealed = laptop.seal_session("work", "cloud").await.unwrap();
    let refused = scene.pair.cloud.admin().take_sync_file(&sealed.file).await.unwrap_err();
    let said = refused.to_string().replace(&scene.session.to_string(), "[session]");
    insta::assert_snapshot!(said, @"expected of session [session] only what is taken from there, cookies, found more");
    assert_eq!(scene.cloud().await, logged_in(&[("shop.test", "one")]));
    scene.pair.stop().await;
}

#[tokio::test]
async fn limits_that_change_take_nothing_away_that_was_given() {
    let scene = Scene::set(json!({})).await;
    scene.pair.push("work").await;
    limit(&scene.pair.laptop, "cloud", shop()).await;
    let new = logged_in(&[("shop.test", "two"), ("bank.test", "new")]);
    edit(&scene.pair.laptop, scene.session, &new).await;
    scene.pair.push("work").await;
    let cloud = logged_in(&[("shop.test", "two"), ("bank.test", "secret")]);
    assert_eq!(scene.cloud().await, cloud, "what it had stays as it was given");
    assert_eq!(scene.difference().await, [Difference::Same]);
    limit(&scene.pair.laptop, "cloud", json!({})).await;
    scene.pair.push("work").await;
    assert_eq!(scene.cloud().await, new);
    assert_eq!(scene.conflicts().await, 0);
    scene.pair.stop().await;
}

#[tokio::test]
async fn a_third_node_with_the_whole_is_told_of_a_part_and_keeps_the_whole() {
    let scene = Scene::set(shop()).await;
    scene.pair.push("work").await;
    let desk = start(Choices::default()).await;
    know(&desk, &scene.pair.laptop, "laptop").await;
    know(&desk, &scene.pair.cloud, "cloud").await;
    desk.admin().pull_session("laptop", "work").await.unwrap();
    edit(&scene.pair.cloud, scene.session, &logged_in(&[("shop.test", "two")])).await;
    desk.admin().pull_session("cloud", "work").await.unwrap();
    let both = logged_in(&[("shop.test", "two"), ("bank.test", "secret")]);
    assert_eq!(state(&desk, "work").await, both);
    desk.admin().push_session("laptop", "work").await.unwrap();
    assert_eq!(scene.laptop().await, both);
    desk.stop().await;
    scene.pair.stop().await;
}

#[tokio::test]
async fn whoever_is_given_a_part_cannot_ask_for_more() {
    let (node, stranger) = admitted().await;
    let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    let session = seed(&node, "work", &all).await;
    save(&node, "work").await;
    limit(&node, &stranger.node().to_string(), shop()).await;
    let ask = |site: &str| {
        let parts = parts::split(&all);
        let is_it = |part: &&Part| part.kind == PartKind::Cookies && part.name == site;
        let part = parts.iter().find(is_it).unwrap().reference().hash;
        let wanted = vec![Wanted { part, base: None }];
        serde_json::to_vec(&FetchParts { wanted, view: None }).unwrap()
    };
    assert!(stranger.fetch(session, &ask("shop.test")).send().await.status().is_success());
    let refused = stranger.fetch(session, &ask("bank.test")).refusal().await;
    assert!(refused.starts_with("422 revision_refused: expected a part of session"), "{refused}");
    // Nor by asking for a wider view than there is.
    let mut wide: FetchParts = serde_json::from_slice(&ask("bank.test")).unwrap();
    wide.view = Some(View::whole());
    let wide = serde_json::to_vec(&wide).unwrap();
    assert_eq!(stranger.fetch(session, &wide).refusal().await, refused);
    node.stop().await;
}

#[tokio::test]
async fn the_key_of_a_limited_peer_is_good_for_what_that_has_signed_only() {
    let (node, stranger) = admitted().await;
    let all = logged_in(&[("shop.test", "one"), ("bank.test", "secret")]);
    let session = seed(&node, "work", &all).await;
    save(&node, "work").await;
    let key = node.client(&stranger.key);
    assert_eq!(
        key.fetch_sync_index().await.unwrap().sessions.len(),
        1,
        "it is a key like any other"
    );

    limit(&node, &stranger.node().to_string(), shop()).await;
    let refused = key.fetch_sync_index().await.unwrap_err();
    insta::assert_snapshot!(refused, @"expected a message that a node has signed, for the key is shown by the peer laptop, which is limited to a part of sessions; found one without a signature");
    for (method, path) in [
        (Method::GET, "/sync/conflicts".to_owned()),
        (Method::GET, "/sync/peers".to_owned()),
        (Method::GET, "/sync/events".to_owned()),
        (Method::POST, "/sync/sessions".to_owned()),
        (Method::POST, "/mcp".to_owned()),
        (Method::DELETE, format!("/sync/sessions/{session}")),
        (Method::POST, format!("/sessions/{session}/save")),
    ] {
        let answer = node.request(method, &path).bearer_auth(&stranger.key).json(&json!({}));
        let refused = problem(answer.send().await.unwrap()).await;
        assert_eq!(refused.code, ErrorCode::Forbidden, "{path}: {}", refused.detail);
    }
    // Signed it goes on, and without limits the key is what it was.
    assert!(stranger.index_at(Timestamp::now()).send().await.status().is_success());
    limit(&node, &stranger.node().to_string(), json!({})).await;
    assert_eq!(key.fetch_sync_index().await.unwrap().sessions.len(), 1);
    node.stop().await;
}

#[tokio::test]
async fn another_key_of_a_limited_peer_takes_the_place_of_the_first() {
    let (node, mut stranger) = admitted().await;
    limit(&node, &stranger.node().to_string(), shop()).await;
    let first = node.client(&stranger.key);
    let request = CreateKey {
        name: "second".into(),
        owner: None,
        scopes: [Scope::Sync].into(),
        for_node: None,
    };
    stranger.key = node.admin().create_key(&request).await.unwrap().secret;
    assert!(stranger.index_at(Timestamp::now()).send().await.status().is_success());
    for (key, expected) in
        [(&first, ErrorCode::Unauthenticated), (&node.client(&stranger.key), ErrorCode::Forbidden)]
    {
        assert_eq!(key.fetch_sync_index().await.unwrap_err().code(), Some(expected));
    }
    node.stop().await;
}

#[tokio::test]
async fn whoever_administers_the_node_is_not_shut_out_by_limits() {
    let node = start(Choices::default()).await;
    let stranger = Stranger::with(&node, 1, node.admin_key()).await;
    assert_eq!(stranger.index_at(Timestamp::now()).send().await.status(), StatusCode::CONFLICT);
    let limits: PeerLimits = serde_json::from_value(shop()).unwrap();
    let refused = node.admin().limit_peer(&stranger.node().to_string(), &limits).await;
    insta::assert_snapshot!(refused.unwrap_err(), @"expected the peer laptop to show a key of its own, found one with the scope admin, which limits would shut out here");
    assert!(node.admin().fetch_sync_index().await.is_ok());
    node.stop().await;
}

#[tokio::test]
async fn who_follows_with_the_key_of_a_peer_hears_no_more_once_that_is_limited() {
    let (node, stranger) = admitted().await;
    let mut events = node.client(&stranger.key).follow_sync(false).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().peers.len(), 1);
    limit(&node, &stranger.node().to_string(), shop()).await;
    assert_eq!(events.next().await.unwrap(), None);
    node.stop().await;
}

#[tokio::test]
async fn who_knows_the_id_of_a_session_that_it_is_not_given_is_not_told_of_it() {
    let (node, stranger) = admitted().await;
    let name = stranger.node().to_string();
    limit(&node, &name, shop()).await;
    let mut bank = State::default();
    login(&mut bank, "bank.test", "secret");
    let session = seed(&node, "bank", &bank).await;
    save(&node, "bank").await;
    let wanted = serde_json::to_vec(&FetchParts { wanted: Vec::new(), view: None }).unwrap();
    stranger.fetch(session, &wanted).send().await;
    let (owner, store) = ("local".parse().unwrap(), super::pair::store(&node).await);
    assert_eq!(store.list_held(&owner, stranger.node()).await.unwrap(), []);
    // One that it is given is noted.
    seed(&node, "work", &logged_in(&[("shop.test", "one")])).await;
    let work = save(&node, "work").await.id;
    stranger.fetch(work, &wanted).send().await;
    let held = store.list_held(&owner, stranger.node()).await.unwrap();
    assert_eq!(held.iter().map(|(session, _)| *session).collect::<Vec<_>>(), [work]);
    store.close().await;
    node.stop().await;
}

#[tokio::test]
async fn a_limited_peer_that_is_removed_does_not_come_back_without_its_limits() {
    let (node, stranger) = admitted().await;
    let name = stranger.node().to_string();
    limit(&node, &name, shop()).await;
    node.admin().remove_peer(&name).await.unwrap();
    let refused = stranger.index_at(Timestamp::now()).refusal().await;
    assert!(refused.starts_with("401 unauthenticated"), "{refused}");
    node.stop().await;
}

#[tokio::test]
async fn a_part_that_says_more_than_it_speaks_of_is_refused() {
    let (node, stranger) = admitted().await;
    let whole = logged_in(&[("shop.test", "one"), ("bank.test", "forged")]);
    let mut exchange = stranger.publishes(&whole);
    let (content, list) = stranger.says(&whole);
    let secret = stranger.author().secret;
    let view = View { sites: Some([Site::of_host("shop.test")].into()), kinds: None };
    let forged = exchange.offer.heads[0].seen_through(&view, content, Vec::new(), &secret);
    exchange.offer.history = std::mem::replace(&mut exchange.offer.heads, vec![forged]);
    exchange.lists = vec![list];
    let given = stranger.give(exchange.offer.session, &parcels(&whole)).send().await;
    assert!(given.status().is_success());
    let refused = stranger.offer(&exchange).refusal().await;
    let refused = refused.replace(&exchange.offer.heads[0].id().to_string(), "[rev]");
    insta::assert_snapshot!(refused, @"422 revision_refused: revision [rev]: expected nothing beyond the views that it speaks of, found more");
    node.stop().await;
}
