//! Each form of a file that tools write of their browsers: the server gets what it got before.

use super::{SENT, Scene};
use serde_json::{Map, Value, json};

/// The cookies of a browser, as the DevTools protocol tells them.
async fn told_by_browser(scene: &Scene) -> Vec<Value> {
    // Wherever its tab is by now: the node hears of that a moment later.
    let page = scene.page("shop", scene.url("/").as_str()).await;
    let told = page.session().call("Network.getAllCookies", json!({})).await.unwrap();
    told["cookies"].as_array().unwrap().clone()
}

/// A cookie with members under other names, and with others besides; null takes one away.
fn with(cookie: &Value, names: &[(&str, &str)], more: &Value) -> Value {
    let names =
        names.iter().filter_map(|(old, new)| Some(((*new).to_owned(), cookie.get(*old)?.clone())));
    let mut made: Map<String, Value> = names.collect();
    made.extend(more.as_object().unwrap().clone());
    Value::Object(made)
}

/// Of the exact form: the members that `WebDriver` has.
fn selenium(cookie: &Value) -> Value {
    let names = [
        ("name", "name"),
        ("value", "value"),
        ("path", "path"),
        ("domain", "domain"),
        ("secure", "secure"),
        ("httpOnly", "httpOnly"),
    ];
    let end = cookie["expires"].as_f64().unwrap().floor();
    with(cookie, &names, &json!({"expiry": end, "sameSite": "Lax"}))
}

/// Of the exact form: what extensions get of `chrome.cookies` and write down.
fn editor(cookie: &Value) -> Value {
    let names = [
        ("name", "name"),
        ("value", "value"),
        ("path", "path"),
        ("domain", "domain"),
        ("secure", "secure"),
        ("httpOnly", "httpOnly"),
        ("expires", "expirationDate"),
    ];
    let is_host_only = !cookie["domain"].as_str().unwrap().starts_with('.');
    let more = json!({"hostOnly": is_host_only, "sameSite": "unspecified", "session": false,
        "storeId": "0", "id": 1});
    with(cookie, &names, &more)
}

/// Of the exact form: Steel's context of a session.
fn context(cookies: &[Value], origin: &str) -> Value {
    json!({"cookies": cookies, "localStorage": {origin: {"token": "kept"}},
        "sessionStorage": {origin: {"step": "2"}}, "indexedDB": {origin: []}})
}

fn lines(cookies: &[Value]) -> String {
    let flag = |yes: bool| if yes { "TRUE" } else { "FALSE" };
    let line = |cookie: &Value| {
        let [domain, path, name, value] =
            ["domain", "path", "name", "value"].map(|name| cookie[name].as_str().unwrap());
        let http_only = if cookie["httpOnly"] == true { "#HttpOnly_" } else { "" };
        let end = cookie["expires"].as_f64().unwrap().floor();
        let below = flag(domain.starts_with('.'));
        format!("{http_only}{domain}\t{below}\t{path}\tFALSE\t{end}\t{name}\t{value}\n")
    };
    let lines: String = cookies.iter().map(line).collect();
    format!("# Netscape HTTP Cookie File\n\n{lines}")
}

fn utf16(text: &str) -> Vec<u8> {
    [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_gets_the_same_cookies_in_the_same_order_whatever_file_they_were_in() {
    let scene = Scene::set().await;
    assert_eq!(scene.log_in("shop").await, SENT, "before");
    let cookies = told_by_browser(&scene).await;
    let origin = scene.url("").origin().ascii_serialization();
    let list = Value::from(cookies.clone()).to_string();
    let state = json!({"cookies": cookies, "origins": null});
    let mut bare = cookies.clone();
    for cookie in bare.iter_mut().filter(|cookie| cookie["path"] == "/") {
        cookie.as_object_mut().unwrap().remove("path");
    }
    let files: [(&str, Vec<u8>); 10] = [
        ("cdp", list.clone().into_bytes()),
        ("selenium", cookies.iter().map(selenium).collect::<Value>().to_string().into_bytes()),
        ("editor", cookies.iter().map(editor).collect::<Value>().to_string().into_bytes()),
        ("netscape", lines(&cookies).into_bytes()),
        ("context", context(&cookies, &origin).to_string().into_bytes()),
        ("null-origins", state.to_string().into_bytes()),
        ("no-path", Value::from(bare).to_string().into_bytes()),
        ("mark", [b"\xef\xbb\xbf", list.as_bytes()].concat()),
        ("utf16", utf16(&list)),
        ("wrapped", json!({"storageState": {"cookies": cookies}}).to_string().into_bytes()),
    ];
    for (name, file) in files {
        let (left, sent) = scene.brings(name, &file, 0).await;
        assert_eq!((left, sent.as_str()), (Vec::new(), SENT), "{name}");
    }
    scene.strike().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cookie_of_firefox_without_secure_reaches_its_server_and_its_change_is_told() {
    let scene = Scene::set().await;
    let cookie = |name: &str, same_site: &str| {
        json!({"name": name, "value": "1",
        "domain": "shop.localhost", "path": "/", "expires": 1_900_000_000, "httpOnly": true,
        "secure": false, "sameSite": same_site})
    };
    let file = json!({"cookies": [cookie("sid", "None"), cookie("good", "Lax")], "origins": []});
    let (left, sent) = scene.brings("firefox", file.to_string().as_bytes(), 6).await;
    assert_eq!(sent, "sid=1; good=1");
    insta::assert_snapshot!(left.join("\n"), @"cookie shop.localhost/ sid: its SameSite=None without Secure becomes unspecified, for no server gets it else");
    scene.strike().await;
}
