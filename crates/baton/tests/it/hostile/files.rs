//! The files of a session: what comes in and goes out, and what does not.

use crate::test_nodes;
use assert_cmd::cargo::cargo_bin_cmd;
use baton_api::{ErrorCode, OpenSession, SharedFolder};
use std::fs;
use std::os::unix::fs::symlink;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_go_in_and_come_out_and_nothing_else_does() {
    let test_node = test_nodes::test_node().await;
    let client = test_node.client().unwrap();
    let id = test_node.open("shop", []).await.unwrap();
    assert_eq!(client.list_files("shop").await.unwrap().items, []);
    let put = client.put_file("shop", "a file.txt", b"hello".to_vec()).await.unwrap();
    assert_eq!((put.name.as_str(), put.bytes), ("a file.txt", 5));
    let folder = test_node.data().files_of(id);
    assert_eq!(put.path, folder.join("a file.txt").to_str().unwrap());
    client.put_file("shop", "a file.txt", b"hello again".to_vec()).await.unwrap();
    assert_eq!(client.get_file("shop", "a file.txt").await.unwrap(), b"hello again");

    // What a browser may have made there.
    symlink(test_node.data().admin_key(), folder.join("link")).unwrap();
    fs::create_dir(folder.join("folder")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        folder.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let names: Vec<_> = client.list_files("shop").await.unwrap().items;
    assert_eq!(names.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a file.txt"]);
    for name in ["link", "folder", "pipe", "none"] {
        let refused = client.get_file("shop", name).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::FileNotFound), "{name}");
    }
    for name in [".home", "../x", "a/b", "a\\b", "a\u{1b}b", &"x".repeat(201)] {
        let refused = client.get_file("shop", name).await.unwrap_err().code();
        let wrong = [Some(ErrorCode::InvalidRequest), Some(ErrorCode::RouteNotFound)];
        assert!(wrong.contains(&refused), "{name:?}: {refused:?}");
        client.put_file("shop", name, b"x".to_vec()).await.unwrap_err();
        client.remove_file("shop", name).await.unwrap_err();
    }
    // A link of that name gives way to the file, and is not followed.
    client.put_file("shop", "link", b"mine".to_vec()).await.unwrap();
    assert!(!fs::read_to_string(test_node.data().admin_key()).unwrap().contains("mine"));
    client.remove_file("shop", "link").await.unwrap();
    client.remove_file("shop", "a file.txt").await.unwrap();
    let gone = client.remove_file("shop", "a file.txt").await.unwrap_err();
    assert_eq!(gone.code(), Some(ErrorCode::FileNotFound));

    client.close_session("shop").await.unwrap();
    client.delete_session("shop").await.unwrap();
    assert!(!folder.exists());
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_gives_the_data_folder_away_is_shown_to_no_browser() {
    let test_node = test_nodes::test_node().await;
    let client = test_node.client().unwrap();
    let data = test_node.data().path();
    let link = test_node.folder().join("link");
    symlink(data.parent().unwrap(), &link).unwrap();
    for path in [data, data.parent().unwrap(), &data.join("sessions"), "/".as_ref(), &link] {
        let files = vec![SharedFolder { path: path.to_str().unwrap().to_owned(), writable: false }];
        let request = OpenSession { files, ..OpenSession::new("shop".parse().unwrap(), []) };
        let refused = client.open_session(&request).await.unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::InvalidRequest), "{}", path.display());
        assert!(refused.to_string().contains("apart from the data folder"), "{refused}");
    }
    test_node.clear().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_puts_lists_gets_and_removes_files_by_commands() {
    let test_node = test_nodes::test_node().await;
    let id = test_node.open("shop", []).await.unwrap();
    let from = test_node.folder().join("scan.txt");
    let got = test_node.folder().join("got.txt");
    fs::write(&from, "hello").unwrap();
    symlink(test_node.data().admin_key(), test_node.data().files_of(id).join("link")).unwrap();
    let (from, got) = (from.to_str().unwrap(), got.to_str().unwrap());
    let told = |words: &[&str]| {
        let mut command = cargo_bin_cmd!("baton");
        let command =
            command.arg("--data").arg(test_node.data().path()).args(["sessions", "files"]);
        let run = command.args(words).output().unwrap();
        let text = String::from_utf8([run.stdout, run.stderr].concat()).unwrap();
        let text = text.replace(test_node.data().files_of(id).to_str().unwrap(), "FILES");
        let text = text.replace(test_node.folder().to_str().unwrap(), "FOLDER");
        format!("{} {text}", run.status.code().unwrap())
    };
    let all = [
        told(&["put", "shop", from]),
        told(&["list", "shop"]),
        told(&["get", "shop", "scan.txt", "-o", got]),
        told(&["get", "shop", "link", "-o", got]),
        told(&["remove", "shop", "scan.txt"]),
        told(&["remove", "shop", "scan.txt"]),
        told(&["list", "shop"]),
    ];
    let age = regex::Regex::new(r"\d+ s ago").unwrap();
    insta::assert_snapshot!(age.replace(&all.join(""), "AGO"), @r#"
    0 FILES/scan.txt
    0 NAME      SIZE  CHANGED
    scan.txt  5 B   AGO
    0 wrote FOLDER/got.txt
    3 error: expected a file called "link" among those of the session, found none
      baton sessions files list tells which there are
    0 removed scan.txt
    3 error: expected a file called "scan.txt" among those of the session, found none
      baton sessions files list tells which there are
    0 no files; baton sessions files put ID PATH puts one there
    "#);
    assert_eq!(fs::read_to_string(got).unwrap(), "hello");
    test_node.clear().await.unwrap();
}
