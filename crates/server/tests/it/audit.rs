//! The audit log: what was done, by whom, and what was refused.

use crate::fixture::{Folder, Node, seed_snapshot, state_at};
use baton_api::{Answers, AuditView, Client, CreateKey, ErrorCode, ListAudit, OpenSession, Scope};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Actor, RuntimeError};
use baton_server::NodeError;
use baton_session::Owner;

/// The log as `client` sees it, oldest first, without what differs between runs.
async fn log(client: &Client, ids: &[(&str, String)]) -> String {
    let list = client.list_audit(&ListAudit::default()).await.unwrap();
    assert_eq!(list.next, None);
    let line = |entry: &AuditView| {
        let AuditView { owner, actor, action, subject, outcome, detail, .. } = entry;
        let (actor, _) = actor.split_once(" (key_").unwrap_or((actor, ""));
        format!("{owner}: {actor}: {action} {subject} {outcome} {detail}")
    };
    let mut text = list.items.iter().rev().map(line).collect::<Vec<_>>().join("\n");
    for (name, id) in ids {
        text = text.replace(id, name);
    }
    text
}

fn open(name: &str) -> OpenSession {
    OpenSession::new(name.parse().unwrap(), [])
}

#[tokio::test]
async fn what_changes_or_reveals_a_session_is_noted() {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "ada", "shop").await;
    seed_snapshot(&store, "ada", id, &state_at("https://shop.test/?token=hunter2")).await;
    store.close().await;
    let node = folder.start().await;
    let ada = node.as_owner("ada", &[Scope::Read, Scope::Drive, Scope::Reveal]).await;
    ada.fetch_state("shop", false).await.unwrap();
    ada.fetch_state("shop", true).await.unwrap();
    ada.open_session(&open("shop")).await.unwrap_err();
    ada.open_session(&open("mail")).await.unwrap_err();
    ada.resume_session("shop").await.unwrap_err();
    ada.resume_session("nothing").await.unwrap_err();
    ada.close_session(&id.to_string()[..13]).await.unwrap();
    ada.abandon_session("shop").await.unwrap_err();
    ada.delete_session(&id.to_string()).await.unwrap();
    ada.list_keys(None).await.unwrap_err();
    let reader = node.as_owner("ada", &[Scope::Read]).await;
    reader.fetch_state("gone", true).await.unwrap_err();
    let keys = node.admin().list_keys(Some(&"ada".parse().unwrap())).await.unwrap().items;
    let [all, read] = [0, 1].map(|key: usize| keys[key].id.clone());
    let ids = [("ID", id.to_string()), ("KEY-1", all), ("KEY-2", read)];
    let text = log(&ada, &ids).await;
    assert!(!text.contains("hunter2"), "no secret is noted");
    insta::assert_snapshot!(text, @r#"
    ada: local-admin: key.create KEY-1 done {"name":"ada [Read, Drive, Reveal]","scopes":["read","drive","reveal"]}
    ada: ada [Read, Drive, Reveal]: session.reveal ID done {"name":"shop"}
    ada: ada [Read, Drive, Reveal]: session.open shop failed {"code":"name_taken","name":"shop"}
    ada: ada [Read, Drive, Reveal]: session.open mail failed {"code":"browser_unavailable","name":"mail"}
    ada: ada [Read, Drive, Reveal]: session.resume ID failed {"code":"browser_unavailable","name":"shop"}
    ada: ada [Read, Drive, Reveal]: session.resume nothing failed {"code":"session_not_found"}
    ada: ada [Read, Drive, Reveal]: session.close ID done {"name":"shop"}
    ada: ada [Read, Drive, Reveal]: session.abandon ID failed {"code":"wrong_state","name":"shop"}
    ada: ada [Read, Drive, Reveal]: session.delete ID done {"name":"shop"}
    ada: ada [Read, Drive, Reveal]: request GET /keys denied {"code":"forbidden"}
    ada: local-admin: key.create KEY-2 done {"name":"ada [Read]","scopes":["read"]}
    ada: ada [Read]: session.reveal gone denied {"code":"forbidden"}
    "#);
    node.stop().await;
}

#[tokio::test]
async fn an_admin_reads_the_log_of_everybody_and_others_their_own() {
    let node = Node::start().await;
    let (ada, bob) =
        (node.as_owner("ada", &[Scope::Read]).await, node.as_owner("bob", &[Scope::Admin]).await);
    let owner = |name: &str| name.parse::<Owner>().unwrap();
    let of = |query: ListAudit, client: Client| async move {
        let items = client.list_audit(&query).await.unwrap().items;
        items.into_iter().map(|entry| entry.owner.to_string()).collect::<Vec<_>>()
    };
    let named = |name| ListAudit { owner: Some(owner(name)), ..ListAudit::default() };
    assert_eq!(of(ListAudit::default(), ada.clone()).await, ["ada"]);
    assert_eq!(of(named("ada"), ada.clone()).await, ["ada"]);
    assert!(of(named("bob"), ada.clone()).await.is_empty(), "foreign entries do not exist");
    assert_eq!(of(ListAudit::default(), bob.clone()).await, ["bob", "ada", "local"]);
    assert_eq!(of(named("ada"), bob.clone()).await, ["ada"]);

    let mut query = ListAudit { limit: Some(2), ..ListAudit::default() };
    let first = bob.list_audit(&query).await.unwrap();
    query.after = first.next;
    let last = bob.list_audit(&query).await.unwrap();
    assert_eq!((first.items.len(), last.items.len(), last.next), (2, 1, None));
    let driver = node.as_owner("ada", &[Scope::Drive]).await;
    let refused = driver.list_audit(&ListAudit::default()).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    node.stop().await;
}

#[tokio::test]
async fn keys_are_noted_without_their_secrets() {
    let node = Node::start().await;
    let admin = node.admin();
    // A name that looks like another's does not pass for it.
    let name = "node".to_owned();
    let request =
        CreateKey { name, owner: None, scopes: [Scope::Read, Scope::Admin].into(), for_node: None };
    let made = admin.create_key(&request).await.unwrap();
    admin.create_key(&request).await.unwrap_err();
    let mine = node.client(&made.secret);
    mine.revoke_key("missing\u{7}", None).await.unwrap_err();
    mine.revoke_key("node", None).await.unwrap();
    let items = admin.list_audit(&ListAudit::default()).await.unwrap().items;
    assert_eq!(items[0].actor, format!("node ({})", made.key.id));
    assert!(!serde_json::to_string(&items).unwrap().contains(&made.secret));
    let lines: Vec<String> = items
        .iter()
        .rev()
        .map(|entry| format!("{} {} {}", entry.action, entry.outcome, entry.detail))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    key.create done {"name":"local-admin","scopes":["read","drive","reveal","watch","sync","sandbox","debug","browser","admin"]}
    key.create done {"name":"node","scopes":["read","admin"]}
    key.create failed {"code":"name_taken","name":"node","scopes":["read","admin"]}
    key.revoke failed {"code":"key_not_found"}
    key.revoke done {"name":"node"}
    "#);
    let subjects: Vec<&str> = items.iter().map(|entry| entry.subject.as_str()).take(2).collect();
    assert_eq!(subjects, [made.key.id.as_str(), "missing"]);
    node.stop().await;
}

#[tokio::test]
async fn what_cannot_be_noted_fails_and_what_failed_stays_what_it_was() {
    let folder = Folder::new();
    let store = folder.store().await;
    store.close().await;
    let note = || Note::new(&Actor::node(), &Owner::local(), Action::Resume, "some");
    let done: NodeError = note().end(&store, Ok("a secret")).await.unwrap_err();
    let NodeError::Runtime(RuntimeError::NotNoted { action: "session.resume", .. }) = done else {
        panic!("{done}");
    };
    assert_eq!(done.problem().code, ErrorCode::StorageUnavailable);
    let failed = NodeError::Unauthenticated { found: "nothing" };
    let failed = note().end::<(), _>(&store, Err(failed)).await.unwrap_err();
    assert!(matches!(failed, NodeError::Unauthenticated { found: "nothing" }), "{failed}");
}
