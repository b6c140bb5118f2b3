//! What a node says, notes and keeps of something that it refuses.

use super::pair::store;
use crate::fixture::Node;
use baton_api::{AuditView, ListAudit};
use baton_session::{PartHash, RevisionId, SessionId};
use baton_store::{DatabaseUrl, MasterKey, inspect};
use jiff::Timestamp;

/// Why `node` refuses something, and what it notes of it. It keeps nothing.
pub(super) async fn refused(node: &Node, ask: impl Future<Output = String>) -> String {
    let (kept, noted) = (kept(node).await, noted(node).await.len());
    let why = ask.await;
    assert_eq!(self::kept(node).await, kept, "nothing of it is kept: {why}");
    let log = self::noted(node).await.split_off(noted);
    let told = [vec![why], log].concat().join("\n");
    scrub(&told, node)
}

/// All that a node keeps of sessions and peers.
async fn kept(node: &Node) -> String {
    let data = &node.folder.data;
    let (database, key) =
        (DatabaseUrl::Sqlite(data.database()), MasterKey::load(&data.key()).unwrap());
    let contents = inspect(&database, &key, None).await.unwrap().contents;
    let index = node.admin().fetch_sync_index().await.unwrap().sessions;
    let store = store(node).await;
    let peers = store.list_peers(&"local".parse().unwrap()).await.unwrap();
    store.close().await;
    let peers: Vec<_> = peers.iter().map(|peer| (&peer.name, peer.node, &peer.url)).collect();
    format!("{contents:#?}\n{index:#?}\n{peers:#?}")
}

/// The audit log, oldest first.
pub(super) async fn noted(node: &Node) -> Vec<String> {
    let query = ListAudit { limit: Some(200), ..ListAudit::default() };
    let items = node.admin().list_audit(&query).await.unwrap().items;
    let line = |entry: &AuditView| {
        let (actor, _) = entry.actor.split_once(" (key_").unwrap_or((&entry.actor, ""));
        let (action, subject) = (&entry.action, &entry.subject);
        format!("noted: {actor}: {action} {subject} {} {}", entry.outcome, entry.detail)
    };
    items.iter().rev().map(line).collect()
}

/// The text with the kind of what differs between runs in its place.
fn scrub(text: &str, node: &Node) -> String {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || "-:._".contains(c);
    let mut scrubbed = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()));
        let bare = word.trim_end_matches(':');
        scrubbed.push_str(kind(bare, node).unwrap_or(bare));
        scrubbed.push_str(&word[bare.len()..]);
        let (between, next) = after.split_at(after.find(is_of_word).unwrap_or(after.len()));
        scrubbed.push_str(between);
        rest = next;
    }
    scrubbed
}

fn kind(word: &str, node: &Node) -> Option<&'static str> {
    match word {
        _ if word.parse() == Ok(node.id()) => Some("HERE"),
        _ if word.parse::<RevisionId>().is_ok() => Some("REV"),
        _ if word.parse::<SessionId>().is_ok() => Some("ID"),
        _ if word.parse::<PartHash>().is_ok() => Some("HASH"),
        _ if word.parse::<Timestamp>().is_ok() => Some("TIME"),
        _ => None,
    }
}
