//! Files of the sync directory that are written while a node looks at them, by programs that know
//! nothing of it.

use super::folder::{file_of, folder, holds, keepers, says, there_is};
use super::pair::{edit, logged_in, save, seed, start, state, token};
use crate::fixture::until;
use baton_server::config::Choices;
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

/// A pipe in the place of a file would hold whoever opens it until somebody writes.
#[tokio::test]
async fn a_pipe_in_the_directory_holds_nobody_and_is_told() {
    let (_folder, directory) = folder();
    std::fs::create_dir_all(directory.join("sessions")).unwrap();
    let pipe = |name: &str| {
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let at = directory.join(name);
        rustix::fs::mknodat(rustix::fs::CWD, &at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        at
    };
    let lock = pipe(".lock");
    pipe("sessions/0197c0de-0000-7000-8000-000000000001.json");
    let choices = Choices { sync_directory: Some(directory.clone()), ..Choices::default() };
    let node = start(choices).await;
    let shop = seed(&node, "shop", &logged_in(&[("shop.test", "one")])).await;
    save(&node, "shop").await;
    says(&node, "the pipe is told", |view| {
        view.failed.as_deref().is_some_and(|why| why.contains("expected a plain file"))
    })
    .await;
    // Once it is gone the node goes on, and before and after it ends when it is asked to.
    std::fs::remove_file(&lock).unwrap();
    there_is(&file_of(&directory, shop)).await;
    // The node may make its lock anew at any moment, so the pipe takes the place of whatever is there.
    std::fs::rename(pipe("another"), &lock).unwrap();
    node.stop().await;
}
