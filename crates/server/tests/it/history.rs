//! Snapshots of a session without a browser: listed, compared, and gone back to as far as that goes.

use crate::fixture::{Folder, Node, new_snapshot, one_line, problem, seed_snapshot, state_at};
use baton_api::{ErrorCode, ListHistory, Scope};
use baton_session::{Lifecycle, SnapshotId, SnapshotReason, State};
use baton_store::NewSnapshot;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;

/// A state with a cookie that ends in three hours.
fn logged_in() -> State {
    let end = Timestamp::now() + SignedDuration::from_hours(3);
    let cookie = serde_json::json!({
        "name": "sid", "value": "hunter2", "domain": "shop.test", "path": "/",
        "expires": end.as_microsecond(),
    });
    State {
        cookies: vec![serde_json::from_value(cookie).unwrap()],
        ..state_at("https://shop.test/")
    }
}

/// A session `shop` with a good snapshot and a shrunk one after it, and a session `other`.
async fn shop() -> (Node, [SnapshotId; 3]) {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    let good = seed_snapshot(&store, "local", id, &logged_in()).await;
    let little = new_snapshot("local", id, &state_at("https://shop.test/login"));
    let little = NewSnapshot { shrunk: true, reason: SnapshotReason::Interval, ..little };
    let shrunk = store.create_snapshot(little).await.unwrap().id;
    let other = folder.seed(&store, "local", "other").await;
    let elsewhere = seed_snapshot(&store, "local", other, &logged_in()).await;
    store.close().await;
    (folder.start().await, [good, shrunk, elsewhere])
}

#[tokio::test]
async fn a_history_comes_in_pages_and_says_what_a_resume_takes() {
    let (node, [good, shrunk, _]) = shop().await;
    let first = ListHistory { limit: Some(1), ..ListHistory::default() };
    let page = node.admin().list_history("shop", &first).await.unwrap();
    assert_eq!((page.items[0].id, page.items[0].shrunk), (shrunk, true));
    assert_eq!((page.resumes_from, page.next), (Some(good), Some(shrunk)));
    let second = ListHistory { after: page.next, ..first };
    let page = node.admin().list_history("shop", &second).await.unwrap();
    assert_eq!((page.items[0].id, page.items[0].shrunk, page.next), (good, false, None));
    let empty = ListHistory { limit: Some(0), ..first };
    let error = node.admin().list_history("shop", &empty).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::InvalidRequest), "{error}");
    node.stop().await;
}

#[tokio::test]
async fn the_view_shows_the_newest_snapshot_and_the_forecast_of_the_one_that_comes_back() {
    let (node, [_, shrunk, _]) = shop().await;
    let view = node.admin().fetch_session("shop").await.unwrap();
    assert_eq!(view.snapshot.unwrap().id, shrunk);
    let forecast = view.forecast.unwrap();
    assert_eq!((forecast.cookies, forecast.within_hour, forecast.within_day), (1, 0, 1));
    node.stop().await;
}

#[tokio::test]
async fn a_diff_needs_no_scope_to_reveal_and_shows_no_value() {
    let (node, [good, shrunk, _]) = shop().await;
    let reader = node.as_owner("local", &[Scope::Read]).await;
    let (good, shrunk) = (good.to_string(), shrunk.to_string());
    let view = reader.diff_snapshots("shop", &good, &shrunk).await.unwrap();
    assert!(!serde_json::to_string(&view).unwrap().contains("hunter2"));
    let items = serde_json::to_value(&view.diff.items).unwrap();
    insta::assert_json_snapshot!(items, @r#"
    [
      {
        "change": "removed",
        "kind": "cookie",
        "site": "shop.test",
        "where": "shop.test/ sid"
      },
      {
        "change": "removed",
        "kind": "tab",
        "site": "shop.test",
        "where": "https://shop.test/"
      },
      {
        "change": "added",
        "kind": "tab",
        "site": "shop.test",
        "where": "https://shop.test/login"
      }
    ]
    "#);
    let refused = reader.roll_back_session("shop", &good).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    node.stop().await;
}

#[tokio::test]
async fn a_snapshot_that_is_not_there_is_named() {
    let (node, [good, _, elsewhere]) = shop().await;
    let elsewhere = elsewhere.to_string();
    let mut answers = Vec::new();
    for (method, path, body) in [
        (Method::GET, format!("diff?a={good}&b=abcd"), None),
        (Method::GET, format!("diff?a={elsewhere}&b={good}"), None),
        (Method::GET, format!("diff?a={good}"), None),
        (Method::POST, "rollback".to_owned(), Some(format!("{{\"to\": \"{elsewhere}\"}}"))),
        (Method::POST, "rollback".to_owned(), Some("{}".to_owned())),
        (Method::GET, "history?after=nope".to_owned(), None),
    ] {
        let call = node.admin_request(method, &format!("/sessions/shop/{path}"));
        let call = call.header("content-type", "application/json").body(body.unwrap_or_default());
        answers.push(one_line(&problem(call.send().await.unwrap()).await));
    }
    let answers = answers.join("\n").replace(&elsewhere, "ELSEWHERE");
    insta::assert_snapshot!(answers, @r#"
    404 no_snapshot: no snapshot "abcd"
    404 no_snapshot: no snapshot "ELSEWHERE"
    422 invalid_request: in the query, missing field `b`
    404 no_snapshot: no snapshot "ELSEWHERE"
    422 invalid_request: in the body, missing field `to` at line 1 column 2
    422 invalid_request: in the query, after: UUID parsing failed: invalid character: found `n` at 0
    "#);
    // The ids of one day begin alike.
    let error = node.admin().roll_back_session("shop", &good.to_string()[..4]).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::AmbiguousReference), "{error}");
    node.stop().await;
}

#[tokio::test]
async fn a_rollback_that_fails_leaves_everything_as_it_was() {
    let (node, [good, shrunk, _]) = shop().await;
    let error = node.admin().roll_back_session("shop", &shrunk.to_string()).await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "{error}");
    let page = node.admin().list_history("shop", &ListHistory::default()).await.unwrap();
    assert_eq!(page.items.iter().map(|item| item.id).collect::<Vec<_>>(), [shrunk, good]);
    assert_eq!(page.resumes_from, Some(good));
    let view = node.admin().fetch_session("shop").await.unwrap();
    assert_eq!((view.session.state, view.receipt), (Lifecycle::Recoverable, None));
    node.stop().await;
}
