//! The sync directory: what is saved lies there sealed, what others put there is taken when a pinned key
//! vouches for it, and nodes that share one come to rest.

use super::pair::{again_at, edit, know, logged_in, save, seed, sql, start, state, token};
use crate::fixture::{Node, until};
use baton_api::Scope;
use baton_api::sync::DirectoryView;
use baton_server::config::Choices;
use baton_session::{SessionId, wire};
use baton_sync::directory::{DirectoryIndex, NodeRegistry, SyncDirectory};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

/// How long a directory stays unwritten before it counts as at rest.
const REST: Duration = Duration::from_secs(3);

/// The same, or as many seconds as a soak asks for.
fn rest() -> Duration {
    baton_testing::asked_rounds().map_or(REST, Duration::from_secs)
}

/// A node that keeps this directory.
async fn keeper(directory: &Path) -> Node {
    let directory = Some(directory.to_owned());
    start(Choices { sync_directory: directory, ..Choices::default() }).await
}

/// Two nodes that know each other.
pub(super) async fn keepers(of: [&Path; 2]) -> [Node; 2] {
    let (one, other) = (keeper(of[0]).await, keeper(of[1]).await);
    know(&one, &other, "other").await;
    know(&other, &one, "one").await;
    [one, other]
}

pub(super) fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sync");
    (folder, path)
}

pub(super) fn file_of(directory: &Path, session: SessionId) -> PathBuf {
    directory.join(format!("sessions/{session}.json"))
}

pub(super) async fn there_is(path: &Path) {
    until(&format!("{} is there", path.display()), async || path.exists().then_some(())).await;
}

/// Waits until what the node says of its directory is so.
pub(super) async fn says(
    node: &Node,
    what: &str,
    is_so: impl Fn(&DirectoryView) -> bool,
) -> DirectoryView {
    until(what, async || {
        let view = node.admin().fetch_sync_directory().await.unwrap();
        is_so(&view).then_some(view)
    })
    .await
}

/// Every file of a directory, with what tells that it was written.
fn written(directory: &Path) -> BTreeMap<PathBuf, (u64, u64, SystemTime)> {
    let mut files = BTreeMap::new();
    for folder in [directory.to_owned(), directory.join("sessions")] {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let found = entry.metadata().unwrap();
            if found.is_file() {
                let mark = (found.ino(), found.len(), found.modified().unwrap());
                files.insert(entry.path(), mark);
            }
        }
    }
    files
}

/// Waits until nothing in a directory is written for some time.
async fn rests(directory: &Path, time: Duration) {
    for _ in 0..10 {
        let before = written(directory);
        tokio::time::sleep(time).await;
        if written(directory) == before {
            return;
        }
    }
    panic!("expected the directory to come to rest, found it written again and again");
}

#[tokio::test]
async fn what_is_saved_lies_in_the_directory_sealed() {
    let (_folder, directory) = folder();
    let node = keeper(&directory).await;
    let id = seed(&node, "shop", &logged_in(&[("shop.test", "dear-secret")])).await;
    let saved = save(&node, "shop").await;
    let path = file_of(&directory, id);
    there_is(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("dear-secret") && !text.contains("https://shop.test"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let files = SyncDirectory::new(&directory);
    let file = files.load_session(id).unwrap().unwrap();
    assert_eq!((file.head.name.as_str(), file.head.sync.rev), ("shop", Some(saved.rev)));
    assert_eq!((file.sender, file.recipients), (node.id(), vec![node.id()]));
    let index: DirectoryIndex = until("the index names it", async || {
        let text = fs::read(directory.join("index.json")).ok()?;
        let index: DirectoryIndex = serde_json::from_slice(&text).ok()?;
        (index.sessions.len() == 1).then_some(index)
    })
    .await;
    assert_eq!((index.node_id, index.sessions[0].size), (node.id(), text.len() as u64));
    let nodes = fs::read(directory.join("nodes.json")).unwrap();
    let nodes: NodeRegistry = serde_json::from_slice(&nodes).unwrap();
    assert_eq!((nodes.own.node_id, nodes.peers.len()), (node.id(), 0));
    node.stop().await;
}

#[tokio::test]
async fn what_is_saved_can_be_read_by_other_programs_where_that_is_set() {
    let (_folder, directory) = folder();
    let choices = |plain| Choices {
        sync_directory: Some(directory.clone()),
        sync_directory_plain: plain,
        ..Choices::default()
    };
    let node = start(choices(None)).await;
    let all = logged_in(&[("shop.test", "dear-secret")]);
    let id = seed(&node, "shop", &all).await;
    save(&node, "shop").await;
    let path = file_of(&directory, id);
    there_is(&path).await;
    // What lay there sealed is written anew once that is set.
    let (address, data) = (node.file.url.clone(), node.stop().await);
    let node = again_at(data, &address, choices(Some(true))).await;
    let read = async || wire::read(fs::read_to_string(&path).ok()?.as_bytes()).ok();
    let (file, _) = until("it shows what it holds", read).await;
    assert_eq!((file.head.name.as_str(), file.state), ("shop", all));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    // Nobody believes it more than what is sealed: a word of it changed, and it is none of ours.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("dear-secret", "forged")).unwrap();
    until("it is written anew", async || {
        let text = fs::read_to_string(&path).ok()?;
        text.contains("dear-secret").then_some(())
    })
    .await;
    assert_eq!(token(&state(&node, "shop").await, "shop.test").unwrap(), "dear-secret");
    let (address, data) = (node.file.url.clone(), node.stop().await);
    let node = again_at(data, &address, choices(Some(false))).await;
    until("it is sealed again", async || {
        let text = fs::read_to_string(&path).ok()?;
        (!text.contains("dear-secret")).then_some(())
    })
    .await;
    node.stop().await;
}

#[tokio::test]
async fn nodes_that_share_a_directory_have_everything_and_come_to_rest() {
    let (_folder, directory) = folder();
    let [one, other] = keepers([&directory, &directory]).await;
    let held = logged_in(&[("shop.test", "first")]);
    let id = seed(&one, "shop", &held).await;
    save(&one, "shop").await;
    until("the session is at the other node", async || {
        other.admin().fetch_session("shop").await.ok()
    })
    .await;
    assert_eq!(state(&other, "shop").await, held);
    // Both go on, and neither has seen what the other did.
    edit(&one, id, &logged_in(&[("shop.test", "second")])).await;
    edit(&other, id, &logged_in(&[("shop.test", "third")])).await;
    for node in [&one, &other] {
        until("both have both", async || {
            let index = node.admin().fetch_sync_index().await.unwrap();
            (index.sessions[0].conflicts.len() == 1).then_some(())
        })
        .await;
    }
    rests(&directory, rest()).await;
    let ours = one.admin().fetch_sync_index().await.unwrap().sessions;
    let theirs = other.admin().fetch_sync_index().await.unwrap().sessions;
    assert_eq!((ours[0].rev, &ours[0].vector), (theirs[0].rev, &theirs[0].vector));
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn nodes_of_which_one_does_not_know_the_other_come_to_rest_too() {
    let (_folder, directory) = folder();
    let (one, other) = (keeper(&directory).await, keeper(&directory).await);
    let id = seed(&one, "shop", &logged_in(&[("shop.test", "first")])).await;
    save(&one, "shop").await;
    know(&other, &one, "one").await;
    other.admin().pull_session("one", &id.to_string()).await.unwrap();
    forget(&one, &other).await;
    edit(&other, id, &logged_in(&[("shop.test", "second")])).await;
    // Each has its file: one of them in the session's own place, the other one beside it.
    let files = SyncDirectory::new(&directory);
    until("both have a file", async || {
        let names = files.files().ok()?.into_keys();
        let writers = names.filter_map(|name| Some(files.load(&name).ok()??.0.sender));
        (writers.collect::<BTreeSet<_>>() == [one.id(), other.id()].into()).then_some(())
    })
    .await;
    rests(&directory, REST).await;
    assert_eq!(files.files().unwrap().len(), 2);
    says(&one, "the stranger's file is refused", |view| view.refused.len() == 1).await;
    assert_eq!(token(&state(&one, "shop").await, "shop.test").as_deref(), Some("first"));
    one.stop().await;
    other.stop().await;
}

/// Forgets a peer, and lets nobody in that has a key for nodes.
async fn forget(node: &Node, peer: &Node) {
    for key in node.admin().list_keys(None).await.unwrap().items {
        if key.scopes == [Scope::Sync].into() {
            node.admin().revoke_key(&key.id, None).await.unwrap();
        }
    }
    node.admin().remove_peer(&peer.id().to_string()).await.unwrap();
}

#[tokio::test]
async fn copies_of_a_directory_that_are_merged_file_by_file_lose_nothing() {
    let (_first, here) = folder();
    let (_second, there) = folder();
    let [one, other] = keepers([&here, &there]).await;
    let id = seed(&one, "shop", &logged_in(&[("shop.test", "first")])).await;
    save(&one, "shop").await;
    there_is(&file_of(&here, id)).await;
    says(&other, "the other directory is there", |view| view.failed.is_none()).await;
    there_is(&there.join("sessions")).await;
    bring(&file_of(&here, id), &file_of(&there, id));
    until("the session is at the other node", async || {
        other.admin().fetch_session("shop").await.ok()
    })
    .await;
    let mine = edit(&one, id, &logged_in(&[("shop.test", "mine")])).await.rev;
    let theirs = edit(&other, id, &logged_in(&[("shop.test", "theirs")])).await.rev;
    holds(&here, id, mine).await;
    holds(&there, id, theirs).await;
    // A merge that takes theirs and drops mine, at both places.
    bring(&file_of(&there, id), &file_of(&here, id));
    let both = until("the first node has both", async || both_of(&one).await).await;
    // Mine come back as a copy beside theirs, as file syncing programs write one.
    until("its directory says so", async || {
        let file = SyncDirectory::new(&here).load_session(id).ok()??;
        (file.head.sync.conflicts.len() == 1).then_some(())
    })
    .await;
    let copy = there.join(format!("sessions/{id}.sync-conflict-20260101.json"));
    bring(&file_of(&here, id), &copy);
    assert_eq!(until("the other node has both", async || both_of(&other).await).await, both);
    until("the copy is gone", async || (!copy.exists()).then_some(())).await;
    one.stop().await;
    other.stop().await;
}

/// A file is sealed for all its readers as a whole, so whoever is given a part is none of them.
#[tokio::test]
async fn a_peer_that_is_given_less_than_everything_reads_nothing_in_the_directory() {
    let (_folder, directory) = folder();
    let [one, other] = keepers([&directory, &directory]).await;
    let third = keeper(&directory).await;
    know(&one, &third, "third").await;
    let id = seed(&one, "shop", &logged_in(&[("shop.test", "first")])).await;
    save(&one, "shop").await;
    let files = SyncDirectory::new(&directory);
    let read_by = async |names: &str, expected: &[&Node]| {
        let expected: BTreeSet<_> = expected.iter().map(|node| node.id()).collect();
        until(names, async || {
            let file = files.load_session(id).ok()??;
            (BTreeSet::from_iter(file.recipients) == expected).then_some(())
        })
        .await;
    };
    read_by("all peers read it", &[&one, &other, &third]).await;

    // What lies there already is written anew, for those that may read it.
    let mail = json!({"give": {"sites": ["mail.test"]}});
    let limits = serde_json::from_value(mail).unwrap();
    one.admin().limit_peer("other", &limits).await.unwrap();
    let card = other.admin().list_peers().await.unwrap().this;
    let card = serde_json::to_vec(&card).unwrap();
    for place in ["", "sessions/"].map(|folder| format!("{folder}{}.json", other.id())) {
        fs::write(directory.join(place), &card).unwrap();
    }
    read_by("the limited one is left out", &[&one, &third]).await;
    edit(&one, id, &logged_in(&[("shop.test", "second")])).await;
    read_by("and stays so, whatever lies in the directory", &[&one, &third]).await;
    rests(&directory, rest()).await;
    read_by("also at rest", &[&one, &third]).await;
    assert_eq!(token(&state(&one, "shop").await, "shop.test").as_deref(), Some("second"));

    // What is taken from it alone is no reason.
    let take = serde_json::from_value(json!({"take": {"kinds": []}})).unwrap();
    one.admin().limit_peer("other", &take).await.unwrap();
    read_by("it reads again", &[&one, &other, &third]).await;
    for node in [one, other, third] {
        node.stop().await;
    }
}

/// Puts a copy of a file in place, as whole as a program that syncs folders would.
fn bring(from: &Path, to: &Path) {
    let beside = to.with_extension("part");
    fs::copy(from, &beside).unwrap();
    fs::rename(beside, to).unwrap();
}

pub(super) async fn holds(directory: &Path, id: SessionId, rev: baton_session::RevisionId) {
    until("the directory has the revision", async || {
        let file = SyncDirectory::new(directory).load_session(id).ok()??;
        (file.head.sync.rev == Some(rev)).then_some(())
    })
    .await;
}

/// All revisions of the only session, when there are two.
async fn both_of(node: &Node) -> Option<Vec<baton_session::RevisionId>> {
    let index = node.admin().fetch_sync_index().await.unwrap();
    let session = &index.sessions[0];
    let mut all: Vec<_> = session.conflicts.iter().copied().chain([session.rev]).collect();
    all.sort_unstable();
    (all.len() == 2).then_some(all)
}

#[tokio::test]
async fn what_is_damaged_or_missing_is_written_anew() {
    let (_folder, directory) = folder();
    let node = keeper(&directory).await;
    let held = logged_in(&[("shop.test", "first")]);
    let id = seed(&node, "shop", &held).await;
    save(&node, "shop").await;
    let path = file_of(&directory, id);
    there_is(&path).await;
    let files = SyncDirectory::new(&directory);
    let is_whole = async || files.load_session(id).ok()?.map(drop);
    fs::remove_file(&path).unwrap();
    until("a missing file is written", is_whole).await;
    fs::write(directory.join("index.json"), "<<<<<<< HEAD").unwrap();
    until("a damaged index is made anew", async || {
        let text = fs::read(directory.join("index.json")).ok()?;
        serde_json::from_slice::<DirectoryIndex>(&text).ok()
    })
    .await;
    fs::write(&path, "{\"id\": \"nothing\"").unwrap();
    until("a damaged file is written anew", is_whole).await;
    let aside: Vec<_> = fs::read_dir(directory.join("set-aside")).unwrap().collect();
    assert_eq!(aside.len(), 1, "what stood there is kept");
    assert_eq!(state(&node, "shop").await, held);
    node.stop().await;
}

#[tokio::test]
async fn foreign_and_forged_files_are_left_aside_and_noted() {
    let (_folder, directory) = folder();
    let (_elsewhere, beyond) = folder();
    let node = keeper(&directory).await;
    let stranger = keeper(&beyond).await;
    let id = seed(&stranger, "shop", &logged_in(&[("shop.test", "theirs")])).await;
    save(&stranger, "shop").await;
    there_is(&file_of(&beyond, id)).await;
    there_is(&directory.join("sessions")).await;
    bring(&file_of(&beyond, id), &file_of(&directory, id));
    let view = says(&node, "the stranger's file is refused", |view| view.refused.len() == 1).await;
    assert!(view.refused[0].reason.contains("expected a file of a confirmed peer"));
    assert!(file_of(&directory, id).exists(), "it is left where it lies");
    // Our own file, of which one letter was changed.
    let mine = seed(&node, "mine", &logged_in(&[("shop.test", "mine")])).await;
    save(&node, "mine").await;
    let path = file_of(&directory, mine);
    there_is(&path).await;
    let changed =
        fs::read_to_string(&path).unwrap().replace("\"name\": \"mine\"", "\"name\": \"ours\"");
    fs::write(&path, changed).unwrap();
    until("it is written anew", async || {
        let file = SyncDirectory::new(&directory).load_session(mine).ok()??;
        (file.head.name == "mine").then_some(())
    })
    .await;
    assert!(node.admin().fetch_session("shop").await.is_err());
    let noted = super::watched::noted(&node).await;
    let refused =
        noted.iter().filter(|line| line.contains("session.receive") && line.contains("failed"));
    assert_eq!(refused.count(), 2, "{noted:?}");
    node.stop().await;
    stranger.stop().await;
}

#[tokio::test]
async fn a_directory_that_leads_elsewhere_is_refused_until_it_is_one() {
    let (folder, directory) = folder();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, &directory).unwrap();
    let node = keeper(&directory).await;
    let id = seed(&node, "shop", &logged_in(&[("shop.test", "first")])).await;
    save(&node, "shop").await;
    let view = says(&node, "the link is refused", |view| view.failed.is_some()).await;
    assert!(view.failed.unwrap().contains("expected a folder, found a link"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    fs::remove_file(&directory).unwrap();
    there_is(&file_of(&directory, id)).await;
    says(&node, "it is in step", |view| view.failed.is_none()).await;
    node.stop().await;
}

#[tokio::test]
async fn a_deletion_is_told_by_its_file_and_never_by_a_missing_one() {
    let (_folder, directory) = folder();
    let [one, other] = keepers([&directory, &directory]).await;
    let id = seed(&one, "shop", &logged_in(&[("shop.test", "first")])).await;
    save(&one, "shop").await;
    until("the session is there", async || other.admin().fetch_session("shop").await.ok()).await;
    fs::remove_file(file_of(&directory, id)).unwrap();
    there_is(&file_of(&directory, id)).await;
    assert_eq!(token(&state(&other, "shop").await, "shop.test").as_deref(), Some("first"));
    one.admin().delete_session("shop").await.unwrap();
    until("it is deleted there too", async || other.admin().fetch_session("shop").await.err())
        .await;
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn a_session_that_cannot_be_written_keeps_no_other_from_the_directory() {
    let (_folder, directory) = folder();
    let node = keeper(&directory).await;
    let bad = seed(&node, "bad", &logged_in(&[("bad.test", "one")])).await;
    let good = seed(&node, "good", &logged_in(&[("good.test", "one")])).await;
    assert!(bad < good, "it comes first");
    let in_the_way = file_of(&directory, bad);
    there_is(in_the_way.parent().unwrap()).await;
    fs::create_dir_all(in_the_way.join("folder")).unwrap();
    save(&node, "bad").await;
    save(&node, "good").await;
    there_is(&file_of(&directory, good)).await;
    there_is(&directory.join("index.json")).await;
    let told = says(&node, "it says what is wrong", |view| view.failed.is_some()).await;
    let why = told.failed.unwrap();
    assert!(why.contains(&bad.to_string()), "{why}");
    fs::remove_dir_all(&in_the_way).unwrap();
    until("it is written as well", async || in_the_way.is_file().then_some(())).await;
    says(&node, "all is well", |view| view.failed.is_none()).await;
    node.stop().await;
}

#[tokio::test]
async fn a_file_that_cannot_be_taken_in_keeps_no_other_from_it() {
    let (_folder, directory) = folder();
    let [writer, reader] = keepers([&directory, &directory]).await;
    let bad = seed(&writer, "bad", &logged_in(&[("bad.test", "one")])).await;
    let good = seed(&writer, "good", &logged_in(&[("good.test", "one")])).await;
    assert!(bad < good, "it comes first");
    sql(
        &reader,
        &format!(
            "create trigger stuck before insert on shared_sessions \
                when new.session = '{bad}' begin select raise(abort, 'stuck'); end"
        ),
    );
    save(&writer, "bad").await;
    there_is(&file_of(&directory, bad)).await;
    says(&reader, "it says what is wrong", |view| view.failed.is_some()).await;
    save(&writer, "good").await;
    let has = async |id: SessionId| reader.admin().fetch_session(&id.to_string()).await.is_ok();
    until("the other one is there", async || has(good).await.then_some(())).await;
    assert!(!has(bad).await);
    sql(&reader, "drop trigger stuck");
    until("it is there as well", async || has(bad).await.then_some(())).await;
    says(&reader, "all is well", |view| view.failed.is_none()).await;
    writer.stop().await;
    reader.stop().await;
}
