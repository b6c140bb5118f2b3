//! Databases in a sandbox that are damaged, too large, or of a site that was never handed in: each costs
//! itself, and is named.

use super::agent::tools;
use super::scene::{Scene, reference};
use baton_api::sandbox::CreateSandbox;
use baton_playground::tools::Npm;
use baton_session::receipt::ItemKind;
use serde_json::{Value, json};

/// Where a sandbox has its databases.
const BASE: &str = "/workspace/.browser-profile/Default/IndexedDB";

/// Changes the database of a site, as its pages do.
const CHANGE: &str = "new Promise((done) => {
    const open = indexedDB.open('auth', 1);
    open.onsuccess = () => {
        const write = open.result.transaction('users', 'readwrite', { durability: 'strict' });
        write.objectStore('users').put('changed', 'user');
        write.oncomplete = () => { open.result.close(); done('put'); };
    };
})";

fn database(text: &str) -> Value {
    json!([{"name": "auth", "version": 1, "stores": [{
        "name": "users", "autoIncrement": false, "indexes": [],
        "records": [{"key": "user", "value": text}],
    }]}])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_one_database_costs_that_one_only() {
    let npm = Npm::install().await.unwrap();
    let scene = Scene::set_with(&tools(&npm)).await;
    let mut state = scene.state();
    let sites = ["app", "big", "good"];
    let own = scene.url();
    let addresses = sites.map(|site| (format!("https://{site}.test"), site)).into_iter();
    state["origins"] = addresses
        .chain([(own.trim_end_matches('/').to_owned(), "own")])
        .map(|(origin, site)| {
            json!({"origin": origin, "localStorage": [], "indexedDB": database(site)})
        })
        .collect();
    scene.session_of("shop", &state).await;
    let request = CreateSandbox {
        flavor: Some("tools".to_owned()),
        browser_session: Some(reference("shop")),
        ..CreateSandbox::default()
    };
    let sandbox = scene.client().create_sandbox(&request).await.unwrap();
    let handed = sandbox.browser_session.as_ref().unwrap();
    assert!(!handed.receipt.has_losses_of_a_profile(), "{:#?}", handed.receipt);
    let domains: Vec<_> = handed.logins.iter().map(|login| login.domain.as_str()).collect();
    assert_eq!(domains, ["app.test", "big.test", "good.test", "host"], "by their databases");

    // The agent is at work at one site, whose cookie changes with each visit.
    let visit = format!("$AB open {own} >&2 && $AB get text '#who'");
    assert_eq!(scene.says(&sandbox, &visit).await, "Ada");
    assert_eq!(scene.says(&sandbox, &format!("$AB eval \"{CHANGE}\"")).await, "\"put\"");
    scene.says(&sandbox, "$AB close >&2").await;

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

    // What was not read is as it was, and nothing was planted; what the agent changed is back.
    let state = scene.client().fetch_state("shop", true).await.unwrap().state;
    let origins = state["origins"].as_object().unwrap();
    assert_eq!(origins.len(), 4, "{origins:?}");
    let kept = sites.map(|site| (format!("https://{site}.test/"), site)).into_iter();
    for (origin, text) in kept.chain([(own, "changed")]) {
        let stores = &state["origins"][&origin]["databases"][0]["stores"];
        assert_eq!(stores[0]["records"][0]["value"]["root"], *text, "{origin}: {stores}");
    }
    let cookies = scene.cookies("shop").await;
    let refresh = cookies.iter().find(|(name, _)| name == "refresh").unwrap();
    assert!(refresh.1.parse::<u32>().unwrap() > 1, "the token was rotated: {cookies:?}");
    scene.strike().await;
}
