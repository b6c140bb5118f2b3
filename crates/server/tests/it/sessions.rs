//! Sessions without a browser: what is stored of them is shown, ended and deleted.

use crate::fixture::{Folder, Node, icon, icon_of, new_snapshot, seed_snapshot, state_at};
use baton_api::{AttachSession, ErrorCode, ListSessions, OpenSession, Scope};
use baton_session::Lifecycle;

fn open(name: &str) -> OpenSession {
    OpenSession::new(name.parse().unwrap(), [])
}

#[tokio::test]
async fn a_browser_that_does_not_start_leaves_nothing_behind() {
    let node = Node::start().await;
    for _ in 0..2 {
        let error = node.admin().open_session(&open("shop")).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "{error}");
        assert!(error.to_string().contains("/nowhere/chromium"), "{error}");
    }
    let list = node.admin().list_sessions(&ListSessions::default()).await.unwrap();
    assert!(list.items.is_empty(), "the name is free again");
    let left = std::fs::read_dir(node.folder.data.sessions()).unwrap().count();
    assert_eq!(left, 0, "no folder stays");
    node.stop().await;
}

#[tokio::test]
async fn a_deletion_looks_at_no_parts_of_others() {
    let node = Node::start().await;
    let store = node.folder.store().await;
    let [ada, local] = ["ada", "local"].map(|owner| owner.parse().unwrap());
    let own = node.folder.seed(&store, "local", "shop").await;
    seed_snapshot(&store, "local", own, &state_at("https://shop.test/")).await;
    // What a session of somebody else left, which nothing names any more.
    let theirs = node.folder.seed(&store, "ada", "shop").await;
    seed_snapshot(&store, "ada", theirs, &state_at("https://shop.test/")).await;
    store.delete_session(&ada, theirs).await.unwrap();
    node.admin().delete_session("shop").await.unwrap();
    assert_eq!(store.collect_parts_of(&local).await.unwrap(), 0, "one's own went at once");
    assert_eq!(store.collect_parts_of(&ada).await.unwrap(), 3, "environment, tab and preview");
    store.close().await;
    node.stop().await;
}

#[tokio::test]
async fn attaching_is_for_this_machine_only() {
    let node = Node::start().await;
    for foreign in ["http://10.0.0.1:9222", "ws://example.org/devtools", "https://127.0.0.1:9222"] {
        let (name, cdp_url) = ("work".parse().unwrap(), foreign.parse().unwrap());
        let request = AttachSession { name, description: None, cdp_url };
        let error = node.admin().attach_session(&request).await.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::InvalidRequest), "{foreign}: {error}");
    }
    node.stop().await;
}

#[tokio::test]
async fn what_is_stored_is_shown() {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    seed_snapshot(&store, "local", id, &state_at("https://shop.test/?token=hunter2")).await;
    store.close().await;
    let node = folder.start().await;
    let admin = node.admin();
    let view = admin.fetch_session("shop").await.unwrap();
    assert_eq!(view.session.state, Lifecycle::Recoverable);
    assert_eq!(view.tabs[0].title, "Shop");
    assert_eq!(view.snapshot.unwrap().parts, 3, "environment, tab and preview");
    assert_eq!(admin.fetch_preview("shop").await.unwrap(), b"\x89PNG");
    let redacted = admin.fetch_state("shop", false).await.unwrap();
    assert!(redacted.redacted && !redacted.state.to_string().contains("hunter2"));
    let revealed = admin.fetch_state("shop", true).await.unwrap();
    assert!(!revealed.redacted && revealed.state.to_string().contains("hunter2"));
    node.stop().await;
}

#[tokio::test]
async fn the_icon_is_shown_as_it_was_drawn_and_nothing_else_is_taken_for_one() {
    let folder = Folder::new();
    let store = folder.store().await;
    let drawn = icon();
    let with_more = [drawn.as_slice(), b"<script>alert(1)</script>"].concat();
    for (name, bytes) in [("shop", drawn.clone()), ("more", with_more), ("page", b"<html>".into())]
    {
        let id = folder.seed(&store, "local", name).await;
        let mut snapshot = new_snapshot("local", id, &state_at("https://shop.test/"));
        snapshot.parts.push(icon_of("shop.test", bytes));
        store.create_snapshot(snapshot).await.unwrap();
    }
    store.close().await;
    let node = folder.start().await;
    let admin = node.admin();
    assert_eq!(admin.fetch_icon("shop").await.unwrap(), drawn);
    assert_eq!(admin.fetch_icon("more").await.unwrap(), drawn);
    assert_eq!(admin.fetch_icon("page").await.unwrap_err().code(), Some(ErrorCode::NoSnapshot));
    let ada = node.as_owner("ada", &[Scope::Read]).await;
    let refused = ada.fetch_icon("shop").await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::SessionNotFound));
    // It is no part of what the session holds, nor in the way of it.
    let state = admin.fetch_state("shop", true).await.unwrap();
    assert!(state.unreadable.is_empty());
    node.stop().await;
}

#[tokio::test]
async fn a_session_without_a_snapshot_says_so() {
    let folder = Folder::new();
    let store = folder.store().await;
    folder.seed(&store, "local", "new").await;
    store.close().await;
    let node = folder.start().await;
    let admin = node.admin();
    let refusals = [
        admin.fetch_state("new", false).await.map(drop),
        admin.fetch_preview("new").await.map(drop),
        admin.fetch_icon("new").await.map(drop),
        admin.resume_session("new").await.map(drop),
    ];
    for refusal in refusals {
        assert_eq!(refusal.unwrap_err().code(), Some(ErrorCode::NoSnapshot));
    }
    node.stop().await;
}

#[tokio::test]
async fn a_session_is_closed_once_and_deleted_once() {
    let folder = Folder::new();
    let store = folder.store().await;
    folder.seed(&store, "local", "shop").await;
    store.close().await;
    let node = folder.start().await;
    let admin = node.admin();
    let capture = admin.capture_session("shop").await.unwrap_err();
    insta::assert_snapshot!(capture, @"expected session shop to be active, found it recoverable");
    assert_eq!(admin.close_session("shop").await.unwrap().session.state, Lifecycle::Closed);
    let again = admin.close_session("shop").await.unwrap_err();
    insta::assert_snapshot!(again, @"expected session shop to be active, recoverable, stale or failed, found it closed");
    admin.delete_session("shop").await.unwrap();
    let gone = admin.delete_session("shop").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::SessionNotFound));
    node.stop().await;
}

#[tokio::test]
async fn an_abandoned_session_keeps_its_snapshots_and_loses_its_profile() {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    seed_snapshot(&store, "local", id, &state_at("https://shop.test/")).await;
    store.close().await;
    let profile = folder.data.profile(id);
    std::fs::create_dir_all(&profile).unwrap();
    let node = folder.start().await;
    let view = node.admin().abandon_session("shop").await.unwrap();
    assert_eq!(view.session.state, Lifecycle::Closed);
    assert!(view.snapshot.is_some());
    assert!(!profile.exists());
    node.stop().await;
}

#[tokio::test]
async fn a_list_comes_in_pages_newest_first() {
    let folder = Folder::new();
    let store = folder.store().await;
    for number in 0..5 {
        folder.seed(&store, "local", &format!("s{number}")).await;
    }
    store.close().await;
    let node = folder.start().await;
    let mut query = ListSessions { limit: Some(2), ..ListSessions::default() };
    let mut pages = Vec::new();
    loop {
        let page = node.admin().list_sessions(&query).await.unwrap();
        let ids: Vec<_> = page.items.iter().map(|session| session.id).collect();
        pages.push(ids);
        query.after = page.next;
        if page.next.is_none() {
            break;
        }
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    let all = pages.concat();
    assert!(all.is_sorted_by(|a, b| a > b), "newest first, none twice: {all:?}");
    let query = ListSessions { state: Some(Lifecycle::Failed), ..ListSessions::default() };
    assert!(node.admin().list_sessions(&query).await.unwrap().items.is_empty());
    node.stop().await;
}

#[tokio::test]
async fn the_longest_page_says_that_there_is_another_one() {
    let folder = Folder::new();
    let store = folder.store().await;
    for number in 0..1001 {
        folder.seed(&store, "local", &format!("s{number}")).await;
    }
    store.close().await;
    let node = folder.start().await;
    let mut query = ListSessions { limit: Some(1000), ..ListSessions::default() };
    let first = node.admin().list_sessions(&query).await.unwrap();
    assert_eq!((first.items.len(), first.next), (1000, first.items.last().map(|last| last.id)));
    query.after = first.next;
    let second = node.admin().list_sessions(&query).await.unwrap();
    assert_eq!((second.items.len(), second.next), (1, None));
    node.stop().await;
}

#[tokio::test]
async fn an_id_prefix_that_fits_several_is_ambiguous() {
    let folder = Folder::new();
    let store = folder.store().await;
    let first = folder.seed(&store, "local", "one").await;
    folder.seed(&store, "local", "two").await;
    store.close().await;
    let node = folder.start().await;
    let error = node.admin().fetch_session(&first.to_string()[..4]).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AmbiguousReference), "{error}");
    node.stop().await;
}
