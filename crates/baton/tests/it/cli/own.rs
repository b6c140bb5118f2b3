//! `baton import` of profiles: a folder, and those of a person's own browser, in a home of the test's.

use super::fixture::stdout;
use super::profile::Desk;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A browser of this home with profiles that have names.
fn with_browser(desk: &Desk, folder: &str, profiles: &[(&str, &str)]) {
    let noted = profiles.iter().map(|(folder, name)| {
        let profile = desk.at(&format!("made-{folder}"));
        if !profile.exists() {
            desk.run(&["profile", "compile", "@state.json", profile.to_str().unwrap()]);
        }
        ((*folder).to_owned(), serde_json::json!({ "name": name }))
    });
    let noted: serde_json::Map<String, Value> = noted.collect();
    let home = desk.at("home").join(folder);
    fs::create_dir_all(&home).unwrap();
    for (folder, _) in profiles {
        let made = desk.at(&format!("made-{folder}")).join("Default");
        fs::rename(made, home.join(folder)).unwrap();
    }
    let noted = serde_json::json!({ "profile": { "info_cache": noted } });
    fs::write(home.join("Local State"), noted.to_string()).unwrap();
}

#[test]
fn the_chosen_profile_of_ones_own_browser_is_imported() {
    let desk = Desk::new();
    with_browser(&desk, ".config/google-chrome", &[("Default", "Ada"), ("Profile 1", "Work")]);
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

/// The environment of a session that was imported from this browser.
fn noted(desk: &Desk, from: &str) -> Value {
    let (file, to) = (format!("{from}.json"), format!("@{from}.json"));
    desk.json(&["import", "--from", from, "-y", "--name", from], 0);
    desk.run(&["export", from, "--format", "session", "-o", &to]).success();
    let file: Value = serde_json::from_slice(&fs::read(desk.at(&file)).unwrap()).unwrap();
    file["state"]["environment"].clone()
}

#[test]
fn a_session_notes_from_which_browser_it_was_imported() {
    let desk = Desk::new();
    let browsers = [
        ("chrome", ".config/google-chrome", "Default", "147.0.7727.24", "Chrome"),
        ("chromium", ".config/chromium", "Profile 1", "150.0.7800.1\n", "Chrome"),
        ("edge", ".config/microsoft-edge", "Profile 2", "146.0.3856.62", "Edge"),
    ];
    for (from, folder, profile, version, product) in browsers {
        with_browser(&desk, folder, &[(profile, "Ada")]);
        fs::write(desk.at("home").join(folder).join("Last Version"), version).unwrap();
        let major: u32 = version.split('.').next().unwrap().parse().unwrap();
        let expected =
            serde_json::json!({ "product": product, "version": major, "platform": "Linux" });
        assert_eq!(noted(&desk, from)["browser"], expected, "{from}");
    }
    // One that did not write which version it is.
    with_browser(&desk, ".config/BraveSoftware/Brave-Browser", &[("Profile 3", "Ada")]);
    assert_eq!(noted(&desk, "brave")["browser"], Value::Null);
    desk.0.stop_node();
}

#[test]
fn a_session_asks_for_the_languages_of_the_browser_that_it_was_imported_from() {
    let desk = Desk::new();
    with_browser(&desk, ".config/google-chrome", &[("Default", "Ada")]);
    let settings = desk.at("home/.config/google-chrome/Default/Preferences");
    let chosen = r#"{"intl":{"selected_languages":"de-DE,de,en"}}"#;
    fs::write(settings, chosen).unwrap();
    let languages = serde_json::json!({ "languages": ["de-DE", "de", "en"] });
    assert_eq!(noted(&desk, "chrome")["identity"], languages);

    // A profile that is made of it has them, and nothing of it is lost.
    let compile = ["profile", "compile", "@chrome.json", "@made"];
    let made = desk.run(&compile).success();
    let made = stdout(&made, &desk.0.data());
    let has_line = |line: &str| line.starts_with("environment ") && line.contains("languages");
    assert!(made.lines().any(has_line), "{made}");
    let read = ["profile", "read", "@made", "-o", "@again.json"];
    desk.run(&read).success();
    let again: Value = serde_json::from_slice(&fs::read(desk.at("again.json")).unwrap()).unwrap();
    assert_eq!(again["state"]["environment"]["identity"], languages);

    // One that has nothing to say about it leaves that to the browser, and damage is told.
    with_browser(&desk, ".config/chromium", &[("Profile 1", "Ada")]);
    assert_eq!(noted(&desk, "chromium")["identity"], Value::Null);
    let settings = desk.at("home/.config/chromium/Profile 1/Preferences");
    fs::write(settings, "{").unwrap();
    let import = ["import", "--from", "chromium", "-y", "--name", "damaged"];
    let damaged = desk.json(&import, 6);
    let items = damaged["left_out"]["items"].as_array().unwrap();
    assert!(items.iter().any(|item| item["where"] == "languages"), "{damaged}");
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
                folders.push(path);
            } else {
                found.push((path.clone(), fs::read(path).unwrap()));
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
    indexed db  https://shop.test/  1      only a browser can read it: open the
                                           profile in one, and use baton attach
    baton sessions resume shop brings it to life
    ");
    desk.0.stop_node();
}

/// Every command of the guide is run, in its order, but for those with a browser.
#[test]
fn the_guide_can_be_followed() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/profiles.md");
    let page = fs::read_to_string(page).unwrap();
    let desk = Desk::new();
    with_browser(&desk, ".config/google-chrome", &[("Default", "Work")]);
    desk.run(&["profile", "compile", "@state.json", "@profile"]).success();
    let mut followed = 0;
    for line in page.lines().filter_map(|line| line.strip_prefix("$ baton ")) {
        if line.contains("sessions resume") || line.ends_with(" profile") || line.contains("shop") {
            continue;
        }
        let line = line.replace("/srv/", "@");
        let mut args: Vec<&str> = line.split(' ').collect();
        args.extend(line.contains("--from").then_some("--yes"));
        desk.run(&args).success();
        followed += 1;
    }
    assert_eq!(followed, 6);
    desk.0.stop_node();
}
