//! A state cut into parts and put together again is the same state, and a broken part costs itself.

use crate::arbitrary;
use baton_session::state::checksum;
use baton_session::{Cookie, Part, PartKind, State, StorageKey, Tab, parts};
use baton_testing::cases;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn normalized(mut state: State) -> State {
    state.normalize();
    state
}

/// A state with the same content in another order.
fn shuffled() -> impl Strategy<Value = (State, State)> {
    arbitrary::state().prop_flat_map(|state| {
        // Cookies of one site have an order, sites have none.
        let sites: BTreeSet<_> = state.cookies.iter().map(Cookie::site).collect();
        let sites = Just(sites.into_iter().collect::<Vec<_>>()).prop_shuffle();
        (Just(state), sites).prop_map(|(state, sites)| {
            let mut cookies = state.cookies.clone();
            cookies.sort_by_key(|one| sites.iter().position(|site| *site == one.site()));
            let mut other = State { cookies, ..state.clone() };
            for origin in other.origins.values_mut() {
                origin.databases.reverse();
                origin.caches.reverse();
                origin.files.reverse();
                origin.raw.reverse();
                origin.service_workers.reverse();
            }
            (state, other)
        })
    })
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn what_is_cut_is_put_together_again(state in arbitrary::state()) {
        let (joined, invalid) = parts::join(&parts::split(&state));
        prop_assert!(invalid.is_empty(), "{invalid:?}");
        prop_assert_eq!(joined, normalized(state));
    }

    #[test]
    fn order_changes_neither_checksum_nor_parts((state, other) in shuffled()) {
        prop_assert_eq!(checksum(&state), checksum(&other));
        let references = |state| -> Vec<_> {
            parts::split(state).iter().map(Part::reference).collect()
        };
        prop_assert_eq!(references(&state), references(&other));
    }

    #[test]
    fn a_broken_part_costs_itself_only(
        state in arbitrary::state(),
        which in any::<prop::sample::Index>(),
        end in any::<prop::sample::Index>(),
    ) {
        let mut all = parts::split(&state);
        let which = which.index(all.len());
        let end = end.index(all[which].bytes.len());
        all[which].bytes.truncate(end);
        let (joined, invalid) = parts::join(&all);
        let broken = all.remove(which);
        prop_assert_eq!(invalid.len(), 1);
        prop_assert_eq!((invalid[0].kind, &invalid[0].name), (broken.kind, &broken.name));
        prop_assert_eq!(joined, parts::join(&all).0);
    }

    #[test]
    fn another_state_has_another_checksum(state in arbitrary::state(), tab in arbitrary::tab()) {
        let mut other = state.clone();
        other.tabs.push(tab);
        prop_assert_ne!(checksum(&state), checksum(&other));
    }
}

#[test]
fn the_order_of_tabs_survives_ten_thousand_of_them() {
    let tab = |nth: usize| Tab { url: format!("https://app.test/{nth}"), ..Tab::default() };
    let state = State { tabs: (0..10_002).map(tab).collect(), ..State::default() };
    assert_eq!(parts::join(&parts::split(&state)).0, state);
}

#[test]
fn an_unchanged_part_keeps_its_hash() {
    let mut state = State::default();
    let mut set = |key: &str, value: &str| {
        let origin = state.origins.entry(StorageKey::first_party(key)).or_default();
        origin.local_storage.0.insert("name".into(), value.into());
        parts::split(&state)
    };
    set("https://app.test", "Ada");
    let before = set("https://other.test", "Ada");
    let after = set("https://other.test", "Grace");
    let changed: Vec<&str> =
        after.iter().filter(|part| !before.contains(part)).map(|part| part.name.as_str()).collect();
    assert_eq!(changed, ["https://other.test/"]);
}

#[test]
fn pictures_are_no_part_of_the_state() {
    let picture = |kind, name: &str| Part { kind, name: name.to_owned(), bytes: vec![0x89, 0x50] };
    let pictures = [picture(PartKind::Preview, ""), picture(PartKind::Icon, "app.test")];
    assert!(pictures.iter().all(|part| part.kind.is_picture()));
    let (state, invalid) = parts::join(&pictures);
    assert_eq!(state, State::default());
    assert!(invalid.is_empty());
}

#[test]
fn a_broken_part_says_which_it_is() {
    let broken = Part {
        kind: PartKind::LocalStorage,
        name: "https://app.test/".to_owned(),
        bytes: b"[[\"token\",5]]".to_vec(),
    };
    let (_, invalid) = parts::join([&broken]);
    insta::assert_snapshot!(
        invalid[0],
        @r#"expected local-storage part "https://app.test/" to hold valid JSON of its kind: invalid type: integer `5`, expected a string or {"utf16": base64} at line 1 column 11"#
    );
}
