//! The log holds no secret, whatever it is told to write.

use crate::mcp::{agent, call};
use crate::test_nodes;
use baton_api::{CreateKey, FileText, ImportSession, Scope};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_of_everything_holds_no_secret() {
    let mut test_node = test_nodes::build().with("BATON_LOG", "trace");
    test_node.start_node().await.unwrap();
    let client = test_node.client().unwrap().clone();

    // What a session holds, on its way in and out.
    let expires = 4_000_000_000_u64;
    let state = json!({
        "cookies": [{
            "name": "sid", "value": "planted-cookie", "domain": "shop.test", "path": "/",
            "expires": expires, "httpOnly": true, "secure": true, "sameSite": "Lax",
        }],
        "origins": [{
            "origin": "https://shop.test",
            "localStorage": [{"name": "token", "value": "planted-storage"}],
        }],
    });
    let file = FileText::new(state.to_string()).unwrap();
    let name = Some("shop".parse().unwrap());
    client.import_session(&ImportSession { name, description: None, file }).await.unwrap();
    client.fetch_state("shop", true).await.unwrap();
    // A key, made and shown, also one that is none.
    let scopes = [Scope::Read].into();
    let request = CreateKey { name: "laptop".to_owned(), owner: None, scopes, for_node: None };
    let key = client.create_key(&request).await.unwrap();
    let never = format!("baton_{}", "planted".repeat(6));
    let url = client.base().join("/sessions?ticket=planted-query").unwrap();
    for key in [&key.secret, &never] {
        reqwest::Client::new().get(url.clone()).bearer_auth(key).send().await.unwrap();
    }
    // What an agent says, and is answered.
    let bridge = agent(&test_node).await;
    let task = json!({"description": "planted-argument", "agent": "kimi"});
    let told = call(&bridge, "federation_add_task", task).await;
    assert!(told.contains("planted-argument"), "it is in the answer, too: {told}");

    let log = test_node.log();
    let admin = std::fs::read_to_string(test_node.data().admin_key()).unwrap();
    assert!(log.contains("DEBUG") && log.contains("started processing request"), "all is written");
    for secret in ["planted", key.secret.as_str(), admin.trim()] {
        let line = log.lines().find(|line| line.contains(secret));
        assert!(line.is_none(), "{}", line.unwrap_or_default());
    }
    test_node.clear().await.unwrap();
}
