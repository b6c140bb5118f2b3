//! What a sandbox leaves that no snapshot has room for: that costs itself, and the sandbox ends all the same.

use super::scene::Scene;
use baton_session::receipt::ItemKind;
use serde_json::json;

/// Stores in a profile, as whatever runs in a sandbox can, at more hosts of a site than a snapshot has parts, and at one
/// of them more than a part holds; and what a site changes that is at work.
const STORE: &str = "python3 - <<'END'
import sqlite3
at = '/workspace/.browser-profile/Default/'
stored = sqlite3.connect(at + 'LocalStorage')
(last,) = stored.execute('select coalesce(max(row_id), 0) from maps').fetchone()
def store(number, host, values):
    key = ('https://%s.shop.test/' % host).encode()
    stored.execute('insert into maps values(?,?,0,0,0)', (last + number, key))
    for entry, value in enumerate(values):
        entry = b'\\x01%d' % entry
        stored.execute('insert into map_entries values(?,0,?,?)', (last + number, entry, value))
for number in range(1, 20301):
    store(number, 'a%d' % number, [b'\\x01x'])
store(20301, 'large', [b'\\x01' + b'x' * (10 << 20)] * 7)
own = \"(select row_id from maps where storage_key = cast('https://shop.test/' as blob))\"
stored.execute('update map_entries set value = ? where map_id = ' + own, (b'\\x01new',))
stored.commit()
store = sqlite3.connect(at + 'Cookies')
store.execute(\"update cookies set value = 'rotated' where name = 'refresh'\")
store.commit()
END";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_snapshot_has_room_for_costs_itself_and_no_token() {
    let scene = Scene::set().await;
    let mut state = scene.state();
    let token = json!([{"name": "token", "value": "old"}]);
    let own = json!({"origin": "https://shop.test", "localStorage": token});
    state["origins"].as_array_mut().unwrap().push(own);
    scene.session_of("shop", &state).await;
    let sandbox = scene.sandbox_of("shop").await;
    scene.says(&sandbox, STORE).await;
    let ended = scene.end(&sandbox).await.browser_session.unwrap();
    assert_eq!((ended.shrunk, ended.reason), (false, None));
    let left = &ended.left_out.items;
    assert_eq!(
        (left[0].kind, &*left[0].place),
        (ItemKind::LocalStorage, "https://large.shop.test/")
    );
    assert_eq!(left.len(), 201);
    assert!(left[200].place.ends_with(" more"), "{:?}", left[200]);

    let shown = scene.client().fetch_session("shop").await.unwrap();
    assert_eq!(shown.sandbox, None);
    let cookies = scene.cookies("shop").await;
    assert!(cookies.contains(&("refresh".to_owned(), "rotated".to_owned())), "{cookies:?}");
    let state = scene.client().fetch_state("shop", true).await.unwrap().state;
    let stored = state["origins"].as_object().unwrap();
    assert_eq!(stored["https://shop.test/"]["localStorage"], json!([["token", "new"]]));
    assert!(stored.len() > 19_000 && stored.len() < 20_000, "{} keys", stored.len());
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_ends_also_where_nothing_of_its_session_can_be_stored() {
    let mut scene = Scene::set().await;
    scene.session("shop").await;
    // Whoever runs the node has it keep less than it has already.
    scene.settle("[sandboxes]\nnetwork = \"none\"\n[storage]\nsnapshot_parts = 2\n").await;
    for _ in 0..2 {
        let sandbox = scene.sandbox_of("shop").await;
        let ended = scene.end(&sandbox).await.browser_session.unwrap();
        assert_eq!((ended.snapshot, ended.shrunk), (None, false));
        let why = ended.reason.unwrap();
        assert!(why.starts_with("what the sandbox left cannot be stored: "), "{why}");
        assert!(why.contains("a snapshot of at most 2 parts"), "{why}");
    }
    let cookies = scene.cookies("shop").await;
    assert!(cookies.contains(&("refresh".to_owned(), "1".to_owned())), "{cookies:?}");
    scene.strike().await;
}
