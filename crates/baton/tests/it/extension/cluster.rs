//! A person's browser tells a cluster of its tabs by the address of a load balancer: when the node that it told dies, it
//! is back at another one within seconds, and nothing of the tab is lost.

use super::browser::Browser;
use super::talker;
use crate::cluster::start_with;
use crate::notes::eventually;
use baton_api::debug::{ConsoleFilters, TabToken};
use baton_playground::tools::Extension;
use baton_playground::{Cable, CableEnd, TestNode};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use url::Url;

/// What is promised, and what a busy machine may take besides.
const BACK: Duration = Duration::from_secs(5);
const BUSY: Duration = Duration::from_secs(10);

/// A node behind both balancers: that of the nodes, and that of the pages, whose port its own proxy has at this address.
async fn start(
    database: &str,
    name: &str,
    proxy: SocketAddr,
    balancer: &Cable,
    service: &Url,
    folder: &TempDir,
) -> TestNode {
    let settings = folder.path().join(format!("{name}.toml"));
    let text = format!(
        "[server]\nallowed_hosts = [\"127.0.0.1:{}\"]\n[proxy]\nlisten = \"{proxy}\"\n\
         [[cocoons]]\nid = \"shop\"\nname = \"The shop\"\nupstream = \"{service}\"\n",
        balancer.port()
    );
    std::fs::write(&settings, text).unwrap();
    let settings = [("BATON_CONFIG", settings.display().to_string())];
    start_with(database, name, &settings).await
}

/// Where clients of a node ask it.
fn address(node: &TestNode) -> SocketAddr {
    node.client().unwrap().base().socket_addrs(|| None).unwrap()[0]
}

/// Whether the tab that shows this address is told of at a node now; its token.
async fn tab(node: &TestNode, url: &str) -> Option<TabToken> {
    let tabs = node.client().unwrap().list_tabs().await.ok()?;
    let tab = tabs.items.into_iter().find(|tab| tab.url == url && !tab.offline)?;
    Some(tab.token)
}

/// How often a tab said a line, as a node tells it.
async fn heard(node: &TestNode, token: &TabToken, line: &str) -> usize {
    let client = node.client().unwrap();
    let found = client.get_console(token, &ConsoleFilters::default(), Duration::ZERO).await;
    let entries = found.map(|found| found.entries).unwrap_or_default();
    entries.iter().filter(|entry| entry.message == line).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tab_goes_on_at_another_node_when_its_own_dies() {
    let service = talker::start().await;
    let database = baton_postgres::create_database().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let nowhere = CableEnd::Socket("/nowhere".into());
    let (nodes, pages) = (Cable::lay(nowhere.clone()).unwrap(), Cable::lay(nowhere).unwrap());
    // Addresses of this story alone, so that both proxies have the port of the one in front.
    let proxies = [[127, 41, 8, 1], [127, 41, 8, 2]].map(|ip| SocketAddr::from((ip, pages.port())));
    let upstream = service.url("/").unwrap();
    let mut own = start(&database, "own", proxies[0], &nodes, &upstream, &folder).await;
    let other = start(&database, "other", proxies[1], &nodes, &upstream, &folder).await;
    nodes.lead_to(CableEnd::Address(address(&own)));
    pages.lead_to(CableEnd::Address(proxies[0]));

    let extension = Extension::unpack().await.unwrap();
    let browser = Browser::start(&extension.build().await.unwrap()).await;
    let code = own.client().unwrap().pair_browser().await.unwrap().code;
    browser.pair(&format!("http://127.0.0.1:{}", nodes.port()), &code).await;
    let at = format!("http://shop.localhost:{}/", pages.port());
    let page = browser.open(&at).await;
    let mut token = None;
    eventually("the tab is listed at the other node", async || {
        token = tab(&other, &at).await;
        token.is_some()
    })
    .await;
    let token = token.unwrap();
    talker::say(&page, "before").await;
    eventually("it is heard", async || heard(&other, &token, "before").await == 1).await;

    own.kill_node().await.unwrap();
    let killed = Instant::now();
    nodes.lead_to(CableEnd::Address(address(&other)));
    pages.lead_to(CableEnd::Address(proxies[1]));
    eventually("the same tab is told of at the other node", async || {
        tab(&other, &at).await.as_ref() == Some(&token)
    })
    .await;
    println!("back after {:?}", killed.elapsed());
    assert!(killed.elapsed() < BACK + BUSY, "{:?}", killed.elapsed());
    // Its page goes on by the other proxy, and what it says is heard at the other node.
    talker::say(&page, "after").await;
    eventually("it is heard", async || heard(&other, &token, "after").await == 1).await;
    // A page that is loaded now has a token of the other proxy.
    page.reload().await;
    talker::say(&page, "anew").await;
    eventually("a page that is loaded now is heard", async || {
        let Some(token) = tab(&other, &at).await else { return false };
        heard(&other, &token, "anew").await == 1
    })
    .await;
    browser.close().await;
    own.clear().await.unwrap();
    other.clear().await.unwrap();
    extension.clear().await.unwrap();
}
