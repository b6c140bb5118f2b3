//! `baton export` and `baton import` on a folder without a browser, as the guide tells.

use super::fixture::{Folder, stderr};
use age::secrecy::ExposeSecret;
use std::path::Path;

const STATE: &str = r#"{"cookies":[{"name":"sid","value":"s3cret","domain":"shop.test","path":"/",
    "expires":-1,"httpOnly":true,"secure":true,"sameSite":"Lax"}],"origins":[]}"#;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder with a session that came as a file.
fn with_a_session() -> Folder {
    let folder = Folder::new();
    let file = folder.data().with_file_name("first.json");
    std::fs::write(&file, STATE).unwrap();
    folder.run(&["import", text(&file), "--name", "shop"]).success();
    folder
}

/// Every command of the guide is run, in its order, but for the one that starts a browser.
#[test]
fn the_guide_can_be_followed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/move-a-login.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (first, second) = (with_a_session(), Folder::new());
    let mine = age::x25519::Identity::generate();
    let identity = first.data().with_file_name("identity");
    std::fs::write(&identity, mine.to_string().expose_secret()).unwrap();
    let shown = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";
    let mut followed = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("$ baton ")) {
        if line.contains("sessions resume") {
            continue;
        }
        let line = line
            .replace("/media/usb", text(first.data().parent().unwrap()))
            .replace("/srv/identity", text(&identity))
            .replace("/srv/baton", text(&second.data()))
            .replace(shown, &mine.to_public().to_string());
        let args: Vec<&str> = line.split(' ').collect();
        first.run(&args).success();
        followed += 1;
    }
    assert_eq!(followed, 8);
    let (_, list) = second.json(&["sessions", "list"]);
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["from-playwright", "sealed", "shop"]);
    first.stop_node();
    second.stop_node();
}

#[test]
fn errors_say_what_to_do_and_show_no_secret() {
    let folder = with_a_session();
    let place = |name: &str| folder.data().with_file_name(name);
    std::fs::write(place("noise"), "s3cret").unwrap();
    std::fs::write(place("bytes"), b"\xff\xfe").unwrap();
    std::fs::write(place("sealed"), "age-encryption.org/v1\ns3cret").unwrap();
    std::fs::write(place("keys"), "AGE-SECRET-KEY-1S3CRET").unwrap();
    let names = ["nowhere", "noise", "bytes", "sealed", "keys", "first.json"];
    let paths = names.map(|name| text(&place(name)).to_owned());
    let [nowhere, noise, bytes, sealed, keys, taken] = paths.each_ref().map(String::as_str);
    let runs: [(&[&str], i32); 6] = [
        (&["import", nowhere], 3),
        (&["import", noise], 2),
        (&["import", bytes], 2),
        (&["import", sealed], 2),
        (&["import", sealed, "--identity", keys], 2),
        (&["import", taken, "--name", "shop"], 4),
    ];
    for (args, code) in runs {
        let told = stderr(&folder.run(args).code(code), &folder.data());
        assert!(told.starts_with("error: ") && !told.to_lowercase().contains("s3cret"), "{told}");
    }
    let out = folder.run(&["export", "shop"]).success();
    let told = stderr(&out, &folder.data());
    assert_eq!(told.trim(), "whoever has this file is logged in: keep it as you keep a password");
    assert!(serde_json::from_slice::<serde_json::Value>(&out.get_output().stdout).is_ok());
    folder.stop_node();
}
