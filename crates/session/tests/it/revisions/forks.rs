//! The stories in which a plain vector loses edits: old windows, restored folders, copies of a node.

use super::node::{Node, saying, start};
use super::stories::{state, two};
use baton_session::revision::merge;
use baton_session::{Epoch, Signed};

#[test]
fn a_restored_node_writes_other_numbers_than_before() {
    let (mut a, mut b, first) = two();
    let backup = a.folder.clone();
    a.save(Some(&first), "before the disk broke");
    b.pull(&a);
    (a.folder, a.actor.epoch) = (backup, Epoch::new([9; 8]));
    a.save(Some(&first), "after the restore");
    assert!(!a.folder.replica.is_cloned(&b.folder.replica.offer(), a.actor));
    a.pull(&b);
    assert_eq!(a.heads(&["before the disk broke", "after the restore"]).len(), 2);
}

#[test]
fn an_old_window_of_the_same_node_hides_no_newer_edit() {
    let (mut a, mut b, first) = two();
    let newer = a.save(Some(&first), "newer");
    let older = a.save(Some(&first), "from the old window");
    assert_eq!(a.heads(&["newer", "from the old window"]).len(), 2);
    assert_ne!(older.author, newer.author);
    // The old window goes on, on its line.
    let next = a.save(Some(&older), "and again");
    assert_eq!((next.author, next.vector.len()), (older.author, older.vector.len()));
    b.pull(&a);
    assert_eq!(b.heads(&["newer", "from the old window", "and again"]), ["newer", "and again"]);
    let author = a.author(start());
    let resolved = a.folder.replica.resolve(saying("both"), &author);
    assert_eq!(resolved.author, Some(a.actor), "the first line goes on");
}

#[test]
fn a_file_without_a_past_hides_nothing() {
    let (mut a, _, _) = two();
    a.save(None, "from a file");
    assert_eq!(a.heads(&["first", "from a file"]).len(), 2);
    // One that says what is known here brings nothing.
    let before = a.folder.replica.clone();
    assert_eq!(a.save(None, "first").checksum, saying("first").checksum);
    assert_eq!(a.folder.replica, before);
}

#[test]
fn what_a_rolled_back_disk_wrote_is_adopted() {
    let (mut a, mut b, first) = two();
    let backup = a.folder.clone();
    a.save(Some(&first), "lost with the disk");
    b.pull(&a);
    a.folder = backup;
    let forked = a.save(Some(&first), "written in its place");
    let offer = b.folder.replica.offer();
    assert!(a.folder.replica.is_cloned(&offer, a.actor));
    let old = a.actor;
    a.actor.epoch = Epoch::new([9; 8]);
    let author = a.author(start());
    a.folder.replica.leave(old, &author);
    a.take(&offer).unwrap();
    let words = ["lost with the disk", "written in its place"];
    assert_eq!(a.heads(&words), words);
    let adopted = a.folder.replica.heads().find(|head| head.checksum == forked.checksum).unwrap();
    assert_eq!(adopted.author, Some(a.actor));
    b.pull(&a);
    assert_eq!(b.heads(&words), words);
    assert!(a.pull(&b).is_none());
}

#[test]
fn what_a_rolled_back_disk_wrote_stays_although_the_fork_is_forgotten() {
    let (mut a, mut b, first) = two();
    let backup = a.folder.clone();
    let mut at = a.save(Some(&first), "lost with the disk");
    at = a.save(Some(&at), "and this");
    b.pull(&a);
    for number in 0..40 {
        at = b.save(Some(&at), &number.to_string());
    }
    a.folder = backup;
    a.save(Some(&first), "written in its place");
    let offer = b.folder.replica.offer();
    assert!(a.folder.replica.is_cloned(&offer, a.actor));
    let old = a.actor;
    a.actor.epoch = Epoch::new([9; 8]);
    let author = a.author(start());
    a.folder.replica.leave(old, &author);
    a.take(&offer).unwrap();
    b.pull(&a);
    for node in [&a, &b] {
        assert_eq!(node.heads(&["39", "written in its place"]).len(), 2);
    }
}

#[test]
fn a_third_node_keeps_what_a_rolled_back_disk_wrote_although_the_fork_is_forgotten() {
    let (mut a, mut b, first) = two();
    let backup = a.folder.clone();
    let mut at = first.clone();
    for number in 0..40 {
        at = a.save(Some(&at), &number.to_string());
    }
    b.pull(&a);
    a.folder = backup;
    a.skew = 60;
    a.save(Some(&first), "written in its place");
    let counter = |signed: &Signed| signed.vector.get(&a.actor);
    assert!(b.folder.replica.known().all(|signed| counter(signed) != 2), "the fork is forgotten");
    // Its number says that it is seen, and its time that it cannot be.
    b.pull(&a);
    let words = ["39", "written in its place"];
    assert_eq!(b.heads(&words), words);
    let offer = b.folder.replica.offer();
    assert!(a.folder.replica.is_cloned(&offer, a.actor));
    let old = a.actor;
    a.actor.epoch = Epoch::new([9; 8]);
    let author = a.author(start());
    a.folder.replica.leave(old, &author);
    a.take(&offer).unwrap();
    b.pull(&a);
    assert_eq!(a.heads(&words), words);
    assert!(a.pull(&b).is_none() && b.pull(&a).is_none());
}

#[test]
fn a_fork_that_was_noticed_is_not_forgotten() {
    let (mut a, _, first) = two();
    let backup = a.folder.clone();
    a.save(Some(&first), "lost with the disk");
    let late = a.folder.replica.offer();
    a.folder = backup;
    let mut at = a.save(Some(&first), "written in its place");
    // As many as are remembered.
    for number in 0..32 {
        at = a.save(Some(&at), &number.to_string());
    }
    assert!(a.folder.replica.is_cloned(&late, a.actor));
    let old = a.actor;
    a.actor.epoch = Epoch::new([9; 8]);
    let author = a.author(start());
    a.folder.replica.leave(old, &author);
    a.take(&late).unwrap();
    // The user goes on from what was there before, whose vector has the forked counter.
    for number in 32..70 {
        at = a.save(Some(&at), &number.to_string());
    }
    assert_eq!(a.heads(&["lost with the disk", "69"]).len(), 2);
}

#[test]
fn what_was_long_on_its_way_brings_nothing_back() {
    let (mut a, mut b, first) = two();
    let mut at = a.save(Some(&first), "sent");
    let offer = a.folder.replica.offer();
    for number in 0..40 {
        at = a.save(Some(&at), &number.to_string());
    }
    b.pull(&a);
    assert!(b.folder.replica.find(offer.heads[0].id()).is_none(), "it is forgotten");
    assert!(b.take(&offer).unwrap().is_none());
    assert_eq!(b.heads(&["39"]), ["39"]);
}

#[test]
fn a_loser_that_is_offered_once_more_is_no_copy_of_itself() {
    let (mut a, mut b, first) = two();
    let loser = a.save(Some(&first), "loser");
    let late = a.folder.replica.offer();
    b.skew = 60;
    b.save(Some(&first), "winner");
    b.pull(&a);
    let plan = b.folder.replica.merge_plan().unwrap();
    assert_eq!(plan.loser, loser);
    let author = b.author(start());
    let [old, one, other] = ["old", "one", "other"].map(|login| state(&[(0, login)]));
    let decisions = merge(&old, &one, &other).decisions;
    let mut at = b.folder.replica.merge(&plan, saying("merged"), &decisions, &author);
    for number in 0..40 {
        at = b.save(Some(&at), &number.to_string());
    }
    assert_eq!(b.folder.replica.siblings(), [&loser]);
    assert!(b.take(&late).unwrap().is_none());
    assert_eq!(b.heads(&["39"]), ["39"]);
}

#[test]
fn a_newcomer_believes_what_was_written_long_ago() {
    let (a, mut b, first) = two();
    let mut at = first.clone();
    for number in 0..40 {
        at = b.save(Some(&at), &number.to_string());
    }
    let known = b.folder.replica.known().count();
    assert!(known < 40, "older ones are forgotten, found {known}");
    assert!(b.folder.replica.find(first.id()).is_some(), "it vouches for its node");
    let mut newcomer = Node::number(2);
    newcomer.pull(&b);
    newcomer.pull(&a);
    assert_eq!(newcomer.heads(&["39"]), ["39"]);
}

#[test]
fn a_third_node_that_sees_a_fork_trusts_neither_side() {
    let (mut a, mut b, first) = two();
    let mut c = Node::number(2);
    let mut copy = a.clone();
    let one = a.save(Some(&first), "one");
    a.save(Some(&one), "one and more");
    copy.save(Some(&first), "other");
    b.pull(&a);
    b.pull(&copy);
    assert_eq!(b.heads(&["one and more", "other"]).len(), 2);
    c.pull(&copy);
    c.pull(&a);
    c.pull(&b);
    b.pull(&c);
    assert_eq!(c.heads(&["one and more", "other"]).len(), 2);
    assert_eq!(b.folder.replica.current(), c.folder.replica.current());
    assert!(c.pull(&b).is_none());
}

#[test]
fn a_node_is_no_copy_because_somebody_says_so() {
    let (a, mut b, first) = two();
    let mut revision = (*b.save(Some(&first), "b")).clone();
    revision.author = Some(a.actor);
    let mut offer = b.folder.replica.offer();
    offer.heads = vec![Signed::new(revision, &b.secret)];
    assert!(!a.folder.replica.is_cloned(&offer, a.actor));
}
