//! What people's own files are, what is read of them, and what is said of the rest.

use baton_session::import::{FileForm, ImportError, read, text};
use baton_session::receipt::ReceiptItem;
use baton_session::wire::{self, SessionFile};
use baton_session::{Cookie, Environment, State, playwright};
use serde_json::{Value, json};

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("fixtures/files/", $name))
    };
}

/// A file as a person reads what became of it.
fn told(file: &[u8]) -> String {
    let imported = read(file).unwrap();
    let mut lines = vec![imported.form.to_string()];
    lines.extend(imported.state.cookies.iter().map(|cookie| {
        let Cookie { name, value, domain, path, .. } = cookie;
        let mut line = format!("cookie {domain}{path} {name}={value}");
        let ends = cookie.expires.map(|end| format!(" until {}", end.as_seconds()));
        line += &ends.unwrap_or_default();
        line += if cookie.secure { " secure" } else { "" };
        line += if cookie.http_only { " httpOnly" } else { "" };
        line += &cookie.same_site.map(|word| format!(" {word:?}")).unwrap_or_default();
        if let Some(key) = &cookie.partition_key {
            line = format!("{line} in {}", key.top_level_site);
        }
        line
    }));
    for (key, origin) in &imported.state.origins {
        lines.push(format!("localStorage {key}: {}", origin.local_storage.0.len()));
    }
    for tab in &imported.state.tabs {
        let keys = tab
            .session_storage
            .iter()
            .map(|(key, entries)| format!("sessionStorage {key}: {}", entries.0.len()));
        lines.push(format!("tab {} {}", tab.url, keys.collect::<Vec<_>>().join(" ")));
    }
    let left = |item: &ReceiptItem| {
        format!("left out, {}: {}", item.place, item.reason.clone().unwrap_or_default())
    };
    lines.extend(imported.left_out.items.iter().map(left));
    lines.join("\n")
}

#[test]
fn session_storage_beside_local_storage_comes_along_in_a_tab() {
    insta::assert_snapshot!(told(file!("session_storage.json")), @r"
    a storageState file
    cookie app.test/ sid=v secure Lax
    localStorage https://app.test/: 1
    tab https://app.test/ sessionStorage https://app.test/: 1
    ");
}

#[test]
fn the_browser_that_a_file_was_taken_of_is_noted() {
    const MAC: &str = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 \
                       (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36";
    let noted = |file: Value| {
        let imported = read(file.to_string().as_bytes()).unwrap();
        let lines = imported.left_out.items.iter().filter_map(|item| item.reason.clone());
        let environment = imported.state.environment;
        assert_eq!(environment.user_agent, None, "it is noted, and nothing follows");
        let name = environment.browser.map(|name| name.to_string()).into_iter();
        name.chain(lines).collect::<Vec<_>>()
    };
    let state = json!({"cookies": [], "userAgent": MAC});
    assert_eq!(noted(state.clone()), ["Chrome 147 on macOS"]);
    let state = json!({"session": {"cookies": [], "origins": []}, "userAgent": MAC});
    assert_eq!(noted(state), ["Chrome 147 on macOS"]);
    let state = json!({"cookies": [], "userAgent": "curl/8"});
    assert_eq!(noted(state), ["expected the user agent of a browser, found another text"]);
    assert!(noted(json!({"cookies": []})).is_empty());
}

#[test]
fn the_languages_of_the_browser_that_a_file_was_taken_of_come_along() {
    let told = |file: Value| {
        let imported = read(file.to_string().as_bytes()).unwrap();
        let lines = imported.left_out.items.iter().filter_map(|item| item.reason.clone());
        let Environment { identity, user_agent, locale, .. } = imported.state.environment;
        if let Some(identity) = &identity {
            identity.check(user_agent.as_deref(), locale.as_deref()).unwrap();
        }
        let languages = identity.map(|identity| identity.languages.join(",")).into_iter();
        languages.chain(lines).collect::<Vec<_>>()
    };
    let german = json!(["de-DE", "de", "en"]);
    assert_eq!(told(json!({"cookies": [], "languages": german})), ["de-DE,de,en"]);
    let inner = json!({"cookies": [], "origins": []});
    assert_eq!(told(json!({"session": inner, "languages": german})), ["de-DE,de,en"]);
    for none in [json!([]), json!(null), json!("")] {
        assert!(told(json!({"cookies": [], "languages": none})).is_empty());
    }
    let expected = "expected a list of languages such as de-DE, found something else";
    for other in [json!(["de", 7]), json!(["de DE"]), json!("de"), json!({"de": 1})] {
        assert_eq!(told(json!({"cookies": [], "languages": other})), [expected]);
    }
    // What a session file says of itself stands before what is around it.
    let own = json!({"state": {"cookies": [], "environment": {"locale": "ja-JP"}}});
    let beside = "what stands beside it is left out: languages";
    assert_eq!(told(json!({"session": own, "languages": german})), [beside]);
}

#[test]
fn storage_by_origin_comes_along_but_for_databases_without_their_shape() {
    insta::assert_snapshot!(told(file!("by_origin.json")), @r"
    a storageState file
    cookie app.test/ sid=1 until 1796178675 secure httpOnly Lax
    localStorage https://app.test/: 1
    tab https://app.test/ sessionStorage https://app.test/: 1
    ");
    let databases = json!({
        "cookies": [], "localStorage": {"https://app.test": "s3cret", "nowhere": {}},
        "sessionStorage": {"https://app.test": {"a": 1, "b": "2"}},
        "indexedDB": {"https://app.test": [{"id": 1, "name": "app", "data": []}]},
    });
    insta::assert_snapshot!(told(databases.to_string().as_bytes()), @r"
    a storageState file
    tab https://app.test/ sessionStorage https://app.test/: 1
    left out, localStorage[1]: expected an origin such as https://app.test
    left out, https://app.test localStorage: expected an object, found a string
    left out, https://app.test sessionStorage: expected strings, found a number under a name
    left out, https://app.test indexedDB: its databases have no versions, key paths and indexes, so none can be made
    ");
}

#[test]
fn what_curl_and_its_like_write_is_read_line_by_line() {
    insta::assert_snapshot!(told(file!("cookies.txt")), @r"
    a cookies.txt
    cookie .app.test/ sid=1 until 1796178675 secure httpOnly
    cookie app.test/ session=2
    cookie app.test/ empty= until 1796178675
    ");
    let windows = "app.test\tFALSE\t/\tTRUE\t0\tsid\ta\tb\r\nno cookie\r\n\
        .app.test\tTRUE\t/\tmaybe\t0\tbad\ts3cret\r\n\
        app.test\tFALSE\t\tFALSE\tsoon\tlate\ts3cret\r\n\
        app.test\tFALSE\t\tFALSE\t\tkept\tv\r\n";
    insta::assert_snapshot!(told(windows.as_bytes()), @r"
    a cookies.txt
    cookie app.test/ sid=a	b secure
    cookie app.test/ kept=v
    left out, line 2 ?: expected seven fields with tabs between them
    left out, line 3 bad: expected TRUE or FALSE in the fourth field
    left out, line 4 late: expected seconds since 1970, or 0
    ");
    let mut latin =
        b"# Netscape HTTP Cookie File\n.app.test\tTRUE\t/\tFALSE\t0\tname\tcaf\xe9\n".to_vec();
    latin.extend(b"app.test\tFALSE\t/\tFALSE\t0\tsid\t1\n");
    insta::assert_snapshot!(told(&latin), @r"
    a cookies.txt
    cookie app.test/ sid=1
    left out, line 2 name: expected text in UTF-8
    ");
}

#[test]
fn lists_of_cookies_are_read_whoever_wrote_them() {
    insta::assert_snapshot!(told(file!("selenium.json")), @r"
    a list of cookies
    cookie .app.test/ sid=1 until 1796178675 secure httpOnly Lax
    ");
    insta::assert_snapshot!(told(file!("editor.json")), @r#"
    a list of cookies
    cookie .app.test/ sid=1 until 1796178675.123 secure httpOnly None
    cookie app.test/ sid=2
    left out, cookies: "note" is no member that is known here: it is left out
    "#);
    insta::assert_snapshot!(told(file!("puppeteer.json")), @r"
    a list of cookies
    cookie app.test/ sid=1 until 1796178675.5 secure httpOnly Strict in https://top.test
    cookie .app.test/ theme=dark
    ");
    // Two in a list were taken for a file of a peer.
    insta::assert_snapshot!(told(file!("two_cookies.json")), @r"
    a list of cookies
    cookie app.test/ a=v secure Lax
    cookie app.test/ b=v secure Lax
    ");
    let odd = json!([
        {"name": "by-address", "value": "1", "url": "https://app.test/shop"},
        {"name": "opaque", "value": "s3cret", "domain": "app.test", "partitionKeyOpaque": true},
        {"name": "isolated", "value": "s3cret", "domain": "app.test", "firstPartyDomain": "top.test"},
        {"name": "far", "value": "s3cret", "domain": "app.test", "expirationDate": 1_796_178_675_000_i64},
        {"name": "odd", "value": "s3cret", "domain": "app.test", "sameSite": "s3cret"},
        7,
    ]);
    insta::assert_snapshot!(told(odd.to_string().as_bytes()), @r"
    a list of cookies
    cookie app.test/ by-address=1 secure
    left out, cookies[1] opaque: expected a partition that a later document can be in
    left out, cookies[2] isolated: expected a cookie that is not isolated by first parties
    left out, cookies[3] far: expected expires as -1 or as seconds since 1970, up to the year 9999
    left out, cookies[4] odd: expected sameSite as Strict, Lax or None
    left out, cookies[5] ?: expected a name that is valid Unicode
    ");
}

#[test]
fn a_cookie_of_firefox_that_no_server_would_get_loses_the_word_that_says_so() {
    insta::assert_snapshot!(told(file!("firefox.json")), @r"
    a storageState file
    cookie 127.0.0.1/ sid=1 until 1796178675 httpOnly
    cookie 127.0.0.1/ good=2 until 1796178675 Lax
    left out, 127.0.0.1/ sid: its SameSite=None without Secure becomes unspecified, for no server gets it else
    ");
}

#[test]
fn null_is_none_and_a_path_that_is_missing_is_all() {
    insta::assert_snapshot!(told(file!("null_origins.json")), @r"
    a storageState file
    cookie app.test/ sid=v secure Lax
    ");
    let nulls = json!({"cookies": [{"name": "a", "value": "1", "domain": "app.test", "expires": null,
        "httpOnly": null, "secure": null, "sameSite": null, "partitionKey": null, "path": null}],
        "origins": [{"origin": "https://app.test", "localStorage": null, "indexedDB": null}]});
    insta::assert_snapshot!(told(nulls.to_string().as_bytes()), @r"
    a storageState file
    cookie app.test/ a=1
    ");
    let object = json!({"cookies": [{"name": "a", "value": "1", "domain": "app.test", "secure": true,
        "partitionKey": {"topLevelSite": "https://top.test", "hasCrossSiteAncestor": false}}]});
    insta::assert_snapshot!(told(object.to_string().as_bytes()), @r"
    a storageState file
    cookie app.test/ a=1 secure in https://top.test
    ");
    let own = json!({"state": {"cookies": [{"name": "a", "value": "1", "domain": "app.test"}]}});
    insta::assert_snapshot!(told(own.to_string().as_bytes()), @r"
    a session file
    cookie app.test/ a=1
    ");
    let answer = json!({"redacted": false,
        "state": {"cookies": [{"name": "a", "value": "1", "domain": "app.test"}]}});
    insta::assert_snapshot!(told(answer.to_string().as_bytes()), @r"
    what a node answers about a state
    cookie app.test/ a=1
    ");
}

#[test]
fn a_state_in_another_document_is_found_and_the_rest_of_that_is_named() {
    insta::assert_snapshot!(told(file!("wrapped.json")), @r"
    a storageState file
    cookie app.test/ sid=v secure Lax
    localStorage https://app.test/: 1
    tab https://app.test/ sessionStorage https://app.test/: 1
    left out, storageState: what stands beside it is left out: id, domains
    ");
    let state: Value = serde_json::from_slice(file!("two_cookies.json")).unwrap();
    let two = told(file!("two_cookies.json"));
    for around in [
        json!({"storageState": {"cookies": state}}),
        json!({"state": {"cookies": state, "origins": [{"origin": "https://app.test"}]}}),
        json!({"id": 1, "result": {"cookies": state}}),
        json!({"data": state.to_string()}),
        json!(state.to_string()),
        json!([{"cookies": state}]),
    ] {
        let found = told(around.to_string().as_bytes());
        assert_eq!(found.lines().filter(|line| line.starts_with("cookie ")).count(), 2, "{found}");
        assert!(two.lines().skip(1).all(|line| found.contains(line)), "{found}");
    }
    let own = wire::write(&SessionFile { state: State::default(), ..SessionFile::default() });
    let own: Value = serde_json::from_str(&own).unwrap();
    let within = read(json!({"session": own}).to_string().as_bytes()).unwrap();
    assert_eq!(within.form, FileForm::SessionFile);
}

#[test]
fn marks_at_the_start_and_utf_16_change_nothing() {
    let plain = told(file!("two_cookies.json"));
    assert_eq!(told(file!("with_mark.json")), plain);
    assert_eq!(told(file!("utf16.json")), plain);
    let little: Vec<u8> = String::from_utf8(file!("two_cookies.json").to_vec())
        .unwrap()
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(told(&little), plain, "without a mark, the other way round");
}

#[test]
fn whatever_is_refused_is_told_by_what_it_is() {
    let state = json!({"cookies": [{"name": "a", "value": "s3cret", "domain": "app.test"}]});
    let files: Vec<Vec<u8>> = [
        json!({"storageState": state, "backup": state}).to_string(),
        json!({"redacted": true, "state": {}}).to_string(),
        json!({"sealed": "s3cret", "signature": "s3cret"}).to_string(),
        json!({"log": {"entries": [], "version": "1.2"}}).to_string(),
        json!([{"name": "a", "value": "s3cret"}]).to_string(),
        json!({"s3cret": 1}).to_string(),
        json!(["s3cret"]).to_string(),
        "[]".to_owned(),
        "7".to_owned(),
        "{\"cookies\": [".to_owned(),
        "\n".to_owned(),
        "<!doctype html><p>s3cret".to_owned(),
        "sid=s3cret; theme=dark".to_owned(),
        "Cookie: sid=s3cret".to_owned(),
        "s3cret".to_owned(),
        "SQLite format 3\0s3cret".to_owned(),
        "PK\u{3}\u{4}s3cret".to_owned(),
        "age-encryption.org/v1\n".to_owned(),
    ]
    .into_iter()
    .map(String::into_bytes)
    .chain([b"{\"a\": \"caf\xe9\"}".to_vec(), b"\xff\xfe{\0}".to_vec(), vec![7, 0, 9, 0xff]])
    .collect();
    let refused = files.iter().map(|file| read(file).unwrap_err().to_string());
    let refused = refused.collect::<Vec<_>>().join("\n");
    assert!(!refused.contains("s3cret"), "{refused}");
    insta::assert_snapshot!(refused, @r"
    this is a document with several sessions or states in it; expected one, found backup, storageState
    save the one that you want as a file of its own
    this is what a node answers about a state, with its secrets hidden; expected them
    ask with reveal=true, by a key with the scope reveal
    this is a file that is sealed for a node; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    baton import on the node that it was sealed for takes it
    this is a HAR, which tells what the network did and not what a browser holds; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a list of names and values, which does not say whose they are; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a JSON object of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a JSON list of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is empty; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is JSON, but neither an object nor a list; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a damaged JSON file; expected JSON to the end, found a fault: EOF while parsing a list at line 1 column 13
    this is empty; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a page in HTML or XML; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a line of cookies, which does not say whose they are; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a line of cookies, which does not say whose they are; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a text of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    this is a database of SQLite; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    the folder of the profile that it lies in is taken: baton import FOLDER
    this is an archive, or a compressed file; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    unpack it first
    this is a sealed file; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    baton import FILE --identity KEYS opens it
    this is a text in an unknown encoding; expected UTF-8 or UTF-16, found byte 10 to be neither
    this is a text in an unknown encoding; expected UTF-8 or UTF-16, found byte 2 to be neither
    this is no text; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt
    ");
    assert!(matches!(text(b"PK\x03\x04"), Err(ImportError::Other { form: FileForm::Archive })));
}

#[test]
fn members_that_nobody_knows_are_counted_within_a_bound() {
    let mut cookie = json!({"name": "a", "value": "1", "domain": "app.test", "hidden": "s3cret"});
    let mut origin = json!({"origin": "https://app.test", "localStorage": [], "cacheStorage": [1]});
    origin["indexedDB"] = json!([{"name": "app", "version": 1, "hidden": true, "stores": []}]);
    for number in 0..40 {
        origin[format!("more{number:02}")] = json!(number);
    }
    cookie["\u{7}odd"] = json!(1);
    let file = json!({"cookies": [cookie, cookie], "origins": [origin], "name": "s3cret"});
    let told = told(file.to_string().as_bytes());
    assert!(!told.contains("s3cret") && told.lines().count() < 30, "{told}");
    insta::assert_snapshot!(told.lines().filter(|line| !line.contains("more0")).collect::<Vec<_>>().join("\n"), @r#"
    a storageState file
    cookie app.test/ a=1
    localStorage https://app.test/: 0
    left out, app.test/ a: a later cookie in the file is the same cookie
    left out, cookies: "hidden" is no member that is known here (2 times): it is left out
    left out, cookies: "odd" is no member that is known here (2 times): it is left out
    left out, https://app.test indexedDB[0]: "hidden" is no member that is known here: it is left out
    left out, origins: "cacheStorage" is no member that is known here: it is left out
    left out, origins: "more10" is no member that is known here: it is left out
    left out, origins: "more11" is no member that is known here: it is left out
    left out, origins: "more12" is no member that is known here: it is left out
    left out, origins: "more13" is no member that is known here: it is left out
    left out, origins: "more14" is no member that is known here: it is left out
    left out, origins: "more15" is no member that is known here: it is left out
    left out, origins: "more16" is no member that is known here: it is left out
    left out, origins: "more17" is no member that is known here: it is left out
    left out, origins: "more18" is no member that is known here: it is left out
    left out, origins: 21 other members are not known here either
    left out, the document: "name" is no member that is known here: it is left out
    "#);
}

#[test]
fn cookies_keep_the_order_in_which_a_browser_sends_them() {
    let cookie = |name: &str, domain: &str, path: &str, value: &str| {
        json!({
        "name": name, "value": value, "domain": domain, "path": path, "secure": true})
    };
    let named = |state: &State| -> Vec<String> {
        state.cookies.iter().map(|cookie| cookie.value.clone()).collect()
    };
    for (first, second) in [("app.test", ".app.test"), (".app.test", "app.test")] {
        let file = json!({"cookies": [
            cookie("z", "other.test", "/", "other"), cookie("sid", first, "/", "1"),
            cookie("sid", second, "/", "2"), cookie("a", "app.test", "/", "3"),
            cookie("sid", "app.test", "/deep", "0")]});
        let (state, _) = playwright::read(file.to_string().as_bytes()).unwrap();
        assert_eq!(named(&state), ["0", "1", "2", "3", "other"]);
        let (again, _) = baton_session::parts::join(&baton_session::parts::split(&state));
        assert_eq!(named(&again), named(&state), "over a snapshot");
        let (written, _) = playwright::write(&state);
        assert_eq!(named(&playwright::read(written.as_bytes()).unwrap().0), named(&state));
        let own = wire::write(&SessionFile { state: state.clone(), ..SessionFile::default() });
        assert_eq!(named(&wire::read(own.as_bytes()).unwrap().0.state), named(&state));
    }
}
