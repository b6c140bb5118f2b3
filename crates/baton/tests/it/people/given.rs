//! A link that comes too late or for another session, and the files of a guest: given where they were asked for, and
//! nowhere else.

use super::LIMIT;
use super::driving::mouse;
use super::guests::{Guest, Scene, refused, secret, wanted};
use crate::test_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::live::{MouseKind, ViewerMessage};
use baton_api::{AskPerson, AskState, ErrorCode};
use baton_testing::skip;
use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use reqwest::Method;
use serde_json::json;
use std::process::Command;
use tokio::time::timeout;

/// The page's field for a file.
const FIELD: (f64, f64) = (80.0, 160.0);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_guest_gives_a_file_where_one_was_asked_for() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    for is_asked_for in [false, true] {
        let request = AskPerson { files: is_asked_for, ..wanted("send the receipt") };
        let ask = scene.client().ask_person("shop", &request).await.unwrap();
        let mut guest = Guest::at(&scene, &ask);
        guest.open(&secret(&ask)).await;
        let put = guest.request(Method::PUT, "asked/files/receipt.txt").body("42 EUR");
        let put = put.send().await.unwrap();
        if !is_asked_for {
            assert_eq!(refused(put).await.0, ErrorCode::InvalidRequest);
            assert_eq!(guest.post("asked/end", json!({ "done": false })).await.status(), 200);
            continue;
        }
        assert_eq!(put.status(), 200, "{}", put.text().await.unwrap());
        let mut ada = guest.watch().await;
        let tab = ada.tab().await;
        for kind in [MouseKind::Move, MouseKind::Down, MouseKind::Up] {
            ada.say(&mouse(tab, kind, FIELD.0, FIELD.1)).await;
        }
        ada.until("to be asked for a file", |viewer| {
            viewer.tabs.as_ref().is_some_and(|tabs| tabs.tabs[0].chooser.is_some())
        })
        .await;
        // What lies among the session's files and is none of the guest's is not theirs to give.
        scene.client().put_file("shop", "secret.txt", "s".into()).await.unwrap();
        let question = ada.tabs.as_ref().unwrap().tabs[0].chooser.as_ref().unwrap().question;
        let choose =
            |name: &str| ViewerMessage::Choose { tab, question, files: vec![name.to_owned()] };
        ada.say(&choose("secret.txt")).await;
        ada.until("a refusal", |viewer| !viewer.refused.is_empty()).await;
        assert!(ada.refused[0].contains("files that the guest gave"), "{:?}", ada.refused);
        ada.say(&choose("receipt.txt")).await;
        scene.page().await.wait_for("seen === 'receipt.txt 42 EUR'").await.unwrap();
    }
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_file_that_is_too_large_nothing_stays() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let request = AskPerson { files: true, ..wanted("send the receipt") };
    let ask = scene.client().ask_person("shop", &request).await.unwrap();
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    let huge = guest.request(Method::PUT, "asked/files/huge.bin").body(vec![0; 200 << 20]);
    // Whoever still sends may not hear the answer.
    if let Ok(answer) = huge.send().await {
        assert_eq!(refused(answer).await.0, ErrorCode::BodyTooLarge);
    }
    assert_eq!(scene.client().list_files("shop").await.unwrap().items, []);
    let put = guest.request(Method::PUT, "asked/files/receipt.txt").body("42 EUR");
    assert_eq!(put.send().await.unwrap().status(), 200);
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_comes_late_opens_nothing_and_none_leads_to_another_session() {
    let scene = Scene::set(test_nodes::test_node().await).await;
    let (unopened, other) = (scene.other("unopened").await, scene.other("other").await);
    let request = AskPerson { minutes: Some(1), ..wanted("sign in") };
    let late = scene.client().ask_person(&unopened, &request).await.unwrap();
    let ask = scene.client().ask_person(&other, &wanted("sign in there")).await.unwrap();
    let mut guest = Guest::at(&scene, &ask);
    guest.open(&secret(&ask)).await;
    // An ask is one of its session, whoever says otherwise.
    let elsewhere = scene.client().withdraw_ask("shop", &ask.view.id).await.unwrap_err();
    assert_eq!(elsewhere.code(), Some(ErrorCode::AskNotFound), "{elsewhere}");
    assert_eq!(guest.state().await, AskState::Opened);

    // Who came in time and is still at it sees nothing more then, and what they changed is told.
    let begun = scene.client().ask_person("shop", &request).await.unwrap();
    let mut stays = Guest::at(&scene, &begun);
    stays.open(&secret(&begun)).await;
    let mut ada = stays.watch().await;
    let tab = ada.tab().await;
    ada.click(tab, 150.0, 70.0).await;
    let is_in = "document.cookie.includes('in=ada')";
    ada.hear_during(scene.page().await.wait_for(is_in)).await.unwrap();
    let its_end = async {
        while ada.closed.is_none() {
            ada.hear().await;
        }
    };
    timeout(LIMIT * 2, its_end).await.expect("its time passes");
    assert_eq!(ada.closed.unwrap().reason.as_str(), "what was asked has ended");
    let ended = scene.end(&begun).await;
    assert_eq!(ended.state, AskState::TimedOut);
    let changed = ended.outcome.unwrap().changed;
    let told = "1 cookie and 1 entry of local storage at bank.localhost are new; ";
    assert!(changed.starts_with(told), "{changed}");
    let ended = scene.end(&late).await;
    assert_eq!((ended.state, ended.outcome), (AskState::TimedOut, None));
    let answer =
        Guest::at(&scene, &late).post("asked/open", json!({ "secret": secret(&late) })).await;
    let (code, why) = refused(answer).await;
    assert_eq!(code, ErrorCode::Unauthenticated);
    insta::assert_snapshot!(why, @"expected a link that counts, found one whose time has passed");
    assert_eq!(guest.state().await, AskState::Opened, "the other one goes on");
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_a_public_address_gives_a_link_that_anybody_opens() {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("baton.toml");
    let text = "[node]\npublicUrl = \"https://baton.example.org\"\n\n\
                [server]\nbehind_proxy = true\nallowed_hosts = [\"baton.example.org\"]\n";
    std::fs::write(&settings, text).unwrap();
    let node = test_nodes::build().with("BATON_CONFIG", settings);
    let scene = Scene::set(test_nodes::start(node).await).await;
    let mut command = cargo_bin_cmd!("baton");
    command.arg("--data").arg(scene.test_node.data().path());
    command.args(["sessions", "ask", "shop", "sign in", "--no-wait"]);
    let asked = tokio::task::spawn_blocking(move || command.assert().success()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_owned()).unwrap();
    let link = text(&asked.get_output().stdout);
    let (place, secret) = link.trim().split_once("/#/asked/").unwrap();
    assert_eq!((place, secret.len()), ("https://baton.example.org", 51));
    let said = text(&asked.get_output().stderr);
    assert!(said.starts_with("whoever has the link opens it, once\n"), "{said}");
    assert!(!said.contains(secret), "the link is said once");
    scene.test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_terminal_the_link_is_followed_by_a_picture_that_a_phone_reads() {
    if Command::new("script").arg("--version").output().is_err() {
        skip!("no program `script`");
    }
    let scene = Scene::set(test_nodes::test_node().await).await;
    let (program, data) = (env!("CARGO_BIN_EXE_baton"), scene.test_node.data().path().display());
    let typed = format!("exec {program} --data {data} sessions ask shop 'sign in' --no-wait");
    let mut terminal = Command::new("script");
    terminal.args(["--quiet", "--return", "--command", &typed, "/dev/null"]).env("TERM", "xterm");
    let done = tokio::task::spawn_blocking(move || terminal.output()).await.unwrap().unwrap();
    let said = String::from_utf8(done.stdout).unwrap().replace("\r\n", "\n");
    assert!(done.status.success(), "{said}");
    let is_link = |found: &&str| found.contains("/#/asked/");
    // The terminal may show the end of its empty input in front of it.
    let link = said.lines().find(is_link).and_then(|found| Some(&found[found.find("http")?..]));
    let link = link.unwrap_or_else(|| panic!("expected a link in {said:?}"));
    let code = QrCode::with_error_correction_level(link, EcLevel::L).unwrap();
    // Most terminals are dark.
    let (dark, light) = (Dense1x2::Light, Dense1x2::Dark);
    let drawn = code.render::<Dense1x2>().dark_color(dark).light_color(light).build();
    assert!(said.contains(&format!("{link}\n\n{drawn}\n")), "{said}");
    // Who could not open it reads that first, and how they can.
    let (before, _) = said.split_once(link).unwrap();
    assert!(before.contains("only this machine opens the link; "), "{said}");
    assert!(before.contains("ssh -L "), "{said}");
    scene.test_node.clear().await.unwrap();
}
