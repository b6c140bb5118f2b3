//! A pull looks at what has just come without reading it back from the disk. Whether a part is at hand
//! or on the disk changes nothing but the time that it takes.

use super::pair::{Pair, know, save, seed, start, state, store};
use super::stranger::Stranger;
use super::watched::refused;
use crate::fixture::{Node, new_snapshot};
use baton_api::ErrorCode;
use baton_api::sync::MovementOutcome;
use baton_server::config::Choices;
use baton_session::revision::{Content, PartList};
use baton_session::{
    Entries, Part, PartKind, Replica, SessionId, State, StorageKey, Tab, parts, wire,
};
use baton_store::{CommitShared, NewSnapshot, PackedPart, RevisionContent, Shared};
use jiff::Timestamp;

/// Eight origins with some nine hundred bytes each, and a tab.
fn eight_origins() -> State {
    let tab = Tab { url: "https://shop0.test/".into(), active: true, ..Tab::default() };
    let mut state = State { tabs: vec![tab], ..State::default() };
    for number in 0..8 {
        let key = StorageKey::first_party(&format!("https://shop{number}.test"));
        let entries: Entries = [("text", number.to_string().repeat(900))].into_iter().collect();
        state.origins.entry(key).or_default().local_storage = entries;
    }
    state
}

#[tokio::test]
async fn a_session_of_which_only_a_part_fits_at_hand_comes_whole() {
    // Room for two parts of 1024 bytes.
    let narrow = Choices { part_bytes: Some(1024), ..Choices::default() };
    let (cloud, laptop) = (start(Choices::default()).await, start(narrow).await);
    know(&laptop, &cloud, "cloud").await;
    let held = eight_origins();
    seed(&cloud, "shop", &held).await;
    let saved = save(&cloud, "shop").await;
    let pulled = laptop.admin().pull_session("cloud", "shop").await.unwrap();
    assert_eq!((pulled.outcome, pulled.rev), (MovementOutcome::Moved, Some(saved.rev)));
    assert_eq!(state(&laptop, "shop").await, held);
    cloud.stop().await;
    laptop.stop().await;
}

#[tokio::test]
async fn what_came_the_last_time_is_on_the_disk_and_the_rest_is_at_hand() {
    let pair = Pair::new().await;
    let held = eight_origins();
    let id = seed(&pair.cloud, "shop", &held).await;
    save(&pair.cloud, "shop").await;
    // As a pull that was cut off leaves it.
    let all = parts::split(&held);
    let (came, rest) = all.split_at(all.len() / 2);
    let laptop = store(&pair.laptop).await;
    let packed = came.iter().map(PackedPart::of).collect();
    laptop.stage_parts(&"local".parse().unwrap(), id, packed, Timestamp::now()).await.unwrap();
    laptop.close().await;
    let pulled = pair.pull("shop").await;
    // With the preview.
    assert_eq!(pulled.parts, rest.len() as u64 + 1);
    assert_eq!(state(&pair.laptop, "shop").await, held);
    pair.stop().await;
}

/// Puts a revision into the database of a node that the node itself would not have made: with these
/// parts, and the checksum of `state`.
async fn forge(node: &Node, parts: Vec<Part>, state: &State) -> SessionId {
    let stranger = Stranger::of(node, 1).await;
    let database = store(node).await;
    let session = node.folder.seed(&database, "local", "shop").await;
    let lines: Vec<_> = parts.iter().map(Part::reference).collect();
    let list = PartList::new(&lines);
    let content = Content {
        checksum: wire::checksum_of(state),
        parts: list.hash(),
        size: list.size(),
        ..stranger.says(state).0
    };
    let mut replica = Replica::new(session);
    let revision = replica.edit(None, content, &stranger.author()).id();
    let new = NewSnapshot { parts, ..new_snapshot("local", session, state) };
    let commit = CommitShared {
        owner: &"local".parse().unwrap(),
        session,
        expected: None,
        shared: &Shared { replica, base: None, peer_lease: None },
        entry: Vec::new(),
        create: None,
        snapshots: vec![(revision, RevisionContent::New(new))],
        released: Vec::new(),
        forget: false,
        now: Timestamp::now(),
    };
    database.commit_shared(commit).await.unwrap();
    database.close().await;
    session
}

/// Pulls a revision that lies twice: the first time it is at hand, the second time all of it is on the
/// disk. Both times the same is told, and nothing becomes visible.
async fn told_twice(parts: Vec<Part>, said: &State) -> String {
    let pair = Pair::new().await;
    let session = forge(&pair.cloud, parts, said).await.to_string();
    let pull =
        async || pair.laptop.admin().pull_session("cloud", &session).await.unwrap_err().to_string();
    let (first, mut second) = (pull().await, String::new());
    let again = async {
        second = pull().await;
        second.clone()
    };
    let told = refused(&pair.laptop, again).await;
    assert_eq!(first, second);
    let unknown = pair.laptop.admin().fetch_session(&session).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::SessionNotFound));
    pair.stop().await;
    told
}

#[tokio::test]
async fn a_revision_that_lies_about_its_state_is_refused_also_when_its_parts_are_at_hand() {
    let (held, mut other) = (eight_origins(), eight_origins());
    other.tabs[0].url = "https://elsewhere.test/".into();
    let told = told_twice(parts::split(&held), &other).await;
    insta::assert_snapshot!(told, @r#"
    revision REV: expected a state with the checksum HASH, found HASH
    noted: local-admin: session.pull ID failed {"code":"revision_refused","peer":"ID"}
    "#);
}

#[tokio::test]
async fn a_part_that_holds_something_else_is_refused_also_when_it_just_came() {
    let held = eight_origins();
    let mut made = parts::split(&held);
    let storage = made.iter_mut().find(|part| part.kind == PartKind::LocalStorage).unwrap();
    storage.bytes = b"no list".to_vec();
    let told = told_twice(made, &held).await;
    insta::assert_snapshot!(told, @r#"
    revision REV: expected local-storage part "https://shop0.test/" to hold valid JSON of its kind: expected ident at line 1 column 2
    noted: local-admin: session.pull ID failed {"code":"revision_refused","peer":"ID"}
    "#);
}
