//! Pages of a cluster that are signed in, as rows: found by a half, for as long as they and their key last.

use crate::fixture::{Engine, Fixture};
use baton_session::{Owner, Scope};
use baton_store::{ApiKey, PageLimits, PersonOfPage, SignedInPage};
use jiff::{SignedDuration, Timestamp};
use rstest::rstest;
use std::time::Duration;

const AGE: Duration = Duration::from_mins(1);
const LIMITS: PageLimits = PageLimits { of_a_key: 3, in_all: 5 };

async fn key(fixture: &Fixture, id: &str, secret: u8) {
    let key = ApiKey {
        id: id.to_owned(),
        name: id.to_owned(),
        owner: Owner::local(),
        scopes: [Scope::Read].into(),
        created_at: Timestamp::now() - SignedDuration::from_hours(1),
        revoked_at: None,
        for_node: None,
    };
    fixture.store.create_key(&key, [secret; 32]).await.unwrap();
}

fn page(cookie: u8, key: &str, secret: u8, minutes: i64) -> SignedInPage {
    let ends_at = Timestamp::now() + SignedDuration::from_mins(minutes);
    SignedInPage {
        cookie_hash: [cookie; 32],
        value_hash: [cookie ^ 0xff; 32],
        key_hash: [secret; 32],
        key_id: key.to_owned(),
        owner: Owner::local(),
        person: None,
        ends_at: Timestamp::from_millisecond(ends_at.as_millisecond()).unwrap(),
    }
}

fn of_person(page: SignedInPage, id: u8, rule: u8) -> SignedInPage {
    let person = PersonOfPage { id: [id; 32], rule: [rule; 32], ends_at: page.ends_at };
    SignedInPage { person: Some(person), ..page }
}

#[rstest]
#[tokio::test]
async fn a_page_is_found_in_its_cluster_until_it_ends_or_its_key_does(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    key(&fixture, "key_a", 1).await;
    let (one, two) = (page(1, "key_a", 1, 5), of_person(page(2, "key_a", 1, 6), 7, 8));
    for page in [&one, &two] {
        assert_eq!(store.create_page("shop", page, LIMITS).await.unwrap(), Some(0));
        let found = store.find_page("shop", page.cookie_hash).await.unwrap();
        assert_eq!(found.as_ref(), Some(page));
        assert_eq!(store.find_page("other", page.cookie_hash).await.unwrap(), None);
    }
    assert_eq!(store.find_page_of("shop", [7; 32], [8; 32]).await.unwrap(), Some(two.clone()));
    assert_eq!(store.find_page_of("shop", [7; 32], [9; 32]).await.unwrap(), None);
    // One that has ended is not there, and what is signed in later sweeps it.
    let past = page(3, "key_a", 1, -1);
    store.create_page("shop", &past, LIMITS).await.unwrap();
    assert_eq!(store.find_page("shop", past.cookie_hash).await.unwrap(), None);
    let all = [[1; 32], [2; 32], [3; 32], [4; 32]];
    let living = store.living_pages("shop", &all).await.unwrap();
    assert_eq!(living, [[1; 32], [2; 32]].into());
    assert!(store.delete_page("shop", [1; 32]).await.unwrap());
    assert!(!store.delete_page("shop", [1; 32]).await.unwrap());
    store.create_page("shop", &page(4, "key_a", 1, 5), LIMITS).await.unwrap();
    assert_eq!(fixture.count("page_sessions").await, 2);

    store.revoke_key(&Owner::local(), "key_a", Timestamp::now()).await.unwrap();
    assert!(store.living_pages("shop", &all).await.unwrap().is_empty());
    assert_eq!(store.find_page("shop", two.cookie_hash).await.unwrap(), None);
    assert_eq!(store.create_page("shop", &page(5, "key_a", 1, 5), LIMITS).await.unwrap(), None);
}

#[rstest]
#[tokio::test]
async fn pages_of_a_key_and_of_all_are_bounded(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    for (id, secret) in [("key_a", 1), ("key_b", 2)] {
        key(&fixture, id, secret).await;
    }
    let sign_in = async |cookie: u8, key: &str, secret: u8, minutes: i64| {
        store.create_page("shop", &page(cookie, key, secret, minutes), LIMITS).await.unwrap()
    };
    for cookie in 1..=3 {
        assert_eq!(sign_in(cookie, "key_a", 1, i64::from(cookie)).await, Some(0));
    }
    // That of the same key which ends first makes room.
    assert_eq!(sign_in(4, "key_a", 1, 4).await, Some(1));
    assert_eq!(store.find_page("shop", [1; 32]).await.unwrap(), None);
    assert_eq!(
        (sign_in(5, "key_b", 2, 9).await, sign_in(6, "key_b", 2, 9).await),
        (Some(0), Some(0))
    );
    // And of all, whosever it is. Another cluster has room of its own.
    assert_eq!(sign_in(7, "key_b", 2, 9).await, Some(1));
    assert_eq!(store.find_page("shop", [2; 32]).await.unwrap(), None);
    let elsewhere = store.create_page("other", &page(8, "key_a", 1, 1), LIMITS).await.unwrap();
    assert_eq!(elsewhere, Some(0));
}

#[rstest]
#[tokio::test]
async fn persons_are_signed_out_with_their_rule_and_their_key_goes_with_the_last_page(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    for (id, secret) in [("person_a", 1), ("person_b", 2), ("person_c", 3), ("key_a", 4)] {
        key(&fixture, id, secret).await;
    }
    let pages = [
        of_person(page(1, "person_a", 1, 5), 1, 1),
        of_person(page(2, "person_b", 2, 5), 2, 2),
        of_person(page(3, "person_b", 2, 6), 2, 2),
        page(4, "key_a", 4, 5),
    ];
    for page in &pages {
        store.create_page("shop", page, LIMITS).await.unwrap();
    }
    // Behind one of them there is no page; one that has just been made is spared.
    let longer = AGE * 90;
    assert_eq!(store.remove_keys_without_page("shop", "person_", longer).await.unwrap(), 0);
    assert_eq!(store.remove_keys_without_page("shop", "person_", AGE).await.unwrap(), 1);
    let kept = [[2; 32], [3; 32]].into();
    assert_eq!(store.delete_pages_of_other_rules("other", &kept).await.unwrap(), 0);
    assert_eq!(store.delete_pages_of_other_rules("shop", &kept).await.unwrap(), 1);
    assert_eq!(store.remove_keys_without_page("shop", "person_", AGE).await.unwrap(), 1);
    assert!(store.find_key([1; 32]).await.unwrap().is_none());
    store.delete_page("shop", [2; 32]).await.unwrap();
    assert_eq!(store.remove_keys_without_page("shop", "person_", AGE).await.unwrap(), 0);
    store.delete_page("shop", [3; 32]).await.unwrap();
    assert_eq!(store.remove_keys_without_page("shop", "person_", AGE).await.unwrap(), 1);
    assert!(store.find_page("shop", [4; 32]).await.unwrap().is_some());
    assert!(store.find_key([4; 32]).await.unwrap().is_some());
}
