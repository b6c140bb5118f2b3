//! The stories in which what a rolled back disk wrote is merged with what it had not seen.

use super::step::Step;
use super::stories::state;
use super::world::World;
use baton_session::{RevisionId, Signed};
use jiff::SignedDuration;

/// Two nodes that share a first revision; the first of them merges.
fn two(logins: &[(u8, &str)]) -> (World, Signed) {
    let mut world = World::new(&[true, false]);
    let first = world.nodes[0].folder.base.clone().unwrap();
    let first = save(&mut world, 0, &first, logins);
    world.sync(0, 1);
    (world, first)
}

fn save(world: &mut World, at: usize, base: &Signed, logins: &[(u8, &str)]) -> Signed {
    world.time += SignedDuration::from_secs(1);
    world.save(at, Some(base), state(logins)).unwrap()
}

/// The only head of a node.
fn only(world: &World, at: usize) -> RevisionId {
    let replica = &world.nodes[at].folder.replica;
    let heads: Vec<RevisionId> = replica.heads().map(Signed::id).collect();
    assert_eq!(heads.len(), 1, "{}", world.tell(at));
    heads[0]
}

#[test]
fn a_merge_does_not_wait_until_a_copy_knows_that_it_is_one() {
    let (mut world, first) = two(&[(0, "old"), (1, "old")]);
    save(&mut world, 0, &first, &[(0, "new at a"), (1, "old")]);
    world.step(&Step::BackUp { at: 1 });
    save(&mut world, 1, &first, &[(0, "old"), (1, "lost with the disk")]);
    world.round();
    world.step(&Step::RollBack { at: 1 });
    let again = save(&mut world, 1, &first, &[(0, "old"), (1, "in its place")]);
    save(&mut world, 1, &again, &[(0, "old"), (1, "and on")]);
    // Only now each learns of the copy: the one as it offers what it wrote, the other as it merges.
    world.round();
    assert_eq!(world.nodes[1].folder.replica.heads().count(), 2);
    let merged = only(&world, 0);
    // The epoch that the copy began on the way is no reason to merge once more.
    world.round();
    assert_eq!([only(&world, 0), only(&world, 1)], [merged, merged]);
}

#[test]
fn what_was_undone_before_a_copy_wrote_does_not_come_back() {
    let (mut world, first) = two(&[(0, "old"), (1, "old")]);
    let login = save(&mut world, 1, &first, &[(0, "new"), (1, "old")]);
    world.step(&Step::BackUp { at: 1 });
    let undone = save(&mut world, 1, &login, &[(0, "old"), (1, "old")]);
    world.sync(1, 0);
    save(&mut world, 0, &undone, &[(0, "old"), (1, "new at a")]);
    // The rolled back disk still has the login, and says nothing of it.
    world.step(&Step::RollBack { at: 1 });
    save(&mut world, 1, &login, &[(0, "new"), (1, "old"), (2, "new at b")]);
    world.sync(0, 1);
    world.sync(1, 0);
    let replica = &world.nodes[0].folder.replica;
    let merged = world.state(replica.find(only(&world, 0)).unwrap());
    assert_eq!(merged, state(&[(0, "old"), (1, "new at a"), (2, "new at b")]));
    assert!(replica.siblings().is_empty());
}
