//! What comes back of tabs: of those that were there, of what pages there were handed, and of all else.

use super::*;

const SHOP: &str = "https://shop.test";
const NEWS: &str = "https://news.test";

fn tab(url: &str, active: bool, stored: &[(&str, &str)]) -> Tab {
    let areas = stored.iter().map(|(origin, token)| {
        (StorageKey::first_party(origin), [("token", *token)].into_iter().collect())
    });
    Tab { url: url.to_owned(), active, session_storage: areas.collect(), ..Tab::default() }
}

fn before() -> Vec<Tab> {
    vec![
        tab("https://shop.test/list", false, &[(SHOP, "list")]),
        tab("https://shop.test/cart", true, &[(SHOP, "cart")]),
        tab("https://news.test/", false, &[(NEWS, "reader")]),
    ]
}

/// All of these tabs, and of which of them a page was handed what they have.
fn given(tabs: &[Tab], handed: &[usize]) -> Vec<GivenTab> {
    let given = tabs.iter().enumerate().map(|(position, tab)| {
        let keys = tab.session_storage.keys().filter(|_| handed.contains(&position));
        GivenTab { position, url: tab.url.clone(), handed: keys.cloned().collect() }
    });
    given.collect()
}

/// After a program there that has these tabs open, whose pages were handed what these of the session's have.
fn programs(tabs: Vec<Tab>, handed: &[usize]) -> MergedTabs {
    let after = TabsAfter { tabs: Some(tabs), given: given(&before(), handed), were_opened: false };
    merged(before(), after, None)
}

/// Each tab: where, whether in front, and its tokens.
fn told(tabs: &[Tab]) -> Vec<String> {
    let token = |entries: &Entries| entries.0[&Text::from("token")].to_lossy();
    let areas = |tab: &Tab| tab.session_storage.values().map(token).collect::<Vec<_>>();
    let front = |tab: &Tab| if tab.active { "*" } else { "" };
    tabs.iter().map(|tab| format!("{}{} {:?}", front(tab), tab.url, areas(tab))).collect()
}

fn places(receipt: &Receipt) -> Vec<&str> {
    receipt.items.iter().map(|item| &*item.place).collect()
}

#[test]
fn a_tab_takes_the_place_of_the_one_that_was_there_and_the_others_are_as_they_were() {
    let open = vec![
        tab("https://shop.test/more", false, &[]),
        tab("https://shop.test/paid", false, &[(SHOP, "new")]),
        tab("https://shop.test/help", true, &[]),
        tab("about:blank", false, &[]),
    ];
    let back = programs(open, &[1]);
    assert_eq!(
        told(&back.tabs),
        [
            "https://shop.test/list [\"list\"]",
            "https://shop.test/paid [\"new\"]",
            "https://news.test/ [\"reader\"]",
            "https://shop.test/more []",
            "*https://shop.test/help []",
        ]
    );
    // What the page was handed was renewed there, so nobody signed out.
    assert_eq!(places(&back.named), [""; 0]);
}

#[test]
fn a_tab_that_keeps_nothing_makes_room_for_any_of_its_site() {
    let before = vec![tab("https://shop.test/list", true, &[]), tab(NEWS, false, &[])];
    let open = vec![tab("https://shop.test/cart", true, &[(SHOP, "new")])];
    let after = TabsAfter { tabs: Some(open), given: given(&before, &[0, 1]), were_opened: false };
    let back = merged(before, after, None);
    assert_eq!(told(&back.tabs), ["*https://shop.test/cart [\"new\"]", "https://news.test []"]);
}

#[test]
fn what_was_handed_over_and_is_nowhere_any_more_is_gone_and_what_others_keep_is_named() {
    let back = programs(vec![tab("https://shop.test/", true, &[])], &[1]);
    assert_eq!(
        told(&back.tabs),
        [
            "https://shop.test/list [\"list\"]",
            "*https://shop.test/ []",
            "https://news.test/ [\"reader\"]",
        ]
    );
    assert_eq!(places(&back.named), ["https://shop.test/"]);
    // Where nothing is known of what was open, nothing is given up.
    let unknown = TabsAfter { tabs: None, given: given(&before(), &[1]), were_opened: false };
    let back = merged(before(), unknown, None);
    assert_eq!((back.tabs, places(&back.named)), (before(), vec![]));
}

/// A browser that was handed what the tab in the cart keeps, and has this tab open at its end, of no site that was lent.
fn left_at(end: Tab, were_opened: bool) -> MergedTabs {
    let sites: BTreeSet<Site> = [Site::of_host("shop.test"), Site::of_host("news.test")].into();
    let after = TabsAfter { tabs: Some(vec![end]), given: given(&before(), &[1]), were_opened };
    merged(before(), after, Some(&sites))
}

#[test]
fn what_was_signed_out_stays_so_where_no_tab_of_the_session_is_open_at_the_end() {
    for end in ["about:blank", "https://logout.test/bye"] {
        let back = left_at(tab(end, true, &[]), false);
        assert_eq!(
            told(&back.tabs),
            [
                "https://shop.test/list [\"list\"]",
                "*https://shop.test/cart []",
                "https://news.test/ [\"reader\"]",
            ],
            "{end}"
        );
        assert_eq!(places(&back.named), ["https://shop.test/"], "{end}");
    }
    // What was opened there and is not open any more was closed, but for one: a session shows something.
    let cart = || vec![tab("https://shop.test/cart", true, &[(SHOP, "cart")])];
    let tabs = Some(vec![tab("about:blank", true, &[])]);
    let after = TabsAfter { tabs, given: given(&cart(), &[0]), were_opened: true };
    assert_eq!(told(&merged(cart(), after, None).tabs), ["*https://shop.test/cart []"]);
    let back = left_at(tab("about:blank", true, &[]), true);
    assert_eq!(
        told(&back.tabs),
        ["https://shop.test/list [\"list\"]", "https://news.test/ [\"reader\"]"]
    );
}

#[test]
fn a_tab_that_went_elsewhere_keeps_what_it_has_of_the_sites_that_were_handed_in() {
    let areas = [(SHOP, "renewed"), ("https://bank.test", "planted")];
    for were_opened in [false, true] {
        let back = left_at(tab("https://bank.test/", true, &areas), were_opened);
        assert_eq!(
            told(&back.tabs),
            [
                "https://shop.test/list [\"list\"]",
                "*https://shop.test/cart [\"renewed\"]",
                "https://news.test/ [\"reader\"]",
            ]
        );
        assert_eq!(places(&back.named), [""; 0]);
        let foreign: Vec<_> = back.foreign.iter().map(|one| &*one.place).collect();
        assert_eq!(foreign, ["https://bank.test/"]);
    }
}

#[test]
fn an_entry_that_is_gone_of_two_is_gone_although_the_other_one_is_there() {
    let mut before = before();
    before.push(tab("https://shop.test/late", false, &[(SHOP, "late")]));
    let open = vec![tab("https://shop.test/list", true, &[(SHOP, "list")])];
    let after = TabsAfter { tabs: Some(open), given: given(&before, &[0, 1]), were_opened: false };
    let back = merged(before, after, None);
    let shops: Vec<String> =
        told(&back.tabs).into_iter().filter(|tab| tab.contains("shop")).collect();
    assert_eq!(
        shops,
        [
            "*https://shop.test/list [\"list\"]",
            "https://shop.test/cart []",
            "https://shop.test/late [\"late\"]",
        ]
    );
    assert_eq!(places(&back.named), ["https://shop.test/"]);
}

#[test]
fn what_keeps_the_value_that_an_entry_had_before_it_was_changed_there_is_named() {
    let before = vec![
        tab("https://shop.test/list", false, &[(SHOP, "shared")]),
        tab("https://shop.test/cart", true, &[(SHOP, "shared")]),
        tab("https://shop.test/own", false, &[(SHOP, "own")]),
    ];
    let named = |open: Vec<Tab>| {
        let given = given(&before, &[1]);
        let after = TabsAfter { tabs: Some(open), given, were_opened: false };
        let back = merged(before.clone(), after, None);
        places(&back.named).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let cart = |token: &str| tab("https://shop.test/cart", true, &[(SHOP, token)]);
    // It may be a sign-out as well as a new token: nobody knows but the site.
    for token in ["", "null", "renewed"] {
        assert_eq!(named(vec![cart(token)]), ["https://shop.test/"], "{token:?}");
    }
    // Where it is some tab's still, it was not given up.
    assert_eq!(named(vec![cart("shared")]), [""; 0]);
    let elsewhere = tab("https://shop.test/more", false, &[(SHOP, "shared")]);
    assert_eq!(named(vec![cart("renewed"), elsewhere]), [""; 0]);
}

#[test]
fn of_tabs_that_were_opened_there_those_that_are_not_open_any_more_were_closed() {
    let open = vec![tab("https://news.test/", true, &[(NEWS, "new")])];
    let after =
        TabsAfter { tabs: Some(open), given: given(&before(), &[0, 1, 2]), were_opened: true };
    let back = merged(before(), after, None);
    assert_eq!(told(&back.tabs), ["*https://news.test/ [\"new\"]"]);
    assert_eq!(places(&back.named), [""; 0]);
}

#[test]
fn tabs_that_were_not_given_were_not_closed() {
    // Those that are more than a browser elsewhere gets: they keep all that they had.
    let open = vec![
        tab("https://shop.test/paid", true, &[(SHOP, "new")]),
        tab("https://news.test/world", false, &[]),
    ];
    let mut given = given(&before(), &[1]);
    given.remove(2);
    given.remove(0);
    let after = TabsAfter { tabs: Some(open), given, were_opened: true };
    let back = merged(before(), after, None);
    assert_eq!(
        told(&back.tabs),
        [
            "https://shop.test/list [\"list\"]",
            "*https://shop.test/paid [\"new\"]",
            "https://news.test/ [\"reader\"]",
            "https://news.test/world []",
        ]
    );
}

#[test]
fn what_was_too_much_to_go_along_and_what_no_page_came_for_stays_with_its_tab() {
    let open = vec![tab("https://shop.test/cart", true, &[])];
    let after = TabsAfter { tabs: Some(open), given: given(&before(), &[2]), were_opened: true };
    let back = merged(before(), after, None);
    assert_eq!(
        told(&back.tabs),
        ["https://shop.test/list [\"list\"]", "*https://shop.test/cart [\"cart\"]"]
    );
}

#[test]
fn nothing_comes_of_sites_that_were_not_handed_in() {
    let sites: BTreeSet<Site> = [Site::of_host("shop.test")].into();
    let areas = [(SHOP, "new"), ("https://bank.test", "planted")];
    let open = vec![
        tab("https://bank.test/", true, &[("https://bank.test", "planted")]),
        tab("https://shop.test/a", false, &areas),
        tab("https://news.test/a", false, &[(NEWS, "new")]),
    ];
    let after =
        TabsAfter { tabs: Some(open), given: given(&before(), &[0, 1, 2]), were_opened: true };
    let MergedTabs { tabs, foreign, .. } = merged(before(), after, Some(&sites));
    assert_eq!(told(&tabs), ["https://shop.test/a [\"new\"]", "https://news.test/a []"]);
    let foreign: Vec<_> = foreign.iter().map(|one| (one.kind, &*one.place)).collect();
    assert_eq!(
        foreign,
        [
            (ItemKind::Tab, "https://bank.test/"),
            (ItemKind::SessionStorage, "https://bank.test/"),
            (ItemKind::SessionStorage, "https://news.test/"),
        ]
    );
}

#[test]
fn more_tabs_than_a_session_takes_are_named() {
    let open: Vec<Tab> =
        (0..102).map(|at| tab(&format!("https://shop.test/{at}"), at == 101, &[])).collect();
    let back = programs(open, &[]);
    assert_eq!(back.tabs.len(), 3 + MOST_ADDED);
    let kinds: Vec<ItemKind> = back.named.items.iter().map(|item| item.kind).collect();
    assert_eq!(kinds, [ItemKind::Tab; 2]);
    let front = back.tabs.iter().filter(|tab| tab.active).map(|tab| &*tab.url);
    assert_eq!(front.collect::<Vec<_>>(), ["https://shop.test/cart"]);
}
