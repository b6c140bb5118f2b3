//! `baton sync` and `baton save`: what moves, what differs, and who has to choose.

use super::fake::{FakeNode, node};
use super::fixture::{stderr, stdout};
use super::peers::{ago, list, peer, pending};
use baton_api::ErrorCode;
use baton_api::sync::{
    ConflictDetails, ConflictList, ConflictView, Difference, DifferenceList, DirectoryView,
    IndexedSession, Movement, MovementOutcome, PeerView, RevisionDifference, RevisionView,
    SavedView, SessionDifference, SyncIndex,
};
use baton_session::{NodeId, PartHash, Receipt, RevisionId, SessionId, Vector};
use serde_json::json;

/// The session of this number.
fn session(of: u8) -> SessionId {
    format!("0197c0de-0000-7000-8000-0000000000{of:02x}").parse().unwrap()
}

fn revision(version: u64, of: &str) -> RevisionId {
    format!("{version}-{:0<64}", PartHash::of(of.as_bytes())).parse().unwrap()
}

/// A session that stands so, changed five minutes ago.
fn item(of: u8, name: &str, difference: Difference) -> SessionDifference {
    SessionDifference {
        session_id: session(of),
        name: name.parse().unwrap(),
        difference,
        last_modified: ago(5),
        size: 34_567,
        deleted: false,
        here: true,
        there: true,
        in_part: false,
        taken: false,
    }
}

fn differences(peer: &PeerView, items: Vec<SessionDifference>) -> DifferenceList {
    DifferenceList { node_id: peer.node_id, name: peer.name.clone(), items }
}

/// What a movement answers that moved so many parts.
fn moved(of: u8, name: &str, node_id: NodeId, outcome: MovementOutcome, parts: u64) -> Movement {
    let is_left = outcome == MovementOutcome::Unfinished;
    let conflicts = match outcome {
        MovementOutcome::Conflict => vec![revision(3, "theirs")],
        _ => Vec::new(),
    };
    Movement {
        session_id: session(of),
        name: name.parse().unwrap(),
        node_id,
        outcome,
        rev: (!is_left).then(|| revision(3, "ours")),
        conflicts,
        parts,
        bytes: parts * 1024,
        left: if is_left { 4 } else { 0 },
    }
}

fn pull(peer: &PeerView, of: u8) -> String {
    format!("POST /sync/pull/{}/{}", peer.node_id, session(of))
}

fn push(peer: &PeerView, of: u8) -> String {
    format!("POST /sync/push/{}/{}", peer.node_id, session(of))
}

fn asks(peer: &PeerView) -> String {
    format!("GET /sync/differences/{}", peer.node_id)
}

/// A node with the peer berlin, at which one session is newer, one older, and one was changed too.
async fn with_berlin() -> (FakeNode, PeerView) {
    let berlin = peer(2, "berlin");
    let items = vec![
        item(1, "shop", Difference::Behind),
        item(2, "mail", Difference::Ahead),
        item(3, "bank", Difference::Diverged),
        item(4, "news", Difference::Same),
    ];
    let answer = |of, name, outcome, parts| moved(of, name, berlin.node_id, outcome, parts);
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin.clone()]))
        .with(&asks(&berlin), &differences(&berlin, items))
        .with(&pull(&berlin, 1), &answer(1, "shop", MovementOutcome::Moved, 12))
        .with(&push(&berlin, 2), &answer(2, "mail", MovementOutcome::Moved, 3))
        .with(&pull(&berlin, 3), &answer(3, "bank", MovementOutcome::Conflict, 2))
        .with(&push(&berlin, 3), &answer(3, "bank", MovementOutcome::Conflict, 1));
    (node, berlin)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_lacks_something_gets_it_and_a_conflict_ends_with_4() {
    let (node, berlin) = with_berlin().await;
    let run = node.folder.run(&["sync", "run"]).code(4);
    let expected = ["GET /sync/peers".to_owned(), asks(&berlin)];
    let moved = [pull(&berlin, 1), push(&berlin, 2), pull(&berlin, 3), push(&berlin, 3)];
    assert_eq!(node.heard(), [&expected[..], &moved].concat());
    insta::assert_snapshot!(stdout(&run, &node.folder.data()), @r#"
    SESSION  PEER    WAY   WHAT CAME OF IT     PARTS  BYTES
    shop     berlin  pull  moved               12     12.00 KiB
    mail     berlin  push  moved               3      3.00 KiB
    bank     berlin  pull  moved, in conflict  2      2.00 KiB
    bank     berlin  push  moved, in conflict  1      1.00 KiB
    1 session in conflict; baton sync conflicts shows what to choose from
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_direction_that_was_asked_for_moves() {
    for (direction, expected) in [("pull", [1, 3]), ("push", [2, 3])] {
        let (node, berlin) = with_berlin().await;
        let args = ["--json", "sync", "run", "berlin", "--direction", direction];
        let named = "GET /sync/differences/berlin";
        let answer = differences(
            &berlin,
            vec![
                item(1, "shop", Difference::Behind),
                item(2, "mail", Difference::Ahead),
                item(3, "bank", Difference::Diverged),
            ],
        );
        let node = node.with(named, &answer);
        node.folder.run(&args).code(4);
        let way = if direction == "pull" { pull } else { push };
        let moved = expected.map(|of| way(&berlin, of));
        assert_eq!(node.heard(), [&[named.to_owned()][..], &moved].concat());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_does_not_answer_does_not_keep_the_others_from_theirs() {
    let (athens, paris) = (peer(5, "athens"), pending(3, "paris"));
    let asks_us = PeerView { url: None, ..peer(6, "phone") };
    let berlin = peer(2, "berlin");
    let answer = differences(&berlin, vec![item(2, "mail", Difference::Ahead)]);
    let mail = moved(2, "mail", berlin.node_id, MovementOutcome::Moved, 3);
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![athens.clone(), berlin.clone(), paris, asks_us]))
        .refusing(
            &asks(&athens),
            ErrorCode::PeerUnreachable,
            "expected athens to answer, found nobody",
        )
        .with(&asks(&berlin), &answer)
        .with(&push(&berlin, 2), &mail);
    let run = node.folder.run(&["sync", "run"]).code(1);
    let told = [stderr(&run, &node.folder.data()), stdout(&run, &node.folder.data())].concat();
    insta::assert_snapshot!(told, @r#"
    paris is pending, and left out: baton peers confirm paris
    phone has no address, and is left out: it asks this node
    SESSION  PEER    WAY   WHAT CAME OF IT  PARTS  BYTES
    mail     berlin  push  moved            3      3.00 KiB
    athens: expected athens to answer, found nobody
    "#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_has_nobody_to_compare_with_is_not_told_that_all_is_in_sync() {
    let peers = list(vec![pending(3, "paris")]);
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &peers)
        .with("GET /sync/index", &index(Vec::new()))
        .with("GET /sync/conflicts", &ConflictList { items: Vec::new() })
        .with("GET /sync/directory", &DirectoryView::default());
    for verb in ["run", "status"] {
        let run = node.folder.run(&["sync", verb]).success();
        let told = [stderr(&run, &node.folder.data()), stdout(&run, &node.folder.data())].concat();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r"
            paris is pending, and left out: baton peers confirm paris
            no confirmed peers; baton peers add URL --name NAME registers one
            ");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_asks_this_node_is_not_told_as_none() {
    let peers = list(vec![PeerView { url: None, ..peer(3, "paris") }]);
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &peers)
        .with("GET /sync/index", &index(Vec::new()))
        .with("GET /sync/conflicts", &ConflictList { items: Vec::new() })
        .with("GET /sync/directory", &DirectoryView::default());
    for verb in ["run", "status"] {
        let run = node.folder.run(&["sync", verb]).success();
        let told = [stderr(&run, &node.folder.data()), stdout(&run, &node.folder.data())].concat();
        insta::allow_duplicates! {
            insta::assert_snapshot!(told, @r"
            paris has no address, and is left out: it asks this node
            nobody to ask from here: paris asks this node, and sessions move when baton sync run runs there
            ");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_was_named_has_to_answer() {
    let detail = "no peer \"oslo\"";
    let node = FakeNode::start().await.refusing(
        "GET /sync/differences/oslo",
        ErrorCode::PeerNotFound,
        detail,
    );
    for verb in ["run", "status"] {
        let run = node.folder.run(&["sync", verb, "oslo"]).code(3);
        assert_eq!(stderr(&run, &node.folder.data()), format!("error: {detail}\n"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_long_goes_on_where_it_stopped() {
    let berlin = peer(2, "berlin");
    let answer = |outcome, parts| moved(1, "shop", berlin.node_id, outcome, parts);
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin.clone()]))
        .with(&asks(&berlin), &differences(&berlin, vec![item(1, "shop", Difference::Behind)]))
        .with(&pull(&berlin, 1), &answer(MovementOutcome::Unfinished, 5))
        .with(&pull(&berlin, 1), &answer(MovementOutcome::Unfinished, 3))
        .with(&pull(&berlin, 1), &answer(MovementOutcome::Moved, 4))
        .with(&pull(&berlin, 1), &answer(MovementOutcome::Unfinished, 0));
    let (code, document) = node.folder.json(&["sync", "run"]);
    assert_eq!((code, document["items"][0]["parts"].as_u64()), (0, Some(12)));
    assert_eq!(document["items"][0]["bytes"].as_u64(), Some(12 * 1024));
    // When not a single part moves in time, asking again would be no use.
    let (code, mut document) = node.folder.json(&["sync", "run"]);
    assert_eq!(code, 1);
    assert_eq!(
        document["failed"][0].take(),
        json!({
            "peer": "berlin", "sessionId": session(1), "name": "shop", "way": "pull",
            "reason": "expected a part to move in time, found none",
        })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_did_not_come_is_not_joined_with_what_goes() {
    let berlin = peer(2, "berlin");
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin.clone()]))
        .with(&asks(&berlin), &differences(&berlin, vec![item(3, "bank", Difference::Diverged)]))
        .refusing(
            &pull(&berlin, 3),
            ErrorCode::PeerUnreachable,
            "expected berlin to answer, found nobody",
        );
    let run = node.folder.run(&["sync", "run"]).code(1);
    assert_eq!(
        stdout(&run, &node.folder.data()),
        "pull bank, berlin: expected berlin to answer, found nobody\n"
    );
    assert!(!node.heard().contains(&push(&berlin, 3)));
}

/// What this node has of a session, changed five minutes ago.
fn indexed(of: u8, name: &str, version: u64) -> IndexedSession {
    IndexedSession {
        id: session(of),
        name: name.parse().unwrap(),
        version,
        checksum: PartHash::of(b"ours"),
        last_modified: ago(5),
        origin_node_id: node(),
        size: 34_567,
        rev: revision(version, "ours"),
        conflicts: Vec::new(),
        vector: Vector::default(),
        within: Vec::new(),
        peer_lease: None,
        deleted: false,
    }
}

fn index(sessions: Vec<IndexedSession>) -> SyncIndex {
    SyncIndex { node_id: node(), last_updated: None, sessions }
}

/// A node with six sessions and the peers berlin and copenhagen, at which they stand in all ways.
async fn with_two_peers() -> FakeNode {
    let (berlin, copenhagen) = (peer(2, "berlin"), peer(4, "copenhagen"));
    let only_there = SessionDifference { here: false, ..item(5, "forum", Difference::Behind) };
    let deleted_here =
        SessionDifference { deleted: true, here: false, ..item(6, "old", Difference::Ahead) };
    let at_berlin = vec![
        item(1, "shop", Difference::Behind),
        item(2, "mail", Difference::Ahead),
        item(3, "bank", Difference::Diverged),
        only_there,
        deleted_here,
        item(4, "news", Difference::Same),
    ];
    let missing = SessionDifference { there: false, ..item(2, "mail", Difference::Ahead) };
    let buried =
        SessionDifference { deleted: true, there: false, ..item(4, "news", Difference::Behind) };
    let at_copenhagen = vec![missing, buried, item(1, "shop", Difference::Same)];
    let gone = IndexedSession { deleted: true, ..indexed(6, "old", 4) };
    let forgotten = IndexedSession { deleted: true, ..indexed(7, "nowhere", 4) };
    let mut here = vec![indexed(1, "shop", 3), indexed(2, "mail", 12), indexed(3, "bank", 3)];
    here.extend([indexed(4, "news", 1), gone, forgotten]);
    FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin.clone(), copenhagen.clone()]))
        .with(&asks(&berlin), &differences(&berlin, at_berlin))
        .with(&asks(&copenhagen), &differences(&copenhagen, at_copenhagen))
        .with("GET /sync/index", &index(here))
        .with("GET /sync/conflicts", &ConflictList { items: vec![conflict(&berlin)] })
        .with("GET /sync/directory", &in_step())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_tells_what_is_where_and_what_waits_and_moves_nothing() {
    let node = with_two_peers().await;
    let run = node.folder.run(&["sync", "status"]).success();
    let told = stdout(&run, &node.folder.data());
    let mut lines = told.lines().filter(|line| !line.contains("left aside"));
    assert!(lines.all(|line| line.chars().count() <= 100), "{told}");
    insta::assert_snapshot!(told, @"
    SESSION  HERE               AT PEERS                   WHAT WAITS
    bank     rev 3, 5 min ago   berlin changed too         in conflict, 1 to pull, 1
                                                           to push
    forum    not here           berlin has it              1 to pull
    mail     rev 12, 5 min ago  berlin older, copenhagen   2 to push
                                missing
    news     rev 1, 5 min ago   berlin same, copenhagen    1 to pull
                                deleted
    old      deleted 5 min ago  berlin still has it        1 to push
    shop     rev 3, 5 min ago   berlin newer, copenhagen   1 to pull
                                same
    bank is in conflict; baton sync conflicts bank shows what differs
      baton sync resolve bank --keep 3-ae0bec9e  (this node, 5 min ago, counts now)
      baton sync resolve bank --keep 3-4c55a855  (berlin, 7 min ago)
      baton sync resolve bank --keep 2-283bb9de  (00000009-0000-8000-…, 1 h ago, deletes it)
    /mnt/shared: 2 sessions in step
      left aside: 3.json: expected a file of a confirmed peer, found one of node 1
        baton peers add helps
    4 to pull, 4 to push: baton sync run; 1 in conflict: baton sync conflicts
    ");
    assert!(node.heard().iter().all(|heard| heard.starts_with("GET ")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_is_told_the_same_beside_what_it_was_told_before() {
    let node = with_two_peers().await;
    let (code, document) = node.folder.json(&["sync", "status"]);
    assert_eq!(code, 0);
    assert_eq!(document["waits"], json!({"toPull": 4, "toPush": 4, "inConflict": 1}));
    assert_eq!(document["peers"][0]["items"].as_array().unwrap().len(), 5);
    assert_eq!(document["conflicts"][0]["siblings"].as_array().unwrap().len(), 2);
    let sessions = document["sessions"].as_array().unwrap();
    let mail = sessions.iter().find(|row| row["name"] == "mail").unwrap();
    assert_eq!(mail["here"]["version"], 12);
    let expected = json!([
        {"peer": "berlin", "stands": "older"}, {"peer": "copenhagen", "stands": "missing"},
    ]);
    assert_eq!(mail["peers"], expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_says_that_all_is_in_sync_only_when_everybody_answered() {
    let (athens, berlin) = (peer(5, "athens"), peer(2, "berlin"));
    let part = SessionDifference { in_part: true, ..item(4, "news", Difference::Same) };
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![athens.clone(), berlin.clone()]))
        .with(&asks(&berlin), &differences(&berlin, vec![item(4, "news", Difference::Same)]))
        .refusing(
            &asks(&athens),
            ErrorCode::PeerUnreachable,
            "expected athens to answer, found nobody",
        )
        .with(&asks(&athens), &differences(&athens, vec![part]))
        .with("GET /sync/index", &index(vec![indexed(4, "news", 1)]))
        .with("GET /sync/conflicts", &ConflictList { items: Vec::new() })
        .with("GET /sync/directory", &DirectoryView::default());
    let silent = node.folder.run(&["sync", "status"]).code(1);
    let all = node.folder.run(&["sync", "status"]).success();
    let told = [silent, all].map(|run| stdout(&run, &node.folder.data()));
    insta::assert_snapshot!(told.concat(), @"
    SESSION  HERE              AT PEERS
    news     rev 1, 5 min ago  berlin same
    athens: expected athens to answer, found nobody
    1 peer did not answer
    SESSION  HERE              AT PEERS
    news     rev 1, 5 min ago  athens has its part, berlin same
    in sync
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_says_that_a_peer_took_over_what_ran_here() {
    let berlin = peer(2, "berlin");
    let taken = SessionDifference { taken: true, ..item(4, "news", Difference::Same) };
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin.clone()]))
        .with(&asks(&berlin), &differences(&berlin, vec![taken]))
        .with("GET /sync/index", &index(vec![indexed(4, "news", 1)]))
        .with("GET /sync/conflicts", &ConflictList { items: Vec::new() })
        .with("GET /sync/directory", &DirectoryView::default());
    let told = stdout(&node.folder.run(&["sync", "status"]).success(), &node.folder.data());
    insta::assert_snapshot!(told, @"
    SESSION  HERE              AT PEERS
    news     rev 1, 5 min ago  berlin took it over
    1 taken over by a peer: saved and closed here
    ");
}

/// A sync directory in which somebody put a file of a stranger.
fn in_step() -> serde_json::Value {
    let reason = "expected a file of a confirmed peer, found one of node 1\nbaton peers add helps";
    json!({
        "path": "/mnt/shared", "sessions": 2,
        "refused": [{"file": "3.json", "reason": reason, "since": "2026-01-01T00:00:00Z"}],
    })
}

/// A session that was changed here and at berlin.
fn conflict(berlin: &PeerView) -> ConflictView {
    let revision = |version, of: &str, node_id, minutes, deleted| RevisionView {
        rev: revision(version, of),
        node_id,
        last_modified: ago(minutes),
        checksum: PartHash::of(of.as_bytes()),
        size: 34_567,
        deleted,
    };
    ConflictView {
        session_id: session(3),
        name: "bank".parse().unwrap(),
        current: revision(3, "ours", node(), 5, false),
        siblings: vec![
            revision(3, "theirs", berlin.node_id, 7, false),
            revision(2, "gone", peer(9, "oslo").node_id, 60, true),
        ],
    }
}

/// How the siblings of the conflict differ from what counts.
fn details(conflict: &ConflictView) -> ConflictDetails {
    let site =
        |site: Option<&str>, kind: &str, [added, removed, changed]: [usize; 3], names: &[&str]| {
            json!({
                "site": site, "kind": kind, "added": added, "removed": removed, "changed": changed,
                "names": names,
            })
        };
    let many = ["a", "b", "c", "d", "e", "f", "g"];
    let sites = json!([
        site(None, "environment", [0, 0, 1], &["locale"]),
        site(Some("bank.test"), "cookie", [0, 1, 1], &["csrf", "sid"]),
        site(Some("bank.test"), "local_storage", [7, 0, 0], &many),
    ]);
    let [theirs, gone] = [&conflict.siblings[0], &conflict.siblings[1]].map(|one| one.rev);
    ConflictDetails {
        conflict: conflict.clone(),
        differences: vec![
            RevisionDifference {
                rev: theirs,
                sites: serde_json::from_value(sites).unwrap(),
                unreadable: None,
            },
            RevisionDifference { rev: gone, sites: Vec::new(), unreadable: None },
        ],
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_sees_what_there_is_to_choose_from_and_chooses() {
    let berlin = peer(2, "berlin");
    let before = conflict(&berlin);
    let after = ConflictView { siblings: Vec::new(), ..before.clone() };
    let by_id = format!("GET /sync/conflicts/{}", session(3));
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin]))
        .with(&by_id, &details(&before))
        .with("GET /sync/conflicts", &ConflictList { items: vec![before] })
        .with("GET /sync/conflicts", &ConflictList { items: Vec::new() })
        .with("POST /sync/conflicts/bank", &after);
    let shown = node.folder.run(&["sync", "conflicts"]).success();
    let chosen = node.folder.run(&["sync", "resolve", "bank", "--keep", "3-93"]).success();
    let ended = node.folder.run(&["sync", "conflicts"]).success();
    let told = [shown, chosen, ended].map(|run| stdout(&run, &node.folder.data()));
    insta::assert_snapshot!(told.concat(), @"
    SESSION  REVISION    WRITTEN BY            WHEN       SIZE        STANDS
    bank     3-ae0bec9e  this node             5 min ago  33.76 KiB   counts
    bank     3-4c55a855  berlin                7 min ago  33.76 KiB   kept beside it
    bank     2-283bb9de  00000009-0000-8000-8  1 h ago    deletes it  kept beside it
                         000-00000000000f

    keep 3-ae0bec9e of bank, by this node, leaves what counts now
      baton sync resolve bank --keep 3-ae0bec9e

    keep 3-4c55a855 of bank, by berlin, changes this:
    SITE       KIND           WHAT CHANGES          NAMES
    -          environment    1 changed             locale
    bank.test  cookie         1 removed, 1 changed  csrf, sid
    bank.test  local storage  7 added               a, b, c, d, e, …
      baton sync resolve bank --keep 3-4c55a855

    keep 2-283bb9de of bank, by 00000009-0000-8000-8000-00000000000f, deletes the session
      baton sync resolve bank --keep 2-283bb9de
    revision 3-ae0bec9e of bank counts from now on; baton sync run tells the peers
    no conflicts
    ");
    assert!(node.heard().contains(&r#"POST /sync/conflicts/bank {"keep":"3-93"}"#.to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_conflict_is_shown_by_its_name_and_what_cannot_be_read_is_said() {
    let before = conflict(&peer(2, "berlin"));
    let mut torn = details(&before);
    torn.differences[0].sites.clear();
    torn.differences[0].unreadable = Some("expected its content, found none\nhint".to_owned());
    let after = ConflictView { siblings: Vec::new(), ..before };
    let chosen = ConflictDetails { conflict: after, differences: Vec::new() };
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(Vec::new()))
        .with("GET /sync/conflicts/bank", &torn)
        .with("GET /sync/conflicts/bank", &torn)
        .with("GET /sync/conflicts/bank", &chosen);
    let told =
        stdout(&node.folder.run(&["sync", "conflicts", "bank"]).success(), &node.folder.data());
    assert!(told.contains(", cannot be compared: expected its content, found none\n"), "{told}");
    let (code, document) = node.folder.json(&["sync", "conflicts", "bank"]);
    assert_eq!((code, &document["items"][0]["name"]), (0, &json!("bank")));
    assert!(document["items"][0]["differences"][0]["unreadable"].is_string());
    let ended = node.folder.run(&["sync", "conflicts", "bank"]).success();
    assert_eq!(stdout(&ended, &node.folder.data()), "no conflicts\n");
}

/// A session that was saved.
fn saved() -> SavedView {
    SavedView {
        id: session(1),
        name: "shop".parse().unwrap(),
        rev: revision(3, "ours"),
        version: 3,
        checksum: PartHash::of(b"ours"),
        snapshot: "0197c0de-0000-7000-8000-0000000000aa".parse().unwrap(),
        unchanged: false,
        conflicts: Vec::new(),
        pushed: Vec::new(),
        failed: Vec::new(),
        left_out: Receipt::default(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_is_saved_and_goes_to_peers_when_asked() {
    let berlin = peer(2, "berlin");
    let everywhere = SavedView {
        pushed: vec![moved(1, "shop", berlin.node_id, MovementOutcome::Moved, 12)],
        failed: serde_json::from_value(json!([{"peer": "athens", "reason": "no answer\nhint"}]))
            .unwrap(),
        ..saved()
    };
    let node = FakeNode::start()
        .await
        .with("GET /sync/peers", &list(vec![berlin]))
        .with("POST /sessions/shop/save", &saved())
        .with("POST /sessions/shop/save", &SavedView { unchanged: true, ..saved() })
        .with("POST /sessions/shop/save", &everywhere)
        .with(
            "POST /sessions/shop/save",
            &SavedView { conflicts: vec![revision(3, "theirs")], ..saved() },
        );
    let text = ["--name", "shop", "--description", "after the audit", "--sync-to-peers"];
    let runs = [
        node.folder.run(&["save", "shop"]).success(),
        node.folder.run(&["save", "shop"]).success(),
        node.folder.run(&[&["save", "shop"], &text[..]].concat()).code(1),
        node.folder.run(&["save", "shop"]).code(4),
    ];
    let told = runs.map(|run| stdout(&run, &node.folder.data()));
    insta::assert_snapshot!(told.concat(), @r#"
    saved shop: revision 3-ae0bec9e, kept for good
    shop was saved as it is already: revision 3-ae0bec9e
    saved shop: revision 3-ae0bec9e, kept for good
    berlin: moved, 12 parts, 12.00 KiB
    athens: no answer
    saved shop: revision 3-ae0bec9e, kept for good
    somebody has to choose; baton sync conflicts shows from what
    "#);
    let heard = node.heard();
    assert_eq!(heard[0], "POST /sessions/shop/save {}");
    let body = r#"{"name":"shop","description":"after the audit","syncToPeers":true}"#;
    assert_eq!(heard[2], format!("POST /sessions/shop/save {body}"));
}
