//! The head of a request that may come in: a WebSocket's handshake, at the random path, and from no web
//! page.

use std::hint::black_box;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// The longest head of a request, in bytes.
const HEAD_BYTES: usize = 16 << 10;
/// How many headers it may have.
const HEADERS: usize = 64;

/// What of a request's head goes on to the node.
pub(super) struct Head {
    /// Names and values.
    pub(super) headers: Vec<(String, String)>,
    /// What the client has sent behind the head.
    pub(super) rest: Vec<u8>,
}

/// Reads the head of a request that may come in.
pub(super) async fn read(
    stream: &mut TcpStream,
    port: u16,
    path: &str,
) -> Result<Head, &'static str> {
    let mut bytes = Vec::new();
    loop {
        if let Some(head) = understood(&bytes, port, path)? {
            return Ok(head);
        }
        if bytes.len() >= HEAD_BYTES {
            return Err("expected a head of at most 16 KiB, found a longer one");
        }
        let read = stream.read_buf(&mut bytes).await;
        if read.map_or(true, |count| count == 0) {
            return Err("expected a request, found half of one");
        }
    }
}

/// The head, when it is whole; none while it is not.
fn understood(bytes: &[u8], port: u16, path: &str) -> Result<Option<Head>, &'static str> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let length = match request.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err("expected a request of HTTP/1.1, found something else"),
    };
    if !is_same(request.path.unwrap_or_default().as_bytes(), path.as_bytes()) {
        return Err("expected the whole address that this server was given, found another path");
    }
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let headers: Vec<(String, String)> = request
        .headers
        .iter()
        .map(|header| (header.name.to_ascii_lowercase(), text(header.value)))
        .collect();
    let of = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if of("origin").is_some() {
        return Err("expected a program, found a web page: the header Origin names one");
    }
    if !of("host").is_some_and(|host| hosts.contains(host)) {
        return Err("expected the header Host to name this address, found another one");
    }
    let upgrades = of("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"));
    if request.method != Some("GET") || !upgrades {
        return Err("expected the handshake of a WebSocket, found another request");
    }
    Ok(Some(Head { headers, rest: bytes[length..].to_vec() }))
}

/// Compares in a time that does not tell how much is right.
fn is_same(found: &[u8], expected: &[u8]) -> bool {
    let differ = found
        .iter()
        .zip(expected)
        .fold(0, |differ, (one, other)| black_box(differ | (one ^ other)));
    found.len() == expected.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "GET /secret HTTP/1.1\r\nHost: 127.0.0.1:9\r\nUpgrade: websocket\r\n\
                        Connection: Upgrade\r\nSec-WebSocket-Key: a\r\n\r\nrest";

    fn reason(request: &str) -> &'static str {
        match understood(request.as_bytes(), 9, "/secret") {
            Err(reason) => reason,
            Ok(None) => "more",
            Ok(Some(_)) => "good",
        }
    }

    #[test]
    fn a_handshake_with_the_secret_comes_in_and_nothing_else_does() {
        let head = understood(GOOD.as_bytes(), 9, "/secret").unwrap().unwrap();
        assert_eq!(head.rest, b"rest");
        assert_eq!(reason(&GOOD[..40]), "more");
        let wrong = [
            GOOD.replace("/secret", "/secres"),
            GOOD.replace("/secret", "/"),
            GOOD.replace("/secret", "/secret?"),
            GOOD.replace("Host: 127.0.0.1:9", "Host: evil.example:9"),
            GOOD.replace("Host: 127.0.0.1:9", "Host: 127.0.0.1:9\r\nOrigin: https://evil.example"),
            GOOD.replace("Upgrade: websocket", "Accept: */*"),
            GOOD.replace("GET ", "POST "),
            "\x16\x03\x01".to_owned(),
        ];
        let told = wrong.map(|request| reason(&request)).join("\n");
        insta::assert_snapshot!(told, @"
        expected the whole address that this server was given, found another path
        expected the whole address that this server was given, found another path
        expected the whole address that this server was given, found another path
        expected the header Host to name this address, found another one
        expected a program, found a web page: the header Origin names one
        expected the handshake of a WebSocket, found another request
        expected the handshake of a WebSocket, found another request
        expected a request of HTTP/1.1, found something else
        ");
    }
}
