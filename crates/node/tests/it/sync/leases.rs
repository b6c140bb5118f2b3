//! A session that several nodes have is held by one of them.

use super::pair::{Pair, know, logged_in, save, seed};
use baton_api::{ErrorCode, ListHistory};

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
    let lease = pair.laptop.admin().fetch_sync_index().await.unwrap().sessions[0].lease.unwrap();
    assert!(
        lease.released
            && lease.node == pair.laptop.admin().list_peers().await.unwrap().this.node_id
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
