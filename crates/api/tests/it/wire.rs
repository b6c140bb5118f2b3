//! The shapes of requests and answers.

use baton_api::{CreatedKey, ErrorCode, KeyView, OpenSession, Problem, SessionView, Tab};
use baton_redaction::ShownAddress;
use baton_session::Owner;
use serde_json::json;

fn view() -> serde_json::Value {
    json!({
        "id": "019a0000-0000-7000-8000-000000000001",
        "name": "shop",
        "description": "",
        "state": "active",
        "owner": "local",
        "headed": false,
        "created_at": "2026-11-20T10:00:00Z",
        "updated_at": "2026-11-20T10:00:00Z",
        "tabs": [{"url": "https://shop.test/", "title": "Shop", "active": true}],
    })
}

#[test]
fn a_view_is_one_flat_object_and_leaves_out_what_is_not_there() {
    let read: SessionView = serde_json::from_value(view()).unwrap();
    assert_eq!(read.session.name.as_str(), "shop");
    let tab =
        Tab { url: ShownAddress::of("https://shop.test/"), title: "Shop".into(), active: true };
    assert_eq!(read.tabs, [tab]);
    assert_eq!(serde_json::to_value(&read).unwrap(), view());
}

#[test]
fn opening_needs_a_name_only() {
    let request: OpenSession = serde_json::from_value(json!({"name": "shop"})).unwrap();
    assert!(request.urls.is_empty() && !request.headed && request.description.is_none());
    let typo = serde_json::from_value::<OpenSession>(json!({"name": "shop", "url": "x"}));
    assert!(typo.unwrap_err().to_string().contains("unknown field `url`"));
    let nameless = serde_json::from_value::<OpenSession>(json!({"name": "a shop"}));
    assert!(nameless.unwrap_err().to_string().contains("expected a name of 1 to 64"));
}

#[test]
fn a_problem_says_what_it_is() {
    let problem = Problem::new(ErrorCode::NameTaken, "the name \"shop\" is taken").hint("choose");
    insta::assert_json_snapshot!(problem, @r#"
    {
      "type": "urn:baton:problem:name_taken",
      "title": "the name is taken",
      "status": 409,
      "code": "name_taken",
      "detail": "the name \"shop\" is taken",
      "hint": "choose"
    }
    "#);
}

#[test]
fn a_secret_does_not_show_in_debug_output() {
    let key = KeyView {
        id: "k".into(),
        name: "ci".into(),
        owner: Owner::local(),
        scopes: [baton_api::Scope::Read].into(),
        created_at: "2026-11-20T10:00:00Z".parse().unwrap(),
        revoked_at: None,
        for_node: None,
    };
    let created = CreatedKey { key, secret: "baton_secret".into() };
    assert!(!format!("{created:?}").contains("baton_secret"));
}
