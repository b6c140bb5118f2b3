//! What moves is what changed.

use super::pair::{Pair, edit, save, seed};
use baton_session::{Entries, State, StorageKey, Tab};
use std::fmt::Write;

/// Bytes of storage that do not compress well: digits of a generator.
fn noise(seed: u64, bytes: usize) -> String {
    let mut number = seed | 1;
    let mut text = String::with_capacity(bytes + 16);
    while text.len() < bytes {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        write!(text, "{number:016x}").unwrap();
    }
    text
}

/// Fifty origins of 10 MB together; the first has half of it when it is `lopsided`.
fn large(lopsided: bool) -> State {
    let tab = Tab { url: "https://shop0.test/".into(), active: true, ..Tab::default() };
    let mut state = State { tabs: vec![tab], ..State::default() };
    for origin in 0..50_u64 {
        let each = match (lopsided, origin) {
            (false, _) => 200_000,
            (true, 0) => 5_000_000,
            (true, _) => 100_000,
        };
        let key = StorageKey::first_party(&format!("https://shop{origin}.test"));
        let items = each / 1000;
        let item = |n: u64| (format!("item{n:05}"), noise(origin * 10_000 + n, 980));
        let entries: Entries = (0..items).map(item).collect();
        state.origins.entry(key).or_default().local_storage = entries;
    }
    state
}

async fn moves_what_changed(lopsided: bool) {
    let pair = Pair::new().await;
    let mut state = large(lopsided);
    let id = seed(&pair.cloud, "shop", &state).await;
    save(&pair.cloud, "shop").await;
    let all = pair.pull("shop").await;
    let size = pair.cloud.admin().fetch_sync_index().await.unwrap().sessions[0].size;
    assert!(size > 9_500_000, "{size}");
    assert!(all.parts >= 50 && all.bytes < size, "{all:?}");
    let key = StorageKey::first_party("https://shop0.test");
    let entries = &mut state.origins.get_mut(&key).unwrap().local_storage;
    entries.0.insert("item00007".into(), "something else".into());
    edit(&pair.cloud, id, &state).await;
    let changed = pair.pull("shop").await;
    assert_eq!(changed.parts, 1);
    assert!(changed.bytes * 100 <= size * 3, "{} of {size} bytes", changed.bytes);
    pair.stop().await;
}

#[tokio::test]
async fn one_item_of_fifty_origins_moves_little() {
    moves_what_changed(false).await;
}

#[tokio::test]
async fn one_item_of_an_origin_with_five_megabytes_moves_little() {
    moves_what_changed(true).await;
}
