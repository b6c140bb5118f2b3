//! Vectors are a lattice: how they are put together does not depend on the order.

use super::node::Node;
use baton_session::revision::Order;
use baton_session::{Actor, Epoch, Vector};
use baton_testing::cases;
use proptest::collection::btree_map;
use proptest::prelude::*;

fn vector() -> impl Strategy<Value = Vector> {
    btree_map(0..4u8, 1..4u64, 0..4).prop_map(|counters| {
        let node = Node::number(0).actor.node;
        let actor = |number| Actor::new(node, Epoch::new([number; 8]));
        let counters = counters.into_iter().map(|(number, counter)| (actor(number), counter));
        Vector::try_from(counters.collect::<std::collections::BTreeMap<_, _>>()).unwrap()
    })
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn joins_and_meets_are_those_of_a_lattice(a in vector(), b in vector(), c in vector()) {
        let join = |a: &Vector, b: &Vector| a.clone().join(b);
        prop_assert_eq!(join(&a, &b), join(&b, &a));
        prop_assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
        prop_assert_eq!(join(&a, &a), a.clone());
        prop_assert_eq!(a.meet(&b), b.meet(&a));
        prop_assert_eq!(a.meet(&join(&a, &b)), a.clone());
        prop_assert_eq!(join(&a, &a.meet(&b)), a.clone());
        prop_assert!(join(&a, &b).covers(&a) && a.covers(&a.meet(&b)));
    }

    #[test]
    fn one_order_is_the_other_turned_round(a in vector(), b in vector()) {
        let turned = match b.compare(&a) {
            Order::Before => Order::After,
            Order::After => Order::Before,
            same => same,
        };
        prop_assert_eq!(a.compare(&b), turned);
        prop_assert_eq!(a == b, turned == Order::Equal);
    }
}
