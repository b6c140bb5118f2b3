//! A site on loopback: answers from a table, remembers who asked for what.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// How long a body that never ends rests in between.
const PAUSE: Duration = Duration::from_millis(50);

/// A site that serves pages on every host name that ends in `.localhost`.
pub struct Site {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    favicons: Arc<Mutex<Vec<String>>>,
    cookies: Arc<Mutex<Vec<String>>>,
    waiting: Arc<Mutex<Vec<String>>>,
    silent: Arc<AtomicBool>,
    task: tokio::task::JoinHandle<()>,
}

/// What the site answers at a path.
#[derive(Clone, Default)]
pub struct Page {
    status: Option<&'static str>,
    body: String,
    /// What it answers in the place of the body.
    bytes: Option<Vec<u8>>,
    headers: Vec<(String, String)>,
    is_endless: bool,
    is_silent: bool,
}

impl Page {
    /// An HTML page.
    pub fn html(body: impl Into<String>) -> Self {
        let body = format!("<!doctype html><title>page</title>{}", body.into());
        Self { body, ..Self::default() }.header("Content-Type", "text/html")
    }

    /// A script.
    pub fn script(body: impl Into<String>) -> Self {
        Self { body: body.into(), ..Self::default() }.header("Content-Type", "text/javascript")
    }

    /// A picture, or what is said to be one.
    pub fn picture(kind: &str, bytes: Vec<u8>) -> Self {
        Self { bytes: Some(bytes), ..Self::default() }.header("Content-Type", kind)
    }

    /// With a `Set-Cookie` header.
    pub fn cookie(self, cookie: &str) -> Self {
        self.header("Set-Cookie", cookie)
    }

    /// With a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With a status other than `200 OK`.
    pub fn status(self, status: &'static str) -> Self {
        Self { status: Some(status), ..self }
    }

    /// That takes the request and never answers.
    pub fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// With a body that comes again and again, and never ends.
    pub fn endless(self) -> Self {
        Self { is_endless: true, ..self }
    }
}

/// Builds a site from its pages.
#[derive(Default)]
pub struct SiteBuilder(HashMap<String, Page>);

impl SiteBuilder {
    pub fn page(mut self, path: &str, page: Page) -> Self {
        self.0.insert(path.to_owned(), page);
        self
    }

    pub async fn start(self) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let favicons = Arc::new(Mutex::new(Vec::new()));
        let cookies = Arc::new(Mutex::new(Vec::new()));
        let waiting = Arc::new(Mutex::new(Vec::new()));
        let silent = Arc::new(AtomicBool::new(false));
        let pages = Arc::new(self.0);
        let logs = [&requests, &favicons, &cookies, &waiting].map(Arc::clone);
        let is_silent = Arc::clone(&silent);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if is_silent.load(Ordering::Relaxed) {
                    tokio::spawn(hold(stream));
                } else {
                    tokio::spawn(serve(stream, port, Arc::clone(&pages), logs.clone()));
                }
            }
        });
        Site { port, requests, favicons, cookies, waiting, silent, task }
    }
}

impl Site {
    pub fn builder() -> SiteBuilder {
        SiteBuilder::default()
    }

    /// The address of a path on a host such as `a` (`a.localhost`).
    pub fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}.localhost:{}{path}", self.port)
    }

    /// From here on it takes requests and never answers.
    pub fn fall_silent(&self) {
        self.silent.store(true, Ordering::Relaxed);
    }

    /// The requests so far, as `host path`, favicons aside; and forgets them.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }

    /// The requests for favicons so far, as `host path`; and forgets them.
    pub fn take_favicons(&self) -> Vec<String> {
        std::mem::take(&mut *self.favicons.lock().unwrap())
    }

    /// The paths of silent and endless answers for which somebody waits now.
    pub fn waiting(&self) -> Vec<String> {
        self.waiting.lock().unwrap().clone()
    }

    /// The cookies that came with a request of this path, in their order.
    pub fn cookies_at(&self, path: &str) -> Vec<String> {
        let all = self.cookies.lock().unwrap();
        let of_path = all.iter().filter_map(|sent| sent.strip_prefix(path)?.strip_prefix(' '));
        of_path.flat_map(|sent| sent.split("; ")).map(str::to_owned).collect()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Somebody waits for an answer that never ends, until this is dropped.
struct Waits {
    path: String,
    all: Arc<Mutex<Vec<String>>>,
}

impl Waits {
    fn of(path: &str, all: Arc<Mutex<Vec<String>>>) -> Self {
        all.lock().unwrap().push(path.to_owned());
        Self { path: path.to_owned(), all }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        let mut all = self.all.lock().unwrap();
        let place = all.iter().position(|path| *path == self.path);
        all.remove(place.unwrap());
    }
}

async fn hold(_stream: TcpStream) {
    std::future::pending::<()>().await;
}

async fn serve(
    mut stream: TcpStream,
    port: u16,
    pages: Arc<HashMap<String, Page>>,
    [log, favicons, cookies, waiting]: [Arc<Mutex<Vec<String>>>; 4],
) {
    let mut request = Vec::new();
    let mut chunk = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(length) => request.extend_from_slice(&chunk[..length]),
        }
    }
    let text = String::from_utf8_lossy(&request);
    let path = text.split(' ').nth(1).unwrap_or("/").to_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("Host: ")).unwrap_or_default();
    let log = if path.starts_with("/favicon") { favicons } else { log };
    log.lock().unwrap().push(format!("{} {path}", host.split('.').next().unwrap_or(host)));
    let sent = text.lines().find_map(|line| line.strip_prefix("Cookie: "));
    cookies.lock().unwrap().extend(sent.map(|sent| format!("{path} {sent}")));
    let found = pages.get(path.split('?').next().unwrap_or(&path)).cloned();
    let status = if found.is_some() { "200 OK" } else { "404 Not Found" };
    let page = found.unwrap_or_default();
    let _waits = (page.is_silent || page.is_endless).then(|| Waits::of(&path, waiting));
    if page.is_silent {
        while stream.read(&mut chunk).await.is_ok_and(|length| length > 0) {}
        return;
    }
    let status = page.status.unwrap_or(status);
    let body = page.body.replace("{port}", &port.to_string()).into_bytes();
    let body = page.bytes.unwrap_or(body);
    let mut answer = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    if !page.headers.iter().any(|(name, _)| name == "Cache-Control") {
        answer.push_str("Cache-Control: no-store\r\n");
    }
    if !page.is_endless {
        answer.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
    }
    for (name, value) in &page.headers {
        answer.extend([name, ": ", &value.replace("{port}", &port.to_string()), "\r\n"]);
    }
    answer.push_str("\r\n");
    let mut sent = stream.write_all(&[answer.as_bytes(), &body].concat()).await;
    while page.is_endless && sent.is_ok() {
        sleep(PAUSE).await;
        sent = stream.write_all(&body).await;
    }
    let _ = stream.shutdown().await;
}
