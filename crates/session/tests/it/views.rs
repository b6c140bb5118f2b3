//! Views of states: what is in them, and what putting one back never touches.

use crate::arbitrary;
use baton_session::egress::Egress;
use baton_session::view::mix;
use baton_session::{Environment, Site, State, StateKind, View};
use baton_testing::cases;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

const SITES: [&str; 6] =
    ["app.test", "app.co.uk", "cdn.test", "localhost", "127.0.0.1", "other.test"];

fn view() -> impl Strategy<Value = View> {
    let sites = subsequence(SITES.to_vec(), 0..=SITES.len());
    let kinds = subsequence(StateKind::ALL.to_vec(), 0..=StateKind::ALL.len());
    (option::of(sites), option::of(kinds)).prop_map(|(sites, kinds)| View {
        sites: sites.map(|sites| sites.into_iter().map(Site::of_host).collect()),
        kinds: kinds.map(|kinds| kinds.into_iter().collect()),
    })
}

/// A state with tabs at several sites, one of them in front.
fn state() -> impl Strategy<Value = State> {
    (arbitrary::state(), vec(select(SITES.to_vec()), 8), 0..8usize).prop_map(
        |(mut state, hosts, front)| {
            for (at, tab) in state.tabs.iter_mut().enumerate() {
                tab.url = tab.url.replace("app.test", hosts[at % hosts.len()]);
                tab.active = at == front;
            }
            state.normalize();
            state
        },
    )
}

/// What of a state is in no view of this kind.
fn beside(view: &View, state: &State) -> State {
    mix(&State::default(), state, |site, kind| view.has(site, kind))
}

/// A state without what two browsers may tell otherwise of the same tabs.
fn plain(mut state: State) -> State {
    state.tabs.iter_mut().for_each(|tab| tab.active = false);
    state
}

/// A state without its way out.
fn unled(mut state: State) -> State {
    state.environment.egress = None;
    state
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn what_is_put_back_unchanged_changes_nothing(view in view(), state in state()) {
        let seen = view.of(&state);
        prop_assert!(view.holds(&seen));
        let goes_along = state.environment.egress.is_some() && !view.is_empty();
        prop_assert_eq!(seen.environment.egress.is_some(), goes_along);
        prop_assert_eq!(mix(&seen, &state, |site, kind| view.has(site, kind)), state);
    }

    #[test]
    fn who_has_a_view_never_removes_what_they_do_not_see(
        view in view(),
        before in state(),
        other in state(),
    ) {
        let said = view.of(&other);
        let after = mix(&said, &before, |site, kind| view.has(site, kind));
        // The way out is no view's to say.
        prop_assert_eq!(&after.environment.egress, &before.environment.egress);
        prop_assert_eq!(beside(&view, &plain(after.clone())), beside(&view, &plain(before)));
        prop_assert_eq!(unled(plain(view.of(&after))), unled(plain(said)));
    }

    #[test]
    fn a_view_of_a_view_is_what_both_have_in_common(
        one in view(),
        other in view(),
        state in state(),
    ) {
        let common = one.meet(&other);
        prop_assert!(one.contains(&common) && other.contains(&common));
        prop_assert!(common.contains(&one) == one.meet(&common).contains(&one));
        prop_assert_eq!(other.of(&one.of(&state)).cookies, common.of(&state).cookies);
        prop_assert_eq!(other.of(&one.of(&state)).origins, common.of(&state).origins);
    }
}

#[test]
fn the_way_out_goes_along_with_every_part_and_its_password_with_none() {
    let credentials = Some("al:s3cret".parse().unwrap());
    let (only, proxy) = (vec!["shop.test".to_owned()], Some("http://proxy.test:3128".to_owned()));
    let egress = Egress { only, proxy, credentials };
    let environment = Environment { egress: Some(egress.clone()), ..Environment::default() };
    let state = State { environment, ..State::default() };
    let view = |text: &str| serde_json::from_str::<View>(text).unwrap();
    for part in [
        r#"{"kinds": ["cookies", "local-storage"]}"#,
        r#"{"kinds": ["environment"]}"#,
        r#"{"sites": ["shop.test"]}"#,
        r#"{"sites": ["shop.test"], "kinds": ["tabs"]}"#,
    ] {
        let seen = view(part).of(&state);
        assert_eq!(seen.environment.egress, Some(egress.without_credentials()), "{part}");
        assert!(!serde_json::to_string(&seen).unwrap().contains("s3cret"), "{part}");
        // What comes back of it, with less or more, changes nothing of it.
        for said in [seen, State::default()] {
            let after = mix(&said, &state, |site, kind| view(part).has(site, kind));
            assert_eq!(after.environment.egress.as_ref(), Some(&egress), "{part}");
        }
    }
    assert_eq!(View::whole().of(&state), state);
    for nothing in [r#"{"kinds": []}"#, r#"{"sites": []}"#] {
        assert_eq!(view(nothing).of(&state).environment.egress, None, "{nothing}");
    }
}

#[test]
fn a_view_is_told_in_words() {
    let view = |text: &str| serde_json::from_str::<View>(text).unwrap().to_string();
    assert_eq!(view("{}"), "everything");
    assert_eq!(view(r#"{"kinds": ["cookies", "tabs"]}"#), "cookies and tabs");
    assert_eq!(view(r#"{"sites": ["shop.test"], "kinds": ["cookies"]}"#), "cookies of shop.test");
    assert_eq!(view(r#"{"sites": []}"#), "nothing");
}
