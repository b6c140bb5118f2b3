//! What is handed over, to whom, and what the notes say of it.

use super::*;

const SHOP: &str = "https://shop.test/";

fn tab(url: &str, active: bool, token: &str) -> Tab {
    let key = StorageKey::first_party(&origin(url).unwrap());
    let entries = [("token", token)].into_iter().collect();
    Tab { url: url.to_owned(), active, session_storage: [(key, entries)].into(), ..Tab::default() }
}

fn tabs() -> [Tab; 3] {
    let list = tab("https://shop.test/list", false, "list");
    let news = tab("https://news.test/", false, "news");
    [list, tab("https://shop.test/cart", true, "cart"), news]
}

fn page(url: &str) -> DocumentPlace {
    DocumentPlace { url: url.to_owned(), around: Vec::new() }
}

fn framed(url: &str, around: &[&str]) -> DocumentPlace {
    let around = around.iter().map(|url| (*url).to_owned()).collect();
    DocumentPlace { url: url.to_owned(), around }
}

fn token(area: Option<SessionStorageArea>) -> Option<String> {
    area.map(|area| area.entries.0[&Text::from("token")].to_lossy())
}

#[test]
fn the_first_page_gets_what_the_tab_in_front_had_and_no_other_gets_any() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("handed");
    let mut first = HandOver::of(&tabs(), &notes);
    let mut at_once = HandOver::of(&tabs(), &notes);
    assert_eq!(token(first.claim(&page(SHOP), None)).as_deref(), Some("cart"));
    assert_eq!(first.claim(&page("https://shop.test/list"), None), None);
    assert_eq!(first.claim(&page("https://www.shop.test/"), None), None);
    assert_eq!(at_once.claim(&page(SHOP), None), None, "another browser was faster");
    let mut later = HandOver::of(&tabs(), &notes);
    assert_eq!((later.areas.len(), later.claim(&page(SHOP), None)), (1, None));
    // Its page never came.
    let news = later.claim(&page("https://news.test/world"), None).unwrap();
    later.put_back(news);
    assert!(HandOver::of(&tabs(), &notes).claim(&page("https://news.test/"), None).is_some());
    let found = HandedOver::read(&std::fs::read_to_string(&notes).unwrap());
    let areas: Vec<_> = found.areas.iter().map(|(tab, key)| (*tab, key.as_str())).collect();
    assert_eq!((areas, found.tabs), (vec![(1, SHOP), (2, "https://news.test/")], false));
}

#[test]
fn tabs_that_are_opened_get_each_its_own_and_are_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("handed");
    let mut first = HandOver::of(&tabs(), &notes);
    assert!(first.open_tabs());
    assert_eq!(token(first.claim(&page("https://shop.test/list"), None)).as_deref(), Some("list"));
    assert_eq!(
        token(first.claim(&page("https://shop.test/elsewhere"), None)).as_deref(),
        Some("cart")
    );
    assert_eq!(first.claim(&page(SHOP), None), None);
    let mut later = HandOver::of(&tabs(), &notes);
    assert!(later.is_empty() && !later.open_tabs());
}

#[test]
fn what_the_page_of_one_tab_has_no_later_browser_gets_because_that_of_another_never_came() {
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("handed");
    let mut first = HandOver::of(&tabs(), &notes);
    assert!(first.open_tabs());
    assert!(first.claim(&page("https://shop.test/cart"), None).is_some());
    let list = first.claim(&page("https://shop.test/list"), None).unwrap();
    first.put_back(list);
    let areas = || HandedOver::read(&std::fs::read_to_string(&notes).unwrap()).areas;
    let shop = |tab: usize| (tab, StorageKey::new(SHOP));
    assert_eq!(areas(), BTreeSet::from([shop(1)]), "the other page has it");
    let again = first.claim(&page("https://shop.test/list"), None);
    assert_eq!(token(again.clone()).as_deref(), Some("list"));
    assert_eq!(areas(), BTreeSet::from([shop(0), shop(1)]));
    first.put_back(again.unwrap());
    assert_eq!(areas(), BTreeSet::from([shop(1)]));
    // Whoever signed out in the one tab is not signed in again by what the other one had.
    assert_eq!(first.claim(&page(SHOP), Some(1)), None);
}

#[test]
fn a_frame_gets_what_its_partition_had_and_of_the_tab_of_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut tabs = tabs();
    for (at, token) in [(0, "in the list"), (1, "in the cart")] {
        let key = StorageKey::new("https://id.test/^0https://shop.test");
        tabs[at].session_storage.insert(key, [("token", token)].into_iter().collect());
    }
    let begin = |name: &str| HandOver::of(&tabs, &folder.path().join(name));
    assert!(begin("any").has_frames());
    let its = |place: DocumentPlace, tab| {
        token(begin(&place.around.join(" ").replace('/', "_")).claim(&place, tab))
    };
    let id = "https://id.test/check";
    let list = "https://shop.test/list";
    assert_eq!(its(framed(id, &[list]), None).as_deref(), Some("in the list"));
    assert_eq!(its(framed(id, &["https://m.shop.test/"]), None).as_deref(), Some("in the cart"));
    assert_eq!(its(framed(id, &["https://shop.test/1"]), Some(0)).as_deref(), Some("in the list"));
    assert_eq!(its(framed(id, &["http://shop.test/"]), None), None);
    assert_eq!(its(framed(id, &["about:blank"]), None), None);
    assert_eq!(its(framed("https://id.test:1/", &["https://shop.test/2"]), None), None);
    assert_eq!(its(page(id), None), None);
}

#[test]
fn what_is_between_a_frame_and_its_page_parts_its_storage() {
    let key = |text: &str| StorageKey::new(text);
    let place = framed("https://id.test/", &["https://shop.test/", "https://id.test/"]);
    assert!(place.has(&key("https://id.test/^0https://shop.test")));
    assert!(!place.has(&key("https://id.test/")) && !place.has(&key("https://id.test/^31")));
    let place = framed("https://m.shop.test/", &["https://shop.test/"]);
    assert!(place.has(&key("https://m.shop.test/")) && !place.has(&key("https://shop.test/")));
    let place = framed("https://shop.test/", &["https://shop.test/", "https://id.test/"]);
    assert!(place.has(&key("https://shop.test/^31")) && !place.has(&key("https://shop.test/")));
}

#[test]
fn frames_are_looked_at_where_they_have_any() {
    let folder = tempfile::tempdir().unwrap();
    let has_frames = |key: &str| {
        let mut tab = tab("https://shop.test/", true, "a");
        tab.session_storage.insert(StorageKey::new(key), [("token", "b")].into_iter().collect());
        HandOver::of(&[tab], &folder.path().join("handed")).has_frames()
    };
    assert!(has_frames("https://m.shop.test/") && has_frames("https://shop.test/^31"));
    assert!(!has_frames("https://login.test/"), "it is from when the tab was there");
    assert!(!has_frames("https://id.test/^1a^2b"), "no document has it again");
}

#[test]
fn nothing_is_handed_over_that_cannot_be_noted() {
    let folder = tempfile::tempdir().unwrap();
    assert!(HandOver::of(&tabs(), folder.path()).is_empty());
    let notes = folder.path().join("handed");
    let mut all = HandOver::of(&tabs(), &notes);
    std::fs::remove_file(&notes).unwrap();
    std::fs::create_dir(&notes).unwrap();
    assert_eq!(all.claim(&page(SHOP), None), None);
}

#[test]
fn every_text_of_a_page_goes_into_its_script() {
    let broken = Text::from_utf16(&[0xd800, 0x22]);
    assert_eq!(literal(&broken), r#""\ud800\u0022""#);
    assert_eq!(literal(&"</script>\"\u{2028}".into()), "\"</script>\\\"\u{2028}\"");
}
