//! A real web server behind the proxy: nginx, with what people have it do for them.

use super::{put, test_node};
use crate::notes::eventually;
use baton_playground::tools::Room;
use baton_playground::{Page, TestNode};
use baton_session::SessionId;
use baton_testing::skip;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Stdio;
use tokio::process::Child;
use tokio_tungstenite::accept_async;
use url::Url;

/// An address of this story alone: others take any free port of 127.0.0.1.
const HOST: &str = "127.41.7.3";
/// How many numbers of four bytes the large file holds, each its own place: 24 MiB.
const NUMBERS: u32 = 6 << 20;

const PAGE: &str = "<!doctype html><title>shop</title><link rel=icon href='data:,'>
    <link rel=stylesheet href=/style.css><a href=/old>on</a>";
const PRIVATE: &str = "<!doctype html><title>private</title><link rel=icon href='data:,'>";

/// What a person writes; the rest keeps its files in the room, and its process ours.
const SITE: &str = r#"
    gzip on;
    gzip_min_length 1;
    gzip_types text/css;
    types { text/html html; text/css css; text/plain txt; }
    server {
        listen ADDRESS;
        root ROOM/site;
        location = /index.html { add_header Set-Cookie "__Host-sid=1; Secure; HttpOnly; Path=/"; }
        location = /cookies { return 200 $http_cookie; }
        location = /old { return 301 /docs; }
        location = /upload { proxy_pass http://ECHO; }
        location /private/ { auth_basic staff; auth_basic_user_file ROOM/staff; }
        location = /ws {
            proxy_pass http://ECHO;
            proxy_http_version 1.1;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection upgrade;
        }
    }
"#;
const REST: &str = "
    daemon off;
    master_process off;
    pid ROOM/pid;
    events {}
    http {
        access_log off;
        client_body_temp_path ROOM/body;
        proxy_temp_path ROOM/proxy;
        fastcgi_temp_path ROOM/fastcgi;
        uwsgi_temp_path ROOM/uwsgi;
        scgi_temp_path ROOM/scgi;
        SITE
    }
";

/// Where Debian keeps the programs of administrators, and where `cargo xtask setup` unpacks it, too.
fn find_nginx() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let unpacked = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/tools/nginx/usr/sbin");
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), unpacked.into()]);
    folders.map(|folder| folder.join("nginx")).find(|program| program.is_file())
}

/// Says over each WebSocket what it hears, and where it does.
async fn echo() -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut socket = accept_async(stream).await.unwrap();
                while let Some(Ok(message)) = socket.next().await {
                    if socket.send(message).await.is_err() {
                        break;
                    }
                }
            });
        }
    });
    address
}

/// A web server that runs.
struct Server {
    room: Room,
    address: SocketAddr,
    process: Child,
}

impl Server {
    async fn start(program: PathBuf) -> Self {
        let room = Room::build().unwrap();
        let numbers = (0..NUMBERS).flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
        let address = TcpListener::bind((HOST, 0)).unwrap().local_addr().unwrap();
        let config = REST
            .replace("SITE", SITE)
            .replace("ADDRESS", &address.to_string())
            .replace("ECHO", &echo().await.to_string())
            .replace("ROOM", room.path().to_str().unwrap());
        for (name, bytes) in [
            ("nginx.conf", config.as_bytes()),
            ("staff", b"ada:{PLAIN}secret\n"),
            ("site/index.html", PAGE.as_bytes()),
            ("site/style.css", b"a { color: rgb(1, 2, 3) }"),
            ("site/docs/index.html", b"<!doctype html><title>docs</title>"),
            ("site/private/index.html", PRIVATE.as_bytes()),
            ("site/private/plan.txt", b"the plan"),
            ("site/numbers.bin", &numbers),
        ] {
            let path = room.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let mut nginx = room.command(program).unwrap();
        nginx.arg("-p").arg(room.path()).args(["-c", "nginx.conf", "-e", "log"]);
        nginx.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = nginx.kill_on_drop(true).spawn().unwrap();
        let said = || std::fs::read_to_string(room.path().join("log")).unwrap();
        eventually("nginx listens", async || {
            assert!(process.try_wait().unwrap().is_none(), "it ended: {}", said());
            TcpStream::connect(address).is_ok()
        })
        .await;
        Self { room, address, process }
    }

    async fn clear(mut self) {
        self.process.kill().await.unwrap();
        self.room.clear().await.unwrap();
    }
}

/// A tab with a page of the web server.
struct Tab {
    page: Page,
    place: Url,
}

impl Tab {
    async fn find(test_node: &TestNode, id: SessionId, place: &Url) -> Self {
        let page = Page::attach(&test_node.keeper_socket(id), place.as_str()).await.unwrap();
        page.wait_for("getComputedStyle(document.querySelector('a')).color === 'rgb(1, 2, 3)'")
            .await
            .unwrap();
        Self { page, place: place.clone() }
    }

    /// What a call of the page is answered with, past the browser's cache: the status, some headers, and the
    /// text, or the bytes of a part.
    async fn fetch(&self, address: &str, options: &Value) -> Value {
        let call = format!(
            "fetch('{address}', {{cache: 'no-store', ...{options}}}).then(async (answer) => {{
                const header = (name) => answer.headers.get(name);
                return [answer.status, header('content-encoding'), header('content-range'),
                    answer.status === 206 ? [...new Uint8Array(await answer.arrayBuffer())] :
                    await answer.text()];
            }})"
        );
        self.page.evaluate(&call).await.unwrap()
    }

    /// Whether the page is at this address below its place, with this title.
    async fn is_at(&self, path: &str, title: &str) {
        let address = self.place.join(path).unwrap();
        let is_there = format!("location.href === '{address}' && document.title === '{title}'");
        self.page.wait_for(&is_there).await.unwrap();
    }

    async fn go(&self, address: &Url) {
        self.page.session().call("Page.navigate", json!({ "url": address })).await.unwrap();
    }

    /// What comes back over a WebSocket; none when it cannot be opened.
    async fn echoed(&self, address: &str) -> Option<String> {
        let call = format!(
            "new Promise((done) => {{
                const socket = new WebSocket(new URL('{address}', document.baseURI));
                socket.onopen = () => socket.send('hello');
                socket.onmessage = (event) => {{ done(event.data); socket.close(); }};
                socket.onerror = () => done(null);
            }})"
        );
        self.page.evaluate(&call).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_web_server_does_is_done_behind_the_proxy() {
    let Some(program) = find_nginx() else {
        skip!("nginx is needed, which `cargo xtask setup` installs")
    };
    let server = Server::start(program).await;
    let test_node = test_node().await;
    let places = put(&test_node, &format!("http://{}", server.address)).await;
    let id = test_node.open("shop", places.clone()).await.unwrap();
    for place in &places {
        let tab = Tab::find(&test_node, id, place).await;
        let cookies = tab.fetch("/cookies", &json!({})).await;
        assert_eq!(cookies, json!([200, null, null, "__Host-sid=1"]), "{place}");
        let style = tab.fetch("/style.css", &json!({})).await;
        assert_eq!(style, json!([200, "gzip", null, "a { color: rgb(1, 2, 3) }"]), "{place}");
        ranges(&tab).await;

        let body = "new Uint8Array(2 << 20)";
        let upload = format!(
            "fetch('/upload', {{method: 'POST', body: {body}}}).then((answer) => answer.status)"
        );
        assert_eq!(tab.page.evaluate::<u16>(&upload).await.unwrap(), 413, "{place}");

        assert_eq!(tab.echoed("ws").await.as_deref(), Some("hello"), "{place}");
        let at_the_root = (place.path() == "/").then_some("hello");
        assert_eq!(tab.echoed("/ws").await.as_deref(), at_the_root, "{place}");

        tab.page.evaluate::<bool>("document.querySelector('a').click(); true").await.unwrap();
        tab.is_at("docs/", "docs").await;

        let mut private = place.join("private/").unwrap();
        let stranger = json!({ "credentials": "omit" });
        assert_eq!(tab.fetch(private.as_str(), &stranger).await[0], 401, "{place}");
        private.set_username("ada").unwrap();
        private.set_password(Some("secret")).unwrap();
        tab.go(&private).await;
        tab.is_at("private/", "private").await;
        // No page calls from an address with a password in it; and the browser knows it by now.
        tab.go(&place.join("private/?again").unwrap()).await;
        tab.is_at("private/?again", "private").await;
        let plan = tab.fetch("/private/plan.txt", &json!({})).await;
        assert_eq!(plan, json!([200, null, null, "the plan"]), "{place}");
    }
    test_node.client().unwrap().close_session("shop").await.unwrap();
    test_node.clear().await.unwrap();
    server.clear().await;
}

/// A large file comes whole, and in the parts that are asked for.
async fn ranges(tab: &Tab) {
    let whole = "fetch('/numbers.bin').then((answer) => answer.arrayBuffer()).then((bytes) => {
        const numbers = new Uint32Array(bytes);
        return numbers.every((number, place) => number === place) ? numbers.length : 0;
    })";
    assert_eq!(tab.page.evaluate::<u32>(whole).await.unwrap(), NUMBERS, "{}", tab.place);
    let size = 4 * NUMBERS;
    for (range, place, bytes) in [
        ("bytes=1024-1027", format!("1024-1027/{size}"), 256_u32.to_le_bytes()),
        ("bytes=-4", format!("{}-{}/{size}", size - 4, size - 1), (NUMBERS - 1).to_le_bytes()),
    ] {
        let part = tab.fetch("/numbers.bin", &json!({ "headers": { "range": range } })).await;
        assert_eq!(part, json!([206, null, format!("bytes {place}"), bytes]), "{}", tab.place);
    }
    let beyond = json!({ "headers": { "range": format!("bytes={size}-") } });
    let refused = tab.fetch("/numbers.bin", &beyond).await;
    assert_eq!((&refused[0], &refused[2]), (&json!(416), &json!(format!("bytes */{size}"))));
}
