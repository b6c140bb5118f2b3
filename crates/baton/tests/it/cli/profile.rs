//! `baton profile` on folders that no browser has seen.

use super::fixture::{Folder, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

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
pub(crate) struct Desk(pub(crate) Folder);

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self(Folder::new());
        fs::write(desk.at("state.json"), STATE).unwrap();
        desk
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.data().with_file_name(name)
    }

    /// Runs the program with this folder as home; a word that begins with `@` is a file in it.
    pub(crate) fn run(&self, args: &[&str]) -> assert_cmd::assert::Assert {
        let home = self.at("home");
        let path = |word: &&str| match word.strip_prefix('@') {
            Some(name) => self.at(name).to_str().unwrap().to_owned(),
            None => (*word).to_owned(),
        };
        let args: Vec<String> = args.iter().map(path).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        self.0.run_with(&args, &[("HOME", home.to_str().unwrap())])
    }

    pub(crate) fn json(&self, args: &[&str], code: i32) -> Value {
        let run = self.run(&[&["--json"], args].concat()).code(code);
        serde_json::from_slice(&run.get_output().stdout).unwrap()
    }

    pub(crate) fn tidy(&self, text: &str) -> String {
        text.replace(self.0.data().parent().unwrap().to_str().unwrap(), "DESK")
    }

    pub(crate) fn says(&self, args: &[&str], code: i32) -> String {
        let said = stderr(&self.run(args).code(code), &self.0.data());
        assert!(!said.contains("s3cret"), "{said}");
        self.tidy(&said)
    }
}

#[test]
fn a_state_becomes_a_profile_and_is_read_back() {
    let desk = Desk::new();
    let run = desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    insta::assert_snapshot!(desk.tidy(&stdout(&run, &desk.0.data())), @r#"
    DESK/profile
    KIND           WHERE                   COUNT  OUTCOME   SOURCE    VERIFIED
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
    let unnamed = desk.json(&["profile", "read", "@empty"], 2);
    assert_eq!(unnamed["error"]["code"], "usage");
    insta::assert_snapshot!(desk.says(&["profile", "compile", "@empty", "@new"], 1), @"error: could not read DESK/empty: Is a directory (os error 21)");
    fs::write(desk.at("noise"), r#"{"s3cret":1}"#).unwrap();
    insta::assert_snapshot!(desk.says(&["profile", "compile", "@noise", "@new"], 2), @"error: this is a JSON object of another kind; expected a session file, a Playwright storageState, a list of cookies in JSON, or a cookies.txt");
    assert!(!desk.at("new").exists() && !desk.at("out").exists());

    desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    let cookies = desk.at("profile/Default/Cookies");
    fs::write(&cookies, "SQLite format 3\0 and then noise").unwrap();
    let run = desk.run(&["profile", "read", "@profile", "-o", "@out"]).code(6);
    // How large the file is hangs on how the instant in it is written.
    let said = stdout(&run, &desk.0.data());
    let (_, said) = said.split_once('\n').unwrap();
    insta::assert_snapshot!(said, @"
    2 localStorage areas
    NOT IN IT  WHERE        COUNT  REASON
    cookie     all cookies  1      expected a whole SQLite database, found one that
                                   cannot be read: file is not a database
    ");
    assert_eq!(fs::read(&cookies).unwrap(), b"SQLite format 3\0 and then noise");
}

#[test]
fn of_several_profiles_the_last_used_is_read_and_the_others_are_named() {
    let desk = Desk::new();
    let people = desk.at("people");
    fs::create_dir(&people).unwrap();
    for name in ["Default", "Profile 1", "Profile 2"] {
        desk.run(&["profile", "compile", "@state.json", "@made"]).success();
        fs::rename(desk.at("made/Default"), people.join(name)).unwrap();
        fs::remove_dir_all(desk.at("made")).unwrap();
    }
    let noted = r#"{"profile":{"last_used":"Profile 1","info_cache":{
        "Default":{"name":"Ada"},"Profile 1":{"name":"Work"}}}}"#;
    fs::write(people.join("Local State"), noted).unwrap();
    let read = ["profile", "read", "@people", "-o", "@read.json"];
    insta::assert_snapshot!(desk.says(&read, 0), @r"
    of 3 profiles Work (Profile 1) was taken, which its browser used last; not taken: Ada (Default), Profile 2
    to take another one name its folder: DESK/people/Default
    whoever has this file is logged in: keep it as you keep a password
    ");
    let answer = desk.json(&read, 0);
    let told = ["profile", "profile_name", "other_profiles"].map(|name| answer[name].to_string());
    insta::assert_snapshot!(desk.tidy(&told.join("\n")), @r#"
    "DESK/people/Profile 1"
    "Work"
    [{"folder":"DESK/people/Default","name":"Ada"},{"folder":"DESK/people/Profile 2"}]
    "#);
    let import = desk.json(&["import", "@people", "--name", "work"], 0);
    assert_eq!(import["other_profiles"], answer["other_profiles"]);
    assert_eq!(import["profile_name"], "Work");
    let one = desk.json(&["profile", "read", "@people/Default", "-o", "@read.json"], 0);
    assert_eq!((&one["other_profiles"], &one["profile_name"]), (&Value::Null, &Value::Null));
    assert!(one["profile"].as_str().unwrap().ends_with("/people/Default"));
    desk.0.stop_node();
}
