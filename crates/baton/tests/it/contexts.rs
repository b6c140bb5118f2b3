//! Tabs in contexts of their own are not kept, and `show` says so.

use crate::houses::house;
use baton_api::OpenSession;
use baton_browser::keeper::{self, Role};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_of_other_contexts_are_counted_and_not_kept() {
    let house = house().await;
    let request = OpenSession::new("contexts".parse().unwrap(), []);
    let opened = house.client().unwrap().open_session(&request).await.unwrap();
    assert_eq!((opened.tabs.len(), opened.foreign_tabs), (1, 0));
    let socket = house.keeper_socket(opened.session.id);
    let client = keeper::connect(&socket, Role::Client).await.unwrap();
    let browser = client.connection.browser();
    let context = browser.call("Target.createBrowserContext", json!({})).await.unwrap();
    let tab = json!({ "url": "about:blank", "browserContextId": context["browserContextId"] });
    browser.call("Target.createTarget", tab).await.unwrap();
    let client = house.client().unwrap();
    client.capture_session("contexts").await.unwrap();
    let shown = client.fetch_session("contexts").await.unwrap();
    assert_eq!((shown.tabs.len(), shown.foreign_tabs), (1, 1));
    client.abandon_session("contexts").await.unwrap();
    house.clear().await.unwrap();
}
