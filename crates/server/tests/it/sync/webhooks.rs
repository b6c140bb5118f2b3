//! Whoever has a webhook hears what came from another node, signed, and nothing of what it holds.

use super::pair::{Pair, edit, know, logged_in, save, seed, start};
use super::receiver::{KEY, Receiver};
use crate::fixture::{Node, until};
use baton_api::ListAudit;
use baton_net::outbound::Allowed;
use baton_server::config::Choices;
use baton_session::{Owner, SessionId};
use baton_sync::ConflictResolution;
use baton_sync::webhooks::{Event, Patience, Secret, WebhookSettings};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// A webhook that waits for nobody for long.
fn hook(url: &Url) -> WebhookSettings {
    WebhookSettings {
        url: url.clone(),
        secret: Secret::Given(KEY.parse().unwrap()),
        events: Event::ALL.into(),
        owner: Owner::local(),
        patience: Patience {
            tries: 3,
            pause: Duration::from_millis(5),
            answer: Duration::from_secs(1),
        },
    }
}

fn telling(hooks: Vec<WebhookSettings>) -> Choices {
    let allow = Some(vec![Allowed::Host("localhost".to_owned())]);
    Choices { webhooks: Some(hooks), outbound_allow: allow, ..Choices::default() }
}

/// The node `cloud`, and the node `laptop`, which tells these webhooks.
async fn pair(hooks: Vec<WebhookSettings>) -> Pair {
    let (cloud, laptop) = (start(Choices::default()).await, start(telling(hooks)).await);
    know(&laptop, &cloud, "cloud").await;
    Pair { cloud, laptop }
}

/// A session that comes from the cloud.
async fn come(pair: &Pair) -> SessionId {
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "hunter2")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    id
}

fn events(told: &[Value]) -> Vec<&str> {
    told.iter().map(|one| one["event"].as_str().unwrap()).collect()
}

/// What the log says of messages that were not taken.
async fn untold(node: &Node) -> Vec<Value> {
    let audit = node.admin().list_audit(&ListAudit::default()).await.unwrap().items;
    let untold = audit.into_iter().filter(|entry| entry.action == "webhook.tell");
    untold.map(|entry| serde_json::to_value(entry).unwrap()).collect()
}

#[tokio::test]
async fn what_comes_changes_or_conflicts_is_told_and_signed_and_nothing_it_holds() {
    let receiver = Receiver::start([]).await;
    let pair = pair(vec![hook(&receiver.url)]).await;
    let id = come(&pair).await;
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "hunter3")])).await;
    pair.pull("shop").await;
    assert_eq!(pair.pull("shop").await.parts, 0, "nothing new is nothing to tell");
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "hunter4")])).await;
    edit(&pair.laptop, id, &logged_in(&[("shop.test", "hunter5")])).await;
    pair.pull("shop").await;
    let told = receiver.taken(3).await;
    assert_eq!(events(&told), ["session.new", "session.changed", "session.conflict"]);
    let current = pair.laptop.admin().list_conflicts().await.unwrap().items[0].current.rev;
    for one in &told {
        let names: Vec<&String> = one.as_object().unwrap().keys().collect();
        let all = ["event", "fromNode", "id", "name", "nodeId", "rev", "sessionId", "time"];
        assert_eq!(names, all);
        assert_eq!((&one["sessionId"], &one["name"]), (&id.to_string().into(), &"shop".into()));
        assert_eq!(one["nodeId"], pair.laptop.id().to_string());
        assert_eq!(one["fromNode"], pair.cloud.id().to_string());
        let text = one.to_string();
        assert!(!text.contains("hunter") && !text.contains("shop.test"), "{text}");
    }
    assert_eq!(told[2]["rev"], current.to_string());
    pair.stop().await;
}

#[tokio::test]
async fn what_a_peer_pushes_is_told_and_what_was_changed_here_is_not() {
    let receiver = Receiver::start([]).await;
    let (cloud, laptop) =
        (start(telling(vec![hook(&receiver.url)])).await, start(Choices::default()).await);
    know(&laptop, &cloud, "cloud").await;
    let pair = Pair { cloud, laptop };
    seed(&pair.cloud, "own", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "own").await;
    seed(&pair.laptop, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.laptop, "shop").await;
    pair.push("shop").await;
    let told = receiver.taken(1).await;
    assert_eq!((events(&told), &told[0]["name"]), (vec!["session.new"], &"shop".into()));
    assert_eq!(told[0]["fromNode"], pair.laptop.id().to_string());
    pair.stop().await;
}

#[tokio::test]
async fn what_comes_by_the_sync_directory_is_told_and_what_goes_into_it_is_not() {
    let (receiver, folder) = (Receiver::start([]).await, tempfile::tempdir().unwrap());
    let keeping = |choices| Choices { sync_directory: Some(folder.path().join("sync")), ..choices };
    let cloud = start(keeping(Choices::default())).await;
    let laptop = start(keeping(telling(vec![hook(&receiver.url)]))).await;
    know(&laptop, &cloud, "cloud").await;
    know(&cloud, &laptop, "laptop").await;
    let pair = Pair { cloud, laptop };
    seed(&pair.laptop, "own", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.laptop, "own").await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    let told = receiver.taken(1).await;
    assert_eq!((events(&told), &told[0]["name"]), (vec!["session.new"], &"shop".into()));
    assert_eq!(told[0]["fromNode"], pair.cloud.id().to_string());
    pair.stop().await;
}

#[tokio::test]
async fn a_merge_is_a_change_and_no_conflict() {
    let receiver = Receiver::start([]).await;
    let merge = Some(ConflictResolution::Merge);
    let choices = Choices { conflict_resolution: merge, ..telling(vec![hook(&receiver.url)]) };
    let (cloud, laptop) = (start(Choices::default()).await, start(choices).await);
    know(&laptop, &cloud, "cloud").await;
    let pair = Pair { cloud, laptop };
    let id = come(&pair).await;
    let both = [("shop.test", "hunter2"), ("bank.test", "cloud")];
    edit(&pair.cloud, id, &logged_in(&both)).await;
    let both = [("shop.test", "hunter2"), ("news.test", "laptop")];
    edit(&pair.laptop, id, &logged_in(&both)).await;
    pair.pull("shop").await;
    assert_eq!(events(&receiver.taken(2).await), ["session.new", "session.changed"]);
    pair.stop().await;
}

#[tokio::test]
async fn each_hears_what_it_wants_to_of_its_owner() {
    let (conflicts, another) = (Receiver::start([]).await, Receiver::start([]).await);
    let all = Receiver::start([]).await;
    let pair = pair(vec![
        WebhookSettings { events: [Event::Changed].into(), ..hook(&conflicts.url) },
        WebhookSettings { owner: "ada".parse().unwrap(), ..hook(&another.url) },
        hook(&all.url),
    ])
    .await;
    let id = come(&pair).await;
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "two")])).await;
    pair.pull("shop").await;
    assert_eq!(events(&all.taken(2).await), ["session.new", "session.changed"]);
    assert_eq!(events(&conflicts.taken(1).await), ["session.changed"]);
    pair.stop().await;
    assert_eq!(another.asked(), 0);
}

#[tokio::test]
async fn who_refuses_twice_is_told_the_same_again() {
    let receiver = Receiver::start([503, 500]).await;
    let pair = pair(vec![hook(&receiver.url)]).await;
    come(&pair).await;
    receiver.taken(1).await;
    assert_eq!((receiver.asked(), receiver.ids().len()), (3, 1), "one message has one id");
    assert!(untold(&pair.laptop).await.is_empty());
    pair.stop().await;
}

#[tokio::test]
async fn who_sends_us_elsewhere_is_not_followed_and_what_is_not_taken_is_noted() {
    let receiver = Receiver::start([302, 302, 302]).await;
    let pair = pair(vec![hook(&receiver.url)]).await;
    let id = come(&pair).await;
    let [noted] = noted(&pair.laptop).await.try_into().unwrap();
    let noted: Value = noted;
    assert_eq!((receiver.asked(), receiver.elsewhere()), (3, 0));
    assert_eq!((&noted["outcome"], &noted["actor"]), (&"failed".into(), &"node".into()));
    assert_eq!(noted["subject"], receiver.url.origin().ascii_serialization());
    assert_eq!(noted["detail"]["session"], id.to_string());
    let text = noted.to_string();
    assert!(!text.contains("/hook") && !text.contains(&KEY[6..]), "{text}");
    // The next one is tried anew.
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "two")])).await;
    pair.pull("shop").await;
    assert_eq!(events(&receiver.taken(1).await), ["session.changed"]);
    pair.stop().await;
}

#[tokio::test]
async fn who_is_gone_is_told_once_and_who_hangs_keeps_nobody() {
    let (gone, hanging) = (Receiver::start([410]).await, Receiver::start([0]).await);
    let pair = pair(vec![hook(&gone.url), hook(&hanging.url)]).await;
    come(&pair).await;
    noted(&pair.laptop).await;
    assert_eq!(gone.asked(), 1);
    // Its first answer takes too long, and its second one comes.
    hanging.taken(1).await;
    assert_eq!((hanging.asked(), hanging.ids().len()), (2, 1));
    pair.stop().await;
}

#[tokio::test]
async fn a_private_address_hears_nothing_unless_the_settings_allow_it() {
    let receiver = Receiver::start([]).await;
    let choices = Choices { outbound_allow: None, ..telling(vec![hook(&receiver.url)]) };
    let (cloud, laptop) = (start(Choices::default()).await, start(choices).await);
    know(&laptop, &cloud, "cloud").await;
    let pair = Pair { cloud, laptop };
    come(&pair).await;
    let noted = noted(&pair.laptop).await;
    let why = noted[0]["detail"]["why"].as_str().unwrap();
    assert!(why.contains("private address"), "{why}");
    assert_eq!(receiver.asked(), 0);
    pair.stop().await;
}

/// The same receiver, named by its address.
fn by_address(receiver: &Receiver) -> Url {
    let mut url = receiver.url.clone();
    url.set_host(Some("127.0.0.1")).unwrap();
    url
}

/// The session that comes to a node which allows this, and tells this webhook.
async fn come_where(allowed: &str, hook: WebhookSettings) -> Pair {
    let allow = Some(vec![allowed.parse().unwrap()]);
    let choices = Choices { outbound_allow: allow, ..telling(vec![hook]) };
    let (cloud, laptop) = (start(Choices::default()).await, start(choices).await);
    know(&laptop, &cloud, "cloud").await;
    let pair = Pair { cloud, laptop };
    come(&pair).await;
    pair
}

#[tokio::test]
async fn a_webhook_at_an_address_is_told_in_clear_text_where_the_settings_name_it() {
    let receiver = Receiver::start([]).await;
    let pair = come_where("127.0.0.1", hook(&by_address(&receiver))).await;
    assert_eq!(events(&receiver.taken(1).await), ["session.new"]);
    assert!(untold(&pair.laptop).await.is_empty());
    pair.stop().await;
}

#[tokio::test]
async fn why_a_webhook_may_not_be_told_in_clear_text_is_noted_at_once() {
    let receiver = Receiver::start([]).await;
    // A second try would come long after this story has given up.
    let patience = Patience { pause: Duration::from_mins(10), ..Patience::default() };
    let hook = WebhookSettings { patience, ..hook(&by_address(&receiver)) };
    let pair = come_where("127.0.0.0/8", hook).await;
    let noted = noted(&pair.laptop).await;
    let why = noted[0]["detail"]["why"].as_str().unwrap();
    let said = "which is not encrypted, and which outbound.allow does not name by itself";
    assert!(why.ends_with(said), "{why}");
    assert_eq!(receiver.asked(), 0);
    pair.stop().await;
}

#[tokio::test]
async fn a_secret_in_a_file_is_read_when_it_is_needed() {
    let receiver = Receiver::start([]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hook.secret");
    let secret = Secret::File(file.clone());
    let pair = pair(vec![WebhookSettings { secret, ..hook(&receiver.url) }]).await;
    let id = come(&pair).await;
    let noted = noted(&pair.laptop).await;
    assert!(noted[0]["detail"]["why"].as_str().unwrap().starts_with("its secret cannot be read"));
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    edit(&pair.cloud, id, &logged_in(&[("shop.test", "two")])).await;
    pair.pull("shop").await;
    assert_eq!(events(&receiver.taken(1).await), ["session.changed"]);
    pair.stop().await;
}

/// Waits until it is noted that a message was not taken.
async fn noted(node: &Node) -> Vec<Value> {
    until("it is noted", || async { Some(untold(node).await).filter(|untold| !untold.is_empty()) })
        .await
}
