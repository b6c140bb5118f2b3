//! Asks by themselves: who it is that asks, and when their time has passed.

use super::{Ask, Asks, NewAsk, OpenedBy, Sites};
use crate::page::NewGuest;
use baton_browser::TargetId;
use baton_browser::screen::TabAddress;
use baton_runtime::Caller;
use baton_session::{Lifecycle, NodeId, Owner, Session, SessionId};
use jiff::{SignedDuration, Timestamp};
use std::sync::Arc;

/// An ask of this caller that lasts so long.
fn ask(caller: Caller, limit: SignedDuration) -> Arc<Ask> {
    let now = Timestamp::UNIX_EPOCH;
    let session = Session {
        id: SessionId::new(now, [1; 10]),
        name: "shop".parse().unwrap(),
        description: String::new(),
        owner: caller.owner.clone(),
        node: NodeId::new(now, [2; 10]),
        headed: false,
        debug: false,
        lifecycle: Lifecycle::Active,
        created_at: now,
        updated_at: now,
    };
    let new = NewAsk {
        session,
        caller,
        text: "sign in".to_owned(),
        sites: Sites::at(&TabAddress::of("https://bank.test/")).unwrap(),
        files: false,
        limit,
        tab: None,
    };
    Asks::default().create(new).unwrap().0
}

/// Somebody opens it.
fn open(ask: &Ask) -> Result<(), String> {
    let guest = NewGuest::generate(ask.session.node.mark());
    let (name, tab) = ("ada".parse().unwrap(), TargetId::new("T"));
    let opened = ask.open(guest.halves(), OpenedBy { name, tab, before: None });
    opened.map_err(|refusal| refusal.to_string())
}

#[tokio::test]
async fn an_ask_ends_with_its_time_though_nobody_has_ended_it_yet() {
    let caller = Caller::node(Owner::local());
    let lasting = ask(caller.clone(), SignedDuration::from_mins(1));
    assert!(!lasting.is_ending());
    open(&lasting).unwrap();
    let late = ask(caller, SignedDuration::ZERO);
    // What sees to its end may wait for a timer that stood still while the machine slept.
    assert!(late.is_ending());
    assert!(open(&late).unwrap_err().contains("one whose time has passed"));
    late.late().await;
}

#[test]
fn who_asks_is_told_with_whose_agent_it_is() {
    let from = |owner: &str, agent: Option<&str>| {
        let caller = Caller {
            agent: agent.map(|agent| agent.parse().unwrap()),
            ..Caller::node(owner.parse().unwrap())
        };
        ask(caller, SignedDuration::from_mins(1)).guest_view().from
    };
    assert_eq!(from("local", Some("kimi")), "kimi");
    assert_eq!(from("local", None), "local");
    // It calls itself as it likes.
    assert_eq!(from("mallory", Some("admin")), "admin (mallory)");
    assert_eq!(from("mallory", None), "mallory");
}
