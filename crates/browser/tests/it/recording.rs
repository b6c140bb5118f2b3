//! A recorder tells all that a tab does, from the first byte on.

use crate::fixture::{Kept, open_page};
use crate::site::{Page, Site};
use baton_browser::TargetId;
use baton_browser::keeper::Role;
use baton_browser::record::{Record, RecordLimits, Recorder, What};
use baton_testing::Nobody;
use futures_util::{SinkExt as _, StreamExt as _};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// How long it may take until something is told.
const LIMIT: Duration = Duration::from_mins(1);

/// A WebSocket that answers every text with the same; its address.
async fn echo() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
                while let Some(Ok(message)) = socket.next().await {
                    if message.is_text() {
                        socket.send(message).await.unwrap();
                    }
                }
            });
        }
    });
    format!("ws://{address}/echo")
}

/// A page that does a little of everything, one thing after the other.
async fn busy(frame: &Site, nobody: &str, echo: &str) -> Site {
    let page = format!(
        "<script>console.log('inline %s', 'script')</script><script src='/external.js'></script>
        <script>
        const heard = (what) => new Promise((done) => what.addEventListener('message', done));
        (async () => {{
          await (await fetch('/ok')).text();
          await (await fetch('/missing')).text();
          await fetch('{nobody}').catch(() => {{}});
          await fetch('/empty');
          await fetch('/ok', {{ method: 'HEAD' }});
          const given_up = new AbortController();
          setTimeout(() => given_up.abort(), 50);
          await fetch('/silent', {{ signal: given_up.signal }}).catch(() => {{}});
          await (await fetch('/moved')).text();
          await (await fetch('/form', {{ method: 'POST', body: 'a=1&b=2' }})).text();
          await (await fetch('/large')).text();
          const worker = new Worker('/worker.js');
          await heard(worker);
          const frame = document.createElement('iframe');
          frame.src = '{frame}';
          const loaded = heard(window);
          document.body.append(frame);
          await loaded;
          const socket = new WebSocket('{echo}');
          await new Promise((open) => socket.onopen = open);
          const answered = heard(socket);
          socket.send('hello');
          await answered;
          socket.close();
          await new Promise((closed) => socket.onclose = closed);
          console.debug('d'); console.info({{ a: 1 }}); console.warn([1, 'x']); console.error(new Error('e'));
          Promise.reject(new TypeError('rejected'));
          setTimeout(() => {{ throw new RangeError('thrown'); }});
          setTimeout(() => console.log('done'), 100);
        }})();
        </script>",
        frame = frame.url("frame", "/"),
    );
    Site::builder()
        .page("/", Page::html(format!("<body>{page}</body>")))
        .page("/external.js", Page::script("console.log('external')"))
        .page("/ok", Page::script("all is well"))
        .page("/missing", Page::script("no").status("404 Not Found"))
        .page("/empty", Page::default().status("204 No Content"))
        .page("/silent", Page::default().silent())
        .page("/moved", Page::default().status("302 Found").header("Location", "/ok"))
        .page("/form", Page::script("thanks"))
        .page("/large", Page::script("x".repeat(300_000)))
        .page(
            "/worker.js",
            Page::script("console.log('worker'); fetch('/from-worker').then((it) => it.text()).then(() => postMessage(1))"),
        )
        .page("/from-worker", Page::script("for the worker"))
        .start()
        .await
}

async fn frame() -> Site {
    let script = "<script>console.warn('frame'); fetch('/from-frame').then((it) => it.text()).then(() => parent.postMessage(1, '*'))</script>";
    let site = Site::builder().page("/", Page::html(script));
    site.page("/from-frame", Page::script("for the frame")).start().await
}

/// What was told of a tab, until it says that it is done and every request has ended.
async fn story(recorder: &mut Recorder) -> Vec<Record> {
    let mut told = Vec::new();
    let (mut is_done, mut open) = (false, 0_i64);
    let mut is_named = false;
    while !is_done || !is_named || open > 0 {
        let record = timeout(LIMIT, recorder.next())
            .await
            .unwrap_or_else(|_| panic!("{}", requests(&told, &[])));
        let record = record.expect("the browser is there");
        match &record.what {
            What::Sent(sent) if sent.redirect.is_none() => open += 1,
            What::Finished(_) | What::Failed(_) => open -= 1,
            What::Line(line) => is_done |= line.message == "done",
            What::Shown { title, .. } => is_named |= title == "page",
            _ => {}
        }
        told.push(record);
    }
    told
}

/// The requests, a line each: how each went, and what came.
fn requests(told: &[Record], sites: &[(&str, String)]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for Record { what, .. } in told {
        match what {
            What::Sent(sent) => {
                let place = [("frame", &sent.frame), ("worker", &sent.worker)];
                let place =
                    place.map(|(name, place)| place.as_ref().map(|at| format!(" {name} {at}")));
                let led = sent.redirect.as_ref().map(|led| format!(" after {}", led.status));
                let body = sent.body.as_ref().map(|body| format!(" {body:?}"));
                let more = [led, body].into_iter().chain(place).flatten().collect::<String>();
                places.insert(sent.id.clone(), lines.len());
                lines.push(format!("{} {} {}{more}", sent.kind, sent.method, sent.url));
            }
            What::Answered(answer) => {
                let _ = write!(lines[places[&answer.id]], " → {}", answer.status);
            }
            What::Finished(end) => {
                let body = end
                    .body
                    .as_ref()
                    .map(|body| format!(" {:.20?}", body.get(..20).unwrap_or(body)));
                let cut = if end.body_truncated { " cut" } else { "" };
                let _ = write!(lines[places[&end.id]], "{}{cut}.", body.unwrap_or_default());
            }
            What::Failed(end) => {
                let whose = if end.canceled { " by the page" } else { "" };
                let _ = write!(lines[places[&end.id]], " ✗ {}{whose}.", end.error);
            }
            What::Message(message) => {
                let way = if message.sent { "↑" } else { "↓" };
                let text = message.text.clone().unwrap_or_default();
                let _ = write!(lines[places[&message.id]], " {way}{text}");
            }
            _ => {}
        }
    }
    // The browser asks for it when it likes.
    lines.retain(|line| !line.contains("/favicon.ico"));
    lines.sort();
    plain(lines.join("\n"), sites)
}

fn console(told: &[Record], sites: &[(&str, String)]) -> String {
    let lines = told.iter().filter_map(|record| match &record.what {
        What::Line(line)
            if !line.source.as_ref().is_some_and(|at| at.ends_with("/favicon.ico")) =>
        {
            let place = line.worker.as_ref().map(|at| format!(" worker {at}")).unwrap_or_default();
            let first = line.message.lines().next().unwrap_or_default();
            Some(format!("{:?} {first}{place}", line.level))
        }
        _ => None,
    });
    plain(lines.collect::<Vec<_>>().join("\n"), sites)
}

/// The text with names in place of addresses.
fn plain(text: String, sites: &[(&str, String)]) -> String {
    sites.iter().fold(text, |text, (name, address)| text.replace(address.as_str(), name))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_a_page_does_is_told_from_the_first_byte_on() {
    let (kept, frame) = (Kept::new().await, frame().await);
    let refusing = Nobody::listens();
    let nobody = format!("http://{}/refused", refusing.address());
    let echo = echo().await;
    let site = busy(&frame, &nobody, &echo).await;
    let link = kept.connect(Role::Client).await;
    let mut recorder = Recorder::start(link, RecordLimits::default()).await.unwrap();
    let agent = kept.connect(Role::Client).await;
    let (tab, page) = open_page(&agent.connection.browser(), "about:blank").await;
    page.call("Page.navigate", serde_json::json!({"url": site.url("a", "/")})).await.unwrap();
    let mut told = story(&mut recorder).await;
    let tab = TargetId::new(tab);
    told.retain(|record| record.tab == tab);
    assert_eq!(told[0].what, What::Begun { late: false });
    let bare = |url: String| url.trim_end_matches('/').to_owned();
    let sites = [
        ("A", bare(site.url("a", "/"))),
        ("FRAME", bare(frame.url("frame", "/"))),
        ("NOBODY", nobody),
        ("ECHO", echo),
    ];
    insta::assert_snapshot!(requests(&told, &sites), @r#"
    Document GET A/ → 200 "<!doctype html><titl".
    Document GET FRAME/ frame FRAME/ → 200.
    Fetch GET NOBODY ✗ net::ERR_CONNECTION_REFUSED.
    Fetch GET A/empty → 204.
    Fetch GET A/from-worker worker A/worker.js → 200 "for the worker".
    Fetch GET A/large → 200 "xxxxxxxxxxxxxxxxxxxx" cut.
    Fetch GET A/missing → 404 "no".
    Fetch GET A/moved
    Fetch GET A/ok after 302 → 200 "all is well".
    Fetch GET A/ok → 200 "all is well".
    Fetch GET A/silent ✗ net::ERR_ABORTED by the page.
    Fetch GET FRAME/from-frame frame FRAME/ → 200 "for the frame".
    Fetch HEAD A/ok → 200.
    Fetch POST A/form "a=1&b=2" → 200 "thanks".
    Script GET A/external.js → 200 "console.log('externa".
    Script GET A/worker.js → 200 "console.log('worker'".
    WebSocket GET ECHO → 101 ↑hello ↓hello.
    "#);
    insta::assert_snapshot!(console(&told, &sites), @r#"
    Log inline script
    Log external
    Error Failed to load resource: the server responded with a status of 404 (Not Found)
    Error Failed to load resource: net::ERR_CONNECTION_REFUSED
    Log worker worker A/worker.js
    Warn frame
    Debug d
    Info {a: 1}
    Warn [1, "x"]
    Error Error: e
    Error Uncaught RangeError: thrown
    Error Uncaught (in promise) TypeError: rejected
    Log done
    "#);
    let shown = told.iter().filter_map(|record| match &record.what {
        What::Shown { url, title } => Some(format!("{url} {title:?}")),
        _ => None,
    });
    let shown = plain(shown.collect::<Vec<_>>().join("\n"), &sites);
    assert!(shown.contains("A/ \"page\""), "{shown}");
    // Instants are those of the day, in order.
    let sent: Vec<u64> = told
        .iter()
        .filter_map(|it| match &it.what {
            What::Sent(sent) => Some(sent.at),
            _ => None,
        })
        .collect();
    let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap();
    assert!(sent.iter().all(|at| (now - 120_000..=now + 1000).contains(at)), "{sent:?} {now}");

    agent
        .connection
        .browser()
        .call("Target.closeTarget", serde_json::json!({"targetId": tab}))
        .await
        .unwrap();
    loop {
        let record = timeout(LIMIT, recorder.next()).await.unwrap().unwrap();
        if record.tab == tab && record.what == What::Gone {
            break;
        }
    }
    drop((recorder, agent));
    kept.close().await;
}
