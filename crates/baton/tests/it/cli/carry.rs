//! `baton export` and `baton import` on a folder without a browser.

use super::fixture::{Folder, stderr};
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
