//! Invitations: each counts once and for a while, and there are so many and no more.

use crate::fixture::{Engine, Fixture, node};
use baton_session::Owner;
use baton_session::invitation::InvitationSecret;
use baton_store::{StoreError, StoredInvitation};
use jiff::{SignedDuration, Timestamp};
use rstest::rstest;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap() + SignedDuration::from_secs(second)
}

/// One that counts for ten minutes.
fn invitation(byte: u8) -> StoredInvitation {
    StoredInvitation {
        owner: Owner::local(),
        node: node(),
        key: InvitationSecret::new([byte; 16]).key(),
        created_at: at(0),
        expires_at: at(600),
        redeemed_at: None,
    }
}

fn is_unknown<T>(found: &Result<T, StoreError>) -> bool {
    matches!(found, Err(StoreError::InvitationNotFound { .. }))
}

#[rstest]
#[tokio::test]
async fn an_invitation_counts_once_and_until_it_ends(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, made) = (&fixture.store, invitation(1));
    store.create_invitation(&made, 10).await.unwrap();
    let find = async |second| store.find_invitation(made.node, &made.id(), at(second)).await;
    assert_eq!(find(599).await.unwrap(), made);
    assert!(is_unknown(&find(600).await), "its time is over");
    assert!(is_unknown(&store.redeem_invitation(&made, at(600)).await));
    store.redeem_invitation(&made, at(10)).await.unwrap();
    assert!(is_unknown(&store.redeem_invitation(&made, at(11)).await), "it was used");
    assert!(is_unknown(&find(11).await));
    for id in ["inv_0000000000000000", "", "\0"] {
        assert!(is_unknown(&store.find_invitation(made.node, id, at(1)).await), "{id:?}");
    }
}

#[rstest]
#[tokio::test]
async fn open_invitations_are_listed_bounded_and_taken_back_by_their_owner(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    for byte in 0..3 {
        store.create_invitation(&invitation(byte), 3).await.unwrap();
    }
    let many = store.create_invitation(&invitation(3), 3).await.unwrap_err();
    assert!(matches!(many, StoreError::TooManyInvitations { most: 3 }), "{many}");
    let list = async |second| {
        store.list_invitations(&Owner::local(), node(), at(second)).await.unwrap().len()
    };
    assert_eq!((list(1).await, list(600).await), (3, 0));
    let id = invitation(0).id();
    let ada: Owner = "ada".parse().unwrap();
    assert!(is_unknown(&store.delete_invitation(&ada, node(), &id).await));
    store.delete_invitation(&Owner::local(), node(), &id).await.unwrap();
    assert!(is_unknown(&store.delete_invitation(&Owner::local(), node(), &id).await));
    assert_eq!(list(1).await, 2);
    // Those that have ended make room.
    let later = StoredInvitation { created_at: at(700), expires_at: at(1300), ..invitation(4) };
    store.create_invitation(&later, 1).await.unwrap();
    assert_eq!(list(701).await, 1);
}
