//! Stands in for where Chrome for Testing is published: an index, and one file that may be cut off on its way
//! or be another one at the next request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// The version of the browser that is published.
pub(crate) const VERSION: &str = "156.0.1.2";

/// A ZIP file in memory.
pub(crate) struct Zip(ZipWriter<Cursor<Vec<u8>>>);

impl Zip {
    pub(crate) fn new() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    /// Adds a file with a mode.
    pub(crate) fn file(mut self, name: &str, mode: u32, bytes: &[u8]) -> Self {
        let options = SimpleFileOptions::default()
            .unix_permissions(mode)
            .compression_method(CompressionMethod::Deflated);
        self.0.start_file(name, options).unwrap();
        self.0.write_all(bytes).unwrap();
        self
    }

    /// Adds a link.
    pub(crate) fn link(mut self, name: &str, target: &str) -> Self {
        self.0.add_symlink(name, target, SimpleFileOptions::default()).unwrap();
        self
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0.finish().unwrap().into_inner()
    }

    /// A browser that says a version, with a file that does not become small.
    pub(crate) fn of_browser(says: &str) -> Self {
        let script = format!("#!/bin/sh\necho 'Google Chrome for Testing {says}'\n");
        let mut noise = 1_u32;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.to_be_bytes()[0]
        })
        .take(300_000)
        .collect();
        Self::new()
            .file("chrome-linux64/chrome", 0o755, script.as_bytes())
            .file("chrome-linux64/locales/en-US.pak", 0o644, b"words")
            .file("chrome-linux64/resources.pak", 0o644, &noise)
    }
}

/// What is answered, and what was asked.
pub(crate) struct Published {
    pub(crate) file: Vec<u8>,
    pub(crate) etag: Option<&'static str>,
    /// What `x-goog-hash` says of the file instead of the truth.
    pub(crate) hash: Option<&'static str>,
    /// After how many bytes of each next answer the connection is cut.
    pub(crate) cuts: VecDeque<usize>,
    /// Whether whole answers come in chunks, which do not say how long they are.
    pub(crate) in_chunks: bool,
    /// Whether the rest says of how much it is.
    pub(crate) says_total: bool,
    /// Which version the index has.
    pub(crate) version: &'static str,
    /// Where the index says that the file is, instead of here.
    pub(crate) elsewhere: Option<&'static str>,
    /// The ranges of the file that were asked for.
    pub(crate) asked: Vec<String>,
}

/// A server at a free port of this machine.
pub(crate) struct StandIn {
    pub(crate) url: Url,
    pub(crate) published: Arc<Mutex<Published>>,
}

impl StandIn {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let published = Arc::new(Mutex::new(Published {
            file: Zip::of_browser(VERSION).bytes(),
            etag: Some("\"one\""),
            hash: None,
            cuts: VecDeque::new(),
            in_chunks: false,
            says_total: true,
            version: VERSION,
            elsewhere: None,
            asked: Vec::new(),
        }));
        let (here, answers) = (url.clone(), published.clone());
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                tokio::spawn(answer(connection, here.clone(), answers.clone()));
            }
        });
        Self { url, published }
    }

    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut Published) -> T) -> T {
        change(&mut self.published.lock().unwrap())
    }
}

/// Answers one request, and closes: so a cut is exactly where it should be.
async fn answer(mut connection: TcpStream, url: Url, published: Arc<Mutex<Published>>) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0; 1];
        if connection.read_exact(&mut byte).await.is_err() {
            return;
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap();
    let answer = match path {
        "/chrome-linux64.zip" => published.lock().unwrap().answer_file(&request),
        path => published.lock().unwrap().answer_index(path, &url),
    };
    let _ = connection.write_all(&answer).await;
    let _ = connection.shutdown().await;
}

fn whole(status: &str, headers: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// The same in one chunk, which is cut with the body, and then without an end.
fn chunked(status: &str, headers: &str, length: usize, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n{headers}\r\n{length:x}\r\n"
    );
    let end: &[u8] = if body.len() == length { b"\r\n0\r\n\r\n" } else { b"" };
    [head.as_bytes(), body, end].concat()
}

fn header<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let line = |line: &'r str| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    };
    request.lines().find_map(line)
}

impl Published {
    fn answer_file(&mut self, request: &str) -> Vec<u8> {
        let range = header(request, "range");
        self.asked.push(range.unwrap_or("whole").to_owned());
        let fits = header(request, "if-range") == self.etag;
        let from =
            range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
        let from: usize = from.filter(|_| fits).unwrap_or(0);
        let length = self.file.len();
        let rest = &self.file[from..];
        let crc = STANDARD.encode(crc32c::crc32c(&self.file).to_be_bytes());
        let hash = self.hash.map_or(format!("crc32c={crc}"), ToOwned::to_owned);
        let mut headers = format!("x-goog-hash: {hash}\r\n");
        if let Some(etag) = self.etag {
            write!(headers, "ETag: {etag}\r\n").unwrap();
        }
        let status = if from == 0 { "200 OK" } else { "206 Partial Content" };
        if from > 0 {
            let last = length - 1;
            let total = if self.says_total { length.to_string() } else { "*".to_owned() };
            write!(headers, "Content-Range: bytes {from}-{last}/{total}\r\n").unwrap();
        }
        let cut = self.cuts.pop_front().unwrap_or(rest.len()).min(rest.len());
        let written = if self.in_chunks { chunked } else { whole };
        written(status, &headers, rest.len(), &rest[..cut])
    }

    fn answer_index(&self, path: &str, url: &Url) -> Vec<u8> {
        let file = url.join("chrome-linux64.zip").unwrap().to_string();
        let file = self.elsewhere.map_or(file, ToOwned::to_owned);
        let entry = json!({ "version": self.version, "revision": "1", "downloads": { "chrome": [
            { "platform": "mac-arm64", "url": "https://example.org/mac.zip" },
            { "platform": "linux64", "url": file },
        ] } });
        let document = match path {
            "/last-known-good-versions-with-downloads.json" => {
                json!({ "timestamp": "", "channels": { "Stable": entry } })
            }
            "/latest-versions-per-milestone-with-downloads.json" => {
                json!({ "milestones": { "156": entry } })
            }
            "/known-good-versions-with-downloads.json" => json!({ "versions": [entry] }),
            "/broken/last-known-good-versions-with-downloads.json" => json!(["no index"]),
            _ => return whole("404 Not Found", "", 0, b""),
        };
        let text = document.to_string();
        whole("200 OK", "Content-Type: application/json\r\n", text.len(), text.as_bytes())
    }
}
