//! The stories in which a number and a time lose edits, and those in which a plain vector does.

use super::node::{Node, deleted, log_in, saying, start};
use baton_session::revision::{Author, Decisions};
use baton_session::{Signed, State};
use jiff::SignedDuration;

/// Two nodes that share a first revision.
pub(super) fn two() -> (Node, Node, Signed) {
    let (mut a, mut b) = (Node::number(0), Node::number(1));
    let first = a.save(None, "first");
    b.pull(&a);
    (a, b, first)
}

#[test]
fn two_edits_here_do_not_outnumber_one_edit_there() {
    let (mut a, mut b, first) = two();
    let second = a.save(Some(&first), "a once");
    a.save(Some(&second), "a twice");
    b.save(Some(&first), "b");
    b.pull(&a);
    assert_eq!(b.heads(&["a twice", "b"]), ["a twice", "b"]);
    a.pull(&b);
    assert_eq!(a.folder.replica.current(), b.folder.replica.current());
}

#[test]
fn a_third_node_does_not_hide_a_conflict() {
    let (mut a, mut b, first) = two();
    let mut c = Node::number(2);
    let written = a.save(Some(&first), "a");
    b.save(Some(&first), "b");
    c.pull(&a);
    c.save(Some(&written), "c after a");
    b.pull(&c);
    a.pull(&b);
    assert_eq!(a.heads(&["a", "b", "c after a"]), ["b", "c after a"]);
}

#[test]
fn a_fast_clock_wins_the_first_place_and_nothing_else() {
    let (mut a, mut b, first) = two();
    b.skew = 300;
    let fast = b.save(Some(&first), "fast");
    a.save(Some(&first), "a");
    a.pull(&b);
    assert_eq!(a.folder.replica.current(), Some(&fast));
    assert_eq!(a.heads(&["a", "fast"]).len(), 2);
    // What is made of it is later, whatever the clock says here.
    let after = a.save(Some(&fast), "after");
    assert!(after.modified_at > fast.modified_at);
}

#[test]
fn whoever_ends_a_conflict_alike_agrees() {
    let (mut a, mut b, first) = two();
    let kept = a.save(Some(&first), "a");
    b.save(Some(&first), "b");
    a.pull(&b);
    b.pull(&a);
    for node in [&mut a, &mut b] {
        let author = node.author(start());
        node.folder.replica.resolve(kept.content(), &author);
    }
    a.pull(&b);
    let joined = a.folder.replica.current().cloned().unwrap();
    b.pull(&a);
    assert_eq!(a.heads(&["a"]), ["a"]);
    assert_eq!(b.folder.replica.current(), Some(&joined));
    assert_eq!(joined.author, None, "a join advances no counter");
    assert!(a.pull(&b).is_none() && b.pull(&a).is_none());
}

#[test]
fn a_deletion_is_kept_and_an_edit_that_had_not_seen_it_too() {
    let (mut a, mut b, first) = two();
    let author = a.author(start());
    let deletion = a.folder.replica.delete(deleted(), &author);
    let again = a.folder.replica.delete(deleted(), &author);
    assert_eq!(deletion.id(), again.id(), "what is deleted is not deleted again");
    b.pull(&a);
    assert!(b.folder.replica.current().unwrap().deleted);
    assert!(b.folder.replica.siblings().is_empty());
    // An offer from before, which was long on its way, brings nothing back.
    let mut c = Node::number(2);
    c.save(None, "c");
    c.pull(&a);
    let edit = c.save(Some(&first), "had not seen it");
    b.pull(&c);
    assert_eq!(b.folder.replica.current().unwrap().id(), edit.id());
    assert!(b.folder.replica.siblings().iter().any(|sibling| sibling.deleted));
}

/// Whoever saves after they have heard of a deletion wants to keep what they have.
#[test]
fn what_is_saved_as_it_was_after_a_deletion_lives_beside_it() {
    let (mut a, mut b, first) = two();
    let author = a.author(start());
    a.folder.replica.delete(deleted(), &author);
    b.pull(&a);
    let again = b.save(Some(&first), "first");
    assert_ne!(again.id(), first.id());
    assert_eq!(b.folder.replica.current(), Some(&again));
    assert_eq!(b.save(Some(&again), "first").id(), again.id(), "now it says nothing new");
    a.pull(&b);
    assert_eq!(a.folder.replica.current(), Some(&again));
    assert!(a.folder.replica.siblings().iter().any(|sibling| sibling.deleted));
    // Who had not heard of the deletion has nothing to choose but whether it lives.
    let mut c = Node::number(2);
    c.save(None, "first");
    c.pull(&b);
    let deleted = c.folder.replica.heads().map(|head| head.deleted);
    assert_eq!(deleted.filter(|deleted| *deleted).count(), 1);
    assert_eq!(c.folder.replica.heads().count(), 2, "what it had is what lives");
}

#[test]
fn what_says_nothing_new_is_no_edit() {
    let (mut a, _, first) = two();
    let before = a.folder.replica.clone();
    assert_eq!(a.save(Some(&first), "first").id(), first.id());
    assert_eq!(a.folder.replica, before);
}

#[test]
fn a_clock_that_was_years_ahead_is_forgiven_once_it_is_set() {
    let (mut a, mut b, first) = two();
    a.skew = 70 * 365 * 86_400;
    let ahead = a.save(Some(&first), "from the future");
    b.take(&a.folder.replica.offer()).unwrap_err();
    a.skew = 0;
    let set = a.save(Some(&ahead), "from now");
    assert_eq!(set.modified_at, start());
    b.pull(&a);
    assert_eq!(b.heads(&["from now"]), ["from now"]);
    let day = Author { now: start() + SignedDuration::from_hours(24), ..b.author(start()) };
    b.folder.replica.receive(&a.folder.replica.offer(), &day).unwrap();
}

/// A state with a login at each of these sites.
pub(super) fn state(logins: &[(u8, &str)]) -> State {
    let mut state = State::default();
    for (site, value) in logins {
        log_in(&mut state, *site, (*value).to_owned());
    }
    state
}

#[test]
fn heads_whose_origin_is_forgotten_are_not_merged() {
    let (mut a, mut b) = (Node::number(0), Node::number(1));
    let mut at = a.save(None, "first");
    b.pull(&a);
    b.save(Some(&at), "offline ever since");
    for number in 0..40 {
        at = a.save(Some(&at), &format!("a {number}"));
    }
    a.pull(&b);
    assert_eq!(a.heads(&["offline ever since", "a 39"]).len(), 2);
    // The parent of a head stays known; an origin that lies further back does not.
    assert!(a.folder.replica.merge_plan().is_none());
}

#[test]
fn what_lives_counts_before_a_deletion_whatever_they_are_called() {
    for edit in 0..16 {
        let (mut a, mut b, first) = two();
        let author = a.author(start());
        a.folder.replica.delete(deleted(), &author);
        let lives = b.save(Some(&first), &format!("edit {edit}"));
        a.pull(&b);
        let replica = &a.folder.replica;
        assert_eq!(replica.heads().count(), 2);
        assert_eq!(replica.current_after(&first), Some(&lives));
        assert_eq!(replica.current_after(&lives), Some(&lives));
    }
}

#[test]
fn a_head_of_another_origin_keeps_no_others_from_being_merged() {
    let (mut a, mut b, first) = two();
    a.save(Some(&first), "a");
    b.save(Some(&first), "b");
    b.pull(&a);
    b.skew = 60;
    b.save(None, "from a file, and the latest");
    let plan = b.folder.replica.merge_plan().unwrap();
    assert_eq!(plan.bases, [first]);
    let author = b.author(start());
    b.folder.replica.merge(&plan, saying("a and b"), &Decisions::default(), &author);
    let words = ["a and b", "from a file, and the latest"];
    assert_eq!(b.heads(&words), words);
    assert!(b.folder.replica.merge_plan().is_none());
}
