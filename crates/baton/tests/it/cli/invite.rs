//! `baton peers invite` and `join`: what a person reads, and what is refused before a node is asked.

use super::fake::FakeNode;
use super::fixture::{stderr, stdout};
use super::peers::peer;
use baton_api::ErrorCode;
use baton_api::sync::{CreatedInvitation, InvitationList, InvitationView};
use jiff::{Timestamp, ToSpan};
use serde_json::json;

/// An invitation that was made just now; half a minute more than ten, so that it ends in ten.
fn created() -> CreatedInvitation {
    CreatedInvitation {
        id: "inv_0123456789abcdef".to_owned(),
        code: "BATON-AEAQCAIB".to_owned(),
        expires_at: Timestamp::now() + 10.minutes().seconds(30),
        addresses: ["https://192.168.1.20:7421", "https://100.64.0.7:7421"]
            .map(|url| url.parse().unwrap())
            .into(),
        pinned: true,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_typed_on_the_other_machine_is_all_that_a_pipe_gets() {
    let node = FakeNode::start().await.with("POST /sync/invitations", &created());
    let run = node.folder.run(&["peers", "invite", "--listen", "0.0.0.0:7421"]).success();
    let data = node.folder.data();
    assert_eq!(stdout(&run, &data), "baton peers join BATON-AEAQCAIB\n");
    insta::assert_snapshot!(stderr(&run, &data), @"it counts once and ends in 10 min; the other machine asks this one at https://192.168.1.20:7421 or https://100.64.0.7:7421");
    let sent = json!({ "listen": "0.0.0.0:7421" }).to_string();
    assert_eq!(node.heard(), [format!("POST /sync/invitations {sent}")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invitation_in_a_file_is_not_on_the_screen() {
    let node = FakeNode::start().await.with("POST /sync/invitations", &created());
    let data = node.folder.data();
    let card = data.with_file_name("server.invitation");
    let run = node.folder.run(&["peers", "invite", "--card", card.to_str().unwrap()]).success();
    let said = stdout(&run, &data).replace(card.to_str().unwrap(), "CARD");
    insta::assert_snapshot!(said, @"wrote CARD; take it to the other machine, and run there: baton peers join --card server.invitation");
    assert_eq!(std::fs::read_to_string(&card).unwrap(), "BATON-AEAQCAIB\n");
    let node = node.with("POST /sync/join", &peer(2, "paris"));
    let run = node.folder.run(&["peers", "join", "--card", card.to_str().unwrap()]).success();
    insta::assert_snapshot!(stdout(&run, &data), @r"
    joined paris at https://paris.example.org: each is a confirmed peer of the other
    baton save makes a session one that moves, and baton sync run moves them
    ");
    assert!(node.heard().concat().contains("BATON-AEAQCAIB"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_invitation_that_cannot_be_written_down_is_not_made() {
    let cancel = format!("DELETE /sync/invitations/{}", created().id);
    let node = FakeNode::start()
        .await
        .with("POST /sync/invitations", &created())
        .with(&cancel, &json!(null))
        .refusing(&cancel, ErrorCode::Forbidden, "it may not");
    let data = node.folder.data();
    let invite = |card: &std::path::Path| {
        let run = node.folder.run(&["peers", "invite", "--card", card.to_str().unwrap()]).failure();
        stderr(&run, &data).replace(card.to_str().unwrap(), "CARD")
    };
    let folder = data.with_file_name("cards");
    std::fs::create_dir(&folder).unwrap();
    insta::assert_snapshot!(invite(&folder), @"error: expected a file for the invitation, found the folder CARD");
    insta::assert_snapshot!(invite(&folder.join("missing/card")), @r"
    error: could not write the invitation to CARD: entity not found
      there is no invitation; name a file in a folder that is there and yours
    ");
    assert_eq!(node.heard(), [""; 0]);
    // What shows only when it is written: it is taken back, with the listener that was opened for it alone.
    let long = folder.join("x".repeat(300));
    insta::assert_snapshot!(invite(&long), @r"
    error: could not write the invitation to CARD: invalid filename
      there is no invitation; name a file in a folder that is there and yours
    ");
    let asked = ["POST /sync/invitations {}", cancel.as_str()];
    assert_eq!(node.heard(), asked);
    // Why nothing was written is said in any case.
    let said = invite(&long);
    assert!(said.contains("not all of it could be taken back: "), "{said}");
    assert!(said.contains("could not write the invitation to CARD"), "{said}");
    assert_eq!(node.heard(), asked);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_open_is_listed_and_taken_back() {
    let created = created();
    let one = InvitationView {
        id: created.id.clone(),
        created_at: Timestamp::now() - 5.minutes(),
        expires_at: created.expires_at,
    };
    let list = |items| InvitationList { listens: Some("0.0.0.0:7421".parse().unwrap()), items };
    let cancel = format!("DELETE /sync/invitations/{}", created.id);
    let node = FakeNode::start()
        .await
        .with("GET /sync/invitations", &list(vec![one]))
        .with("GET /sync/invitations", &InvitationList { listens: None, items: Vec::new() })
        .with(&cancel, &json!(null));
    let data = node.folder.data();
    let listed = || stdout(&node.folder.run(&["peers", "invite", "--list"]).success(), &data);
    insta::assert_snapshot!(listed(), @r"
    this node listens for peers at 0.0.0.0:7421
    INVITATION            MADE       ENDS
    inv_0123456789abcdef  5 min ago  in 10 min
    ");
    let run = node.folder.run(&["peers", "invite", "--cancel", &created.id]).success();
    assert_eq!(stdout(&run, &data), "cancelled inv_0123456789abcdef\n");
    insta::assert_snapshot!(listed(), @r"
    this node does not listen for peers besides its own address
    no open invitations; baton peers invite makes one
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_asked_where_there_is_no_terminal() {
    let why = "expected this node to listen where other machines reach it";
    let node = FakeNode::start().await;
    let node = node.refusing("POST /sync/invitations", ErrorCode::NotReachable, why);
    let data = node.folder.data();
    let run = node.folder.run(&["peers", "invite"]).code(4);
    assert!(stderr(&run, &data).contains(why));
    assert_eq!(node.heard().len(), 1, "and no listener is opened");
    let run = node.folder.run(&["peers", "join"]).code(2);
    insta::assert_snapshot!(stderr(&run, &data), @r"
    error: expected an invitation, BATON-…, found none and no terminal
      give what baton peers invite printed on the other machine, or the file that it wrote as --card
    ");
    let run = node.folder.run(&["peers", "join", "--card", "/nowhere/card"]).code(3);
    insta::assert_snapshot!(stderr(&run, &data), @"error: expected a file at /nowhere/card, found none");
    assert_eq!(node.heard(), [""; 0]);
}
