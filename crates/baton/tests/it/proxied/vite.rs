//! The development server of a real framework behind the proxy: Vite with React, whose page changes with
//! its sources while it is open.
//!
//! Vite tells its page of each edit over a WebSocket at the root of the page's host. A WebSocket says
//! nothing of the page that opens it, so below a path of a host that others share it finds no service
//! there; then Vite's page asks its server straight.

use super::{put, test_node};
use crate::notes::eventually;
use baton_api::OpenSession;
use baton_api::debug::{NetworkFilters, NetworkRequest};
use baton_playground::tools::{Npm, Room};
use baton_playground::{Page, TestNode};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Child;
use url::Url;

/// An address of this story alone: others take any free port of 127.0.0.1.
const HOST: &str = "127.41.7.2";

const FILES: [(&str, &str); 5] = [
    (
        "vite.config.mjs",
        "import react from '@vitejs/plugin-react';
        export default { plugins: [react()], cacheDir: '.vite' };",
    ),
    (
        "index.html",
        "<!doctype html><title>shop</title><link rel=icon href='data:,'>
        <div id=root></div><script type=module src=/src/main.jsx></script>",
    ),
    (
        "src/main.jsx",
        "import { createRoot } from 'react-dom/client';
        import App from './App.jsx';
        import './style.css';
        createRoot(document.getElementById('root')).render(<App />);",
    ),
    (
        "src/App.jsx",
        "import { useState } from 'react';
        export default function App() {
          const [count, setCount] = useState(0);
          return <button onClick={() => setCount(count + 1)}>sold {count}</button>;
        }",
    ),
    ("src/style.css", "button { color: rgb(1, 2, 3) }"),
];

/// A project of somebody's own, with its development server running.
struct Project {
    room: Room,
    address: SocketAddr,
    server: Child,
}

impl Project {
    async fn start() -> Self {
        let room = Npm::install_vite().await.unwrap().room().unwrap();
        std::fs::create_dir(room.path().join("src")).unwrap();
        for (name, text) in FILES {
            std::fs::write(room.path().join(name), text).unwrap();
        }
        let address = TcpListener::bind((HOST, 0)).unwrap().local_addr().unwrap();
        let mut vite = room.command("vite").unwrap();
        vite.args(["--host", HOST, "--strictPort", "--port", &address.port().to_string()]);
        let log = std::fs::File::create(room.path().join("log")).unwrap();
        vite.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let mut server = vite.kill_on_drop(true).spawn().unwrap();
        let said = || std::fs::read_to_string(room.path().join("log")).unwrap();
        eventually("the development server listens", async || {
            assert!(server.try_wait().unwrap().is_none(), "it ended: {}", said());
            TcpStream::connect(address).is_ok()
        })
        .await;
        Self { room, address, server }
    }

    /// Changes what stands in one of its sources.
    fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.room.path().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replace(from, to)).unwrap();
    }

    async fn clear(mut self) {
        self.server.kill().await.unwrap();
        self.room.clear().await.unwrap();
    }
}

/// Each WebSocket that the tab at `place` has opened to `to`.
async fn sockets(test_node: &TestNode, place: &Url, to: &str) -> Vec<NetworkRequest> {
    let client = test_node.client().unwrap();
    let tabs = client.list_tabs().await.unwrap().items;
    let tab = tabs.iter().find(|tab| tab.url.starts_with(place.as_str())).unwrap();
    let filters =
        NetworkFilters { url_pattern: Some(format!("^ws://{to}/")), ..NetworkFilters::default() };
    client.get_network(&tab.token, &filters, Duration::ZERO).await.unwrap().requests
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_of_a_source_is_seen_in_the_page_without_a_reload() {
    let project = Project::start().await;
    let test_node = test_node().await;
    let places = put(&test_node, &format!("http://{}", project.address)).await;
    let mut request = OpenSession::new("shop".parse().unwrap(), places.clone());
    request.debug = true;
    let client = test_node.client().unwrap();
    let id = client.open_session(&request).await.unwrap().session.id;
    let shows = |text: &str, colour: &str| {
        format!(
            "(() => {{
                const button = document.querySelector('button');
                const style = button && getComputedStyle(button);
                return button?.innerText === '{text}' && style.color === '{colour}';
            }})()"
        )
    };
    let mut pages = Vec::new();
    for place in &places {
        let page = Page::attach(&test_node.keeper_socket(id), place.as_str()).await.unwrap();
        page.wait_for(&shows("sold 0", "rgb(1, 2, 3)")).await.unwrap();
        // What a page counts is gone with a reload.
        page.evaluate::<bool>("document.querySelector('button').click(); true").await.unwrap();
        page.wait_for(&shows("sold 1", "rgb(1, 2, 3)")).await.unwrap();
        pages.push(page);
    }

    let [by_host, by_path] = &places;
    let port = by_host.port().unwrap();
    let proxied = format!("shop.localhost:{port}");
    let straight = project.address.to_string();
    let is_open = |found: &[NetworkRequest]| found.iter().any(|one| one.status == Some(101));
    for (place, to) in [(by_host, &proxied), (by_path, &straight)] {
        eventually("the WebSocket is open", async || {
            is_open(&sockets(&test_node, place, to).await)
        })
        .await;
    }
    assert!(sockets(&test_node, by_host, &straight).await.is_empty());
    let at_the_root = sockets(&test_node, by_path, &format!("localhost:{port}")).await;
    assert!(!at_the_root.is_empty() && !is_open(&at_the_root), "{at_the_root:?}");

    project.edit("src/App.jsx", "sold", "left");
    project.edit("src/style.css", "rgb(1, 2, 3)", "rgb(4, 5, 6)");
    for page in &pages {
        page.wait_for(&shows("left 1", "rgb(4, 5, 6)")).await.unwrap();
    }
    client.close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
    project.clear().await;
}
