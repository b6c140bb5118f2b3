//! Databases in a sandbox that are damaged, too large, or of a site that was never handed in: each costs
//! itself, and is named.

use super::scene::Scene;
use baton_session::receipt::ItemKind;
use serde_json::{Value, json};

/// Where a sandbox has its databases.
const BASE: &str = "/workspace/.browser-profile/Default/IndexedDB";

fn database(text: &str) -> Value {
    json!([{"name": "auth", "version": 1, "stores": [{
        "name": "users", "autoIncrement": false, "indexes": [],
        "records": [{"key": "user", "value": text}],
    }]}])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_one_database_costs_that_one_only() {
    let scene = Scene::set().await;
    let mut state = scene.state();
    let sites = ["app", "big", "good"];
    state["origins"] = sites
        .map(|site| {
            let origin = format!("https://{site}.test");
            json!({"origin": origin, "localStorage": [], "indexedDB": database(site)})
        })
        .into_iter()
        .collect();
    scene.session_of("shop", &state).await;
    let sandbox = scene.sandbox_of("shop").await;
    let handed = sandbox.browser_session.as_ref().unwrap();
    assert!(!handed.receipt.has_losses_of_a_profile(), "{:#?}", handed.receipt);
    let domains: Vec<_> = handed.logins.iter().map(|login| login.domain.as_str()).collect();
    assert_eq!(domains, ["app.test", "big.test", "good.test", "host"], "by their databases");

    let folder = |site: &str| format!("{BASE}/https_{site}.test_0.indexeddb.leveldb");
    let (app, big, bank) = (folder("app"), folder("big"), folder("bank"));
    let wrong = format!(
        "cp -r {app} {bank} && rm {app}/CURRENT && head -c 70000000 /dev/zero > {big}/000099.log"
    );
    scene.says(&sandbox, &wrong).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    let mut named: Vec<_> =
        ended.left_out.items.iter().map(|item| (item.kind, &*item.place)).collect();
    named.sort();
    let databases = |place| (ItemKind::IndexedDb, place);
    assert_eq!(
        named,
        [
            databases("https://app.test/"),
            databases("https://bank.test/"),
            databases("https://big.test/"),
        ],
        "{:#?}",
        ended.left_out
    );

    // What was not read is as it was, and nothing was planted.
    let state = scene.client().fetch_state("shop", true).await.unwrap().state;
    let origins = state["origins"].as_object().unwrap();
    assert_eq!(origins.len(), 3, "{origins:?}");
    for site in sites {
        let stores = &state["origins"][format!("https://{site}.test/")]["databases"][0]["stores"];
        assert_eq!(stores[0]["records"][0]["value"]["root"], *site, "{stores}");
    }
    scene.strike().await;
}
