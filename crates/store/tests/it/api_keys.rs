//! API keys: found by the hash of their secret until they are revoked.

use crate::fixture::{Engine, Fixture, next_instant};
use crate::peers::{limits, peer};
use baton_session::{Owner, Scope};
use baton_store::{ApiKey, FoundKey, PERSON_KEY, Peer, StoreError};
use rstest::rstest;
use std::collections::BTreeSet;

#[rstest]
#[tokio::test]
async fn a_key_works_until_it_is_revoked(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let laptop = key("k1", "laptop", &[Scope::Read, Scope::Reveal]);
    store.create_key(&laptop, [1; 32]).await.unwrap();
    let found = FoundKey { key: laptop.clone(), limited_peer: None };
    assert_eq!(store.find_key([1; 32]).await.unwrap(), Some(found));
    assert_eq!(store.find_key([2; 32]).await.unwrap(), None);

    let same_name = key("k2", "laptop", &[]);
    let taken = store.create_key(&same_name, [2; 32]).await.unwrap_err();
    assert!(matches!(taken, StoreError::KeyNameTaken { name } if name == "laptop"));
    let same_id = key("k1", "phone", &[]);
    let taken = store.create_key(&same_id, [2; 32]).await.unwrap_err();
    assert!(matches!(taken, StoreError::IdTaken { id } if id == "k1"));

    let at = next_instant();
    store.revoke_key(&owner, "k1", at).await.unwrap();
    assert_eq!(store.find_key([1; 32]).await.unwrap(), None);
    // Its name is free again, and revoking it twice changes nothing.
    store.create_key(&same_name, [2; 32]).await.unwrap();
    store.revoke_key(&owner, "k1", next_instant()).await.unwrap();
    let revoked = ApiKey { revoked_at: Some(at), ..laptop };
    assert_eq!(store.list_keys(&owner).await.unwrap(), [revoked, same_name]);
}

#[rstest]
#[tokio::test]
async fn a_key_names_the_limited_peer_that_shows_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let of = async |hash| store.find_key(hash).await.unwrap().unwrap().limited_peer;
    for (at, id) in (1..).zip(["key of laptop", "key of phone", "mine"]) {
        store.create_key(&key(id, id, &[Scope::Sync]), [at; 32]).await.unwrap();
    }
    store.create_peer(&Peer { limits: limits(), ..peer("laptop", 1) }).await.unwrap();
    store.create_peer(&peer("phone", 2)).await.unwrap();
    assert_eq!(of([1; 32]).await.as_deref(), Some("laptop"));
    assert_eq!((of([2; 32]).await, of([3; 32]).await), (None, None));
    let owner = Owner::local();
    let good = async |id| store.is_key_good(&owner, id).await.unwrap();
    assert_eq!((good("key of laptop").await, good("key of phone").await), (false, true));
    assert!(!good("unknown").await);
    store.revoke_key(&owner, "mine", next_instant()).await.unwrap();
    assert!(!good("mine").await);
    assert!(!store.is_key_good(&"ann".parse().unwrap(), "key of phone").await.unwrap());
    // Also when the limits cannot be read.
    fixture.execute("update peers set limits = '?' where name = 'phone'").await;
    assert_eq!(of([2; 32]).await.as_deref(), Some("phone"));
    assert!(!good("key of phone").await);
}

#[rstest]
#[tokio::test]
async fn a_key_of_another_owner_cannot_be_revoked_or_seen(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let ann: Owner = "ann".parse().unwrap();
    fixture.store.create_key(&key("k1", "laptop", &Scope::ALL), [1; 32]).await.unwrap();
    let hers = ApiKey { owner: ann.clone(), ..key("k2", "laptop", &[]) };
    fixture.store.create_key(&hers, [2; 32]).await.unwrap();
    let denied = fixture.store.revoke_key(&ann, "k1", next_instant()).await.unwrap_err();
    assert!(matches!(denied, StoreError::KeyNotFound { id } if id == "k1"));
    assert_eq!(fixture.store.list_keys(&ann).await.unwrap(), [hers]);
    let found = fixture.store.find_key([1; 32]).await.unwrap().unwrap();
    assert_eq!(found.key.scopes, Scope::ALL.into());
}

#[rstest]
#[tokio::test]
async fn keys_of_a_kind_are_removed_but_for_those_that_are_kept(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let ids = ["person_1_a", "person_1_b", "person_2_a", "personal", "key_1"];
    for (at, id) in (1..).zip(ids) {
        store.create_key(&key(id, id, &[Scope::Read]), [at; 32]).await.unwrap();
    }
    let kept = ["person_1_b".to_owned(), "person_9".to_owned()].into();
    assert_eq!(store.remove_keys("person_1_", &kept).await.unwrap(), 1);
    assert_eq!(store.remove_keys("person_1_", &kept).await.unwrap(), 0);
    let left = store.list_keys(&Owner::local()).await.unwrap();
    let left: Vec<&str> = left.iter().map(|key| key.id.as_str()).collect();
    assert_eq!(left, ids[1..]);
    assert!(!store.is_key_good(&Owner::local(), "person_1_a").await.unwrap());
    assert!(store.find_key([1; 32]).await.unwrap().is_none());
    // Its name is free again.
    store.create_key(&key("person_1_c", "person_1_a", &[]), [9; 32]).await.unwrap();
    assert_eq!(store.remove_keys(PERSON_KEY, &BTreeSet::new()).await.unwrap(), 3);
}

#[test]
fn words_of_scopes_are_read_back() {
    for scope in Scope::ALL {
        assert_eq!(scope.as_str().parse(), Ok(scope));
        assert_eq!(serde_json::to_string(&scope).unwrap(), format!("\"{scope}\""));
    }
    assert!("root".parse::<Scope>().is_err());
}

fn key(id: &str, name: &str, scopes: &[Scope]) -> ApiKey {
    ApiKey {
        id: id.to_owned(),
        name: name.to_owned(),
        owner: Owner::local(),
        scopes: scopes.iter().copied().collect(),
        created_at: next_instant(),
        revoked_at: None,
        for_node: None,
    }
}
