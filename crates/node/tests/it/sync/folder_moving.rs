//! Files of the sync directory that are written while a node looks at them, by programs that know
//! nothing of it.

use super::folder::{file_of, folder, holds, keepers, says, there_is};
use super::pair::{edit, logged_in, save, seed, state, token};
use crate::fixture::until;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// For how long a file is written over and over: for some looks of a node.
const WRITING: Duration = Duration::from_millis(2_500);

#[tokio::test]
async fn a_file_that_comes_in_pieces_is_taken_once_it_is_whole() {
    let (_first, here) = folder();
    let (_second, there) = folder();
    let [one, other] = keepers([&here, &there]).await;
    let held = logged_in(&[("shop.test", "first")]);
    let id = seed(&one, "shop", &held).await;
    save(&one, "shop").await;
    let (from, to) = (file_of(&here, id), file_of(&there, id));
    there_is(&from).await;
    there_is(to.parent().unwrap()).await;
    let whole = fs::read(&from).unwrap();
    let (half, rest) = whole.split_at(whole.len() / 2);
    fs::write(&to, half).unwrap();
    says(&other, "half a file is left aside", |view| view.refused.len() == 1).await;
    assert!(other.admin().fetch_session("shop").await.is_err());
    OpenOptions::new().append(true).open(&to).unwrap().write_all(rest).unwrap();
    until("the rest has come", async || other.admin().fetch_session("shop").await.ok()).await;
    says(&other, "nothing is left aside any more", |view| view.refused.is_empty()).await;
    assert_eq!(state(&other, "shop").await, held);
    one.stop().await;
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_is_written_over_and_over_loses_nothing() {
    let (_first, here) = folder();
    let (_second, there) = folder();
    let [one, other] = keepers([&here, &there]).await;
    let id = seed(&one, "shop", &logged_in(&[("shop.test", "first")])).await;
    save(&one, "shop").await;
    let (from, to) = (file_of(&here, id), file_of(&there, id));
    there_is(&from).await;
    there_is(to.parent().unwrap()).await;
    let old = fs::read(&from).unwrap();
    fs::write(&to, &old).unwrap();
    until("the session is there", async || other.admin().fetch_session("shop").await.ok()).await;
    let rev = edit(&one, id, &logged_in(&[("shop.test", "second")])).await.rev;
    holds(&here, id, rev).await;
    let new = fs::read(&from).unwrap();
    tokio::task::spawn_blocking(move || write_over(&to, &old, &new)).await.unwrap();
    until("the newest is there", async || {
        let held = state(&other, "shop").await;
        (token(&held, "shop.test").as_deref() == Some("second")).then_some(())
    })
    .await;
    holds(&there, id, rev).await;
    for node in [&one, &other] {
        let index = node.admin().fetch_sync_index().await.unwrap();
        assert_eq!((index.sessions[0].rev, index.sessions[0].conflicts.len()), (rev, 0));
    }
    one.stop().await;
    other.stop().await;
}

/// In place and in pieces, the old one and the new one in turn; in the end the new one stands there.
fn write_over(place: &Path, old: &[u8], new: &[u8]) {
    let end = Instant::now() + WRITING;
    while Instant::now() < end {
        for bytes in [old, new] {
            let mut file = fs::File::create(place).unwrap();
            for piece in bytes.chunks(1024) {
                file.write_all(piece).unwrap();
            }
        }
    }
    fs::write(place, new).unwrap();
}
