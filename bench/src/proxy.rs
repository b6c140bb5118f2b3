//! What a request through the proxy takes of a processor, against nginx in front of the same site.

use crate::process;
use crate::report::{Comparison, Ratio, Section, median};
use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::response::Html;
use axum::routing::get;
use baton_playground::Site;
use baton_store::data::DataFolder;
use reqwest::{Client, Url};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

/// Bytes of the page.
const PAGE: usize = 10_000;
/// Connections that stay open, and how often the page is asked for over each in a round.
const CONNECTIONS: usize = 32;
const REQUESTS: usize = 500;
/// Pairs of rounds, and rounds before those, which are not counted.
const ROUNDS: usize = 20;
const WARM_UP: usize = 2;
/// How long a proxy may take to listen.
const START_LIMIT: Duration = Duration::from_secs(20);

/// Asks for a page through `baton proxy`, which marks it, and through nginx, in turn.
pub async fn measure(baton: &Path) -> Result<Section> {
    let page = format!("<title>shop</title>{}", "x".repeat(PAGE - 19));
    let site = Site::start(Router::new().route("/", get(async move || Html(page)))).await?;
    let ours = Proxy::start(baton, &site).await?;
    let nginx = Proxy::start_nginx(&site).await?;
    let mut pairs = Vec::new();
    for round in 0..WARM_UP + ROUNDS {
        let pair = (ours.round(true).await?, nginx.round(false).await?);
        if round >= WARM_UP {
            println!("round {} of {ROUNDS}: {:.1} and {:.1} µs", pairs.len() + 1, pair.0, pair.1);
            pairs.push(pair);
        }
    }
    let time = |value: f64| format!("{value:.0} µs");
    Ok(Section {
        title: "The proxy in front of a service",
        method: format!(
            "A page of {PAGE} bytes over {CONNECTIONS} connections that stay open, on both sides of \
             the proxy; {} requests a round, {ROUNDS} rounds in turn. Each is a navigation, so Baton \
             signs a token for it. What counts is the proxy's own processor time for a request; nginx \
             has one process, and writes no log.",
            CONNECTIONS * REQUESTS
        ),
        comparisons: vec![Comparison {
            what: "processor time for a request, against nginx",
            ratio: Ratio::of(&pairs),
            aim: 2.0,
            aim_is_for_the_bound: false,
        }],
        figures: Vec::new(),
        medians: vec![
            ("Baton".to_owned(), time(median(pairs.iter().map(|pair| pair.0)))),
            ("nginx".to_owned(), time(median(pairs.iter().map(|pair| pair.1)))),
        ],
        tables: Vec::new(),
    })
}

/// A proxy that runs; it ends when this is dropped.
struct Proxy {
    url: Url,
    pid: u32,
    _child: Child,
    _says: Option<Lines<BufReader<ChildStderr>>>,
    _folder: TempDir,
}

impl Proxy {
    async fn start(baton: &Path, site: &Site) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let upstream = site.url("/")?;
        let settings =
            format!("[[cocoons]]\nid = \"shop\"\nname = \"Shop\"\nupstream = \"{upstream}\"\n");
        std::fs::write(DataFolder::at(folder.path())?.settings(), settings)?;
        let mut command = Command::new(baton);
        command.arg("--data").arg(folder.path()).args(["proxy", "--listen", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::piped()).kill_on_drop(true).spawn()?;
        let said = child.stderr.take().context("expected to hear the proxy")?;
        let mut said = BufReader::new(said).lines();
        let line = timeout(START_LIMIT, said.next_line()).await??;
        let line = line.context("expected the proxy to say where it listens")?;
        let port = line.split("localhost:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.with_context(|| format!("expected an address, found {line}"))?;
        let url = format!("http://127.0.0.1:{port}/proxy/shop/").parse()?;
        let pid = child.id().context("expected the proxy to run")?;
        Ok(Self { url, pid, _child: child, _says: Some(said), _folder: folder })
    }

    async fn start_nginx(site: &Site) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, nginx(folder.path(), port, &site.url("/")?))?;
        let mut command = Command::new("nginx");
        command.arg("-c").arg(&config).arg("-p").arg(folder.path());
        command.args(["-e", "stderr"]).stderr(Stdio::null());
        let child = command.kill_on_drop(true).spawn().context("expected nginx to be installed")?;
        let end = Instant::now() + START_LIMIT;
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            ensure!(Instant::now() < end, "expected nginx to listen");
            sleep(Duration::from_millis(20)).await;
        }
        let url = format!("http://127.0.0.1:{port}/proxy/shop/").parse()?;
        let pid = child.id().context("expected nginx to run")?;
        Ok(Self { url, pid, _child: child, _says: None, _folder: folder })
    }

    /// The microseconds of processor time that a request takes.
    #[expect(clippy::cast_precision_loss, reason = "some thousand requests")]
    async fn round(&self, is_marked: bool) -> Result<f64> {
        let before = process::processor_time(self.pid)?;
        let mut connections = JoinSet::new();
        for _ in 0..CONNECTIONS {
            connections.spawn(ask(self.url.clone(), is_marked));
        }
        while let Some(asked) = connections.join_next().await {
            asked??;
        }
        let took = process::processor_time(self.pid)?.saturating_sub(before);
        Ok(took.as_secs_f64() * 1e6 / (CONNECTIONS * REQUESTS) as f64)
    }
}

/// Asks for the page, again and again, over one connection.
async fn ask(url: Url, is_marked: bool) -> Result<()> {
    let http = Client::builder().no_proxy().build()?;
    for _ in 0..REQUESTS {
        let request = http.get(url.clone()).header("accept", "text/html");
        let request = request.header("sec-fetch-mode", "navigate");
        let answer = request.header("sec-fetch-dest", "document").send().await?;
        ensure!(answer.status() == 200, "expected the page, found {}", answer.status());
        let found = answer.headers().contains_key("x-adi-debug-token");
        ensure!(found == is_marked, "expected a token of Baton's proxy, and of no other");
        let bytes = answer.bytes().await?.len();
        ensure!(bytes == PAGE, "expected {PAGE} bytes, found {bytes}");
    }
    Ok(())
}

/// Settings with which nginx does the same, but for the token.
fn nginx(folder: &Path, port: u16, upstream: &Url) -> String {
    let (folder, host) = (folder.display(), upstream.authority());
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n  access_log off;\n\
         client_body_temp_path {folder}/body;\n  proxy_temp_path {folder}/proxy;\n\
         fastcgi_temp_path {folder}/fastcgi;\n  uwsgi_temp_path {folder}/uwsgi;\n\
         scgi_temp_path {folder}/scgi;\n\
         upstream site {{ server {host}; keepalive 64; keepalive_requests 10000000; }}\n\
         server {{\n    listen 127.0.0.1:{port};\n    keepalive_requests 10000000;\n\
         location /proxy/shop/ {{\n      proxy_pass http://site/;\n      proxy_http_version 1.1;\n\
         proxy_set_header Connection \"\";\n      proxy_set_header Host $host;\n    }}\n  }}\n}}\n"
    )
}
