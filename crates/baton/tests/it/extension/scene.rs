//! What a story needs: a service behind the proxy of a node, and a paired browser with the extension.

use super::browser::Browser;
use crate::houses;
use crate::notes::eventually;
use baton_playground::tools::Extension;
use baton_playground::{House, Site};
use serde_json::Value;
use std::process::Command;
use url::Url;

/// A house in front of a service, and the browser of a person who looks at it.
pub(super) struct Scene {
    pub(super) house: House,
    pub(super) browser: Browser,
    /// Where the service's pages are.
    pub(super) pages: Url,
    extension: Extension,
}

impl Scene {
    /// Puts a node in front of a service, and pairs a browser with it.
    pub(super) async fn open(service: &Site) -> Self {
        let (extension, house) = tokio::join!(Extension::unpack(), house(service));
        let extension = extension.unwrap();
        let browser = Browser::start(&extension.build().await.unwrap()).await;
        let pages = pages(&house);
        let scene = Self { house, browser, pages, extension };
        let paired = scene.asks(&["debug", "pair"]);
        let word = |name: &str| paired[name].as_str().unwrap();
        scene.browser.pair(word("address"), word("code")).await;
        scene
    }

    /// What a command says, as JSON.
    pub(super) fn asks(&self, arguments: &[&str]) -> Value {
        asks(&self.house, arguments)
    }

    /// The token of the tab that shows this address, once it is listed.
    pub(super) async fn tab(&self, address: &str) -> String {
        let mut found = None;
        eventually("the tab is listed", async || {
            found = self.tabs().into_iter().find(|tab| tab["url"] == address);
            found.is_some()
        })
        .await;
        found.unwrap()["token"].as_str().unwrap().to_owned()
    }

    /// The tabs that are listed.
    pub(super) fn tabs(&self) -> Vec<Value> {
        self.asks(&["debug", "list-tabs"])["tabs"].as_array().unwrap().clone()
    }

    /// Ends everybody.
    pub(super) async fn clear(self) {
        self.browser.close().await;
        self.house.clear().await.unwrap();
        self.extension.clear().await.unwrap();
    }
}

/// A house whose node stands in front of the service.
async fn house(service: &Site) -> House {
    let house = houses::build();
    house.data().create().unwrap();
    let upstream = service.url("/").unwrap();
    let settings = format!(
        "[proxy]\nlisten = \"127.0.0.1:0\"\n[[cocoons]]\nid = \"shop\"\nname = \"The shop\"\nupstream = \"{upstream}\"\n"
    );
    std::fs::write(house.data().settings(), settings).unwrap();
    houses::start(house).await
}

/// Where the pages of its service are, on a host of their own.
fn pages(house: &House) -> Url {
    let cocoons = asks(house, &["cocoons", "list"]);
    cocoons["items"][0]["urls"][0].as_str().unwrap().parse().unwrap()
}

fn asks(house: &House, arguments: &[&str]) -> Value {
    let mut baton = Command::new(env!("CARGO_BIN_EXE_baton"));
    let baton = baton.arg("--data").arg(house.data().path()).arg("--json").args(arguments);
    let ended = baton.output().unwrap();
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}
