//! A large session that is handed in time and again: what was made of it once is kept, and nothing is
//! missing.

use super::scene::{Scene, reference};
use baton_api::sandbox::CreateSandbox;
use serde_json::json;

/// What is stored in a profile, and changes a cookie there, as a browser would.
const LOOK: &str = "python3 - <<'END'
import sqlite3
at = '/workspace/.browser-profile/Default/'
stored = sqlite3.connect(at + 'LocalStorage')
sizes = stored.execute('select length(value) from map_entries order by key').fetchall()
store = sqlite3.connect(at + 'Cookies')
(value,) = store.execute(\"select value from cookies where name = 'refresh'\").fetchone()
store.execute(\"update cookies set value = value + 1 where name = 'refresh'\")
store.commit()
print(value, *(size for size, in sizes))
END";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_whole_however_often_it_was_handed_in() {
    let scene = Scene::set().await;
    let mut state = scene.state();
    let large = json!([{"name": "a", "value": "x".repeat(400_000)}, {"name": "b", "value": "yy"}]);
    state["origins"] = json!([{"origin": "https://app.test", "localStorage": large}]);
    scene.session_of("shop", &state).await;
    for round in 1..=4 {
        let request = CreateSandbox {
            browser_session: Some(reference("shop")),
            // Only what is stored says that somebody is logged in there.
            domains: vec!["app.test".to_owned()],
            ..CreateSandbox::default()
        };
        let sandbox = scene.client().create_sandbox(&request).await.unwrap();
        let handed = sandbox.browser_session.as_ref().unwrap();
        assert!(!handed.receipt.has_losses(), "{:?}", handed.receipt);
        let found = scene.says(&sandbox, LOOK).await;
        // A text of small letters has a byte before it that says so.
        assert_eq!(found, format!("{round} 400001 3"));
        let ended = scene.end(&sandbox).await.browser_session.unwrap();
        assert_eq!((ended.shrunk, ended.reason), (false, None));
        assert!(ended.left_out.items.is_empty(), "{:?}", ended.left_out);
    }
    let state = scene.client().fetch_state("shop", true).await.unwrap().state;
    let stored = &state["origins"]["https://app.test/"]["localStorage"];
    assert_eq!(stored.to_string().matches('x').count(), 400_000);
    assert!(scene.cookies("shop").await.contains(&("refresh".to_owned(), "5".to_owned())));
    scene.strike().await;
}
