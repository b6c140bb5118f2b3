//! What cannot be read or merged is told, and stays as it is, byte for byte.

use super::place::{Place, state};
use super::{read_plain, times, until_free};
use crate::story::browser;
use baton_browser::profile::compile::{compile, merge};
use baton_browser::profile::read::ProfileFolder;
use baton_session::permission::Setting;
use baton_session::{Permission, State};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn what_is_no_profile_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("file"), "text").unwrap();
    let mut lines = Vec::new();
    for name in ["empty", "file", "missing"] {
        let path = folder.path().join(name);
        lines.push(ProfileFolder::find(&path).unwrap_err().to_string());
        lines.push(merge(&State::default(), &path, times()).unwrap_err().to_string());
    }
    let lines = lines.join("\n").replace(folder.path().to_str().unwrap(), "here");
    insta::assert_snapshot!(lines, @r"
    expected a Chrome profile at here/empty (a folder with Cookies or Local Storage in it, or in its folder Default), found none
    expected a Chrome profile at here/empty (a folder with a folder Default), found none
    expected a Chrome profile at here/file (a folder with Cookies or Local Storage in it, or in its folder Default), found none
    expected a Chrome profile at here/file (a folder with a folder Default), found none
    expected a Chrome profile at here/missing (a folder with Cookies or Local Storage in it, or in its folder Default), found none
    expected a Chrome profile at here/missing (a folder with a folder Default), found none
    ");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing was made");
}

#[test]
fn a_profile_is_compiled_where_nothing_is() {
    let place = Place::new();
    let folder = place.profile.parent().unwrap();
    fs::write(folder.join("file"), "text").unwrap();
    let before = super::place::tree(folder);
    let lines = ["profile", "file", "file/below"].map(|name| {
        compile(&state("new", "2"), &folder.join(name), times()).unwrap_err().to_string()
    });
    let lines = lines.join("\n").replace(folder.to_str().unwrap(), "here");
    insta::assert_snapshot!(lines, @r"
    expected here/profile to be an empty folder, or none, found files in it
    could not read here/file: Not a directory (os error 20)
    could not create here/file: File exists (os error 17)
    ");
    assert_eq!(super::place::tree(folder), before);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let pipe = |path: &Path| mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let zeros = |path: &Path| symlink("/dev/zero", path).unwrap();
    let put: [fn(&Path); 2] = [pipe, zeros];
    let names = [
        "Cookies",
        "Local Storage/leveldb/CURRENT",
        "LocalStorage",
        "Preferences",
        "Sessions/Session_1",
    ];
    let mut lines = Vec::new();
    for put in put {
        let place = Place::with_leveldb();
        fs::create_dir_all(place.at("Sessions")).unwrap();
        for name in names.iter().filter(|name| **name != "LocalStorage") {
            let _ = fs::remove_file(place.at(name));
            put(&place.at(name));
        }
        lines.push(place.both());
        put(&place.at("LocalStorage"));
        lines.push(place.both());
    }
    insta::assert_snapshot!(lines.join("\n\n"), @r"
    cookie all cookies: expected a file, found something else
    local_storage all localStorage: could not read or write here/profile/Default/Local Storage/leveldb/CURRENT: expected a file, found something else
    tab all tabs: expected a file, found something else
    permission all permissions: could not read here/profile/Default/Preferences: expected a file, found something else
    could not copy here/profile/Default/Cookies: expected a file, found something else

    cookie all cookies: expected a file, found something else
    local_storage all localStorage: expected a file, found something else
    tab all tabs: expected a file, found something else
    permission all permissions: could not read here/profile/Default/Preferences: expected a file, found something else
    could not copy here/profile/Default/Cookies: expected a file, found something else

    cookie all cookies: expected a file, found something else
    local_storage all localStorage: could not read or write here/profile/Default/Local Storage/leveldb/CURRENT: expected a file, found something else
    tab all tabs: expected a file, found something else
    permission all permissions: could not read here/profile/Default/Preferences: expected a file, found something else
    could not copy here/profile/Default/Cookies: expected a file, found something else

    cookie all cookies: expected a file, found something else
    local_storage all localStorage: expected a file, found something else
    tab all tabs: expected a file, found something else
    permission all permissions: could not read here/profile/Default/Preferences: expected a file, found something else
    could not copy here/profile/Default/Cookies: expected a file, found something else
    ");
}

#[test]
fn a_merge_that_fails_at_any_step_leaves_everything() {
    let permission = Permission {
        name: "camera".to_owned(),
        origin: "https://app.test".to_owned(),
        setting: Setting::Allow,
        changed: None,
    };
    let mut state = state("new", "2");
    state.environment.permissions = vec![permission];
    let breaks: [(&str, &str); 4] = [
        ("Cookies", ""),
        ("Cookies-journal", ""),
        ("LocalStorage", "no database"),
        ("Preferences", "{"),
    ];
    let lines = breaks.map(|(name, content)| {
        let place = Place::new();
        // An empty one stands for a folder where a file should be.
        if content.is_empty() {
            let _ = fs::remove_file(place.at(name));
            fs::create_dir(place.at(name)).unwrap();
        } else {
            fs::write(place.at(name), content).unwrap();
        }
        place.merge_state(&state)
    });
    insta::assert_snapshot!(lines.join("\n"), @r"
    could not copy here/profile/Default/Cookies: expected a file, found something else
    could not copy here/profile/Default/Cookies-journal: expected a file, found something else
    could not read the localStorage of here/profile: expected a whole SQLite database, found one that cannot be read: file is not a database
    could not read here/profile/Default/Preferences: expected the browser's settings in JSON; they are left as they are
    ");
}

#[test]
fn a_profile_that_is_locked_elsewhere_is_not_merged_into() {
    let place = Place::new();
    symlink("far-away-42", place.profile.join("SingletonLock")).unwrap();
    assert_eq!(place.read(), "", "reading takes nothing from anybody");
    insta::assert_snapshot!(place.merge(), @r#"expected nobody to use the profile at here/profile, found it locked by process 42 on host "far-away": close that browser, or remove SingletonLock if it is gone"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_with_a_browser_on_it_is_not_merged_into() {
    let place = Place::new();
    let kept = browser(&place.profile).await;
    let refused = merge(&state("new", "2"), &place.profile, times()).unwrap_err().to_string();
    let refused = refused.replace(place.profile.to_str().unwrap(), "here");
    let refused = refused.replace(&kept.ready.browser_pid.unwrap().to_string(), "PID");
    insta::assert_snapshot!(refused, @"expected nobody to use the profile at here, found it open in process PID: close that browser first");
    // The profile, and the files of its browser.
    assert_eq!(fs::read_dir(place.profile.parent().unwrap()).unwrap().count(), 2);
    kept.close().await;
    until_free(&place.profile).await;
    merge(&state("new", "2"), &place.profile, times()).unwrap();
    assert_eq!(read_plain(&place.profile).state.cookies.len(), 2);
}

#[test]
fn the_folder_that_a_link_leads_to_is_merged_into() {
    let place = Place::new();
    let link = place.profile.with_file_name("link");
    symlink(&place.profile, &link).unwrap();
    merge(&state("new", "2"), &link, times()).unwrap();
    assert!(link.is_symlink());
    assert_eq!(read_plain(&place.profile).state.cookies.len(), 2);
    assert_eq!(fs::read_dir(place.profile.parent().unwrap()).unwrap().count(), 2);
}
