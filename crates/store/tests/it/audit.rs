//! The audit log: entries are added and read, and nobody changes or removes one.

use crate::fixture::{Engine, Fixture, next_instant, random};
use baton_session::{AuditId, AuditOutcome, Owner};
use baton_store::{AuditEntry, StoreError};
use rstest::rstest;
use sqlx::{AssertSqlSafe, Connection};

#[rstest]
#[tokio::test]
async fn an_owner_reads_their_own_entries_and_an_admin_all_newest_first(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (ada, bob): (Owner, Owner) = ("ada".parse().unwrap(), "bob".parse().unwrap());
    let entries = [
        entry(&ada, "session.open", AuditOutcome::Done),
        entry(&bob, "session.open", AuditOutcome::Failed),
        entry(&ada, "session.reveal", AuditOutcome::Denied),
        entry(&ada, "session.close", AuditOutcome::Done),
    ];
    for entry in &entries {
        store.append_audit(entry).await.unwrap();
    }
    let [first, of_bob, second, third] = entries;
    assert_eq!(
        store.list_audit(None, None, 10).await.unwrap(),
        [third.clone(), second.clone(), of_bob.clone(), first.clone()]
    );
    let of_bob_alone = store.list_audit(Some(&bob), None, 10).await.unwrap();
    assert_eq!(of_bob_alone, std::slice::from_ref(&of_bob));

    let page = store.list_audit(Some(&ada), None, 2).await.unwrap();
    assert_eq!(page, [third.clone(), second.clone()]);
    let rest = store.list_audit(Some(&ada), Some(second.id), 2).await.unwrap();
    assert_eq!(rest, std::slice::from_ref(&first));
    let rest = store.list_audit(None, Some(second.id), 10).await.unwrap();
    assert_eq!(rest, [of_bob, first.clone()]);

    let taken = store.append_audit(&first).await.unwrap_err();
    assert!(matches!(taken, StoreError::IdTaken { id } if id == first.id.to_string()));
    let nul = AuditEntry { subject: "a\0b".into(), ..entry(&ada, "x", AuditOutcome::Done) };
    let refused = store.append_audit(&nul).await.unwrap_err();
    assert!(matches!(refused, StoreError::InvalidText { field: "an audit entry's subject" }));
}

#[rstest]
#[tokio::test]
async fn no_entry_can_be_changed_or_removed(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let owner = Owner::local();
    let made = entry(&owner, "key.create", AuditOutcome::Done);
    fixture.store.append_audit(&made).await.unwrap();
    for sql in ["update audit set outcome = 'failed'", "delete from audit"] {
        let mut past = fixture.raw().await;
        let refused = sqlx::query(AssertSqlSafe(sql)).execute(&mut past).await.unwrap_err();
        assert!(refused.to_string().contains("the audit log is only appended to"), "{refused}");
        past.close().await.unwrap();
    }
    assert_eq!(fixture.store.list_audit(None, None, 10).await.unwrap(), [made]);
}

#[test]
fn words_of_outcomes_are_read_back() {
    for outcome in AuditOutcome::ALL {
        assert_eq!(outcome.as_str().parse(), Ok(outcome));
    }
    assert!("lost".parse::<AuditOutcome>().is_err());
}

fn entry(owner: &Owner, action: &str, outcome: AuditOutcome) -> AuditEntry {
    let at = next_instant();
    AuditEntry {
        id: AuditId::new(at, random()),
        at,
        owner: owner.clone(),
        actor: "laptop (key_1)".to_owned(),
        action: action.to_owned(),
        subject: "019b0000-0000-7000-8000-000000000001".to_owned(),
        outcome,
        detail: r#"{"name":"shop"}"#.to_owned(),
    }
}
