//! `baton profile`, and `baton import` of a profile, on folders that no browser has seen.

use super::fixture::{Folder, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Two sites that only end alike, and what no profile takes.
const STATE: &str = r#"{"cookies":[
    {"name":"sid","value":"s3cret","domain":".shop.test","path":"/","expires":-1,
     "httpOnly":true,"secure":true,"sameSite":"Lax"},
    {"name":"sid","value":"s3cret","domain":"notshop.test","path":"/","expires":4000000000,
     "httpOnly":true,"secure":true,"sameSite":"Lax"}],
    "origins":[
    {"origin":"https://www.shop.test","localStorage":[{"name":"token","value":"s3cret"}]},
    {"origin":"https://notshop.test","localStorage":[{"name":"token","value":"s3cret"}]}]}"#;

/// A folder in which people work: beside the data folder, which a node may make.
struct Desk(Folder);

impl Desk {
    fn new() -> Self {
        let desk = Self(Folder::new());
        fs::write(desk.at("state.json"), STATE).unwrap();
        desk
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.data().with_file_name(name)
    }

    /// Runs the program with this folder as home; a word that begins with `@` is a file in it.
    fn run(&self, args: &[&str]) -> assert_cmd::assert::Assert {
        let home = self.at("home");
        let path = |word: &&str| match word.strip_prefix('@') {
            Some(name) => self.at(name).to_str().unwrap().to_owned(),
            None => (*word).to_owned(),
        };
        let args: Vec<String> = args.iter().map(path).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.0.run_with(&args, &[("HOME", home.to_str().unwrap())])
    }

    fn json(&self, args: &[&str], code: i32) -> Value {
        let run = self.run(&[&["--json"], args].concat()).code(code);
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    }

    fn tidy(&self, text: &str) -> String {
        text.replace(self.0.data().parent().unwrap().to_str().unwrap(), "DESK")
    }

    fn says(&self, args: &[&str], code: i32) -> String {
        let said = stderr(&self.run(args).code(code), &self.0.data());
        assert!(!said.contains("s3cret"), "{said}");
        self.tidy(&said)
    }

    /// A browser of this home with profiles that have names.
    fn with_browser(&self, folder: &str, profiles: &[(&str, &str)]) {
        let noted = profiles.iter().map(|(folder, name)| {
            let profile = self.at(&format!("made-{folder}"));
            if !profile.exists() {
                self.run(&["profile", "compile", "@state.json", profile.to_str().unwrap()]);
            }
            ((*folder).to_owned(), serde_json::json!({ "name": name }))
        });
        let noted: serde_json::Map<String, Value> = noted.collect();
        let home = self.at("home").join(folder);
        fs::create_dir_all(&home).unwrap();
        for (folder, _) in profiles {
            let made = self.at(&format!("made-{folder}")).join("Default");
            fs::rename(made, home.join(folder)).unwrap();
        }
        let noted = serde_json::json!({ "profile": { "info_cache": noted } });
        fs::write(home.join("Local State"), noted.to_string()).unwrap();
    }
}

#[test]
fn a_state_becomes_a_profile_and_is_read_back() {
    let desk = Desk::new();
    let run = desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    insta::assert_snapshot!(desk.tidy(&stdout(&run, &desk.0.data())), @r#"
    DESK/profile
    KIND           WHERE                   COUNT  OUTCOME   SOURCE    VERIFIED  REASON
    cookie         notshop.test            1      restored  snapshot  no
    cookie         shop.test               1      restored  snapshot  no
    local storage  https://notshop.test/   1      restored  snapshot  no
    local storage  https://www.shop.test/  1      restored  snapshot  no
    4 restored, 0 rejected, 0 not portable, 0 pending

    agent-browser  AGENT_BROWSER_PROFILE=DESK/profile
    Playwright     chromium.launchPersistentContext("DESK/profile")
    "#);
    insta::assert_snapshot!(stderr(&run, &desk.0.data()), @"whoever has this folder is logged in: keep it as you keep a password");
    let made = fs::metadata(desk.at("profile")).unwrap();
    assert_eq!(made.permissions().mode() & 0o777, 0o700);
    let form = ["--format", "storage-state"];
    let read =
        desk.json(&[&["profile", "read", "@profile", "-o", "@read.json"], &form[..]].concat(), 0);
    assert_eq!(read["holds"]["cookies"], 2);
    assert_eq!(fs::metadata(desk.at("read.json")).unwrap().permissions().mode() & 0o777, 0o600);
    let sorted = |name: &str| {
        let mut state: Value = serde_json::from_slice(&fs::read(desk.at(name)).unwrap()).unwrap();
        for (list, key) in [("cookies", "domain"), ("origins", "origin")] {
            let list = state[list].as_array_mut().unwrap();
            list.sort_by_key(|item| item[key].as_str().unwrap().to_owned());
        }
        state
    };
    assert_eq!(sorted("read.json"), sorted("state.json"));
    assert!(!desk.0.data().exists(), "no node was started");
}

#[test]
fn what_no_profile_takes_is_listed() {
    let desk = Desk::new();
    let state = r#"{"state":{"cookies":[{"name":"old","value":"s3cret","domain":"shop.test",
        "path":"/","expires":1}],"origins":[]},"tabs":[{"url":"https://shop.test/cart"}]}"#;
    fs::write(desk.at("session.json"), state).unwrap();
    let made = desk.json(&["profile", "compile", "@session.json", "@profile"], 6);
    let items = made["receipt"]["items"].as_array().unwrap();
    let lines: Vec<String> = items
        .iter()
        .map(|item| format!("{} {} {}", item["kind"], item["outcome"], item["reason"]))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    "cookie" "rejected" "it expired"
    "tab" "not_portable" "a profile has no tabs: baton import and baton sessions resume bring them"
    "#);
}

#[test]
fn a_profile_that_is_there_is_only_merged_into() {
    let desk = Desk::new();
    desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    let again = ["profile", "compile", "@state.json", "@profile"];
    insta::assert_snapshot!(desk.says(&again, 4), @"
    error: expected DESK/profile to be an empty folder, or none, found a profile in it
      give --merge to put the state into that profile
    ");
    desk.run(&[&again[..], &["--merge"]].concat()).success();
    fs::create_dir(desk.at("other")).unwrap();
    fs::write(desk.at("other/file"), "mine").unwrap();
    let other = ["profile", "compile", "@state.json", "@other"];
    insta::assert_snapshot!(desk.says(&other, 4), @"error: expected DESK/other to be an empty folder, or none, found files in it");
    let nowhere = ["profile", "compile", "@state.json", "@nowhere", "--merge"];
    insta::assert_snapshot!(desk.says(&nowhere, 3), @"error: expected a Chrome profile at DESK/nowhere (a folder with a folder Default), found none");
    symlink("elsewhere-42", desk.at("profile/SingletonLock")).unwrap();
    insta::assert_snapshot!(desk.says(&[&again[..], &["--merge"]].concat(), 4), @r#"error: expected nobody to use the profile at DESK/profile, found it locked by process 42 on host "elsewhere": close that browser, or remove SingletonLock if it is gone"#);
    assert_eq!(fs::read(desk.at("other/file")).unwrap(), b"mine");
}

#[test]
fn what_is_no_profile_or_a_damaged_one_says_so() {
    let desk = Desk::new();
    fs::create_dir(desk.at("empty")).unwrap();
    insta::assert_snapshot!(desk.says(&["profile", "read", "@empty", "-o", "@out"], 3), @"error: expected a Chrome profile at DESK/empty (a folder with Cookies or Local Storage in it, or in its folder Default), found none");
    insta::assert_snapshot!(desk.says(&["profile", "read", "@empty", "--json"], 2), @"");
    insta::assert_snapshot!(desk.says(&["profile", "compile", "@empty", "@new"], 1), @"error: could not read DESK/empty: Is a directory (os error 21)");
    fs::write(desk.at("noise"), r#"{"s3cret":1}"#).unwrap();
    insta::assert_snapshot!(desk.says(&["profile", "compile", "@noise", "@new"], 2), @"error: expected an object with cookies or origins, found an object with neither; is this a Playwright storageState file?");
    assert!(!desk.at("new").exists() && !desk.at("out").exists());

    desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    let cookies = desk.at("profile/Default/Cookies");
    fs::write(&cookies, "SQLite format 3\0 and then noise").unwrap();
    let run = desk.run(&["profile", "read", "@profile", "-o", "@out"]).code(6);
    insta::assert_snapshot!(desk.tidy(&stdout(&run, &desk.0.data())), @"
    DESK/out: 561 B
    2 localStorage areas
    NOT IN IT  WHERE        COUNT  REASON
    cookie     all cookies  1      expected a whole SQLite database, found one that cannot be read: file is not a database
    ");
    assert_eq!(fs::read(&cookies).unwrap(), b"SQLite format 3\0 and then noise");
}

#[test]
fn the_chosen_profile_of_ones_own_browser_is_imported() {
    let desk = Desk::new();
    desk.with_browser(".config/google-chrome", &[("Default", "Ada"), ("Profile 1", "Work")]);
    let before = tree(&desk.at("home/.config"));
    let import = ["import", "--from", "chrome", "--name", "mine"];
    insta::assert_snapshot!(desk.says(&import, 2), @"
    error: expected to be told which profile of Google Chrome is meant, found 2
      name one with --profile, by its name or its folder:
      Ada (DESK/home/.config/google-chrome/Default)
      Work (DESK/home/.config/google-chrome/Profile 1)
    ");
    insta::assert_snapshot!(desk.says(&[&import[..], &["--profile", "Work"]].concat(), 2), @"
    error: expected somebody to ask before the logins of Google Chrome are taken, found no terminal
      give --yes to go on without asking
    ");
    insta::assert_snapshot!(desk.says(&[&import[..], &["--profile", "Eve"]].concat(), 3), @r#"
    error: expected one profile of Google Chrome that is called "Eve", found 0
      name one with --profile, by its name or its folder:
      Ada (DESK/home/.config/google-chrome/Default)
      Work (DESK/home/.config/google-chrome/Profile 1)
    "#);
    insta::assert_snapshot!(desk.says(&["import", "--from", "edge", "--name", "mine"], 3), @"
    error: expected a profile of Microsoft Edge in DESK/home/.config/microsoft-edge, DESK/home/.var/app/com.microsoft.Edge/config/microsoft-edge, found none
      give the folder of a profile that is elsewhere: baton import DIR
    ");
    let only = ["--profile", "Work", "--domain", "shop.test", "--yes"];
    assert!(!desk.0.data().exists(), "no node was started");
    insta::assert_snapshot!(desk.says(&[&import[..], &only].concat(), 0).split("starting").next().unwrap(), @"
    Google Chrome: Work (DESK/home/.config/google-chrome/Profile 1)
    what is taken: the logins of shop.test and below
    whoever may use the session, an agent for example, is logged in as you
    ");
    let mine = desk
        .json(&["import", "--from", "chrome", "--profile", "Default", "-y", "--name", "all"], 0);
    assert_eq!(
        (&mine["holds"]["cookies"], &mine["holds"]["local_storage"]),
        (&2.into(), &2.into())
    );
    desk.run(&["export", "mine", "--format", "storage-state", "-o", "@mine.json"]).success();
    let state = fs::read_to_string(desk.at("mine.json")).unwrap();
    assert!(state.contains(".shop.test") && !state.contains("notshop.test"), "{state}");
    assert_eq!(tree(&desk.at("home/.config")), before, "what was read is as it was");
    desk.0.stop_node();
}

/// Every file below a folder, with what is in it.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push((path.clone(), fs::read(path).unwrap()))
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_folder_is_imported_like_a_file() {
    let desk = Desk::new();
    desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    let databases = desk.at("profile/Default/IndexedDB/https_shop.test_0.indexeddb.leveldb");
    fs::create_dir_all(&databases).unwrap();
    fs::write(databases.join("CURRENT"), "MANIFEST-000001").unwrap();
    insta::assert_snapshot!(desk.says(&["import", "@profile"], 2), @"
    error: expected a name for the session, found none, for a profile has none that fits
      give one with --name
    ");
    insta::assert_snapshot!(desk.says(&["import", "@state.json", "--domain", "shop.test"], 2), @"
    error: expected the folder of a profile together with --domain, found another file at DESK/state.json
      leave --domain away: a file is imported as a whole
    ");
    let run = desk.run(&["import", "@profile", "--name", "shop"]).code(6);
    let said = stdout(&run, &desk.0.data());
    let said: Vec<&str> = said.lines().skip(4).collect();
    insta::assert_snapshot!(said.join("\n"), @"
    taken: 2 cookies, 2 localStorage areas, 1 tab
    NOT IN IT   WHERE               COUNT  REASON
    indexed db  https://shop.test/  1      only a browser can read it: open the profile in one, and use baton attach
    baton sessions resume shop brings it to life
    ");
    desk.0.stop_node();
}
