//! A machine under another name: the volume is kept, and the container is made anew, or there are two.

use crate::notes::{Notes, eventually, state_of, wait_for_state};
use crate::test_nodes::{build, start};
use baton_api::Client;
use baton_browser::launch::{LockState, lock};
use baton_playground::{TestNode, victims};
use baton_session::{Lifecycle, SessionId};
use baton_store::data::{DataFolder, NodeFile};
use baton_testing::skip;
use std::process::Stdio;
use tokio::process::{Child, Command};

const NOTE: &str = "written in box 1";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_that_is_made_anew_resumes_what_ran_in_the_old_one() {
    if !is_root() {
        skip!("only root can give a machine another name");
    }
    let notes = Notes::start().await;
    let (mut test_node, id) = in_the_first_box(&notes).await;
    test_node.kill_everybody(&[id]).await.unwrap();
    let profile = test_node.data().profile(id);
    let LockState::OtherHost { host, .. } = lock::check(&profile).unwrap() else {
        panic!("the browser of the old container left no lock")
    };
    assert_eq!(host, "box-1");

    let mut test_node = test_node.on_host("box-2").with("BATON_AUTO_REHYDRATE", "true");
    test_node.start_node().await.unwrap();
    wait_for_state(&test_node, "shop", Lifecycle::Active).await;
    assert_eq!(notes.read(&test_node, id).await, NOTE);
    let log = std::fs::read_to_string(test_node.data().keeper_log(id)).unwrap() + &test_node.log();
    assert!(log.contains("removing the lock of another host"), "{log}");

    // And once more by hand, under the first name.
    test_node.kill_everybody(&[id]).await.unwrap();
    let mut test_node = test_node.on_host("box-1").with("BATON_AUTO_REHYDRATE", "false");
    test_node.start_node().await.unwrap();
    test_node.client().unwrap().resume_session("shop").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, NOTE);
    test_node.client().unwrap().close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}

/// A node in a container of its own on a volume that another one has: it sees no process of the other.
struct Beside(Child);

impl Beside {
    fn start(test_node: &TestNode, host: &str) -> Self {
        let script = "echo \"$0\" > /proc/sys/kernel/hostname && exec \"$@\"";
        let mut command = Command::new("unshare");
        command
            .args(["--uts", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", script])
            .args([host, env!("CARGO_BIN_EXE_baton"), "--data"])
            .arg(test_node.data().path())
            .args(["serve", "--listen", "127.0.0.1:0"]);
        // What somebody has set for nodes of their own is not for this one.
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", test_node.folder());
        command.env("TMPDIR", test_node.folder()).env("FEDERATION_DIR", test_node.board());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        Self(command.kill_on_drop(true).spawn().unwrap())
    }

    /// A client of it, once it answers.
    async fn client(&self, data: &DataFolder) -> Client {
        let client = || {
            let url = NodeFile::read(data).ok()??.url;
            let key = std::fs::read_to_string(data.admin_key()).ok()?;
            Client::new(url, key.trim().into()).ok()
        };
        eventually("the second node answers", async || match client() {
            Some(client) => client.health().await.is_ok(),
            None => false,
        })
        .await;
        client().unwrap()
    }
}

/// A session with a note that was captured, in the first box.
async fn in_the_first_box(notes: &Notes) -> (TestNode, SessionId) {
    let test_node = start(build().on_host("box-1")).await;
    let id = notes.open(&test_node, "shop", NOTE).await;
    (test_node, id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_living_containers_on_one_volume_the_second_one_is_refused() {
    if !is_root() {
        skip!("only root can give a machine another name");
    }
    let notes = Notes::start().await;
    let (mut test_node, id) = in_the_first_box(&notes).await;
    let [_, (_, browser)] = test_node.holders(id).await.unwrap();

    // Its node lives: a second one does not start.
    let second = Beside::start(&test_node, "box-2").0.wait_with_output().await.unwrap();
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && told.contains("found one with process id"), "{told}");

    // Its browser alone lives, and is reached from nowhere: the second node starts, and no second browser.
    test_node.kill_node().await.unwrap();
    std::fs::remove_file(test_node.keeper_socket(id)).unwrap();
    let beside = Beside::start(&test_node, "box-2");
    let client = beside.client(test_node.data()).await;
    let refused = client.resume_session("shop").await.unwrap_err().to_string();
    assert!(
        refused.contains("a browser on it that another container or machine runs"),
        "{refused}"
    );
    assert!(victims::is_alive(browser));
    drop(beside);

    // Once it is gone, it is resumed.
    victims::kill_all(&[("browser", browser)]).await.unwrap();
    let mut test_node = test_node.on_host("box-3");
    test_node.start_node().await.unwrap();
    test_node.client().unwrap().resume_session("shop").await.unwrap();
    assert_eq!(notes.read(&test_node, id).await, NOTE);
    assert_eq!(state_of(&test_node, "shop").await, Lifecycle::Active);
    test_node.client().unwrap().close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
}
