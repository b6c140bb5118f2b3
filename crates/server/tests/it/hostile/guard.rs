//! Requests of web pages are refused: the wrong host, the wrong origin.

use crate::fixture::{Folder, Node, problem};
use baton_api::ErrorCode;
use baton_server::config::Choices;
use reqwest::Method;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn a_request_must_be_meant_for_this_node() {
    let node = Node::start().await;
    let port = node.file.url.port().unwrap();
    for ours in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        let call = node.request(Method::GET, "/health").header("host", format!("{ours}:{port}"));
        assert_eq!(call.send().await.unwrap().status(), 200, "{ours}");
    }
    let foreign = ["evil.test".to_owned(), format!("evil.test:{port}"), "127.0.0.1:1".to_owned()];
    for host in foreign {
        let call = node.admin_request(Method::GET, "/sessions").header("host", &host);
        let problem = problem(call.send().await.unwrap()).await;
        assert_eq!(problem.code, ErrorCode::ForeignOrigin);
        assert!(problem.detail.contains(&host), "{}", problem.detail);
    }
    node.stop().await;
}

#[tokio::test]
async fn a_page_of_another_origin_is_refused_even_with_a_key() {
    let node = Node::start().await;
    let port = node.file.url.port().unwrap();
    let call = |origin: String| {
        node.admin_request(Method::GET, "/sessions").header("origin", origin).send()
    };
    for foreign in ["https://evil.test", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let problem = problem(call(foreign.to_owned()).await.unwrap()).await;
        assert_eq!((problem.status, problem.code), (403, ErrorCode::ForeignOrigin), "{foreign}");
    }
    assert_eq!(call(format!("http://127.0.0.1:{port}")).await.unwrap().status(), 200);
    node.stop().await;
}

/// The status of the answer to a request whose headers are written as they stand.
async fn status(node: &Node, target: &str, headers: &str) -> u16 {
    let address = node.file.url.socket_addrs(|| None).unwrap()[0];
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {target} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer.split(' ').nth(1).unwrap().parse().unwrap()
}

/// A node that listens everywhere, behind a proxy that calls it `baton.example.org`.
async fn behind_proxy() -> Node {
    let folder = Folder::new();
    let mut config = folder.config();
    config.exposure.behind_proxy = true;
    config.exposure.allowed_hosts = vec!["baton.example.org".into(), "other.test:8443".into()];
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    folder.start_at(config, listener).await
}

#[tokio::test]
async fn a_name_that_points_here_is_not_enough() {
    let node = behind_proxy().await;
    let port = node.file.url.port().unwrap();
    let health = async |host: &str| status(&node, "/health", &format!("Host: {host}\r\n")).await;
    let ours = ["baton.example.org", "BATON.example.org:443", "other.test:8443"];
    for host in ours {
        assert_eq!(health(host).await, 200, "{host}");
    }
    assert_eq!(health(&format!("127.0.0.1:{port}")).await, 200);
    let foreign = [
        // A name that its owner has just pointed at this machine.
        format!("rebound.evil.test:{port}"),
        // What browsers take for this machine.
        format!("0.0.0.0:{port}"),
        // Almost a name of ours.
        "baton.example.org.evil.test".into(),
        "evil-baton.example.org".into(),
        "baton.example.org@evil.test".into(),
        "other.test:8444".into(),
        "other.test".into(),
        String::new(),
    ];
    for host in foreign {
        assert_eq!(health(&host).await, 403, "{host}");
    }
    node.stop().await;
}

#[tokio::test]
async fn the_names_that_a_node_tells_others_are_its_own() {
    let folder = Folder::new();
    let config = folder.config_with(Choices {
        behind_proxy: Some(true),
        public_url: Some("https://baton.example.org".parse().unwrap()),
        internal_url: Some("http://baton.internal:7420".parse().unwrap()),
        ..Choices::default()
    });
    let node = folder.start_with(config.unwrap()).await;
    let health = async |host: &str| status(&node, "/health", &format!("Host: {host}\r\n")).await;
    for host in ["baton.example.org", "baton.example.org:443", "baton.internal:7420"] {
        assert_eq!(health(host).await, 200, "{host}");
    }
    for host in ["baton.internal", "baton.internal:80", "example.org"] {
        assert_eq!(health(host).await, 403, "{host}");
    }
    node.stop().await;
}

#[tokio::test]
async fn whoever_says_two_things_is_not_believed() {
    let node = Node::start().await;
    let port = node.file.url.port().unwrap();
    let ours = format!("Host: 127.0.0.1:{port}\r\n");
    assert_eq!(status(&node, "/health", &ours).await, 200);
    let two_hosts = format!("{ours}Host: evil.test\r\n");
    assert_eq!(status(&node, "/health", &two_hosts).await, 403);
    let origins = format!("{ours}Origin: http://127.0.0.1:{port}\r\nOrigin: https://evil.test\r\n");
    assert_eq!(status(&node, "/health", &origins).await, 403);
    assert_eq!(status(&node, "http://evil.test/health", "Host: evil.test\r\n").await, 403);
    node.stop().await;
}

#[tokio::test]
async fn behind_a_proxy_pages_of_the_node_itself_may_ask() {
    let node = behind_proxy().await;
    let from = async |origin: &str| {
        let headers = format!("Host: baton.example.org\r\nOrigin: {origin}\r\n");
        status(&node, "/health", &headers).await
    };
    assert_eq!(from("https://baton.example.org").await, 200);
    let foreign = [
        "https://evil.test",
        "null",
        "https://baton.example.org.evil.test",
        // Another service of the same machine.
        "https://baton.example.org:9999",
    ];
    for foreign in foreign {
        assert_eq!(from(foreign).await, 403, "{foreign}");
    }
    let elsewhere = "Host: baton.example.org:8443\r\nOrigin: https://baton.example.org:8443\r\n";
    assert_eq!(status(&node, "/health", elsewhere).await, 200);
    node.stop().await;
}
