//! Several requests at once: one wins, the others hear why not, and nothing is left over.

use crate::notes::{Notes, state_of};
use crate::test_nodes::test_node;
use baton_api::{ClientError, ErrorCode, ListSessions};
use baton_playground::victims;
use baton_session::Lifecycle;

fn code<T>(answer: &Result<T, ClientError>) -> Option<ErrorCode> {
    answer.as_ref().err().and_then(ClientError::code)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_of_two_wins() {
    let notes = Notes::start().await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();

    let request = notes.request("crowd");
    let (one, two) = tokio::join!(client.open_session(&request), client.open_session(&request));
    let mut codes = [code(&one), code(&two)];
    codes.sort_by_key(Option::is_some);
    assert_eq!(codes, [None, Some(ErrorCode::NameTaken)]);
    let id = one.or(two).unwrap().session.id;
    notes.write(&test_node, id, "kept").await;

    let (closed, captured) =
        tokio::join!(client.close_session("crowd"), client.capture_session("crowd"));
    closed.unwrap();
    assert!(matches!(code(&captured), None | Some(ErrorCode::WrongState)), "{captured:?}");

    let (one, two) = tokio::join!(client.resume_session("crowd"), client.resume_session("crowd"));
    let mut codes = [code(&one), code(&two)];
    codes.sort_by_key(Option::is_some);
    assert_eq!(codes, [None, Some(ErrorCode::WrongState)]);
    assert_eq!(notes.read(&test_node, id).await, "kept");
    let holders = test_node.holders(id).await.unwrap();
    client.close_session("crowd").await.unwrap();

    let (resumed, deleted) =
        tokio::join!(client.resume_session("crowd"), client.delete_session("crowd"));
    match (code(&resumed), code(&deleted)) {
        (None, Some(ErrorCode::WrongState)) => {
            client.abandon_session("crowd").await.unwrap();
            client.delete_session("crowd").await.unwrap();
        }
        (Some(ErrorCode::SessionNotFound), None) => {}
        other => panic!("{other:?}"),
    }
    victims::are_gone(&holders).await.unwrap();
    assert!(!test_node.data().session(id).exists());
    let list = client.list_sessions(&ListSessions::default()).await.unwrap();
    assert!(list.items.is_empty(), "{list:?}");
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_that_dies_during_a_close_is_closed_all_the_same() {
    let notes = Notes::start().await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    for round in 0..6 {
        let name = format!("dies-{round}");
        let id = notes.open(&test_node, &name, "kept").await;
        let browser = test_node.holders(id).await.unwrap()[1];
        let closer = client.clone();
        let called = name.clone();
        let closing = tokio::spawn(async move { closer.close_session(&called).await });
        // Before, during and after the last capture.
        tokio::time::sleep(std::time::Duration::from_millis(round * 25)).await;
        // It may have ended by itself already.
        let _ = victims::kill_all(&[browser]).await;
        closing.await.unwrap().unwrap();
        assert_eq!(state_of(&test_node, &name).await, Lifecycle::Closed, "{name}");
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_session_whose_name_was_taken_is_not_disturbed_by_a_resume() {
    let notes = Notes::start().await;
    let test_node = test_node().await;
    let client = test_node.client().unwrap().clone();
    let first = notes.open(&test_node, "shared", "first").await;
    client.close_session("shared").await.unwrap();
    let second = notes.open(&test_node, "shared", "second").await;
    let refused = client.resume_session(&first.to_string()).await;
    assert_eq!(code(&refused), Some(ErrorCode::NameTaken), "{refused:?}");
    let started = std::fs::read_to_string(test_node.data().keeper_log(first)).unwrap_or_default();
    assert!(!test_node.data().socket(first).exists(), "{started}");
    client.close_session(&second.to_string()).await.unwrap();
    client.resume_session(&first.to_string()).await.unwrap();
    assert_eq!(notes.read(&test_node, first).await, "first");
    test_node.clear().await.unwrap();
}
