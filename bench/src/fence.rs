//! What a way out of its own costs a session's pages: the same page through the session's proxy and without.
//!
//! Two browsers of one node load the same in turn. The one is led through its keeper, which lets out everything;
//! the other goes to the network by itself.

use crate::report::{Comparison, Ratio, Section, median};
use anyhow::{Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::response::Html;
use axum::routing::get;
use baton_api::OpenSession;
use baton_playground::{Page, Site, TestNode};
use baton_session::egress::Egress;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;
use url::Url;

/// How often each is measured, in turn.
const PAIRS: usize = 40;
/// How many requests a page makes, and how long the site takes for one.
const REQUESTS: u32 = 100;
const THINKS: Duration = Duration::from_millis(20);
/// How much is loaded at once, in bytes.
const LARGE: usize = 100 << 20;

/// Loads a page of many requests and a large file, through the keeper and without.
pub async fn measure(baton: &Path) -> Result<Section> {
    let large = Bytes::from(vec![b'x'; LARGE]);
    let pages = Router::new()
        .route("/", get(|| async { Html("<title>fence</title>") }))
        .route("/favicon.ico", get(|| async { "" }))
        .route(
            "/item",
            get(|| async {
                sleep(THINKS).await;
                "0123456789".repeat(100)
            }),
        )
        .route("/large", get(move || async move { large }));
    let site = Site::start(pages).await?;
    let url = site.url("/")?;
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    let fenced = open(&test_node, "fenced", &url, Some(Egress::default())).await?;
    let free = open(&test_node, "free", &url, None).await?;
    let many = pairs("requests", &fenced, &free, &many()).await?;
    let large = pairs("100 MiB", &fenced, &free, &large_file()).await?;
    let view = test_node.client()?.fetch_session("fenced").await?;
    let hosts = view.egress.map(|egress| egress.hosts).unwrap_or_default();
    let received: u64 = hosts.iter().map(|host| host.received).sum();
    ensure!(received > LARGE as u64, "expected all of it to go through the keeper");
    test_node.clear().await?;
    let comparison = |what, pairs: &[(f64, f64)], aim| Comparison {
        what,
        ratio: Ratio::of(pairs),
        aim,
        aim_is_for_the_bound: false,
    };
    let sizes = |pairs: &[(f64, f64)]| {
        let (with, without) =
            (median(pairs.iter().map(|p| p.0)), median(pairs.iter().map(|p| p.1)));
        format!("{with:.0} ms, {without:.0} ms without")
    };
    Ok(Section {
        title: "A page through its session's way out against one without",
        method: format!(
            "Two browsers of one node, in turn, {PAIRS} pairs, without TLS: a page makes {REQUESTS} requests of \
             {} ms, and loads 100 MiB at once. The one goes through its keeper, which lets out all; the other \
             goes by itself.",
            THINKS.as_millis()
        ),
        comparisons: vec![
            comparison("100 requests", &many, 1.05),
            comparison("100 MiB", &large, 1.4),
        ],
        figures: Vec::new(),
        medians: vec![
            ("100 requests".to_owned(), sizes(&many)),
            ("100 MiB".to_owned(), sizes(&large)),
        ],
        tables: Vec::new(),
    })
}

async fn open(test_node: &TestNode, name: &str, url: &Url, egress: Option<Egress>) -> Result<Page> {
    let mut request = OpenSession::new(name.parse()?, [url.clone()]);
    request.environment.egress = egress;
    let id = test_node.client()?.open_session(&request).await?.session.id;
    Page::attach(&test_node.keeper_socket(id), url.as_str()).await
}

/// Pairs of milliseconds.
async fn pairs(what: &str, fenced: &Page, free: &Page, work: &str) -> Result<Vec<(f64, f64)>> {
    // What is made once is made before.
    fenced.evaluate::<f64>(work).await?;
    free.evaluate::<f64>(work).await?;
    let mut pairs = Vec::with_capacity(PAIRS);
    for pair in 0..PAIRS {
        let (with, without) = if pair % 2 == 0 {
            let with = fenced.evaluate::<f64>(work).await?;
            (with, free.evaluate::<f64>(work).await?)
        } else {
            let without = free.evaluate::<f64>(work).await?;
            (fenced.evaluate::<f64>(work).await?, without)
        };
        println!("{what}, pair {} of {PAIRS}: {with:.0} ms, {without:.0} ms without", pair + 1);
        pairs.push((with, without));
    }
    Ok(pairs)
}

/// As many requests at once as a browser makes; how many milliseconds they take.
fn many() -> String {
    format!(
        "(async () => {{
            const begun = performance.now();
            const load = async (number) => {{
                const answer = await fetch('/item?' + Math.random() + number, {{cache: 'no-store'}});
                if ((await answer.text()).length !== 1000) throw new Error('not all came');
            }};
            await Promise.all(Array.from({{length: {REQUESTS}}}, (_, number) => load(number)));
            return performance.now() - begun;
        }})()"
    )
}

/// All of the file, of which nothing is kept; how many milliseconds it takes.
fn large_file() -> String {
    format!(
        "(async () => {{
            const begun = performance.now();
            const reader = (await fetch('/large', {{cache: 'no-store'}})).body.getReader();
            let size = 0;
            for (let part; !(part = await reader.read()).done;) size += part.value.length;
            if (size !== {LARGE}) throw new Error('not all came');
            return performance.now() - begun;
        }})()"
    )
}
