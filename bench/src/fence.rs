//! What a way out of its own costs a session's pages: the same page through the session's proxy and without.
//!
//! Two browsers of one node load the same in turn. The one is led through its keeper, which lets out everything;
//! the other goes to the network by itself.

use crate::report::{Comparison, Ratio, Section, median};
use crate::tls_site::TlsSite;
use anyhow::{Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::response::Html;
use axum::routing::get;
use baton_api::OpenSession;
use baton_playground::{Page, Site, TestNode};
use baton_session::certificate::Certificate;
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
/// How many bytes each of these gets.
const ITEM: usize = 1000;
/// How much is loaded at once, in bytes.
const LARGE: usize = 100 << 20;

/// Loads a page of many requests and a large file, through the keeper and without; the requests over TLS, too.
pub async fn measure(baton: &Path) -> Result<Section> {
    let pages = pages();
    let (site, tls_site) = (Site::start(pages.clone()).await?, TlsSite::start(pages).await?);
    let mut test_node = TestNode::build(baton)?;
    test_node.start_node().await?;
    let requests = many();
    let browsers = open_both(&test_node, "", &site.url("/")?, None).await?;
    let many = pairs("requests", &browsers, &requests).await?;
    let large = pairs("100 MiB", &browsers, &large_file()).await?;
    let all_of_it = received(&test_node, "fenced").await?;
    ensure!(all_of_it > LARGE as u64, "expected all of it to go through the keeper");
    let certificate = Some(&tls_site.certificate);
    let browsers = open_both(&test_node, "-tls", &tls_site.url("/")?, certificate).await?;
    let over_tls = pairs("requests over TLS", &browsers, &requests).await?;
    let all_of_it = received(&test_node, "fenced-tls").await?;
    let least = u64::from(REQUESTS) * ITEM as u64 * PAIRS as u64;
    ensure!(all_of_it > least, "expected all over TLS to go through the keeper");
    test_node.clear().await?;
    Ok(section(&many, &over_tls, &large))
}

fn section(many: &[(f64, f64)], over_tls: &[(f64, f64)], large: &[(f64, f64)]) -> Section {
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
    Section {
        title: "A page through its session's way out against one without",
        method: format!(
            "Two browsers of one node, in turn, {PAIRS} pairs: a page makes {REQUESTS} requests of {} ms, and loads \
             100 MiB at once. The one goes through its keeper, which lets out all; the other goes by itself. Then two \
             browsers make the same requests over TLS, by connections that stand from a load before the first pair; what \
             is in them their keeper cannot read.",
            THINKS.as_millis()
        ),
        comparisons: vec![
            comparison("100 requests", many, 1.05),
            comparison("100 requests over TLS", over_tls, 1.05),
            comparison("100 MiB", large, 1.4),
        ],
        figures: Vec::new(),
        medians: vec![
            ("100 requests".to_owned(), sizes(many)),
            ("100 requests over TLS".to_owned(), sizes(over_tls)),
            ("100 MiB".to_owned(), sizes(large)),
        ],
        tables: Vec::new(),
    }
}

/// What is loaded, whatever it comes over.
fn pages() -> Router {
    let large = Bytes::from(vec![b'x'; LARGE]);
    Router::new()
        .route("/", get(|| async { Html("<title>fence</title>") }))
        .route("/favicon.ico", get(|| async { "" }))
        .route(
            "/item",
            get(|| async {
                sleep(THINKS).await;
                "x".repeat(ITEM)
            }),
        )
        .route("/large", get(move || async move { large }))
}

/// Two browsers at one site.
struct FencedAndFree {
    fenced: Page,
    free: Page,
}

/// Opens the same in both, which trust this certificate; their sessions are called `fenced` and `free`, with this at
/// the end.
async fn open_both(
    test_node: &TestNode,
    end: &str,
    url: &Url,
    certificate: Option<&Certificate>,
) -> Result<FencedAndFree> {
    let open = async |name: &str, egress: Option<Egress>| {
        let mut request = OpenSession::new(format!("{name}{end}").parse()?, [url.clone()]);
        request.environment.egress = egress;
        request.environment.certificates.extend(certificate.cloned());
        let id = test_node.client()?.open_session(&request).await?.session.id;
        Page::attach(&test_node.keeper_socket(id), url.as_str()).await
    };
    let fenced = open("fenced", Some(Egress::default())).await?;
    Ok(FencedAndFree { fenced, free: open("free", None).await? })
}

/// How many bytes came to a session through its keeper.
async fn received(test_node: &TestNode, name: &str) -> Result<u64> {
    let view = test_node.client()?.fetch_session(name).await?;
    let hosts = view.egress.map(|egress| egress.hosts).unwrap_or_default();
    Ok(hosts.iter().map(|host| host.received).sum())
}

/// Pairs of milliseconds.
async fn pairs(what: &str, browsers: &FencedAndFree, work: &str) -> Result<Vec<(f64, f64)>> {
    let FencedAndFree { fenced, free } = browsers;
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
                if ((await answer.text()).length !== {ITEM}) throw new Error('not all came');
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
