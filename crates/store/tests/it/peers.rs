//! Peers: how they are named and found, what may change of them, and what they are known to hold.

use crate::fixture::{Engine, Fixture, next_instant, session};
use baton_session::wire::NodeType;
use baton_session::{
    AuthMethod, NodeSecret, Owner, PartHash, PeerLimits, PeerState, RevisionId, Site, StateKind,
    View,
};
use baton_store::{Peer, StoreError};
use rstest::rstest;
use secrecy::ExposeSecret;

/// A peer whose keys are of these bytes.
pub(crate) fn peer(name: &str, byte: u8) -> Peer {
    let key = NodeSecret::from_seed(&[byte; 32]).key();
    Peer {
        owner: Owner::local(),
        node: key.node_id(),
        name: name.to_owned(),
        url: Some(format!("https://{name}.example")),
        pin: None,
        node_type: NodeType::Cloud,
        auth: AuthMethod::ApiKey,
        state: PeerState::Pending,
        key,
        seal_key: format!("age1{byte}"),
        credential: Some(format!("the-credential-of-{name}").into()),
        api_key: Some(format!("key of {name}")),
        limits: PeerLimits::default(),
        added_at: next_instant(),
        last_seen: None,
        last_sync: None,
    }
}

/// All that is known of a peer, its credential too.
fn told(peer: &Peer) -> String {
    let credential = peer.credential.as_ref().map(ExposeSecret::expose_secret);
    format!("{peer:?} {credential:?}")
}

/// It gets cookies and tabs of two sites, and nothing is taken from it.
pub(crate) fn limits() -> PeerLimits {
    PeerLimits {
        give: View {
            sites: Some(["shop.test", "bücher.example"].map(Site::of_host).into()),
            kinds: Some([StateKind::Cookies, StateKind::Tabs].into()),
        },
        take: View { sites: Some([].into()), kinds: None },
    }
}

/// A revision that nobody wrote.
fn revision(byte: u8) -> RevisionId {
    format!("{byte}-{}", PartHash([byte; 32])).parse().unwrap()
}

#[rstest]
#[tokio::test]
async fn a_person_names_a_peer_by_its_id_its_name_or_the_start_of_its_id(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let (laptop, server) = (peer("laptop", 1), peer("server", 2));
    for peer in [&server, &laptop] {
        store.create_peer(peer).await.unwrap();
    }
    let id = laptop.node.to_string();
    for reference in [id.as_str(), &id.to_uppercase(), &id[..8], "laptop"] {
        assert_eq!(told(&store.find_peer(&owner, reference).await.unwrap()), told(&laptop));
    }
    let listed = store.list_peers(&owner).await.unwrap();
    assert_eq!(listed.iter().map(told).collect::<Vec<_>>(), [told(&laptop), told(&server)]);
    let shown = store.peer_of_key(&owner, "key of server").await.unwrap().unwrap();
    assert_eq!(shown.node, server.node);
    assert!(store.peer_of_key(&owner, "another key").await.unwrap().is_none());

    let ann: Owner = "ann".parse().unwrap();
    assert!(store.list_peers(&ann).await.unwrap().is_empty());
    for unknown in ["", "lap", "0", "a\0b", "%", "ffffffff", &session("x").id.to_string()] {
        let error = store.find_peer(&owner, unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::PeerNotFound { .. }), "{unknown:?}: {error}");
    }
    let theirs = store.find_peer(&ann, "laptop").await.unwrap_err();
    assert!(matches!(theirs, StoreError::PeerNotFound { .. }), "{theirs}");
}

#[rstest]
#[tokio::test]
async fn the_start_of_two_ids_names_no_peer(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let with_id = |name, byte, id: &str| Peer { node: id.parse().unwrap(), ..peer(name, byte) };
    let one = with_id("one", 1, "abcd0000-0000-8000-8000-000000000001");
    let two = with_id("two", 2, "abcd0000-0000-8000-8000-000000000002");
    for peer in [&one, &two] {
        fixture.store.create_peer(peer).await.unwrap();
    }
    match fixture.store.find_peer(&Owner::local(), "ABCD").await.unwrap_err() {
        StoreError::AmbiguousPeer { matches, .. } => assert_eq!(matches, [one.node, two.node]),
        other => panic!("{other}"),
    }
}

#[rstest]
#[tokio::test]
async fn a_peer_shares_neither_its_node_nor_its_name_nor_its_key_with_another(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let laptop = peer("laptop", 1);
    store.create_peer(&laptop).await.unwrap();
    let refuse = async |peer: Peer| store.create_peer(&peer).await.unwrap_err();

    let error = refuse(peer("again", 1)).await;
    assert!(matches!(error, StoreError::PeerTaken { node } if node == laptop.node), "{error}");
    let error = refuse(peer("laptop", 2)).await;
    assert!(matches!(&error, StoreError::PeerNameTaken { name } if name == "laptop"), "{error}");
    let error = refuse(Peer { api_key: laptop.api_key.clone(), ..peer("server", 2) }).await;
    insta::allow_duplicates! {
        insta::assert_snapshot!(error, @r#"
        expected an API key that no other peer shows, found that of "laptop"
        make a key for each peer: baton keys create
        "#);
    }
    let error = refuse(Peer { name: "a\0b".to_owned(), ..peer("server", 2) }).await;
    assert!(matches!(error, StoreError::InvalidText { .. }), "{error}");
    let error =
        refuse(Peer { credential: Some("x".repeat(70_000).into()), ..peer("server", 2) }).await;
    assert!(matches!(error, StoreError::CredentialRefused { .. }), "{error}");

    // Two that show no key do not meet, and neither do those of two owners.
    for (name, byte) in [("one", 3), ("two", 4)] {
        store.create_peer(&Peer { api_key: None, ..peer(name, byte) }).await.unwrap();
    }
    let hers = Peer { owner: "ann".parse().unwrap(), ..laptop.clone() };
    store.create_peer(&hers).await.unwrap();
    let renamed = Peer { name: "one".to_owned(), ..laptop };
    let error = store.update_peer(&renamed).await.unwrap_err();
    assert!(matches!(error, StoreError::PeerNameTaken { .. }), "{error}");
}

#[rstest]
#[tokio::test]
async fn what_may_change_of_a_peer_changes_and_its_key_stays(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, laptop) = (&fixture.store, peer("laptop", 1));
    store.create_peer(&laptop).await.unwrap();
    let changed = Peer {
        name: "desk".to_owned(),
        url: None,
        node_type: NodeType::Hosted,
        auth: AuthMethod::Msal,
        seal_key: "age1new".to_owned(),
        credential: None,
        api_key: None,
        ..laptop.clone()
    };
    let other = peer("other", 9);
    let asked = Peer { key: other.key, state: PeerState::Confirmed, ..changed.clone() };
    store.update_peer(&asked).await.unwrap();
    let found = store.find_peer(&laptop.owner, "desk").await.unwrap();
    assert_eq!(told(&found), told(&changed), "neither its key nor its state");
    let unknown = store.update_peer(&other).await.unwrap_err();
    assert!(matches!(unknown, StoreError::PeerNotFound { .. }), "{unknown}");
}

#[rstest]
#[tokio::test]
async fn a_peer_is_confirmed_and_heard_of(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, laptop) = (&fixture.store, peer("laptop", 1));
    store.create_peer(&laptop).await.unwrap();
    store.confirm_peer(&laptop.owner, laptop.node).await.unwrap();
    let (synced, seen) = (next_instant(), next_instant());
    store.touch_peer(&laptop.owner, laptop.node, synced, Some(synced)).await.unwrap();
    store.touch_peer(&laptop.owner, laptop.node, seen, None).await.unwrap();
    let found = store.find_peer(&laptop.owner, "laptop").await.unwrap();
    assert_eq!(found.state, PeerState::Confirmed);
    assert_eq!((found.last_seen, found.last_sync), (Some(seen), Some(synced)));

    let unknown = peer("unknown", 2);
    let confirmed = store.confirm_peer(&unknown.owner, unknown.node).await;
    let touched = store.touch_peer(&unknown.owner, unknown.node, seen, None).await;
    for refused in [confirmed, touched] {
        assert!(matches!(refused, Err(StoreError::PeerNotFound { .. })), "{refused:?}");
    }
}

#[rstest]
#[tokio::test]
async fn what_a_peer_holds_is_noted_and_goes_with_it(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let (laptop, server) = (peer("laptop", 1), peer("server", 2));
    let (mail, shop) = (session("mail").id, session("shop").id);
    for peer in [&laptop, &server] {
        store.create_peer(peer).await.unwrap();
    }
    let (first, second) = (next_instant(), next_instant());
    let note = async |peer: &Peer, session, byte, at| {
        store.note_ack(&owner, peer.node, session, revision(byte), at).await
    };
    note(&laptop, mail, 1, first).await.unwrap();
    note(&laptop, mail, 2, second).await.unwrap();
    note(&server, mail, 1, first).await.unwrap();
    note(&server, shop, 3, first).await.unwrap();
    let mut expected = [(laptop.node, revision(2), second), (server.node, revision(1), first)];
    expected.sort();
    assert_eq!(store.list_acks(&owner, mail).await.unwrap(), expected);
    let unknown = note(&peer("unknown", 3), mail, 1, first).await.unwrap_err();
    assert!(matches!(unknown, StoreError::PeerNotFound { .. }), "{unknown}");

    store.delete_peer(&owner, server.node).await.unwrap();
    assert_eq!(store.list_acks(&owner, shop).await.unwrap(), []);
    assert_eq!(store.list_acks(&owner, mail).await.unwrap().len(), 1);
    let again = store.delete_peer(&owner, server.node).await.unwrap_err();
    assert!(matches!(again, StoreError::PeerNotFound { .. }), "{again}");
    store.create_peer(&server).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_credential_that_belongs_to_another_peer_costs_itself_only(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    for (name, byte) in [("laptop", 1), ("server", 2)] {
        fixture.store.create_peer(&peer(name, byte)).await.unwrap();
    }
    fixture
        .execute(
            "update peers set credential = (select credential from peers where name = 'laptop')",
        )
        .await;
    let found = fixture.store.list_peers(&Owner::local()).await.unwrap();
    let has = found.iter().map(|peer| (peer.name.as_str(), peer.credential.is_some()));
    assert_eq!(has.collect::<Vec<_>>(), [("laptop", true), ("server", false)]);
}

#[rstest]
#[tokio::test]
async fn limits_of_a_peer_stay_until_they_are_set_anew(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let laptop = Peer { limits: limits(), ..peer("laptop", 1) };
    store.create_peer(&laptop).await.unwrap();
    let of_laptop = async || store.find_peer(&owner, "laptop").await.unwrap().limits;
    assert_eq!(of_laptop().await, limits());

    // Whatever else becomes of it.
    let changed = Peer { limits: PeerLimits::default(), credential: None, ..laptop.clone() };
    store.update_peer(&changed).await.unwrap();
    store.confirm_peer(&owner, laptop.node).await.unwrap();
    store.touch_peer(&owner, laptop.node, next_instant(), None).await.unwrap();
    assert_eq!(of_laptop().await, limits());
    assert_eq!(store.peer_of_key(&owner, "key of laptop").await.unwrap().unwrap().limits, limits());

    let other = PeerLimits { take: limits().give, ..PeerLimits::default() };
    for set in [other, PeerLimits::default(), limits()] {
        store.limit_peer(&owner, laptop.node, &set).await.unwrap();
        assert_eq!(of_laptop().await, set);
    }
    let ann: Owner = "ann".parse().unwrap();
    for (owner, node) in [(&ann, laptop.node), (&owner, peer("unknown", 2).node)] {
        let refused = store.limit_peer(owner, node, &limits()).await.unwrap_err();
        assert!(matches!(refused, StoreError::PeerNotFound { .. }), "{refused}");
    }
}

/// Who damages a row opens nothing to a peer.
#[rstest]
#[tokio::test]
async fn limits_that_cannot_be_read_are_an_error_and_never_none(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    store.create_peer(&Peer { limits: limits(), ..peer("laptop", 1) }).await.unwrap();
    let mut told = Vec::new();
    for damaged in [
        "",
        "{",
        "null",
        "{}",
        r#"{"give":{"kinds":["cookies"]}}"#,
        r#"{"give":{},"take":{}}"#,
        r#"{"give":{"kinds":["passwords"]},"take":{}}"#,
        r#"{"give":{"sites":["shop.test"],"place":"here"},"take":{}}"#,
    ] {
        fixture.execute(&format!("update peers set limits = '{damaged}'")).await;
        let error = store.find_peer(&owner, "laptop").await.unwrap_err();
        assert!(matches!(error, StoreError::InvalidRow { column: "limits", .. }), "{error}");
        told.push(error.to_string());
        store.list_peers(&owner).await.unwrap_err();
        store.peer_of_key(&owner, "key of laptop").await.unwrap_err();
    }
    insta::allow_duplicates! {
        insta::assert_snapshot!(told.join("\n"), @r#"
        expected limits of a peer in JSON (EOF while parsing a value at line 1 column 0) in column limits, found "": the database was edited or is damaged
        expected limits of a peer in JSON (EOF while parsing an object at line 1 column 1) in column limits, found "{": the database was edited or is damaged
        expected limits of a peer in JSON (invalid type: null, expected an object with give and take at line 1 column 4) in column limits, found "null": the database was edited or is damaged
        expected limits of a peer in JSON (missing field `give` at line 1 column 2) in column limits, found "{}": the database was edited or is damaged
        expected limits of a peer in JSON (missing field `take` at line 1 column 30) in column limits, found "{\"give\":{\"kinds\":[\"cookies\"]}}": the database was edited or is damaged
        expected limits of a peer in JSON (these limit nothing) in column limits, found "{\"give\":{},\"take\":{}}": the database was edited or is damaged
        expected limits of a peer in JSON (unknown variant `passwords`, expected one of `cookies`, `local-storage`, `databases`, `caches`, `files`, `service-workers`, `tabs`, `environment` at line 1 column 29) in column limits, found "{\"give\":{\"kinds\":[\"passwords\"]},\"take\":{}}": the database was edited or is damaged
        expected limits of a peer in JSON (unknown field `place`, expected `sites` or `kinds` at line 1 column 38) in column limits, found "{\"give\":{\"sites\":[\"shop.test\"],\"place\":\"here\"},\"take\":{}}": the database was edited or is damaged
        "#);
    }
}

#[test]
fn a_peer_does_not_show_its_credential() {
    let shown = format!("{:?}", peer("laptop", 1));
    assert!(shown.contains("laptop.example") && !shown.contains("the-credential"), "{shown}");
}
