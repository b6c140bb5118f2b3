//! Tabs come of commands, whatever else stands in the file.

use super::*;

/// A file of commands, each with its numbers.
pub(super) fn file(version: i32, commands: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let mut file = [MAGIC, &version.to_le_bytes()].concat();
    for (id, content) in commands {
        file.extend(u16::try_from(content.len() + 1).unwrap().to_le_bytes());
        file.push(*id);
        file.extend(content);
    }
    file
}

fn numbers(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn padded(bytes: &[u8], units: usize) -> Vec<u8> {
    let mut padded = [&i32::try_from(units).unwrap().to_le_bytes(), bytes].concat();
    padded.resize(padded.len().next_multiple_of(4), 0);
    padded
}

fn navigation(tab: i32, at: i32, url: &str, title: &str) -> (u8, Vec<u8>) {
    let wide: Vec<u8> = title.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let text = [padded(url.as_bytes(), url.len()), padded(&wide, wide.len() / 2)].concat();
    (NAVIGATION, [numbers(&[0, tab, at]), text].concat())
}

fn of(id: u8, content: &[i32]) -> (u8, Vec<u8>) {
    (id, numbers(content))
}

/// Two windows: the first has the tabs 10 and 11, the second, which is in front, the tabs 20 and 21.
pub(super) fn two_windows() -> Vec<(u8, Vec<u8>)> {
    let mut commands = Vec::new();
    for (window, index, tab) in [(1, 0, 10), (1, 1, 11), (2, 0, 20), (2, 1, 21)] {
        commands.push(of(SET_TAB_WINDOW, &[window, tab]));
        commands.push(of(SET_TAB_INDEX, &[tab, index]));
        commands.push(navigation(tab, 0, &format!("https://app.test/{tab}"), "é"));
        let namespace = format!("{tab:0>36}");
        let content = [numbers(&[0, tab]), padded(namespace.as_bytes(), 36)].concat();
        commands.push((SESSION_STORAGE, content));
    }
    commands.extend([of(SELECTED_TAB, &[1, 1]), of(SELECTED_TAB, &[2, 0])]);
    commands.extend([of(ACTIVE_WINDOW, &[2]), (MARK, Vec::new())]);
    commands
}

fn urls(file: &[u8]) -> Vec<String> {
    let FoundTabs { tabs, left_out } = parse(file).unwrap().unwrap();
    assert_eq!(left_out.items, []);
    let line = |FoundTab { tab, .. }: &FoundTab| {
        format!("{}{}", tab.url, if tab.active { " in front" } else { "" })
    };
    tabs.iter().map(line).collect()
}

#[test]
fn the_tab_in_front_is_that_of_the_window_in_front() {
    let tabs = urls(&file(3, &two_windows()));
    let [front, others] = ["https://app.test/20 in front", "https://app.test/"];
    assert_eq!(tabs[2], front);
    assert_eq!((tabs.len(), tabs.iter().filter(|tab| tab.starts_with(others)).count()), (4, 4));
}

#[test]
fn tabs_and_windows_close() {
    let closed = [of(TAB_CLOSED, &[20]), of(WINDOW_CLOSED, &[1])];
    let commands = [two_windows(), closed.to_vec()].concat();
    assert_eq!(urls(&file(3, &commands)), ["https://app.test/21"]);
}

#[test]
fn a_file_that_was_only_begun_is_none() {
    let mut commands = two_windows();
    commands.pop();
    assert_eq!(parse(&file(3, &commands)).unwrap(), None);
    assert_eq!(urls(&file(1, &commands)).len(), 4, "older ones have no mark");

    let folder = tempfile::tempdir().unwrap();
    for name in [FOLDER, ENCRYPTED] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    assert_eq!(read(folder.path()).unwrap(), FoundTabs::default());
    fs::write(folder.path().join(ENCRYPTED).join("Session_1"), "").unwrap();
    insta::assert_snapshot!(read(folder.path()).unwrap_err(), @"expected a file with the tabs of a browser, found encrypted ones only");
    let put =
        |name: &str, file: &[u8]| fs::write(folder.path().join(FOLDER).join(name), file).unwrap();
    put("Session_1", &file(1, &[]));
    put("Session_2", &file(3, &two_windows()));
    put("Session_10", &file(3, &commands));
    put("Tabs_11", b"");
    assert_eq!(read(folder.path()).unwrap().tabs.len(), 4, "the one before counts");
}

#[test]
fn a_history_that_lost_its_beginning_shows_what_it_showed() {
    let mut commands = two_windows();
    for at in 1..4 {
        commands.push(navigation(10, at, &format!("https://app.test/10/{at}"), ""));
    }
    commands.extend([of(SELECTED_NAVIGATION, &[10, 3]), of(PRUNED, &[10, 0, 2])]);
    commands.push(of(SELECTED_NAVIGATION, &[10, 0]));
    assert_eq!(urls(&file(3, &commands))[0], "https://app.test/10/2");
}

#[test]
fn a_tab_that_is_not_what_it_was_has_its_line() {
    let mut commands = two_windows();
    for (at, (tab, url)) in [
        (10, "chrome://settings/passwords"),
        (11, "view-source:https://app.test/?token=s3cret"),
        (20, "chrome://newtab/"),
        (21, "file:///home/ada/secret.html"),
    ]
    .into_iter()
    .enumerate()
    {
        let at = i32::try_from(at).unwrap() + 1;
        commands.push(navigation(tab, at, url, ""));
        commands.push(of(SELECTED_NAVIGATION, &[tab, at]));
    }
    let FoundTabs { tabs, left_out } = parse(&file(3, &commands)).unwrap().unwrap();
    let tabs: Vec<_> = tabs.iter().map(|open| &*open.tab.url).collect();
    assert_eq!(tabs, ["https://app.test/?token=s3cret"]);
    let lines = left_out
        .items
        .iter()
        .map(|item| format!("{}: {}", item.place, item.reason.as_deref().unwrap_or_default()));
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r"
    chrome://settings/passwords: a page of the browser's own is not kept: open it again
    view-source:https://app.test/?token=[redacted]: it shows the source of a page, and comes as the page itself
    file:///home/ada/secret.html: it is not on the web: only http and https addresses are taken
    ");
}

#[test]
fn what_is_no_file_of_tabs_is_told() {
    let lines = [&b""[..], b"SNSS", b"{}", &file(5, &[]), &file(-1, &[])]
        .map(|file| parse(file).unwrap_err().to_string())
        .join("\n");
    insta::assert_snapshot!(lines, @r"
    expected a file with the tabs of a browser, found something else
    expected a file with the tabs of a browser, found something else
    expected a file with the tabs of a browser, found something else
    expected a file with tabs of version 1 or 3, found version 5: a browser encrypted it
    expected a file with tabs of version 1 or 3, found version -1: a browser encrypted it
    ");
    let many: Vec<_> = (0..10_001).map(|tab| of(SET_TAB_WINDOW, &[1, tab])).collect();
    insta::assert_snapshot!(parse(&file(1, &many)).unwrap_err(), @"expected at most 10000 tabs, found more");
}

fn history(shown: i32) -> History {
    let mut history = History::default();
    for at in 0..5 {
        history.note_entry(at, (at.to_string(), String::new()));
    }
    history.show(shown);
    history
}

fn shown(history: History) -> String {
    history.into_shown().unwrap().0
}

#[test]
fn what_is_shown_stays_when_others_go() {
    for (first, count, at, wanted) in
        [(0, 2, 3, "3"), (0, 1, 0, "1"), (1, 2, 4, "4"), (3, 2, 1, "1"), (3, 2, 4, "2")]
    {
        let mut history = history(at);
        history.prune(first, count);
        assert_eq!(shown(history), wanted, "{first} {count} {at}");
    }
    let mut history = history(1);
    history.prune_end(2);
    history.show(7);
    assert_eq!(shown(history), "1", "the nearest");
}

#[test]
fn numbers_without_a_sense_change_nothing() {
    let mut history = history(2);
    for (first, count) in [(-1, 2), (0, 0), (1, -1), (i32::MIN, i32::MIN), (i32::MAX, i32::MAX)] {
        history.prune(first, count);
    }
    for at in 0..10_000 {
        history.note_entry(at, Default::default());
    }
    assert_eq!(history.entries.len(), ENTRIES);
    history.show(i32::MIN);
    history.prune(0, i32::MAX);
    assert_eq!(history.into_shown(), None);
}
