//! Sync files that were changed, and those that are something else: nothing of them counts, and nothing
//! panics.

use super::SyncFile;
use baton_session::wire::Head;
use baton_session::{NodeSecret, SessionId};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

fn signed() -> (SyncFile, NodeSecret) {
    let secret = NodeSecret::from_seed(&[7; 32]);
    let session = SessionId::new(Timestamp::UNIX_EPOCH, [1; 10]);
    let head = Head { id: session.to_string(), name: "shop".to_owned(), ..Head::default() };
    let recipients = vec![secret.key().node_id()];
    (SyncFile::sign((head, Map::new()), session, &secret, recipients, vec![1; 300]), secret)
}

/// The file as it is read after a change, and whether its writer vouches for it.
fn vouched(change: impl Fn(&mut Value)) -> Option<bool> {
    let (file, secret) = signed();
    let mut document: Value = serde_json::from_slice(&file.write()).unwrap();
    change(&mut document);
    let read = SyncFile::read(&serde_json::to_vec(&document).unwrap()).ok()?;
    Some(read.verify(&secret.key()).is_ok())
}

#[test]
fn what_was_written_is_vouched_for_and_nothing_else() {
    assert_eq!(vouched(|_| ()), Some(true));
    assert_eq!(vouched(|document| document["name"] = json!("other")), Some(false));
    assert_eq!(vouched(|document| document["unknown"] = json!(1)), Some(false));
    assert_eq!(vouched(|document| document["sync"]["version"] = json!(9)), Some(false));
    assert_eq!(vouched(|document| document["sealed"]["contents"] = json!("AAAA")), Some(false));
    assert_eq!(vouched(|document| document["sealed"]["recipients"] = json!([])), Some(false));
}

#[test]
fn what_is_no_sync_file_is_refused_and_never_panics() {
    let list = |document: &mut Value| {
        let sealed = document["sealed"].take();
        let members = ["layout", "sender", "recipients", "contents"];
        document["sealed"] = members.iter().map(|name| sealed[name].clone()).collect();
    };
    assert_ne!(vouched(list), Some(true));
    assert_eq!(vouched(|document| document["id"] = json!("../../etc/passwd")), None);
    assert_eq!(vouched(|document| document["sealed"]["layout"] = json!("v2")), None);
    assert_eq!(vouched(|document| document["sealed"]["contents"] = json!("%%")), None);
    for text in ["", "null", "[]", "{}", "{\"sealed\": 1}", "\u{0}"] {
        assert!(SyncFile::read(text.as_bytes()).is_err(), "{text:?}");
    }
    let whole = signed().0.write();
    for end in (0..whole.len()).step_by(97) {
        assert!(SyncFile::read(&whole[..end]).is_err(), "cut at {end}");
    }
}
