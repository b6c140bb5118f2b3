//! `baton dashboard`: what opens a browser is given a private file, which leads to the page once.

use super::fixture::{Folder, stderr, stdout};
use reqwest::StatusCode;
use serde_json::json;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use url::Url;

/// Writes a program in the place of `xdg-open`, which notes what it was given and keeps a copy of the file.
fn stand_in(programs: &Path) {
    let opener = programs.join("xdg-open");
    let place = programs.display();
    let text = format!(
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > {place}/given\ncp -p \"$1\" {place}/door.html\n"
    );
    fs::write(&opener, text).unwrap();
    fs::set_permissions(&opener, Permissions::from_mode(0o755)).unwrap();
}

/// What the page answers to a code, at the name under which it lives.
async fn redeem(page: &Url, code: &str) -> StatusCode {
    let host = format!("{}:{}", page.host_str().unwrap(), page.port().unwrap());
    let here = format!("http://127.0.0.1:{}/page/session", page.port().unwrap());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let call = http.post(here).header("host", host).json(&json!({ "code": code }));
    call.send().await.unwrap().status()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_is_led_to_the_page_by_a_private_file_and_no_argument_has_the_code() {
    let folder = Folder::new();
    let programs = folder.data().with_file_name("programs");
    fs::create_dir(&programs).unwrap();
    stand_in(&programs);
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let run = folder.run_with(&["dashboard"], &[("PATH", &path)]).success();
    let said = stdout(&run, &folder.data());
    assert!(said.starts_with("opened http://baton-"), "{said}");

    let given = fs::read_to_string(programs.join("given")).unwrap();
    assert_eq!(Path::new(given.trim_end()), folder.data().join("dashboard.html"));
    let door = programs.join("door.html");
    assert_eq!(fs::metadata(&door).unwrap().permissions().mode() & 0o777, 0o600);
    let door = fs::read_to_string(door).unwrap();
    let (_, leads) = door.split_once("0; url=").unwrap();
    let page = Url::parse(leads.split_once('"').unwrap().0).unwrap();
    let code = page.fragment().unwrap().strip_prefix("code=").unwrap();
    for text in [&given, &said, &stderr(&run, &folder.data())] {
        assert!(!text.contains(code), "only the file has the code: {text}");
    }
    assert_eq!(redeem(&page, code).await, StatusCode::OK);
    assert_eq!(redeem(&page, code).await, StatusCode::UNAUTHORIZED, "it counts once");
    folder.stop_node();
}

#[test]
fn where_nothing_opens_a_browser_it_is_said_what_prints_the_address() {
    let folder = Folder::new();
    folder.run(&["url"]).success();
    let programs = folder.data().with_file_name("programs");
    fs::create_dir(&programs).unwrap();
    let path = programs.to_str().unwrap();
    let run = folder.run_with(&["dashboard"], &[("PATH", path)]).code(1);
    assert_eq!(stdout(&run, &folder.data()), "");
    insta::assert_snapshot!(stderr(&run, &folder.data()), @"
    error: expected xdg-open, which opens a browser, found none
      baton dashboard --print prints the address
    ");
    folder.stop_node();
}
