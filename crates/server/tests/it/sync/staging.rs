//! Parts that wait for their session are bounded, all sessions together.

use super::pair::{know, logged_in, save, seed, start, state, store};
use super::stranger::{Stranger, parcels};
use super::watched::refused;
use baton_api::sync::MovementOutcome;
use baton_server::config::Choices;
use baton_session::State;
use jiff::Timestamp;

/// A state of some hundred bytes that do not compress, as they are stored.
fn state_of(number: u32) -> State {
    let numbers: Vec<String> = (0..20).map(|_| rand::random::<u64>().to_string()).collect();
    let token = numbers.concat();
    logged_in(&[(&format!("shop{number}.test"), &token)])
}

/// The text without how much it would have been: tokens do not all compress alike.
fn bounded(text: &str) -> String {
    let (before, after) = text.split_once("found ").unwrap();
    format!("{before}found MORE{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[tokio::test]
async fn a_peer_cannot_fill_the_disk_with_parts_of_sessions_that_never_come() {
    let narrow = Choices { staged_bytes: Some(4000), ..Choices::default() };
    let (cloud, laptop) = (start(narrow).await, start(Choices::default()).await);
    let stranger = Stranger::of(&cloud, 1).await;
    let mut taken = 0;
    let told = loop {
        let held = state_of(taken);
        let session = stranger.publishes(&held).offer.session;
        let message = stranger.give(session, &parcels(&held));
        let answer = message.send().await;
        if !answer.status().is_success() {
            // The same once more, signed anew, is refused like that.
            let again = stranger.give(session, &parcels(&held));
            break refused(&cloud, again.refusal()).await;
        }
        taken += 1;
        assert!(taken < 10, "each takes some hundred bytes");
    };
    assert!(taken > 0, "there is room for one");
    insta::assert_snapshot!(bounded(&told), @r#"
    507 storage_full: expected at most 4000 bytes of parts that wait for their sessions, found MORE
    noted: stranger 1: request POST /sync/sessions/ID/parts failed {"code":"storage_full"}
    "#);

    know(&laptop, &cloud, "cloud").await;
    let held = state_of(100);
    seed(&laptop, "shop", &held).await;
    save(&laptop, "shop").await;
    let full = laptop.admin().push_session("cloud", "shop").await.unwrap_err();
    insta::assert_snapshot!(bounded(&full.to_string()), @"peer cloud refused: expected at most 4000 bytes of parts that wait for their sessions, found MORE");
    // What a day does: what waited in vain is let go, and the transfer goes on.
    let database = store(&cloud).await;
    database.expire_staged(Timestamp::now()).await.unwrap();
    database.close().await;
    let pushed = laptop.admin().push_session("cloud", "shop").await.unwrap();
    assert_eq!(pushed.outcome, MovementOutcome::Moved);
    assert_eq!(state(&cloud, "shop").await, held);
    cloud.stop().await;
    laptop.stop().await;
}
