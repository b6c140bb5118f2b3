//! Sessions leave as files and come in as files, without a browser.

use crate::fixture::{Folder, Node, one_line, problem, seed_snapshot, state_at};
use baton_api::{
    ErrorCode, ExportFormat, ExportSession, FileText, ImportSession, ListAudit, ListSessions, Scope,
};
use baton_session::wire::NodeType;
use baton_session::{Lifecycle, SnapshotReason};
use reqwest::Method;
use serde_json::{Value, json};

fn import(name: Option<&str>, file: &Value) -> ImportSession {
    let file = FileText::new(file.to_string()).unwrap();
    ImportSession { name: name.map(|name| name.parse().unwrap()), description: None, file }
}

fn cookie(name: &str, domain: &str) -> Value {
    json!({"name": name, "value": "s3cret", "domain": domain, "path": "/", "expires": -1,
           "httpOnly": true, "secure": true, "sameSite": "Lax"})
}

fn whole(format: ExportFormat) -> ExportSession {
    ExportSession { format, deep: false }
}

/// A node with a session `shop` that has no browser.
pub(crate) async fn with_a_session() -> Node {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    seed_snapshot(&store, "local", id, &state_at("https://shop.test/")).await;
    store.close().await;
    folder.start().await
}

#[tokio::test]
async fn a_session_leaves_and_comes_back_under_another_name() {
    let node = with_a_session().await;
    let admin = node.admin();
    let exported = admin.export_session("shop", &whole(ExportFormat::Session)).await.unwrap();
    assert!(exported.receipt.items.is_empty());
    let file: Value = serde_json::from_str(exported.file.as_str()).unwrap();
    // Its own name is taken.
    let taken = admin.import_session(&import(None, &file)).await.unwrap_err();
    assert_eq!(taken.code(), Some(ErrorCode::NameTaken));
    let imported = admin.import_session(&import(Some("again"), &file)).await.unwrap();
    assert!(imported.left_out.items.is_empty());
    let session = &imported.session;
    assert_eq!(session.session.state, Lifecycle::Recoverable);
    assert_eq!(session.snapshot.as_ref().unwrap().reason, SnapshotReason::Import);
    assert_eq!(session.tabs[0].url.as_str(), "https://shop.test/");
    let again = admin.export_session("again", &whole(ExportFormat::Session)).await.unwrap();
    let again: Value = serde_json::from_str(again.file.as_str()).unwrap();
    assert_eq!(again["sync"]["checksum"], file["sync"]["checksum"]);
    assert!(!format!("{exported:?}").contains("shop.test/"), "a file is never shown by chance");
    node.stop().await;
}

#[tokio::test]
async fn a_file_says_of_which_node_a_session_is_and_where_that_is_asked() {
    let folder = Folder::new();
    let store = folder.store().await;
    let id = folder.seed(&store, "local", "shop").await;
    seed_snapshot(&store, "local", id, &state_at("https://shop.test/")).await;
    store.close().await;
    let mut config = folder.config();
    config.node.node_type = NodeType::Cloud;
    config.node.internal_url = Some("http://baton.internal:7420".parse().unwrap());
    let node = folder.start_with(config).await;
    let file = node.admin().export_session("shop", &whole(ExportFormat::Session)).await.unwrap();
    let file: Value = serde_json::from_str(file.file.as_str()).unwrap();
    assert_eq!(file["origin"]["nodeId"], node.id().to_string());
    assert_eq!(file["origin"]["nodeType"], "cloud");
    assert_eq!(file["origin"]["nodeUrl"], "http://baton.internal:7420/");
    node.stop().await;
}

#[tokio::test]
async fn what_cannot_be_taken_is_told_item_by_item() {
    let node = Node::start().await;
    let file = json!({
        "cookies": [cookie("sid", "app.test"), cookie("bad", "App.test")],
        "origins": [{"origin": "null", "localStorage": []}],
    });
    let imported = node.admin().import_session(&import(Some("shop"), &file)).await.unwrap();
    assert_eq!(imported.holds.cookies, 1);
    let lines: Vec<String> = imported
        .left_out
        .items
        .iter()
        .map(|item| format!("{} {}", item.kind, item.place))
        .collect();
    assert_eq!(lines, ["cookie App.test/ bad", "part origins[0]"]);
    assert_eq!((imported.left_out.rejected, imported.left_out.items.len()), (2, 2));

    let mut file = json!({"name": "two", "state": {"cookies": [], "origins": []}});
    file["state"]["environment"] = json!({
        "timezone": "a zone", "viewport": {"width": 0, "height": 0}, "locale": "ja-JP",
        "identity": {"platform": "MacIntel"},
    });
    file["tabs"] = json!([{"url": "file:///etc/passwd"}, {"url": "https://app.test/"}]);
    let imported = node.admin().import_session(&import(None, &file)).await.unwrap();
    let tabs: Vec<&str> = imported.session.tabs.iter().map(|tab| tab.url.as_str()).collect();
    assert_eq!(tabs, ["https://app.test/"]);
    assert_eq!(imported.left_out.rejected, 4);
    // What is wrong of the environment costs itself alone.
    let settings =
        imported.left_out.items.iter().filter(|item| item.kind.as_str() == "environment");
    let settings: Vec<(&str, &str)> =
        settings.map(|item| (&*item.place, item.reason.as_deref().unwrap_or_default())).collect();
    let places: Vec<&str> = settings.iter().map(|(place, _)| *place).collect();
    assert_eq!(
        places,
        ["environment.viewport", "environment.timezone", "environment.identity"],
        "{settings:?}"
    );
    assert_eq!(
        settings[1].1,
        "expected environment.timezone to be a time zone such as Asia/Tokyo, found \"a zone\""
    );
    let again = node.admin().export_session("two", &whole(ExportFormat::Session)).await.unwrap();
    let again: Value = serde_json::from_str(again.file.as_str()).unwrap();
    assert_eq!(again["state"]["environment"], json!({"locale": "ja-JP"}));
    node.stop().await;
}

#[tokio::test]
async fn a_list_of_hosts_is_taken_with_all_around_it_or_nothing_is() {
    let node = Node::start().await;
    let admin = node.admin();
    let file = |environment: &Value| {
        json!({
            "id": "0190aaaa-0000-7000-8000-000000000003", "name": "shop",
            "state": {"cookies": [], "origins": [], "environment": environment},
        })
    };
    let list = json!({"only": ["app.test"]});
    for (environment, field) in [
        (json!({"egress": {"only": ["https://app.test"]}}), "environment.egress"),
        (json!({"egress": {"proxy": "ftp://proxy.test"}}), "environment.egress"),
        (json!({"egress": list, "locale": "de_DE"}), "environment.locale"),
        (json!({"egress": list, "viewport": {"width": 0, "height": 0}}), "environment.viewport"),
        (
            json!({"egress": list, "identity": {"platform": "MacIntel"}}),
            "environment.identity.platform",
        ),
    ] {
        let body = json!({"file": file(&environment)});
        let ways = [("/sessions/import", body), ("/sync/sessions", file(&environment))];
        for (path, body) in ways {
            let call = node.admin_request(Method::POST, path).json(&body);
            let refused = problem(call.send().await.unwrap()).await;
            assert_eq!(refused.code, ErrorCode::InvalidRequest, "{path}: {refused:?}");
            let begins = format!("in the file, expected {field} to be ");
            assert!(refused.detail.starts_with(&begins), "{path}: {refused:?}");
            let hint = refused.hint.unwrap_or_default();
            assert!(hint.starts_with("correct that there"), "{path}: {hint}");
        }
    }
    // Nor is one whose list has another name.
    let misspelled = json!({"egress": {"onyl": ["app.test"]}});
    assert!(admin.import_session(&import(None, &file(&misspelled))).await.is_err());
    assert_eq!(admin.list_sessions(&ListSessions::default()).await.unwrap().items, []);

    let good = file(&json!({"egress": list, "locale": "de-DE"}));
    let imported = admin.import_session(&import(None, &good)).await.unwrap();
    assert_eq!(imported.left_out.items, []);
    let egress = admin.fetch_session("shop").await.unwrap().egress.unwrap();
    assert_eq!(egress.only, ["app.test"]);
    node.stop().await;
}

#[tokio::test]
async fn a_bad_file_changes_nothing() {
    let node = Node::start().await;
    let mut told = Vec::new();
    let files = [
        json!({"file": {"name": "shop", "state": {"cookies": [{"name": 5}]}}}),
        json!({"file": {"state": {"origins": []}, "sync": {"checksum": "00"}}, "name": "shop"}),
        json!({"file": {"cookies": []}}),
        json!({"file": {"name": "no/name", "state": {}}}),
        json!({"file": {"cookies": []}, "name": "import"}),
        json!({"file": {"elsewhere": []}, "name": "shop"}),
        json!({"file": 5, "name": "shop"}),
        json!({"name": "shop"}),
    ];
    for body in files {
        let call = node.admin_request(Method::POST, "/sessions/import").json(&body);
        told.push(one_line(&problem(call.send().await.unwrap()).await));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    422 invalid_request: in the session file, at state.cookies[0].name: expected a string
    422 invalid_request: expected the session file to have the checksum 00, found b1e6e342de00050fef468f972791771d26b35f0cfb6cc2c8781e13ecc6f04e31: it was changed or damaged
    422 invalid_request: expected a name for the session, found none in the file that fits
    422 invalid_request: expected a name for the session, found none in the file that fits
    422 invalid_request: expected name to be another word than attach and import, which the API uses itself, found import
    422 invalid_request: this is a JSON object of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    422 invalid_request: this is JSON, but neither an object nor a list; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    422 invalid_request: in the body, missing field `file` at line 1 column 15
    ");
    let list = node.admin().list_sessions(&ListSessions::default()).await.unwrap();
    assert_eq!(list.items, []);
    node.stop().await;
}

/// The fixture's bound for other bodies is 4096 bytes.
#[tokio::test]
async fn a_file_may_be_longer_than_other_bodies() {
    let node = Node::start().await;
    let mut long = cookie("sid", "app.test");
    long["value"] = json!("x".repeat(4000));
    let file = json!({"cookies": [long, cookie("b", "app.test"), cookie("c", "app.test")]});
    assert!(node.admin().import_session(&import(Some("shop"), &file)).await.is_ok());
    let body = json!({"name": "x".repeat(5000)});
    let call = node.admin_request(Method::POST, "/sessions").json(&body);
    assert_eq!(problem(call.send().await.unwrap()).await.code, ErrorCode::BodyTooLarge);
    node.stop().await;
}

#[tokio::test]
async fn an_export_needs_reveal_and_both_ways_are_noted() {
    let node = with_a_session().await;
    let reader = node.as_owner("local", &[Scope::Read, Scope::Drive]).await;
    let refused =
        reader.export_session("shop", &whole(ExportFormat::StorageState)).await.unwrap_err();
    assert_eq!(refused.code(), Some(ErrorCode::Forbidden));
    let file = json!({"cookies": [cookie("sid", "app.test")]});
    reader.import_session(&import(Some("two"), &file)).await.unwrap();
    let exported =
        node.admin().export_session("shop", &whole(ExportFormat::StorageState)).await.unwrap();
    assert_eq!((exported.receipt.not_portable, exported.receipt.rejected), (1, 0), "its tab");
    let log = node.admin().list_audit(&ListAudit::default()).await.unwrap();
    let noted: Vec<String> = log
        .items
        .iter()
        .filter(|entry| entry.action.ends_with("port"))
        .map(|entry| format!("{} {} {}", entry.action, entry.detail["name"], entry.outcome))
        .collect();
    assert_eq!(
        noted,
        [
            "session.export \"shop\" done",
            "session.import \"two\" done",
            "session.export \"shop\" denied"
        ]
    );
    assert!(!format!("{log:?}").contains("s3cret"));
    node.stop().await;
}

#[tokio::test]
async fn a_text_that_is_no_json_comes_as_a_string() {
    let node = Node::start().await;
    let file = json!("# Netscape HTTP Cookie File\n.app.test\tTRUE\t/\tTRUE\t0\tsid\t1\n");
    let imported = node.admin().import_session(&import(Some("shop"), &file)).await.unwrap();
    assert_eq!((imported.holds.cookies, imported.left_out.items.len()), (1, 0));
    node.stop().await;
}
