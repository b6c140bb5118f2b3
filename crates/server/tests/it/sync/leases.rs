//! A session that several nodes have is held by one of them, and no resume leaves it with none.

use super::pair::{Pair, know, logged_in, save, seed, sql, start, store};
use super::stranger::{Stranger, reply, shop};
use crate::fixture::{Node, until};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::response::IntoResponse;
use baton_api::sync::{PeerLeaseAnswer, PeerLeaseOutcome};
use baton_api::{ErrorCode, ListHistory};
use baton_server::config::Choices;
use baton_session::{AgentName, PeerLease, SessionId, Vector};
use baton_testkit::Peer;
use jiff::Timestamp;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

#[tokio::test]
async fn of_two_that_ask_at_the_same_time_one_gets_the_session() {
    let pair = Pair::new().await;
    know(&pair.cloud, &pair.laptop, "laptop").await;
    let id = seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await.to_string();
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    for round in 0..20 {
        let (here, there) = (pair.laptop.admin(), pair.cloud.admin());
        let both = tokio::join!(here.resume_session(&id), there.resume_session(&id));
        // No browser starts here, so whoever gets the session comes as far as that.
        let codes = [both.0.unwrap_err().code(), both.1.unwrap_err().code()].map(Option::unwrap);
        assert!(codes.contains(&ErrorCode::BrowserUnavailable), "round {round}: {codes:?}");
        let others = [ErrorCode::BrowserUnavailable, ErrorCode::Conflict];
        assert!(codes.iter().all(|code| others.contains(code)), "round {round}: {codes:?}");
    }
    pair.stop().await;
}

#[tokio::test]
async fn a_resume_that_fails_gives_the_lease_back() {
    let pair = Pair::new().await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    let before = pair.laptop.admin().fetch_session("shop").await.unwrap().shared.unwrap();
    assert_eq!(before.held_by, None, "it runs nowhere");
    let failed = pair.laptop.admin().resume_session("shop").await.unwrap_err();
    assert_eq!(failed.code(), Some(ErrorCode::BrowserUnavailable));
    let peer_lease =
        pair.laptop.admin().fetch_sync_index().await.unwrap().sessions[0].peer_lease.unwrap();
    assert!(
        peer_lease.released
            && peer_lease.node == pair.laptop.admin().list_peers().await.unwrap().this.node_id
    );
    let after = pair.laptop.admin().fetch_session("shop").await.unwrap().shared.unwrap();
    assert_eq!(after.held_by, None);
    pair.stop().await;
}

#[tokio::test]
async fn a_rollback_that_fails_gives_the_lease_back() {
    let pair = Pair::new().await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    let laptop = pair.laptop.admin();
    let history = laptop.list_history("shop", &ListHistory::default()).await.unwrap().items;
    let to = history[0].id.to_string();
    let failed = laptop.roll_back_session("shop", &to).await.unwrap_err();
    assert_eq!(failed.code(), Some(ErrorCode::BrowserUnavailable));
    let after = laptop.fetch_session("shop").await.unwrap().shared.unwrap();
    assert_eq!(after.held_by, None, "whoever wants it need not ask this node");
    pair.stop().await;
}

/// A peer that answers whoever asks it for a session with one of these after the other, and then that the
/// session is free.
struct Other {
    peer: Peer,
    says: Mutex<Vec<PeerLeaseOutcome>>,
    asked: Mutex<usize>,
    /// Whether it answers, or lets those wait who ask.
    answers: watch::Sender<bool>,
}

impl Other {
    /// A peer of `node` with this seed, which has said something to it before.
    async fn of(node: &Node, seed: u8, says: &[PeerLeaseOutcome]) -> (Arc<Self>, Stranger) {
        let stranger = Stranger::of(node, seed).await;
        let says = Mutex::new(says.iter().rev().cloned().collect());
        let (peer, answers) = (Peer::new(seed), watch::Sender::new(true));
        let other = Arc::new(Self { peer, says, asked: Mutex::new(0), answers });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&other));
        stranger.answers(node, router).await;
        (other, stranger)
    }

    /// How often it was asked for a session.
    fn asked(&self) -> usize {
        *self.asked.lock().unwrap()
    }
}

async fn answer(State(other): State<Arc<Other>>, parts: Parts, body: Bytes) -> Response<Body> {
    if !parts.uri.path().ends_with("/lease") {
        return StatusCode::NOT_FOUND.into_response();
    }
    *other.asked.lock().unwrap() += 1;
    other.answers.subscribe().wait_for(|answers| *answers).await.unwrap();
    let outcome = other.says.lock().unwrap().pop().unwrap_or(PeerLeaseOutcome::Free);
    let said = PeerLeaseAnswer { outcome, peer_lease: None, vector: Vector::default() };
    let said = serde_json::to_vec(&said).unwrap();
    reply(&other.peer, &parts, &body, "what became of a lease", &said)
}

/// A session at `node` that is saved.
async fn saved(node: &Node) -> SessionId {
    let id = seed(node, "shop", &shop()).await;
    save(node, "shop").await;
    id
}

fn kept() -> PeerLeaseOutcome {
    PeerLeaseOutcome::Kept("another operation on it goes on there".to_owned())
}

#[tokio::test]
async fn nobody_closes_a_session_for_a_resume_that_another_one_stops() {
    let node = start(Choices::default()).await;
    let id = saved(&node).await;
    let (holder, there) = Other::of(&node, 1, &[PeerLeaseOutcome::HandedOver]).await;
    let (keeper, _) = Other::of(&node, 2, &[kept()]).await;
    // The first one takes the session, and runs it.
    let peer_lease = PeerLease::after(None, there.node(), Timestamp::now());
    assert!(there.take(id, peer_lease).send().await.status().is_success());
    let error = node.admin().resume_session("shop").await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::Conflict), "{error}");
    assert_eq!((keeper.asked(), holder.asked()), (1, 0), "it would run nowhere");
    // Once nothing keeps it any more, it comes from the one that has it; no browser starts here.
    let error = node.admin().resume_session("shop").await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "{error}");
    assert_eq!((keeper.asked(), holder.asked()), (2, 1));
    node.stop().await;
}

#[tokio::test]
async fn who_has_closed_a_session_for_a_resume_has_not_done_it_for_nothing() {
    let node = start(Choices::default()).await;
    saved(&node).await;
    // Nobody knows here that the first one has it, so both are asked at once.
    let (runs, _) = Other::of(&node, 1, &[PeerLeaseOutcome::HandedOver]).await;
    let (keeps, _) = Other::of(&node, 2, &[kept(), kept()]).await;
    let error = node.admin().resume_session("shop").await.unwrap_err();
    // As far as a resume comes where no browser starts.
    assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "{error}");
    assert_eq!((runs.asked(), keeps.asked()), (3, 3), "what keeps it was waited for");
    node.stop().await;
}

#[tokio::test]
async fn who_waited_for_a_session_does_not_get_it_from_the_agent_that_drives_it_by_then() {
    let node = start(Choices::default()).await;
    let id = saved(&node).await;
    let (peer, _) = Other::of(&node, 1, &[]).await;
    peer.answers.send_replace(false);
    let [kimi, codex] = ["kimi", "codex"].map(|name| name.parse::<AgentName>().unwrap());
    let [first, second] = [node.admin(), node.admin().as_agent(Some(kimi))];
    let first = tokio::spawn(async move { first.resume_session("shop").await });
    until("the peer is asked", || async { (peer.asked() > 0).then_some(()) }).await;
    // Nobody drives the session yet, so this one is let in, and waits until the first one is done.
    let second = tokio::spawn(async move { second.resume_session("shop").await });
    for _ in 0..20 {
        node.admin().fetch_session("shop").await.unwrap();
    }
    // As another node of the database passes it on.
    let now = Timestamp::now();
    store(&node).await.pass_session(id, None, Some(&codex), "", now).await.unwrap();
    assert!(!first.is_finished() && !second.is_finished());
    peer.answers.send_replace(true);
    // As far as a resume comes where no browser starts.
    let error = first.await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "{error}");
    let error = second.await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::OtherAgent), "{error}");
    node.stop().await;
}

#[tokio::test]
async fn what_cannot_be_given_back_does_not_hide_why_a_resume_failed() {
    let pair = Pair::new().await;
    seed(&pair.cloud, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&pair.cloud, "shop").await;
    pair.pull("shop").await;
    let laptop = pair.laptop.admin();
    let history = laptop.list_history("shop", &ListHistory::default()).await.unwrap().items;
    let to = history[0].id.to_string();
    sql(
        &pair.laptop,
        "create trigger kept before update on leases when new.node is null \
            begin select raise(abort, 'kept'); end",
    );
    for failed in [laptop.resume_session("shop").await, laptop.roll_back_session("shop", &to).await]
    {
        let error = failed.unwrap_err();
        assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "{error}");
    }
    // One that is not given back keeps no other from it: peers hear that the session is free.
    let shared = laptop.fetch_session("shop").await.unwrap().shared.unwrap();
    assert_eq!(shared.held_by, None);
    sql(&pair.laptop, "drop trigger kept");
    let error = laptop.resume_session("shop").await.unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::BrowserUnavailable), "what is its own frees it");
    pair.stop().await;
}
